import { invalidField, malformed } from '../status.ts'
import { formatTimestamp, parseTimestamp } from '../timestamp.ts'
import type { Member, Message, Scalar, Type, Vocabulary } from './message.ts'

/** A request body as the store spells it: only the members the body carried. */
export type Decoded = Readonly<Record<string, unknown>>

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const refuse = (type: string, name: string, value: unknown): never =>
  malformed(`proto: invalid value for ${type} field ${name}: ${JSON.stringify(value)}`)

const wholeNumber = (value: unknown, low: bigint, high: bigint): bigint | undefined => {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (!/^-?\d+$/.test(text)) return undefined
  const number = BigInt(text)
  return number < low || number > high ? undefined : number
}

const asNumber = (number: bigint | undefined): number | undefined => (number === undefined ? undefined : Number(number))
const matching =
  (pattern: RegExp) =>
  (value: unknown): string | undefined =>
    typeof value === 'string' && pattern.test(value) ? value : undefined

/** Any offset is accepted; what is already UTC keeps its digits (facts §19). */
function timestamp(value: unknown): string | undefined {
  const milliseconds = typeof value === 'string' ? parseTimestamp(value) : undefined
  if (milliseconds === undefined) return undefined
  return String(value).endsWith('Z') ? String(value) : formatTimestamp(milliseconds)
}

/** Reads one scalar as protobuf JSON does; undefined when it is none of that type (facts §16). */
const readScalar: Readonly<Record<Scalar, (value: unknown) => unknown>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  bool: (value) => (typeof value === 'boolean' ? value : undefined),
  int32: (value) => asNumber(wholeNumber(value, -(2n ** 31n), 2n ** 31n - 1n)),
  uint32: (value) => asNumber(wholeNumber(value, 0n, 2n ** 32n - 1n)),
  int64: (value) => wholeNumber(value, -(2n ** 63n), 2n ** 63n - 1n)?.toString(),
  timestamp,
  duration: matching(/^-?\d+(\.\d{1,9})?s$/),
}

/** A name or a v1 number; a number nobody knows is the zero value, as open enums have it. */
function enumValue(value: unknown, values: Vocabulary, name: string): string | undefined {
  if (values.byNumber.size === 0 && typeof value === 'string' && !values.toStored.has(value)) {
    return invalidField(name, `unknown ${values.name} "${value}"`)
  }
  const v1 = Number.isInteger(value) ? (values.byNumber.get(value as number) ?? values.zero) : value
  return typeof v1 === 'string' ? values.toStored.get(v1) : undefined
}

function decodeValue(value: unknown, type: Type, name: string): unknown {
  if (type.kind === 'message') return decode(value, type.message, name)
  const read = type.kind === 'enum' ? enumValue(value, type.values, name) : readScalar[type.scalar](value)
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
function given(body: Json, { name, json }: Member): unknown {
  if (name !== json && name in body && json in body) return malformed(`proto: duplicate field "${name}"`)
  return (json in body ? body[json] : body[name]) ?? undefined
}

/**
 * Reads a JSON body: both spellings, unknown and server-written members dropped, values checked by type.
 * `at` names the member that holds the message, for the error text. Throws code 3.
 */
export function decode(body: unknown, message: Message, at = message.name): Decoded {
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
