import { asText, isObject, type JsonObject } from './json.ts'
import { camelCase, isBelow, parentUid } from './uid.ts'

type Check = (row: JsonObject, values: ReadonlySet<string>) => boolean

/** Filters that let every row pass with this value. With any other value the row is checked. */
const OPEN: Readonly<Record<string, string>> = {
  'uidp.in_root': 'false',
  include_referrers: 'true',
  include_dates: 'true',
  include_epochs: 'true',
}

/**
 * Checks of the filters that accompany an id: v2's Get does not know them, so they are applied to its row (facts §11).
 * Keys are v2 parameters. A parameter that is not listed compares the member of its name.
 */
const CHECKS: Readonly<Record<string, Check>> = {
  'uidp.ancestors_of': (row, [value = '']) => row.uid === value || isBelow(value, asText(row.uid)),
  'uidp.descendants_of': (row, [value = '']) => isBelow(asText(row.uid), value),
  'uidp.children_of': (row, [value]) => parentUid(asText(row.uid)) === value,
  'uidp.in_root': (row) => parentUid(asText(row.uid)) === undefined,
  'uidp.ids': (row, values) => values.has(asText(row.uid)),
  updated_since: (row, [value = '']) => Date.parse(asText(row.updateTime)) > Date.parse(value),
  include_referrers: (row) => !/^sha256-/.test(asText(row.name)),
  include_dates: (row) => !/-20\d{6}$/.test(asText(row.name)),
  ...Object.fromEntries(
    [
      'artifact_name',
      'artifact_type',
      'artifact_architecture',
      'component_name',
      'component_type',
      'component_location',
      'advisory_id',
      'legacy_advisory_id',
    ].map((member) => [`${member}s`, (row: JsonObject, values: ReadonlySet<string>) => values.has(asText(row[camelCase(member)]))]),
  ),
  aliases: (row, values) => listOf(row.aliases).some((alias) => values.has(asText(alias))),
  origin: (row, [value]) => row.artifactName === value,
  event_review_states: (row, values) => eventsOf(row).some(({ reviewState }) => values.has(asText(reviewState))),
  event_authors: (row, values) => eventsOf(row).some(({ author }) => values.has(asText(author))),
  exclude_event_authors: (row, values) => !eventsOf(row).some(({ author }) => values.has(asText(author))),
  event_reviewers: (row, values) => eventsOf(row).some(({ reviewer }) => values.has(asText(reviewer))),
  event_types(row, values) {
    const members = [...values].map(memberOfType)
    return eventsOf(row).some((event) => members.some((member) => isObject(event[member])))
  },
  latest_event_type: (row, [value = '']) => {
    const latest = eventsOf(row)
      .filter(({ reviewState }) => reviewState === 'REVIEW_STATE_APPROVED')
      .reduce<JsonObject | undefined>(
        (best, event) => (best && Date.parse(asText(best.createTime)) >= Date.parse(asText(event.createTime)) ? best : event),
        undefined,
      )
    return latest !== undefined && isObject(latest[memberOfType(value)])
  },
  include_epochs: (row) => !/-r\d+$/.test(asText(row.name)),
}

/** Filters that another one disables: an origin the names (facts §5.1), an exact name what hides forms of tags (semantics §3.11). */
const OVERRULED: Readonly<Record<string, string>> = {
  artifact_names: 'origin',
  include_referrers: 'name',
  include_dates: 'name',
  include_epochs: 'name',
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function eventsOf(advisory: JsonObject): readonly JsonObject[] {
  return listOf(advisory.events).filter(isObject)
}

/** `EVENT_TYPE_FILTER_FIXED` selects events that have the member `fixed`; all other types work alike (facts §5.2). */
function memberOfType(filter: string): string {
  return camelCase(filter.replace('EVENT_TYPE_FILTER_', '').toLowerCase())
}

type Query = readonly (readonly [name: string, value: string])[]

/** True if every row passes, whatever it holds. */
export function passesAll(query: Query): boolean {
  return query.every(([name, value]) => OPEN[name] === value)
}

/** True if the row passes every v2 filter of the query. */
export function passes(row: JsonObject, query: Query): boolean {
  if (query.length === 0) return true
  const named = byName(query)
  for (const [name, values] of named) if (!named.has(OVERRULED[name] ?? '') && !passesOne(row, name, values)) return false
  return true
}

function byName(query: Query): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>()
  for (const [name, value] of query) {
    const values = named.get(name)
    if (values) values.add(value)
    else named.set(name, new Set([value]))
  }
  return named
}

function passesOne(row: JsonObject, name: string, values: ReadonlySet<string>): boolean {
  const [first] = values
  if (first === OPEN[name]) return true
  const check = CHECKS[name]
  return check ? check(row, values) : values.has(asText(row[camelCase(name)]))
}
