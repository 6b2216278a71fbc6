import {
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf'
import type { FieldMask } from '@bufbuild/protobuf/wkt'
import { LRUCache } from 'lru-cache'
import { ApiError, invalidArgument } from '../../errors.ts'
import { LONGEST_QUERY } from '../../serve/request.ts'
import { asText, at, isObject, type JsonObject, MOST_VALUES, parseJson } from '../../tables/json.ts'
import { camelCase } from '../../tables/uid.ts'
import { DELIMITED, EIGHT_BYTES, isDelimited, VARINT } from '../encode/writer.ts'
import type { HttpRule } from '../facts.ts'
import type { RpcMethod } from '../proto-files.ts'
import type { WireCall } from '../wire/call.ts'
import { unreadableCall } from '../wire/framing.ts'
import { fieldsOf } from '../wire/status.ts'

/** The fewest bytes of a field: its tag and an empty value. Elements of a packed list take one each, and are few enough then. */
const LEAST = 2

/**
 * True if bytes hold more fields than so many. Throws `broken` if the fields do not end where they say, or are not of their types: the decoder
 * does not look at the type in a tag, and reads beyond the end of a part, so that it would find other fields in such bytes.
 */
export function holdsMore(message: DescMessage, bytes: Uint8Array, most: number, broken: () => Error): boolean {
  return bytes.length > LEAST * most && fieldsLeft(bytes, innerOf(message), most, broken) < 0
}

/** What stands on the wire for a field: its type, and the fields within it. The elements of a packed list stand in one field. */
interface Inner {
  readonly kind: number
  readonly isPacked: boolean
  readonly within: Fields | undefined
}

type Fields = (number: number) => Inner | undefined

/** Returns how many fields of so many may still come; below 0 once there are too many. */
function fieldsLeft(bytes: Uint8Array, fields: Fields, most: number, broken: () => Error): number {
  let left = most
  for (const { number, kind, from, end } of fieldsOf(bytes, broken)) {
    const inner = fields(number)
    const isPacked = inner?.isPacked === true && kind === DELIMITED
    if (inner && kind !== inner.kind && !isPacked) throw broken()
    left -= isPacked ? 1 + end - from : 1
    if (inner?.within) left = fieldsLeft(bytes.subarray(from, end), inner.within, left, broken)
    if (left < 0) break
  }
  return left
}

const inners = new WeakMap<DescMessage, Fields>()

function innerOf(message: DescMessage): Fields {
  let fields = inners.get(message)
  if (!fields) {
    const byNumber = new Map<number, Inner>()
    fields = (number) => byNumber.get(number)
    // A message may hold one of its own type.
    inners.set(message, fields)
    for (const field of message.fields) byNumber.set(field.number, innerField(field))
  }
  return fields
}

function innerField(field: DescField): Inner {
  if (field.fieldKind === 'map') return { kind: DELIMITED, isPacked: false, within: entryOf(field) }
  return { ...innerValue(field), isPacked: field.fieldKind === 'list' && field.packed }
}

function innerValue({ message, scalar }: Pick<DescField, 'message' | 'scalar'>): Inner {
  const kind = message || isDelimited(scalar) ? DELIMITED : scalar === ScalarType.DOUBLE ? EIGHT_BYTES : VARINT
  return { kind, isPacked: false, within: message && innerOf(message) }
}

/** An entry of a map holds a key and a value. */
function entryOf(field: DescField & { readonly fieldKind: 'map' }): Fields {
  const members = [innerValue({ message: undefined, scalar: field.mapKey }), innerValue(field)]
  return (number) => members[number - 1]
}

interface Variable {
  /** Its name in the proto. */
  readonly name: string
  /** Its place in the JSON of the message. */
  readonly path: readonly string[]
  /** True if it may hold slashes, or nothing. */
  readonly many: boolean
}

const VARIABLE = /\{([^{}=]+)(=\*\*?)?\}/

/** A path with variables, compiled for a message. */
type PathTemplate = ReturnType<typeof pathTemplate>

/** Compiles `/events/v1/subscriptions/{subscription.id=**}:check` for a message whose `subscription` has an `id`. */
function pathTemplate(template: string, message: DescMessage) {
  const literals: string[] = []
  const variables: Variable[] = []
  let rest = template
  for (let found = VARIABLE.exec(rest); found; found = VARIABLE.exec(rest)) {
    const [whole, name = '', pattern] = found
    literals.push(rest.slice(0, found.index))
    variables.push({ name, path: jsonPath(message, name), many: pattern === '=**' })
    rest = rest.slice(found.index + whole.length)
  }
  return {
    /** The members of the message's JSON that the path takes: `[['subscription', 'id']]`. */
    taken: variables.map(({ path }) => path),
    /** Fills the path, encoded. Throws INVALID_ARGUMENT if a variable is empty that cannot be, or longer than `most` bytes. */
    fill: (json: JsonObject, most: number) =>
      variables.map((variable, index) => literals[index] + filled(variable, json, most)).join('') + rest,
  }
}

function jsonPath(message: DescMessage, name: string): readonly string[] {
  const [first = '', ...rest] = name.split('.')
  const field = message.fields.find((candidate) => candidate.name === first)
  if (!field) throw new Error(`${message.typeName} has no field ${first} for its path`)
  return rest.length > 0 && field.message ? [field.jsonName, ...jsonPath(field.message, rest.join('.'))] : [field.jsonName]
}

const withoutRequests = new WeakSet<ApiError>()

/** Marks the error of a message that no request of REST says: a variable of its path is empty, or has a slash. */
export function noRequest(error: ApiError): ApiError {
  withoutRequests.add(error)
  return error
}

/** True for such an error. A service of gRPC may take the message all the same. */
export function isNoRequest(thrown: unknown): boolean {
  return thrown instanceof ApiError && withoutRequests.has(thrown)
}

/** A variable of many segments keeps its slashes, as a client of REST writes a uid. */
function filled({ name, path, many }: Variable, json: JsonObject, most: number): string {
  const value = asText(at(json, path))
  if (value.length > most) throw tooLong(name, most)
  if (many) return value.split('/').map(encodeURIComponent).join('/')
  if (value === '') throw noRequest(invalidArgument({ field: name, description: 'must not be empty' }))
  if (value.includes('/'))
    throw noRequest(invalidArgument({ field: name, description: 'must not have a slash: it is one segment of a path' }))
  return encodeURIComponent(value)
}

/** Over REST, a request line ends at `limits.headerBytes`. A text of megabytes would cost a path of as many pieces, here and in v2. */
function tooLong(field: string, most: number): ApiError {
  return invalidArgument({ field, description: `is longer than a URL may be (${most} bytes)` })
}

/** Returns the JSON of a message without the members that its path takes. */
function without(json: JsonObject, taken: PathTemplate['taken']): JsonObject {
  return taken.reduce<JsonObject>(withoutOne, json)
}

function withoutOne(json: JsonObject, [first = '', ...rest]: readonly string[]): JsonObject {
  if (!(first in json)) return json
  const { [first]: value, ...others } = json
  return rest.length === 0 ? others : { ...others, [first]: withoutOne(value as JsonObject, rest) }
}

/**
 * Returns the protojson of a message whose fields are the pairs of a query. A message within it is JSON text there, which no query of REST can
 * hold: `[['image_refs', '{"repo":"a"}']]`. Throws if a text is not JSON. A pair without a field is left out.
 */
export function jsonOfQuery({ fields }: DescMessage, query: readonly (readonly [name: string, value: string])[]): JsonObject {
  const json: Record<string, unknown> = {}
  for (const field of fields) {
    const texts = query.filter(([name]) => name === field.name).map(([, text]) => text)
    if (texts.length === 0) continue
    if (field.fieldKind !== 'list') json[field.name] = texts[0]
    else json[field.name] = field.listKind === 'message' ? texts.map((text) => JSON.parse(text)) : texts
  }
  return json
}

/** What a message becomes in a query. */
interface MessageQuery {
  /** `name=a&uidp.ids=b`, encoded, with the names of the proto. */
  readonly text: string
  /** Fields with values that no query can say: lists of messages. */
  readonly unsaid: readonly string[]
  /** The same with each message as JSON text, encoded: `image_refs=%7B…%7D`. No gateway reads it. */
  readonly unsaidText: string
}

/**
 * Writes the protojson of a message as a query. A field of a field has both names, with a dot between them. Throws INVALID_ARGUMENT if the
 * values, encoded, have more letters than a query may have.
 */
function queryOfMessage(message: DescMessage, json: JsonObject): MessageQuery {
  const pairs: string[] = []
  const unsaid: string[] = []
  const unsaidPairs: string[] = []
  let left = LONGEST_QUERY
  const pair = (name: string, text: string) => `${name}=${encodeURIComponent(text)}`
  const add = (name: string, value: unknown) => {
    const text = asText(value)
    // A letter may be encoded as nine. What is too long already is not even encoded: a byte beyond ASCII becomes three.
    const least = 3 * Buffer.byteLength(text) - 2 * text.length
    const written = least > left ? '' : pair(name, text)
    left -= Math.max(least, written.length - name.length - 1)
    if (left < 0) throw tooLong(name, LONGEST_QUERY)
    pairs.push(written)
  }
  const leave = (name: string, values: readonly unknown[]) => {
    unsaid.push(name)
    unsaidPairs.push(...values.map((value) => pair(name, JSON.stringify(value))))
  }
  const walk = ({ fields }: DescMessage, object: JsonObject, prefix: string) => {
    for (const field of fields) {
      const value = object[field.jsonName]
      if (value === undefined) continue
      const name = prefix + field.name
      if (field.fieldKind === 'message' && isObject(value)) walk(field.message, value, `${name}.`)
      else if (field.fieldKind === 'map')
        for (const [key, item] of Object.entries(value as JsonObject)) add(`${name}[${encodeURIComponent(key)}]`, item)
      else if (!Array.isArray(value)) add(name, value)
      else if (isOfMessages(field)) leave(name, value)
      else for (const item of value) add(name, item)
    }
  }
  walk(message, json, '')
  return { text: pairs.join('&'), unsaid, unsaidText: unsaidPairs.join('&') }
}

/** No gateway reads a list of messages from a query (facts §7). */
function isOfMessages(field: DescField): boolean {
  return field.fieldKind === 'list' && field.listKind === 'message'
}

/** A call over REST as data. Its path is decoded. */
interface PlainCall {
  readonly method: string
  readonly path: string
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body?: unknown
}

/** A call over gRPC that says what a call over REST says. */
export interface SameCall {
  readonly method: RpcMethod
  /** Protojson. */
  readonly message: JsonObject
}

/** Returns the gRPC call that says what a REST call says; undefined if none of the methods has its route. */
export function sameCall(methods: readonly RpcMethod[], call: PlainCall): SameCall | undefined {
  const found = methods.flatMap((method) => {
    const variables = method.rule?.method === call.method ? match(method.rule.template, call.path) : undefined
    return variables ? [{ method, variables }] : []
  })
  const [best] = found.toSorted((a, b) => literalOf(b.method) - literalOf(a.method))
  return best && { method: best.method, message: messageOfRest(best.method, call, best.variables) }
}

/** Of several routes, the most literal one is meant, and of two such the one with fewer variables. */
function literalOf({ rule }: RpcMethod): number {
  const pieces = (rule?.template ?? '').split(/\/?\{[^{}]+\}/)
  return pieces.join('').length - pieces.length / 10
}

type Variables = readonly (readonly [name: string, value: string])[]

function match(template: string, path: string): Variables | undefined {
  const names: string[] = []
  const pattern = template.replace(
    /(\/?)\{([^{}=]+)(=\*\*?)?\}|[.:]/g,
    (whole: string, slash: string, name: string | undefined, many?: string) => {
      if (name === undefined) return `\\${whole}`
      names.push(name)
      return many === '=**' ? `(?:${slash}(.*))?` : `${slash}([^/]+)`
    },
  )
  const found = new RegExp(`^${pattern}$`).exec(path)
  return found ? names.map((name, at) => [name, found[at + 1] ?? '']) : undefined
}

function messageOfRest({ input, rule }: RpcMethod, { query, body }: PlainCall, variables: Variables): JsonObject {
  const message: Record<string, unknown> = {}
  const part = input.fields.find(({ name }) => name === rule?.body)
  if (rule?.body === '*' && isObject(body)) Object.assign(message, structuredClone(body))
  else if (part && body !== undefined) message[part.jsonName] = structuredClone(body)
  for (const [name, value] of [...query, ...variables]) put(message, input, name.split('.'), value)
  return message
}

/** Sets the field with a dotted name, in either spelling. */
function put(json: Record<string, unknown>, { fields }: DescMessage, [first = '', ...rest]: readonly string[], value: string): void {
  const field = fields.find(({ name, jsonName }) => name === first || jsonName === first)
  if (!field) return
  if (rest.length > 0 && field.message) {
    json[field.jsonName] ??= {}
    put(json[field.jsonName] as Record<string, unknown>, field.message, rest, value)
  } else if (field.fieldKind === 'list') json[field.jsonName] = [...((json[field.jsonName] as unknown[]) ?? []), jsonOf(field, value)]
  else if (value !== '' || field.oneof || field.proto.proto3Optional) json[field.jsonName] = jsonOf(field, value)
}

function jsonOf({ scalar, message, enum: names }: DescField, value: string): unknown {
  if (scalar === ScalarType.BOOL) return value === 'true'
  if ((names || scalar === ScalarType.INT32) && Number.isInteger(Number(value))) return Number(value)
  return message?.typeName === 'google.protobuf.FieldMask' ? camelCase(value) : value
}

/** How messages are written: as bytes, or as JSON (Connect). */
export type Codec = 'proto' | 'json'

/** The REST request that says what a message says. */
export interface RestRequest {
  readonly method: HttpRule['method']
  /** Path and query, encoded. */
  readonly url: string
  /** JSON; undefined where the rule has no body. */
  readonly body: Buffer | undefined
  /** Fields of the message that REST cannot say: lists of messages in a query. */
  readonly unsaid: readonly string[]
  /** What they hold, as a query that no gateway reads: `image_refs=%7B…%7D`. */
  readonly unsaidText: string
}

/** How a message came. */
interface Sent {
  /** The most bytes of a variable of the path; no bound if it is left out. */
  readonly pathBytes?: number
  /** What carried it; gRPC if it is left out. */
  readonly protocol?: WireCall['protocol']
}

/**
 * Returns the REST request of a call by the http rule of its method: `Groups/List` with a name becomes `GET /iam/v1/groups?name=a`.
 * A field at its zero value is left out, unless it has presence. What the message holds beyond its fields is dropped.
 * Throws an ApiError: INTERNAL if bytes are no message (INVALID_ARGUMENT over Connect), INVALID_ARGUMENT if JSON is none, if a variable of the
 * path is longer than `pathBytes`, or if the query is longer than any, UNIMPLEMENTED if the method has no rule.
 */
export function requestOf(method: RpcMethod, bytes: Uint8Array, codec: Codec, { pathBytes = Infinity, protocol }: Sent = {}): RestRequest {
  const key = codec === 'proto' && method.rule?.method === 'GET' && bytes.length <= LONGEST ? keyOf(method, bytes) : undefined
  const known = key === undefined ? undefined : reads.get(key)
  if (known) return known
  checkQuery(method, bytes)
  const request = requestReader(method)(decode(method.input, bytes, codec, protocol), pathBytes)
  if (key !== undefined) reads.set(key, request)
  return request
}

/** Throws INVALID_ARGUMENT for a message in the place of a query that is longer than one: most of it is not even read. */
export function checkQuery(method: RpcMethod, bytes: Uint8Array): void {
  if (bytes.length <= LONGEST_QUERY || !isQueryAlone(method)) return
  throw new ApiError('INVALID_ARGUMENT', `the message is longer than any query (${LONGEST_QUERY} bytes)`)
}

/** True if all that a message says is text of the URL. */
function isQueryAlone({ rule, input }: RpcMethod): boolean {
  return rule !== undefined && rule.body === undefined && !input.fields.some(isOfMessages)
}

/** Clients repeat the same reads, and their messages hold nothing about the caller. The number that is kept, and the most bytes of one. */
const KEPT = 1000
const LONGEST = 500
const reads = new LRUCache<string, RestRequest>({ max: KEPT })

function keyOf({ path }: RpcMethod, { buffer, byteOffset, length }: Uint8Array): string {
  // The name of one method begins with the name of another. No path has a space.
  return `${path} ${Buffer.from(buffer, byteOffset, length).toString('latin1')}`
}

type ReadRequest = (message: Message, pathBytes: number) => RestRequest

const readers = new WeakMap<RpcMethod, ReadRequest>()

function requestReader(method: RpcMethod): ReadRequest {
  let reader = readers.get(method)
  if (!reader) {
    if (!method.rule) throw new ApiError('UNIMPLEMENTED', `REST has no request for ${method.path}`)
    reader = createReader(method.rule, method.input)
    readers.set(method, reader)
  }
  return reader
}

function createReader({ method, template, body }: HttpRule, input: DescMessage): ReadRequest {
  const path = pathTemplate(template, input)
  const part = body === undefined ? undefined : input.fields.find(({ name }) => name === body)
  const mask = body === '*' ? undefined : input.fields.find(isMask)
  return (message, pathBytes) => {
    const masked = mask && takeMask(message, mask)
    const json = bodyJsonOf(input, message)
    const url = path.fill(json, pathBytes)
    if (body === '*') return { method, url, body: Buffer.from(JSON.stringify(without(json, path.taken))), unsaid: [], unsaidText: '' }
    const { text, ...left } = queryOfMessage(input, queryPart(json, path, part))
    const query = masked ? [masked, ...(text ? [text] : [])].join('&') : text
    return { method, url: query ? `${url}?${query}` : url, body: part && bodyPart(json, path, part), ...left }
  }
}

function queryPart(json: JsonObject, { taken }: PathTemplate, part: DescField | undefined): JsonObject {
  return without(json, part ? [...taken, [part.jsonName]] : taken)
}

/** An unset message is the empty one. A body that is a scalar is left out at its zero value. */
function bodyPart(json: JsonObject, { taken }: PathTemplate, part: DescField): Buffer | undefined {
  const value = without(json, taken)[part.jsonName] ?? (part.fieldKind === 'message' ? {} : undefined)
  return value === undefined ? undefined : Buffer.from(JSON.stringify(value))
}

function isMask(field: DescField): boolean {
  return field.message?.typeName === 'google.protobuf.FieldMask' && field.fieldKind === 'message'
}

/**
 * Takes the mask of an update out of its message and returns it for the query. A gateway splits it at commas and takes the paths as they are,
 * so they are the names of the proto (facts §13.3). In JSON they would be in camel case, and some cannot be.
 */
function takeMask(message: Message, { jsonName, localName }: DescField): string | undefined {
  const members = message as Message & Record<string, FieldMask | undefined>
  const mask = members[localName]
  delete members[localName]
  return mask && mask.paths.length > 0 ? `${jsonName}=${encodeURIComponent(mask.paths.join(','))}` : undefined
}

const NO_UNKNOWN = { readUnknownFields: false }
const IGNORE_UNKNOWN = { ignoreUnknownFields: true }

function decode(input: DescMessage, bytes: Uint8Array, codec: Codec, protocol: Sent['protocol']): Message {
  try {
    if (codec === 'json') return fromJson(input, objectIn(TEXT.decode(bytes)), IGNORE_UNKNOWN)
    // An empty message takes two bytes, and a hundred times as many once it is decoded.
    if (holdsMore(input, bytes, MOST_VALUES, broken))
      throw new ApiError('INVALID_ARGUMENT', `the message holds more than ${MOST_VALUES} values`)
    const most = Math.max(MOST_JSON, Math.floor(MOST_GROWTH * bytes.length))
    if (isLongerInJson(bytes, most)) throw new ApiError('RESOURCE_EXHAUSTED', `the message is longer than ${most} bytes as JSON`)
    return fromBinary(input, bytes, NO_UNKNOWN)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    // Servers of gRPC and of Connect say so, each in its own way.
    if (codec === 'proto' && protocol !== 'connect') throw unreadableCall('grpc: error unmarshalling request', cause)
    if (codec === 'proto') throw new ApiError('INVALID_ARGUMENT', `the request is not a ${input.typeName}`, { cause })
    throw new ApiError('INVALID_ARGUMENT', `the request is not JSON of ${input.typeName}`, { cause })
  }
}

const broken = () => new RangeError('these bytes are no message')

const TEXT = new TextDecoder('utf-8', { fatal: true })

/** Returns the JSON of a message. No text at all is an empty message; `null` is none. */
export function objectIn(text: string): JsonValue {
  const value = parseJson(text)
  return value === undefined ? {} : (value as JsonValue)
}

/**
 * Bytes of JSON that a message may become; a longer one may become so many times its bytes. Over REST, `limits.requestBytes` bounds the
 * JSON itself.
 */
const MOST_JSON = 2 ** 20
const MOST_GROWTH = 1.5

/** Letters that JSON writes as six have the bytes below this one. */
const CONTROLS = 0x20
const ESCAPED = 6

/** True if the texts of a message become more than so many bytes of JSON. */
export function isLongerInJson(bytes: Uint8Array, most: number): boolean {
  if (bytes.length > most) return true
  if (bytes.length * ESCAPED <= most) return false
  let controls = 0
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at]! < CONTROLS) controls += 1
  return bytes.length + controls * (ESCAPED - 1) > most
}

/** A message may hold what JSON cannot: a time beyond the year 9999. */
function bodyJsonOf(input: DescMessage, message: Message): JsonObject {
  try {
    return toJson(input, message) as JsonObject
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', `the request holds a value that does not belong to ${input.typeName}`, { cause })
  }
}
