import { type Ask, ok, type Route } from '../http/route.ts'
import { decode as decodeStored, duration, type Field, flag, int32, int64, isObject, snakeCase, text, time } from '../messages/message.ts'
import { CODES, gatewayError, invalidField, isStatusError, malformed } from '../status.ts'
import { inRoot, parentOf, type World, type WorldOptions } from '../world/store.ts'
import type { Extra, Member, Type, V1Message, V1Scalar, Vocabulary } from './message.ts'

/** The spelling of v1: proto names with the specification's extra members, or exactly the published JSON names. */
export type Dialect = WorldOptions['v1Dialect']

type Row = Readonly<Record<string, unknown>>
type Json = Record<string, unknown>

/** The v1 output of an unset member (facts §16.3). */
const unsetScalar: Readonly<Record<V1Scalar, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  uint32: 0,
  int64: '0',
  timestamp: null,
  duration: null,
}

const isUnset = (value: unknown): boolean => value === undefined || value === null

/** The store keeps no presence for scalars: a zero means that the member was never set. */
const isAbsent = (value: unknown): boolean => isUnset(value) || value === '' || value === 0

function unset(member: Member): unknown {
  if (member.shape === 'list') return []
  if (member.shape === 'map') return {}
  if (member.type.kind === 'scalar') return unsetScalar[member.type.scalar]
  return member.type.kind === 'enum' ? member.type.values.zero : null
}

/** A stored name that v1 lacks becomes the zero value (facts §18). */
const enumName = (value: unknown, values: Vocabulary): string => values.toV1.get(String(value)) ?? values.zero

function encodeValue(value: unknown, type: Type, dialect: Dialect): unknown {
  if (type.kind === 'message') return encode(value as Row, type.message, dialect)
  if (type.kind === 'enum') return enumName(value, type.values)
  if (type.scalar === 'uint32') return Number(value) >>> 0
  return type.scalar === 'int64' ? String(value) : value
}

function encodeList(values: readonly unknown[], type: Type, dialect: Dialect): unknown[] {
  // Lists drop a name that v1 lacks: a zero would be an additional element (facts §18).
  const known = type.kind === 'enum' ? values.filter((value) => type.values.toV1.has(String(value))) : values
  return known.map((value) => encodeValue(value, type, dialect))
}

const encodeMap = (values: Row, type: Type, dialect: Dialect): Json =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encodeValue(value, type, dialect)]))

function encodeMember(value: unknown, member: Member, dialect: Dialect): unknown {
  if (isUnset(value)) return unset(member)
  if (member.shape === 'list') return encodeList(value as readonly unknown[], member.type, dialect)
  if (member.shape === 'map') return encodeMap(value as Row, member.type, dialect)
  return encodeValue(value, member.type, dialect)
}

/** Name of a member in a dialect. */
export const nameIn = (member: Pick<Member, 'name' | 'json'>, dialect: Dialect): string =>
  dialect === 'specification' ? member.name : member.json

/** Encodes a stored, v2-shaped row as a v1 message: every member by its type, set or not. Keys of user maps stay as they are. */
export function encode(row: Row, message: V1Message, dialect: Dialect): Json {
  const out: Json = {}
  for (const member of message.members) {
    const value = member.flow === 'in' ? undefined : row[member.from]
    if (member.presence !== undefined && isAbsent(value)) continue
    out[nameIn(member, dialect)] = encodeMember(value, member, dialect)
  }
  return out
}

const extraValue: Readonly<Record<Extra, (row: Row) => unknown>> = {
  created_at: (row) => row['createTime'] ?? null,
  updated_at: (row) => row['updateTime'] ?? null,
  group_id: (row) => (inRoot(String(row['uid'])) ? undefined : parentOf(String(row['uid']))),
}

/**
 * Encodes a row as a resource: a list item or a single answer. The specification's dialect also shows the members of specification §9.5;
 * `group_id` only below a group.
 */
export function encodeResource(row: Row, message: V1Message, dialect: Dialect): Json {
  const out = encode(row, message, dialect)
  if (dialect === 'published') return out
  for (const extra of message.extras) {
    const value = extraValue[extra](row)
    if (value !== undefined) out[extra] = value
  }
  return out
}

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

/** One v1 endpoint. Answers HTTP 200 with the JSON of `answer`, creates and deletes included (facts §12.5). */
export type Operation = {
  readonly method: Route['method']
  readonly template: string
  readonly auth?: Route['auth']
  /** The message whose v1 names errors use for fields. */
  readonly message?: V1Message
  readonly answer: (ask: Ask, world: World) => unknown
}

/** Translates a field from the names of the store to those of a v1 message: `static_keys.expiration_time` → `static.expiration`. */
export function v1FieldName(path: string, message: V1Message): string {
  const [head = '', ...rest] = path.split('.')
  const [name = '', index = ''] = head.split(/(?=\[)/, 2)
  const member = message.members.find(({ from }) => snakeCase(from) === name)
  if (!member) return path
  const inner = member.type.kind === 'message' ? v1FieldName(rest.join('.'), member.type.message) : rest.join('.')
  return `${member.name}${index}${rest.length > 0 ? `.${inner}` : ''}`
}

/**
 * Rethrows a failure of the service in v1's words: the same code and text, fields under their v1 names, no details (facts §15). Other
 * errors are faults of the sandbox and pass unchanged.
 */
function refuseInV1(error: unknown, { message, template }: Operation): never {
  if (!isStatusError(error)) throw error
  const { code, details, message: text } = error.status
  const violations = details.flatMap((detail) => (detail.kind === 'badRequest' ? detail.fieldViolations : []))
  const nameOf = (field: string) => {
    const name = message ? v1FieldName(field, message) : field
    return name === 'parent' ? (pathVariable(template) ?? name) : name
  }
  const worded = violations.map(({ field, description }) => `${nameOf(field)}: ${description}`)
  return gatewayError(code, worded.length > 0 ? CODES[code].prefix + worded.join('; ') : text)
}

/** v1's name for the parent of a create: the path variable (facts §12.1). */
const pathVariable = (template: string): string | undefined => /\{([^=}]+)/.exec(template)?.[1]

/** The route of an operation. */
export const routeOf = (operation: Operation): Route => ({
  method: operation.method,
  template: operation.template,
  auth: operation.auth,
  handle: (ask, world) => {
    try {
      return ok(operation.answer(ask, world))
    } catch (error) {
      return refuseInV1(error, operation)
    }
  },
})
