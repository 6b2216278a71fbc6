import { malformed } from '../status.ts'

/** `updated_since` → `updatedSince`; dots stay. */
export const camelCase = (name: string): string => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())

/** `updatedSince` → `updated_since`; dots stay. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt](?:[01]\d|2[0-3]):\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:\d{2})$/

/** The first and the last time that a message holds, in milliseconds since the epoch. */
const FIRST_TIME = Date.parse('0001-01-01T00:00:00.000Z')
export const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Parses an RFC 3339 time with any offset (facts §19) to milliseconds since the epoch. Undefined if the text is not one, if the calendar does
 * not have its day (`2024-02-30`), or if no message holds it in UTC.
 */
export const parseTimestamp = (text: string): number | undefined => {
  const day = RFC3339.exec(text)?.[1]
  if (day === undefined) return undefined
  const [milliseconds, midnight] = [Date.parse(text.toUpperCase()), Date.parse(day)]
  const isHeld = milliseconds >= FIRST_TIME && milliseconds <= LAST_TIME
  return isHeld && new Date(midnight).toISOString().slice(0, 10) === day ? milliseconds : undefined
}

/** Formats milliseconds since the epoch as the service does: RFC 3339, UTC, milliseconds (specification §2). */
export const formatTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString()

/**
 * The description of a v2 message: a table from JSON member name to field. Everything that depends on members (decoding, masks, validation,
 * rendering) walks this table and never the JSON, because the keys of maps are data.
 */

/** Returns the reason to refuse a value, or undefined. It is not called with an unset value unless the field is required. */
export type Check = (value: never) => string | undefined

type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'time' | 'duration'

/** What a field may carry beside its type. */
type FieldOptions = {
  /** A missing or zero value is a violation on create and on every write of the field. */
  readonly required?: true
  /** Set by the service. In a body it is ignored at any depth (semantics §6). */
  readonly outputOnly?: true
  /** Accepted but never rendered. */
  readonly inputOnly?: true
  /** Members of one group exclude each other. Writing one clears the others. */
  readonly oneof?: string
  readonly check?: Check
}

/** `T` is what a row holds, undefined included. */
export type Field<T = unknown> = FieldOptions & {
  readonly type: Scalar | 'enum' | 'message'
  readonly shape: 'single' | 'list' | 'map'
  /** For `enum`: names by number. */
  readonly values?: readonly string[]
  /** For `message`. */
  readonly message?: Message
  /** Never set: it carries `T` for `RowOf`. */
  readonly holds?: T
}

type Fields = Readonly<Record<string, Field>>

export type Message<F extends Fields = Fields> = {
  /** The full proto name, as the gateway's errors quote it. */
  readonly name: string
  readonly fields: F
}

type Held<F> = F extends Field<infer T> ? T : never

/** A member that every row has: it is not undefined when unset, or it is a date of the resource. */
type Kept<Name, Value> = undefined extends Value ? Extract<Name, keyof typeof DATED> : Name

/** The row of a message: what `fill` makes of a draft. */
export type RowOf<M> =
  M extends Message<infer F>
    ? { readonly [Name in keyof F as Kept<Name, Held<F[Name]>>]: Exclude<Held<F[Name]>, undefined> } & {
        readonly [Name in keyof F as Exclude<Name, Kept<Name, Held<F[Name]>>>]?: Held<F[Name]>
      }
    : never

/** Members of a oneof are undefined when unset. */
type Single<T, O> = Field<O extends { readonly oneof: string } ? T | undefined : T>

const scalar =
  <T>(type: Scalar) =>
  <O extends FieldOptions>(options?: O): Single<T, O> => ({ type, shape: 'single', ...options })

export const text = scalar<string>('string')
export const flag = scalar<boolean>('bool')
export const int32 = scalar<number>('int32')
export const int64 = scalar<string>('int64')
/** A timestamp: RFC 3339 with any offset on input, stored as UTC with milliseconds. */
export const time = scalar<string | undefined>('time')
/** Seconds with an `s`: `"3600s"`. */
export const duration = scalar<string | undefined>('duration')

/** The value names of an enum by number: `valuesOf('ORG_KIND', 'DEV')` is `ORG_KIND_UNSPECIFIED` and `ORG_KIND_DEV`. */
export const valuesOf = (prefix: string, ...names: readonly string[]): readonly string[] =>
  ['UNSPECIFIED', ...names].map((name) => `${prefix}_${name}`)

/** An enum by its value names. The first is the zero value. */
export const choice = <O extends FieldOptions>(values: readonly string[], options?: O): Single<string, O> => ({
  type: 'enum',
  shape: 'single',
  values,
  ...options,
})

/** A message by its full name. */
export const messageType = <F extends Fields>(name: string, fields: F): Message<F> => ({ name, fields })

/** A sub-message. */
export const nested = <M extends Message>(message: M, options: FieldOptions = {}): Field<RowOf<M> | undefined> => ({
  type: 'message',
  shape: 'single',
  message,
  ...options,
})

/** A list of `field`. The options of the list are separate from those of its elements. */
export const listOf = <T>(field: Field<T>, options: FieldOptions = {}) =>
  ({ ...field, shape: 'list', ...options }) as Field<readonly Exclude<T, undefined>[]>

/** A map from string to `field`. */
export const mapOf = <T>(field: Field<T>, options: FieldOptions = {}) =>
  ({ ...field, shape: 'map', ...options }) as Field<Readonly<Record<string, Exclude<T, undefined>>>>

export const outputText = text({ outputOnly: true })
export const outputTime = time({ outputOnly: true })

/** Members every dated resource has. */
export const DATED = { createTime: outputTime, updateTime: outputTime }

/** A JSON object on its way between a body and a row. */
export type Draft = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Draft => typeof value === 'object' && value !== null && !Array.isArray(value)

const SCALAR_ZERO: Readonly<Record<Scalar, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: '0',
  time: undefined,
  duration: undefined,
}

/** The value of an unset field in a row: undefined for messages, times and members of a oneof. */
export const zeroOf = (field: Field): unknown => {
  if (field.shape === 'list') return []
  if (field.shape === 'map') return {}
  if (field.oneof !== undefined || field.type === 'message') return undefined
  return field.type === 'enum' ? field.values?.[0] : SCALAR_ZERO[field.type]
}

/** True if `value` equals `zeroOf(field)`. */
export const isZero = (field: Field, value: unknown): boolean => {
  if (value === undefined) return true
  if (field.shape === 'list') return (value as readonly unknown[]).length === 0
  if (field.shape === 'map') return Object.keys(value as Draft).length === 0
  return value === zeroOf(field)
}

/** `draft` with all members of the message. Missing ones get their zero value. */
export const fill = <M extends Message>(message: M, draft: Draft): RowOf<M> =>
  Object.fromEntries(Object.entries(message.fields).map(([name, field]) => [name, fillField(field, draft[name])])) as RowOf<M>

const fillField = (field: Field, value: unknown): unknown => (value === undefined ? zeroOf(field) : withMessages(field, value, fill))

/** The value of a field with each message in it replaced: itself, or the elements of a list or map. */
const withMessages = (field: Field, value: unknown, replace: (message: Message, row: Draft) => unknown): unknown => {
  const { message, shape } = field
  if (!message) return value
  if (shape === 'list') return (value as readonly Draft[]).map((item) => replace(message, item))
  if (shape === 'map')
    return Object.fromEntries(Object.entries(value as Draft).map(([key, item]) => [key, replace(message, item as Draft)]))
  return replace(message, value as Draft)
}

/** `draft` without the members that clients cannot set. */
export const withoutOutput = (message: Message, draft: Draft): Draft =>
  Object.fromEntries(
    Object.entries(draft)
      .filter(([name]) => message.fields[name]?.outputOnly !== true)
      .map(([name, value]) => {
        const field = message.fields[name]
        return [name, field?.message && field.shape === 'single' && isObject(value) ? withoutOutput(field.message, value) : value]
      }),
  )

/** Numbers and flags appear even if zero. Every other unset member is omitted (ASSUMPTIONS.md, "Answers"). */
const ALWAYS: ReadonlySet<string> = new Set(['bool', 'int32', 'int64'])

const shown = (field: Field, value: unknown): boolean =>
  field.inputOnly !== true &&
  value !== undefined &&
  (field.oneof !== undefined || (field.shape === 'single' && ALWAYS.has(field.type)) || !isZero(field, value))

/** The v2 JSON of a row: only the members of the message, in the order of the table. */
export const render = (message: Message, row: Draft): Draft =>
  Object.fromEntries(
    Object.entries(message.fields)
      .filter(([name, field]) => shown(field, row[name]))
      .map(([name, field]) => [name, withMessages(field, row[name], render)]),
  )

/** The member of `message` with that JSON name or proto name (facts §16.2), or undefined. */
export const memberOf = (message: Message, key: string): string | undefined => {
  if (Object.hasOwn(message.fields, key)) return key
  return Object.keys(message.fields).find((name) => snakeCase(name) === key)
}

const refuse = (name: string, field: Field, value: unknown): never =>
  malformed(`proto: invalid value for ${field.type} field ${name}: ${JSON.stringify(value)}`)

/** An integer of that many bits, from a number or its digits. */
const whole = (value: unknown, bits: number): bigint | undefined => {
  const text = typeof value === 'number' ? String(value) : value
  const number = typeof text === 'string' && /^-?[0-9]+$/.test(text) ? BigInt(text) : undefined
  return number === undefined || BigInt.asIntN(bits, number) !== number ? undefined : number
}

const asTime = (value: unknown): string | undefined => {
  const milliseconds = typeof value === 'string' ? parseTimestamp(value) : undefined
  return milliseconds === undefined ? undefined : formatTimestamp(milliseconds)
}

const asInt32 = (value: unknown): number | undefined => {
  const number = whole(value, 32)
  return number === undefined ? undefined : Number(number)
}

/** Seconds. The most that a google.protobuf.Duration holds. */
const LONGEST_DURATION = 315_576_000_000

const isDuration = (text: string) => /^-?[0-9]+(?:\.[0-9]{1,9})?s$/.test(text) && Math.abs(Number.parseFloat(text)) <= LONGEST_DURATION

/** Each reader converts a JSON value to the row's form. It returns undefined for a value of another type. */
const READERS: Readonly<Record<Field['type'], (value: unknown, field: Field) => unknown>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  int32: asInt32,
  int64: (value) => whole(value, 64)?.toString(),
  time: asTime,
  duration: (value) => (typeof value === 'string' && isDuration(value) ? value : undefined),
  enum: (value, { values }) => (typeof value === 'number' ? values?.[value] : values?.find((known) => known === value)),
  message: (value, { message }) => (message && isObject(value) ? decode(message, value) : undefined),
}

const decodeOne = (name: string, field: Field, value: unknown): unknown => READERS[field.type](value, field) ?? refuse(name, field, value)

const decodeField = (name: string, field: Field, value: unknown): unknown => {
  if (value === null) return zeroOf(field)
  if (field.shape === 'list') return Array.isArray(value) ? value.map((item) => decodeOne(name, field, item)) : refuse(name, field, value)
  if (field.shape === 'single') return decodeOne(name, field, value)
  if (!isObject(value)) return refuse(name, field, value)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decodeOne(name, field, item)]))
}

/**
 * Reads a JSON body as `message`. The result has the members present, under their JSON names. Both spellings are accepted, unknown members
 * are dropped, null is unset. A value of the wrong type, an unknown enum name or two members of one oneof is 400 code 3 (semantics §4.1).
 */
export const decode = (message: Message, body: unknown): Draft => {
  if (!isObject(body)) return malformed(`proto: syntax error: unexpected ${JSON.stringify(body)} for message ${message.name}`)
  const draft: Record<string, unknown> = {}
  const taken = new Set<string>()
  for (const [key, value] of Object.entries(body)) {
    const name = memberOf(message, key)
    const field = name === undefined ? undefined : message.fields[name]
    if (name === undefined || !field) continue
    if (field.oneof !== undefined && value !== null) {
      if (taken.has(field.oneof)) malformed(`proto: error parsing "${key}", oneof ${message.name}.${field.oneof} is already set`)
      taken.add(field.oneof)
    }
    draft[name] = decodeField(name, field, value)
  }
  return draft
}
