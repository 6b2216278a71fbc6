import { snakeCase } from '../http/case.ts'
import { malformed } from '../status.ts'
import { type Draft, type Field, isObject, type Message, zeroOf } from './message.ts'
import { formatTimestamp, parseTimestamp } from './timestamp.ts'

/** The member of `message` with that JSON name or proto name (facts §16.2), or undefined. */
export const memberOf = (message: Message, key: string): string | undefined => {
  if (Object.hasOwn(message.fields, key)) return key
  return Object.keys(message.fields).find((name) => snakeCase(name) === key)
}

const refuse = (name: string, field: Field, value: unknown): never =>
  malformed(`proto: invalid value for ${field.type} field ${name}: ${JSON.stringify(value)}`)

const integer = (value: unknown): bigint | undefined => {
  const text = typeof value === 'number' && Number.isInteger(value) ? String(value) : value
  return typeof text === 'string' && /^-?[0-9]+$/.test(text) ? BigInt(text) : undefined
}

const whole = (value: unknown, bits: number): bigint | undefined => {
  const number = integer(value)
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

const ofType =
  (type: 'string' | 'boolean') =>
  (value: unknown): unknown =>
    typeof value === type ? value : undefined

/** Each reader converts a JSON value to the row's form. It returns undefined for a value of another type. */
const READERS: Readonly<Record<Field['type'], (value: unknown, field: Field) => unknown>> = {
  string: ofType('string'),
  bool: ofType('boolean'),
  int32: asInt32,
  int64: (value) => whole(value, 64)?.toString(),
  time: asTime,
  duration: (value) => (typeof value === 'string' && /^-?[0-9]+(?:\.[0-9]{1,9})?s$/.test(value) ? value : undefined),
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
