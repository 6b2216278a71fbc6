import type { EnumMap, EnumRow } from '../tables/fields.ts'

/** Pairs that are listed if no rule describes them, and those that show what a longer list looks like. */
const LISTED = 12
const SHOWN = 3

/** Says how v2 names the values of a v1 enum; undefined if both name them alike. */
export function valueNames({ rows, v1Only }: EnumMap): string | undefined {
  const differing = rows.filter(([v1, v2]) => v1 !== v2)
  const gone = v1Only.length === 0 ? [] : [`v2 lacks ${v1Only.map(([v1]) => v1).join(', ')}`]
  const named = differing.length === 0 ? [] : [byPrefix(differing) ?? listed(differing)]
  const said = [...named, ...gone]
  return said.length === 0 ? undefined : said.join('; ')
}

/** `TIER_ before the name; UNKNOWN → TIER_UNSPECIFIED`. */
function byPrefix(rows: readonly EnumRow[]): string | undefined {
  const [, second] = rows
  if (!second?.[1].endsWith(second[0])) return undefined
  const prefix = second[1].slice(0, -second[0].length)
  const others = rows.filter(([v1, v2]) => v2 !== prefix + v1)
  if (prefix === '' || others.length > 2) return undefined
  return [`${prefix} before the name`, ...others.map(pair)].join('; ')
}

function listed(rows: readonly EnumRow[]): string {
  if (rows.length <= LISTED) return rows.map(pair).join('; ')
  return `${rows.slice(0, SHOWN).map(pair).join('; ')}; and ${rows.length - SHOWN} more`
}

function pair([v1, v2]: EnumRow): string {
  return `${v1} → ${v2 === '' ? '(absent)' : v2}`
}
