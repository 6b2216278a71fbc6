import type { JsonObject } from './json.ts'
import { camelCase } from './names.ts'
import { isBelow, parentUid } from './uid.ts'

type Check = (row: JsonObject, values: readonly string[]) => boolean

/**
 * Filters that came along with an id: a v2 Get does not know them, so they are checked on its row (facts §11). Keyed by v2 parameter;
 * every parameter that is not listed compares the member of that name.
 */
const CHECKS: Readonly<Record<string, Check>> = {
  'uidp.ancestors_of': (row, [value = '']) => row.uid === value || isBelow(value, String(row.uid)),
  'uidp.descendants_of': (row, [value = '']) => isBelow(String(row.uid), value),
  'uidp.children_of': (row, [value]) => parentUid(String(row.uid)) === value,
  'uidp.in_root': (row, [value]) => value === 'false' || parentUid(String(row.uid)) === undefined,
  'uidp.ids': (row, values) => values.includes(String(row.uid)),
  updated_since: (row, [value = '']) => Date.parse(String(row.updateTime)) > Date.parse(value),
  include_referrers: (row, [value]) => value === 'true' || !/^sha256-/.test(String(row.name)),
  include_dates: (row, [value]) => value === 'true' || !/-20\d{6}$/.test(String(row.name)),
  include_epochs: (row, [value]) => value === 'true' || !/-r\d+$/.test(String(row.name)),
}

/** True when the row passes every v2 filter of the query. */
export function passes(row: JsonObject, query: readonly (readonly [string, string])[]): boolean {
  const grouped = new Map<string, string[]>()
  for (const [name, value] of query) grouped.set(name, [...(grouped.get(name) ?? []), value])
  return [...grouped].every(([name, values]) => {
    const check = CHECKS[name]
    return check ? check(row, values) : values.includes(String(row[camelCase(name)]))
  })
}
