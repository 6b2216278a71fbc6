import { isDeepStrictEqual } from 'node:util'
import { enums, type FieldFact, messages } from './facts.ts'
import { NotExpressible } from './inexpressible.ts'
import { SCALARS } from './scalars.ts'

/**
 * Protobuf JSON for clients that have none (protobufjs), written from its specification alone. Objects are those of protobufjs: proto
 * names, enums as numbers.
 */
export type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsOf = (message: string): readonly FieldFact[] => messages.get(message) ?? []

/** Reads a message in either spelling. Throws what no client of this message could say. */
export function readMessage(message: string, json: unknown): Json {
  if (!isObject(json)) throw new NotExpressible('type', JSON.stringify(json))
  const fields = fieldsOf(message)
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) {
    const field = fields.find(({ proto, json: camel }) => proto === name || camel === name)
    if (!field) throw new NotExpressible('unknown', `${message} ${name}`)
    if (field.proto in read) throw new NotExpressible('twice', `${message} ${name}`)
    if (value === null) continue
    const rivals = fields.filter(({ oneof }) => oneof !== undefined && oneof === field.oneof)
    if (rivals.some(({ proto }) => proto in read)) throw new NotExpressible('oneof', `${message} ${name}`)
    read[field.proto] = readField(field, value)
  }
  return read
}

function readField({ shape, type, keys = 'string' }: FieldFact, json: unknown): unknown {
  if (shape === 'one') return readValue(type, json)
  const isShaped = shape === 'list' ? Array.isArray(json) : isObject(json)
  if (!isShaped) throw new NotExpressible('type', JSON.stringify(json))
  if (Array.isArray(json)) return json.map((one) => readValue(type, one))
  return Object.fromEntries(Object.entries(json as Json).map(([key, one]) => [readValue(keys, key), readValue(type, one)]))
}

function readValue(type: string, json: unknown): unknown {
  const values = enums.get(type)
  if (!values) return SCALARS[type]?.read(json) ?? readMessage(type, json)
  const number = typeof json === 'string' ? values[json] : json
  if (typeof number !== 'number' || !Number.isInteger(number)) throw new NotExpressible('type', JSON.stringify(json))
  return number
}

/** Writes a message as v1 does: unset members are zero, null, `[]` or `{}`; those of a oneof and optional ones are absent (facts §16). */
export function writeMessage(message: string, value: Json): Json {
  return Object.fromEntries(
    fieldsOf(message).flatMap((field): [string, unknown][] => {
      const own = Object.hasOwn(value, field.proto) ? value[field.proto] : undefined
      if (own === undefined || own === null) return field.oneof !== undefined || field.optional ? [] : [[field.json, unset(field)]]
      return [[field.json, writeField(field, own)]]
    }),
  )
}

/** Whether a message sets a field of its own to zero, which its bytes do not show. */
export function saysZero(message: string, value: Json): boolean {
  return fieldsOf(message).some((field) => {
    if (!Object.hasOwn(value, field.proto) || field.oneof !== undefined || field.optional) return false
    return isDeepStrictEqual(writeField(field, value[field.proto]), unset(field))
  })
}

function unset({ shape, type }: FieldFact): unknown {
  if (shape !== 'one') return shape === 'list' ? [] : {}
  const values = enums.get(type)
  return values ? writeValue(type, 0) : (SCALARS[type]?.zero ?? null)
}

function writeField({ shape, type }: FieldFact, value: unknown): unknown {
  if (shape === 'list') return (value as unknown[]).map((one) => writeValue(type, one))
  if (shape === 'one') return writeValue(type, value)
  return Object.fromEntries(Object.entries(value as Json).map(([key, one]) => [key, writeValue(type, one)]))
}

function writeValue(type: string, value: unknown): unknown {
  const values = enums.get(type)
  if (values) return Object.entries(values).find(([, number]) => number === value)?.[0] ?? value
  return SCALARS[type] ? SCALARS[type].write(value as never) : writeMessage(type, value as Json)
}
