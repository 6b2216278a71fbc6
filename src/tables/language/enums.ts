/**
 * One enum value: v1 name, v2 name, v1 number.
 * Numbers are read, never written, and never copied across versions (facts §18). v1 carries a value without a number as a plain string.
 */
export type EnumRow = readonly [v1: string, v2: string, number?: number]

/** A value that only v1 has. */
type V1OnlyRow = readonly [v1: string, number: number]

/** A one-to-one map between a v1 enum and its v2 twin. The first row is the zero value. */
export interface EnumMap {
  readonly name: string
  readonly rows: readonly EnumRow[]
  /** v1 values that v2 lacks. Only v1 can serve a request with one; without a v1 service it is INVALID_ARGUMENT. */
  readonly v1Only: readonly V1OnlyRow[]
  readonly zero: EnumRow
  readonly toV1: ReadonlyMap<unknown, string>
  /** Keyed by v1 name and by v1 number. */
  readonly toV2: ReadonlyMap<unknown, string>
}

/**
 * Builds an enum map. `rows` start with the zero value. A repeated name or number stops the process: a map that is not one to one
 * would silently change data.
 *
 *     enumMap('State', [['UNKNOWN', 'STATE_UNSPECIFIED', 0], ['Ready', 'STATE_READY', 1]])
 */
export function enumMap(name: string, rows: readonly EnumRow[], v1Only: readonly V1OnlyRow[] = []): EnumMap {
  const [zero] = rows
  if (!zero) throw new Error(`enum ${name} has no rows; give at least its zero value`)
  for (const [column, label] of [
    [0, 'v1 name'],
    [1, 'v2 name'],
    [2, 'number'],
  ] as const) {
    const seen = new Set<unknown>()
    for (const { [column]: value } of rows) {
      if (value !== undefined && seen.has(value)) throw new Error(`enum ${name} is not one to one: ${label} ${value} stands twice`)
      seen.add(value)
    }
  }
  return {
    name,
    rows,
    v1Only,
    zero,
    toV1: new Map(rows.map(([v1, v2]) => [v2, v1])),
    toV2: new Map<unknown, string>([
      ...rows.map(([v1, v2]) => [v1, v2] as const),
      ...rows.flatMap(([, v2, number]) => (number === undefined ? [] : [[number, v2] as const])),
    ]),
  }
}

/** An error names longer enums without listing their values. */
const SPELLED_OUT = 20

/** Returns the requirement on a value of this enum, for the client that sent another value. */
export function requirement({ name, rows }: EnumMap): string {
  return rows.length > SPELLED_OUT ? `must be a ${name}` : `must be one of ${rows.map(([v1]) => v1).join(', ')}`
}

/**
 * Builds an enum whose v2 names are the v1 names with a prefix; `zero` is the pair of the unset value (facts §18).
 *
 *     prefixed('AccountType', 'ACCOUNT_PROVIDER_TYPE_', ['UNKNOWN', 'ACCOUNT_PROVIDER_TYPE_UNSPECIFIED'], [['GOOGLE', 1]])
 */
export function prefixed(
  name: string,
  prefix: string,
  zero: readonly [string, string],
  values: readonly (readonly [string, number])[],
): EnumMap {
  return enumMap(name, [[...zero, 0], ...values.map(([value, number]): EnumRow => [value, prefix + value, number])])
}

/**
 * Builds an enum that both versions spell alike; the number of a value is its position.
 *
 *     identical('OrgStatus', ['ORG_STATUS_UNSPECIFIED', 'ORG_STATUS_READY'])
 */
export function identical(name: string, values: readonly string[], v1Only: readonly V1OnlyRow[] = []): EnumMap {
  return enumMap(
    name,
    values.map((value, number): EnumRow => [value, value, number]),
    v1Only,
  )
}
