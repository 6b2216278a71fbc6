import { decode as decodeStored } from '../messages/decode.ts'
import { duration, type Field, flag, int32, int64, isObject, text, time } from '../messages/message.ts'
import { invalidField, malformed } from '../status.ts'
import type { Member, Type, V1Message, V1Scalar, Vocabulary } from './message.ts'

/** A request body in the names of the store, with only the members that the body carried. */
export type Decoded = Readonly<Record<string, unknown>>

const refuse = (type: string, name: string, value: unknown): never =>
  malformed(`proto: invalid value for ${type} field ${name}: ${JSON.stringify(value)}`)

/** Scalars are read as in v2, except unsigned numbers: the store keeps their bits (ASSUMPTIONS.md, "Genuine v1"). */
const fields: Readonly<Record<V1Scalar, Field>> = {
  string: text(),
  bool: flag(),
  int32: int32(),
  uint32: int64(),
  int64: int64(),
  timestamp: time(),
  duration: duration(),
}

function scalarValue(value: unknown, scalar: V1Scalar, name: string): unknown {
  const read = value === null ? undefined : decodeStored({ name, fields: { [name]: fields[scalar] } }, { [name]: value })[name]
  if (scalar !== 'uint32') return read
  const number = Number(read)
  return number >= 0 && number < 2 ** 32 ? number | 0 : undefined
}

/** A name or a v1 number. An unknown number is the zero value, as in open enums. */
function enumValue(value: unknown, values: Vocabulary, name: string): string | undefined {
  if (values.byNumber.size === 0 && typeof value === 'string' && !values.toStored.has(value)) {
    return invalidField(name, `unknown ${values.name} "${value}"`)
  }
  const v1 = Number.isInteger(value) ? (values.byNumber.get(value as number) ?? values.zero) : value
  return typeof v1 === 'string' ? values.toStored.get(v1) : undefined
}

function decodeValue(value: unknown, type: Type, name: string): unknown {
  if (type.kind === 'message') return decode(value, type.message, name)
  const read = type.kind === 'enum' ? enumValue(value, type.values, name) : scalarValue(value, type.scalar, name)
  return read ?? refuse(type.kind === 'enum' ? 'enum' : type.scalar, name, value)
}

function decodeMember(value: unknown, { type, name, shape }: Member): unknown {
  if (shape === 'one') return decodeValue(value, type, name)
  if (shape === 'list') {
    return Array.isArray(value) ? value.map((element) => decodeValue(element, type, name)) : refuse('repeated', name, value)
  }
  if (!isObject(value)) return refuse('map', name, value)
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, decodeValue(entry, type, name)]))
}

/** A member under either spelling; null is unset (facts §16.2, §16.8). */
function given(body: Decoded, { name, json }: Member): unknown {
  if (name !== json && name in body && json in body) return malformed(`proto: duplicate field "${name}"`)
  return (json in body ? body[json] : body[name]) ?? undefined
}

/**
 * Reads a JSON body. Both spellings are accepted, unknown and server-written members are dropped, values are checked by type. `at` names
 * the member that holds the message, for the error text. Throws code 3.
 */
export function decode(body: unknown, message: V1Message, at = message.name): Decoded {
  if (!isObject(body)) return refuse('message', at, body)
  const out: Record<string, unknown> = {}
  const taken = new Map<string, string>()
  for (const member of message.members) {
    const value = member.flow === 'out' ? undefined : given(body, member)
    if (value === undefined) continue
    if (member.presence !== undefined && taken.has(member.presence)) {
      malformed(`proto: field "${member.name}": oneof "${member.presence}" is already set by "${taken.get(member.presence)}"`)
    }
    if (member.presence !== undefined) taken.set(member.presence, member.name)
    out[member.from] = decodeMember(value, member)
  }
  return out
}
