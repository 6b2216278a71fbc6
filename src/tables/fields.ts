import type { Convert } from './compile.ts'
import type { JsonObject } from './json.ts'
import type { Param, Params } from './query.ts'
import type { Dialect } from './uid.ts'

/**
 * One enum value: v1 name, v2 name, v1 number, v2 number.
 * Numbers are read, never written, and never copied across versions (facts §18). v1 carries a value without a number as a plain string.
 */
export type EnumRow = readonly [v1: string, v2: string, number?: number | undefined, v2Number?: number]

/** A value that only v1 has. */
type V1OnlyRow = readonly [v1: string, number: number]

/** A one-to-one map between a v1 enum and its v2 twin. The first row is the zero value. */
export interface EnumMap {
  readonly name: string
  readonly rows: readonly EnumRow[]
  /** v1 values that v2 lacks. Only v1 can serve a request with one; without a v1 service it is INVALID_ARGUMENT. */
  readonly v1Only: readonly V1OnlyRow[]
  readonly zero: EnumRow
  /** Keyed by v2 name and by v2 number. */
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
    [3, 'v2 number'],
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
    toV1: new Map<unknown, string>([
      ...rows.map(([v1, v2]) => [v2, v1] as const),
      ...rows.flatMap(([v1, , , number]) => (number === undefined ? [] : [[number, v1] as const])),
    ]),
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
 * Builds an enum whose v2 names are the v1 names with a prefix; `zero` is the pair of the unset value (facts §18). A value has its number,
 * and its number in v2 if that is another one.
 *
 *     prefixed('AccountType', 'ACCOUNT_PROVIDER_TYPE_', ['UNKNOWN', 'ACCOUNT_PROVIDER_TYPE_UNSPECIFIED'], [['GOOGLE', 1]])
 */
export function prefixed(
  name: string,
  prefix: string,
  zero: readonly [string, string],
  values: readonly (readonly [string, number, v2Number?: number])[],
): EnumMap {
  const rows = values.map(([value, number, v2Number = number]): EnumRow => [value, prefix + value, number, v2Number])
  return enumMap(name, [[...zero, 0, 0], ...rows])
}

/**
 * Builds an enum that both versions spell alike; the number of a value is its position, in both.
 *
 *     identical('OrgStatus', ['ORG_STATUS_UNSPECIFIED', 'ORG_STATUS_READY'])
 */
export function identical(name: string, values: readonly string[], v1Only: readonly V1OnlyRow[] = []): EnumMap {
  return enumMap(
    name,
    values.map((value, number): EnumRow => [value, value, number, number]),
    v1Only,
  )
}

/** The type of a v1 member. It decides how the member is read, written and shown when unset (facts §16). */
export type FieldType =
  | { readonly kind: 'text' | 'flag' | 'number' | 'long' | 'time' | 'duration' | 'bytes' }
  | { readonly kind: 'int'; readonly unsigned?: true }
  | { readonly kind: 'choice'; readonly of: EnumMap; readonly dropUnknown?: boolean }
  | {
      readonly kind: 'object'
      readonly fields: Fields
      /** The name of the message, where it is described alone (`shape`). */
      readonly name?: string
    }
  | Many

/** A list or a map. With `holdsNull`, `null` stands among its items in both versions. */
export interface Many {
  readonly kind: 'list' | 'map'
  readonly of: FieldType
  readonly holdsNull?: true
}

/** The place of the value in the v2 form: a dotted path, the parent part of a uid, or the first of several that is set. */
export type Source = string | { readonly parentOf: string } | { readonly firstOf: readonly Source[] }

/** One row: a v1 member and its v2 counterpart. The compiler knows the source and the rows inside, which `rows` compares with contracts. */
export interface Field<S extends Source | undefined = Source | undefined, T extends FieldType = FieldType> {
  readonly type: T
  /** Undefined if v2 has no such member; v1 then gets the unset value. */
  readonly source: S
  /**
   * `readOnly` members of a v1 body are dropped. `writeOnly` members are never shown. `elsewhere` members belong to another v2 resource.
   */
  readonly access: 'readWrite' | 'readOnly' | 'writeOnly' | 'elsewhere'
  /** Of a `readOnly` member that v1 wrote: why a body with another value than the stored one is refused. */
  readonly refused?: string
  /** When unset, `implicit` members are shown; `optional` ones and members of a oneof are absent. */
  readonly presence: 'implicit' | 'optional'
  /** `null` is a value of its own in both versions. Otherwise it is the same as absent. */
  readonly isNullable?: true
  /** v2 has no presence here and sends zero for unset. Zero is therefore absent in v1 too (facts §16.4). */
  readonly zeroIsUnset?: true
  readonly oneof?: string
  /** Absent where v2 hides it from the caller (`WITHHELD`): any value would be false. */
  readonly mayBeWithheld?: true
  /** The published JSON name, if protobuf would derive another one. */
  readonly json?: string
  /** The only dialect that shows it. */
  readonly only?: Dialect
  /** How the versions write the value, where they write it differently. */
  readonly convert?: Convert
  /** How a client of v2 gets the value if the answer to its main call does not have it. */
  readonly made?: string
  /** What the pair loses, in a few words. */
  readonly lossy?: string
}

export type Fields = Readonly<Record<string, Field>>

/** The type of an object whose rows the compiler knows. */
export interface ObjectOf<F extends Fields> {
  readonly kind: 'object'
  readonly fields: F
  readonly name?: string
}

const field = <S extends Source | undefined, T extends FieldType>(type: T, source: S): Field<S, T> => ({
  type,
  source,
  access: 'readWrite',
  presence: 'implicit',
})

/** A string: `name: text('name')`. A row is a v1 member and the dotted path of its value in the v2 form. */
export const text = <const S extends Source>(source: S): Field<S> => field({ kind: 'text' }, source)
/** A boolean: `enabled: flag('enabled')`. */
export const flag = <const S extends Source>(source: S): Field<S> => field({ kind: 'flag' }, source)
/** 32-bit, a JSON number: `epoch: int('epoch')`. */
export const int = <const S extends Source>(source: S): Field<S> => field({ kind: 'int' }, source)
/** Unsigned in v1, signed in v2: from 0 to 2^31 - 1 is what both can write. v2 shows a larger one with a sign. */
export const uint = <const S extends Source>(source: S): Field<S> => field({ kind: 'int', unsigned: true }, source)
/** Any JSON number that is exact, such as a price or an integer of up to 53 bits: `price: number('price')`. */
export const number = <const S extends Source>(source: S): Field<S> => field({ kind: 'number' }, source)
/** 64-bit, a JSON string on both sides: `tag_count: long('tagCount')`. */
export const long = <const S extends Source>(source: S): Field<S> => field({ kind: 'long' }, source)
/** True for a JSON number that was not rounded when it was read. */
export function isExact(value: unknown): value is number {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

/** RFC 3339, passed through character by character (facts §19): `expiration: time('expireTime')`. */
export const time = <const S extends Source>(source: S): Field<S> => field({ kind: 'time' }, source)
/** `"3600s"` in JSON: `ttl: duration('ttl')`. */
export const duration = <const S extends Source>(source: S): Field<S> => field({ kind: 'duration' }, source)
/** base64 text: `digest: bytes('digest')`. */
export const bytes = <const S extends Source>(source: S): Field<S> => field({ kind: 'bytes' }, source)
/** A value of an enum: `kind: choice('kind', orgKind)`. */
export const choice = <const S extends Source>(source: S, of: EnumMap): Field<S> => field({ kind: 'choice', of }, source)
/** A message with a table of its own: `static: object('staticKeys', { issuer: text('issuer') })`. */
export const object = <const S extends Source, F extends Fields>(source: S, fields: F): Field<S, ObjectOf<F>> =>
  field({ kind: 'object', fields }, source)
/** A list of strings: `aliases: texts('aliases')`. */
export const texts = <const S extends Source>(source: S): Field<S> => field({ kind: 'list', of: { kind: 'text' } }, source)
/** A list of enum values, without the v2 values that the table lacks (facts §18): `capabilities: choices('capabilities', capabilities)`. */
export const choices = <const S extends Source>(source: S, of: EnumMap): Field<S> =>
  field({ kind: 'list', of: { kind: 'choice', of, dropUnknown: true } }, source)
/** A list of messages: `accounts: objects('accounts', { name: text('name') })`. */
export const objects = <const S extends Source, F extends Fields>(source: S, fields: F): Field<S, { kind: 'list'; of: ObjectOf<F> }> =>
  field({ kind: 'list', of: { kind: 'object', fields } }, source)
/** A list of what a row describes: `sizes: listOf(int('sizes'))`. Of a `nullable` row, its items may be null. */
export const listOf = <const S extends Source>(row: Field<S>): Field<S> => many('list', row)
/** A user's map of what a row describes: `isOn: mapOf(flag('isOn'))`. */
export const mapOf = <const S extends Source>(row: Field<S>): Field<S> => many('map', row)

function many<S extends Source>(kind: Many['kind'], { isNullable, type, ...row }: Field<S>): Field<S> {
  return { ...row, type: { kind, of: type, ...(isNullable && { holdsNull: true }) } }
}

/** A user's map. Its keys are data and never renamed: `claims: textMap('claims')`. */
export const textMap = <const S extends Source>(source: S): Field<S> => field({ kind: 'map', of: { kind: 'text' } }, source)
/** A user's map of numbers: `resource_limits: intMap('resourceLimits')`. */
export const intMap = <const S extends Source>(source: S): Field<S> => field({ kind: 'map', of: { kind: 'int' } }, source)
/** A user's map of messages: `components: objectMap('components', { version: text('version') })`. */
export const objectMap = <const S extends Source, F extends Fields>(source: S, fields: F): Field<S, { kind: 'map'; of: ObjectOf<F> }> =>
  field({ kind: 'map', of: { kind: 'object', fields } }, source)

/** An object of v1 whose members are flat in the v2 form: `questions: nested({ company: text('company') })`. */
export const nested = <F extends Fields>(fields: F): Field<'', ObjectOf<F>> => field({ kind: 'object', fields }, '')

/** The row of a source alone is a text. */
type RowOf<R extends Field | Source> = R extends Source ? Field<R> : R extends Field ? R : never

/** Output only, because v2 refuses or ignores it: `id: readOnly('uid')`, `kind: readOnly(choice('kind', orgKind))`. */
export const readOnly = <const R extends Field | Source>(row: R): RowOf<R> => ({ ...asField(row), access: 'readOnly' })
/**
 * Shown, and written by v1 alone. A body may leave it unset or repeat the stored value; any other is refused with `why`, because it would be
 * lost: `grace_period: refused('may only be changed by Chainguard', flag('gracePeriod'))`.
 */
export const refused = <F extends Field>(why: string, row: F): F => ({ ...row, access: 'readOnly', refused: why })
/** Accepted from v1, never shown: `secret: writeOnly(text('clientSecret'))`. */
export const writeOnly = <F extends Field>(row: F): F => ({ ...row, access: 'writeOnly' })
/** Shown by v1 and written by a call of its own; the plan sets the value: `readme: elsewhere(text('content'))`. */
export const elsewhere = <F extends Field>(row: F): F => ({ ...row, access: 'elsewhere' })
/** proto3 `optional`, absent when unset: `size: optional(int('size'))`. */
export const optional = <F extends Field>(row: F): F => ({ ...row, presence: 'optional' })
/** `null` is a value that both versions take and show, where it is otherwise unset: `note: optional(nullable(text('note')))`. */
export const nullable = <F extends Field>(row: F): F => ({ ...row, isNullable: true })
/** proto3 `optional` in v1 only: v2 cannot tell zero from unset. */
export const optionalInV1 = <F extends Field>(row: F): F => ({ ...optional(row), zeroIsUnset: true })
/** A member of the oneof `group`, of which at most one is present: `oidc: oneof('configuration', object('oidc', oidc))`. */
export const oneof = <F extends Field>(group: string, row: F): F => ({ ...row, presence: 'optional', oneof: group })
/** A v1 member without a v2 source, and the reason: `grace_status: gone(text, 'v2 knows no grace period')`. */
export const gone = (row: (source: Source) => Field, lossy: string): Field<undefined> => ({
  ...row(''),
  source: undefined,
  access: 'readOnly',
  lossy,
})
/** The published JSON name, if protobuf would derive another one: `jsonName('sync_config', object('sync_config', config))`. */
export const jsonName = <F extends Field>(json: string, row: F): F => ({ ...row, json })
/** A pair that loses something, with the loss: `lossy('v2 keeps no seconds', time('createTime'))`. */
export const lossy = <F extends Field>(why: string, row: F): F => ({ ...row, lossy: why })

/**
 * A value that the versions write differently. The row has v1's type and v2's place; the functions are between them:
 *
 *     number: readOnly(converted(long('name'), { show: (name) => String(name).replace('projects/', '') }))
 */
export const converted = <S extends Source | undefined>(row: Field<S>, convert: Convert): Field<S> => ({ ...row, convert })

/** A member that the proxy makes, and how: `count: made('count the rows', long('count'))`. */
export const made = <F extends Field>(how: string, row: F): F => ({ ...row, made: how })
/** The parent part of a uid: `group_id: readOnly(parentOf('uid'))`. */
export const parentOf = (uid: string): Source => ({ parentOf: uid })
/** The first source that is set: `group: readOnly(firstOf('group.uid', parentOf('uid')))`. */
export const firstOf = (...sources: readonly Source[]): Source => ({ firstOf: sources })

function asField<R extends Field | Source>(row: R): RowOf<R> {
  return (typeof row === 'object' && 'type' in row ? row : text(row as Source)) as RowOf<R>
}

/** Stands in a v2 form for a value that v2 hid from this caller. It is equal in every copy of this module. */
export const WITHHELD: unique symbol = Symbol.for('crosswalk.withheld')
/** A row that is absent where the v2 form holds `WITHHELD`: `mayBeWithheld(object('role', role.fields))`. */
export const mayBeWithheld = <F extends Field>(row: F): F => ({ ...row, mayBeWithheld: true })
/** A message of which the caller may know only these members; the others are absent where they are withheld. */
export const knownBy = (names: readonly string[], fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, row]) => [name, names.includes(name) || row.presence === 'optional' ? row : mayBeWithheld(row)]),
  )
/** The v2 form of such a message with all those members withheld. */
export const withheld = (fields: Fields): JsonObject =>
  Object.fromEntries(
    Object.values(fields).flatMap((row) => (row.mayBeWithheld && typeof row.source === 'string' ? [[row.source, WITHHELD]] : [])),
  )
/** A message of which the main answer shows only the members `names`, and the call that shows the others. */
export const restIn = (call: string, names: readonly string[], fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, row]) => [name, names.includes(name) ? row : made(`${row.source} of ${call}`, row)]),
  )

/**
 * Checks rows against the types of both versions while they are compiled. A wrong name is an error with a sentence, such as
 * `v2 has no member 'displayNmae'; it has 'displayName', 'name'`:
 *
 *     fields: rows<V1Project, V2Project>()({ name: text('displayName'), createTime: readOnly(time('createTime')) })
 *
 * `crosswalk draft` writes such types, and tools for OpenAPI do so too. It changes nothing when it runs.
 */
export const rows =
  <V1, V2>() =>
  <const F extends Fields>(fields: F & Rows<F, V1, V2>): F =>
    fields

/**
 * The same for the parameters of a query: `params: parameters<{ pageSize: number }, { page_size: number }>()({ pageSize: intParam('page_size') })`.
 */
export const parameters =
  <V1, V2>() =>
  <const P extends Params>(params: P & Parameters<P, V1, V2>): P =>
    params

/** The rows, or the sentence about each that is wrong. */
type Rows<F extends Fields, V1, V2> = {
  readonly [K in keyof F]: [RowProblem<K, F[K], V1, V2>] extends [never] ? F[K] : RowProblem<K, F[K], V1, V2>
}

type RowProblem<K, F extends Field, V1, V2> = unknown extends V1
  ? SourceProblem<F, V1, V2>
  : string extends K
    ? never
    : K extends keyof V1
      ? SourceProblem<F, Given<V1[K]>, V2>
      : Unknown<'v1', K & string, V1>

/** What is wrong with the source of a row, or with the rows inside. A row without a source has none. */
type SourceProblem<F extends Field, V1, V2> =
  F extends Field<infer S, infer T>
    ? S extends string
      ? string extends S
        ? never
        : [PathProblem<S, V2>] extends [never]
          ? InnerProblem<T, V1, At<S, V2>>
          : PathProblem<S, V2>
      : never
    : never

type PathProblem<P extends string, V2> = unknown extends V2
  ? never
  : P extends ''
    ? never
    : P extends `${infer Head}.${infer Rest}`
      ? Head extends keyof V2
        ? PathProblem<Rest, Given<V2[Head]>>
        : Unknown<'v2', Head, V2>
      : P extends keyof V2
        ? never
        : Unknown<'v2', P, V2>

/** The type at a dotted path. */
type At<P extends string, V2> = unknown extends V2
  ? unknown
  : P extends ''
    ? V2
    : P extends `${infer Head}.${infer Rest}`
      ? At<Rest, Given<V2[Head & keyof V2]>>
      : Given<V2[P & keyof V2]>

type InnerProblem<T extends FieldType, V1, V2> =
  T extends ObjectOf<infer F>
    ? AnyProblem<F, V1, V2>
    : T extends { readonly of: ObjectOf<infer F> }
      ? AnyProblem<F, Item<V1>, Item<V2>>
      : never

type AnyProblem<F extends Fields, V1, V2> = { readonly [K in keyof F]: RowProblem<K, F[K], V1, V2> }[keyof F]

/** A value that is there. What may hold anything stays so. */
type Given<V> = unknown extends V ? unknown : NonNullable<V>

/** What a list or a map holds. */
type Item<V> = unknown extends V ? unknown : V extends readonly (infer E)[] ? E : V extends Readonly<Record<string, infer E>> ? E : unknown

type Parameters<P extends Params, V1, V2> = {
  readonly [K in keyof P]: K extends keyof V1
    ? ParameterOf<P[K], V2>
    : Wrong<`v1 has no parameter '${K & string}'; it has ${Listed<keyof V1 & string>}`>
}

type ParameterOf<P extends Param | string, V2> =
  NameIn<P> extends '' | keyof V2
    ? P
    : string extends NameIn<P>
      ? P
      : Wrong<`v2 has no parameter '${NameIn<P>}'; it has ${Listed<keyof V2 & string>}`>

/** Holds a sentence that is no text: where two texts differ, the compiler shows neither. */
interface Wrong<Sentence extends string> {
  readonly wrong: Sentence
}

type NameIn<P extends Param | string> = P extends string ? P : P extends Param<infer N> ? N : never

type Unknown<Version extends string, Name extends string, V> = `${Version} has no member '${Name}'; it has ${Listed<keyof V & string>}`

/** `'a' | 'b'` → `'a', 'b'`. */
type Listed<Names extends string, Said extends string = ''> = [Names] extends [never]
  ? Said extends ''
    ? 'none'
    : Said
  : LastOf<Names> extends infer Last extends string
    ? Listed<Exclude<Names, Last>, Said extends '' ? `'${Last}'` : `'${Last}', ${Said}`>
    : never

/** The last of a union: an overloaded function shows its last signature. */
type LastOf<U> = (U extends U ? (one: () => U) => void : never) extends (one: infer I) => void
  ? I extends () => infer L
    ? L
    : never
  : never

const INTEGER = /^-?\d+$/
const RFC3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** True for a time of the years 1 to 9999 that the calendar has. */
export function isTimestamp(value: unknown): value is string {
  const [, year, month, day] = (typeof value === 'string' && RFC3339.exec(value)) || []
  if (year === undefined || year === '0000') return false
  return Number(day) <= 28 || Number(day) <= new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate()
}

const STAMP = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/

/**
 * Reads an RFC 3339 time as seconds and fraction, exact to any number of digits. `…:00Z` and `…:00.000Z` are the same instant; `….1234Z`
 * and `….123Z` are not (facts §19). Returns undefined for any other text.
 */
export function instant(text: string): string | undefined {
  const [, day, time, fraction = '', zone = ''] = STAMP.exec(text) ?? []
  if (day === undefined) return undefined
  const milliseconds = Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(milliseconds) ? undefined : `${milliseconds / 1000}.${withoutZeros(fraction)}`
}

/** A fraction of a second without the zeros at its end. */
export function withoutZeros(fraction: string): string {
  return fraction.replace(/(?<!0)0+$/, '')
}

/** True for an integer or a string of one. A string is never turned into a number and so stays exact beyond 2^53. */
export function isInteger(value: unknown): boolean {
  return typeof value === 'string' ? INTEGER.test(value) : Number.isSafeInteger(value)
}

/** Signed and unsigned 32-bit numbers share this range check; v2 refuses numbers outside its own type. */
export function isInt32(value: number): boolean {
  return value >= -(2 ** 31) && value < 2 ** 32
}

/** Seconds. The most that a google.protobuf.Duration holds: 10,000 years. */
const LONGEST = 315_576_000_000

export function isDuration(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+(\.\d{1,9})?s$/.test(value) && Math.abs(Number(value.slice(0, -1))) <= LONGEST
}

const [LEAST_INT64, MOST_INT64] = [-(2n ** 63n), 2n ** 63n - 1n]

/** True if the digits are a signed 64-bit number. The longest has a sign and 19 digits; a longer one would only take time. */
export function isInt64(digits: string): boolean {
  return digits.length < 19 || (digits.length <= 20 && BigInt(digits) >= LEAST_INT64 && BigInt(digits) <= MOST_INT64)
}

/** True for base64, in either alphabet. */
export function isBase64(value: unknown): value is string {
  return typeof value === 'string' && /^[\w+/-]*={0,2}$/.test(value)
}

/** True for a text that can name an enum value. */
export function isEnumName(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z_]\w*$/.test(value)
}
