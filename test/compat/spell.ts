export type Dialect = 'specification' | 'published'
export type Spelling = 'snake' | 'camel'
export type Shape = unknown

const KEYS_ARE_DATA = Symbol('keys are data')
const EXTRA = Symbol('members of the specification dialect')

/** Names that protobuf JSON does not camel-case, because the contract says so (facts §16.1). */
const AS_THEY_ARE: ReadonlySet<string> = new Set(['sync_config'])

/** A map with a user's keys (`claims`, `environment`), which are never re-spelled. */
export function map(entries: Record<string, unknown>): Record<string, unknown> {
  return Object.defineProperty({ ...entries }, KEYS_ARE_DATA, { value: true })
}

/** Members that only the `specification` dialect shows: times under their usual names, and the group of a resource. */
export function extra(shape: Record<string, unknown>, members: Record<string, unknown>): Record<string, unknown> {
  return Object.defineProperty({ ...shape }, EXTRA, { value: members })
}

/** Returns the spelling of a dialect. */
export function spellingOf(dialect: Dialect): Spelling {
  return dialect === 'published' ? 'camel' : 'snake'
}

/** Spells one v1 proto name (snake_case). */
export function spellName(name: string, spelling: Spelling): string {
  if (spelling === 'snake' || AS_THEY_ARE.has(name)) return name
  return name
    .split('.')
    .map((part) => part.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
    .join('.')
}

/** Spells a shape or body that is written in v1 proto names. Extra members appear only on request. */
export function spell(value: Shape, spelling: Spelling, withExtra = false): Shape {
  if (Array.isArray(value)) return value.map((item) => spell(item, spelling, withExtra))
  if (typeof value !== 'object' || value === null) return value
  const marked = value as Record<string | symbol, unknown>
  const members = withExtra ? { ...((marked[EXTRA] as object | undefined) ?? {}), ...value } : value
  const name = marked[KEYS_ARE_DATA] ? (key: string) => key : (key: string) => spellName(key, spelling)
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [name(key), spell(member, spelling, withExtra)]))
}
