/**
 * The description of a v2 message: a table from JSON member name to field. Everything that depends on members (decoding, masks, validation,
 * rendering) walks this table and never the JSON, because the keys of maps are data.
 */

/** Returns the reason to refuse a value, or undefined. It is not called with an unset value unless the field is required. */
export type Check = (value: never) => string | undefined

export type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'time' | 'duration'

/** What a field may carry beside its type. */
export type FieldOptions = {
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

export type Field = FieldOptions & {
  readonly type: Scalar | 'enum' | 'message'
  readonly shape: 'single' | 'list' | 'map'
  /** For `enum`: names by number. */
  readonly values?: readonly string[]
  /** For `message`. */
  readonly message?: Message
}

export type Message = {
  /** The full proto name, as the gateway's errors quote it. */
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
}

const scalar =
  (type: Scalar) =>
  (options: FieldOptions = {}): Field => ({ type, shape: 'single', ...options })

export const text = scalar('string')
export const flag = scalar('bool')
export const int32 = scalar('int32')
export const int64 = scalar('int64')
/** A timestamp: RFC 3339 with any offset on input, stored as UTC with milliseconds. */
export const time = scalar('time')
/** Seconds with an `s`: `"3600s"`. */
export const duration = scalar('duration')

/** An enum by its value names. The first is the zero value. */
export const choice = (values: readonly string[], options: FieldOptions = {}): Field => ({
  type: 'enum',
  shape: 'single',
  values,
  ...options,
})

/** A sub-message. */
export const nested = (message: Message, options: FieldOptions = {}): Field => ({ type: 'message', shape: 'single', message, ...options })

/** A list of `field`. The options of the list are separate from those of its elements. */
export const listOf = (field: Field, options: FieldOptions = {}): Field => ({ ...field, shape: 'list', ...options })

/** A map from string to `field`. */
export const mapOf = (field: Field, options: FieldOptions = {}): Field => ({ ...field, shape: 'map', ...options })

/** Members every dated resource has. */
export const outputText = text({ outputOnly: true })
export const outputTime = time({ outputOnly: true })

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
export const fill = (message: Message, draft: Draft): Draft =>
  Object.fromEntries(Object.entries(message.fields).map(([name, field]) => [name, fillField(field, draft[name])]))

const fillField = (field: Field, value: unknown): unknown => {
  if (value === undefined) return zeroOf(field)
  if (field.type !== 'message' || !field.message) return value
  const { message } = field
  if (field.shape === 'list') return (value as readonly Draft[]).map((item) => fill(message, item))
  if (field.shape === 'map')
    return Object.fromEntries(Object.entries(value as Draft).map(([key, item]) => [key, fill(message, item as Draft)]))
  return fill(message, value as Draft)
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
