import { type DescField, type DescMessage, fromBinary, fromJson, type JsonValue, type Message, toJson } from '@bufbuild/protobuf'
import type { FieldMask } from '@bufbuild/protobuf/wkt'
import { LRUCache } from 'lru-cache'
import { ApiError } from '../../errors.ts'
import { type JsonObject, parseJson } from '../../tables/json.ts'
import { boundFields } from '../field-count.ts'
import type { HttpRule } from '../http-rule.ts'
import type { RpcMethod } from '../open-rpc.ts'
import { type PathTemplate, pathTemplate, without } from './path-template.ts'
import { queryOfMessage } from './query-of-message.ts'

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

/**
 * Returns the REST request of a call by the http rule of its method: `Groups/List` with a name becomes `GET /iam/v1/groups?name=a`.
 * A field at its zero value is left out, unless it has presence. What the message holds beyond its fields is dropped.
 * Throws an ApiError: INTERNAL if bytes are no message, INVALID_ARGUMENT if JSON is none, UNIMPLEMENTED if the method has no rule.
 */
export function requestOf(method: RpcMethod, bytes: Uint8Array, codec: Codec): RestRequest {
  const key = codec === 'proto' && method.rule?.method === 'GET' && bytes.length <= LONGEST ? keyOf(method, bytes) : undefined
  const known = key === undefined ? undefined : reads.get(key)
  if (known) return known
  const request = requestReader(method)(decode(method.input, bytes, codec))
  if (key !== undefined) reads.set(key, request)
  return request
}

/** Clients repeat the same reads, and their messages hold nothing about the caller. The number that is kept, and the most bytes of one. */
const KEPT = 1000
const LONGEST = 500
const reads = new LRUCache<string, RestRequest>({ max: KEPT })

function keyOf({ path }: RpcMethod, { buffer, byteOffset, length }: Uint8Array): string {
  return path + Buffer.from(buffer, byteOffset, length).toString('latin1')
}

type ReadRequest = (message: Message) => RestRequest

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
  return (message) => {
    const masked = mask && takeMask(message, mask)
    const json = jsonOf(input, message)
    const url = path.fill(json)
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

function decode(input: DescMessage, bytes: Uint8Array, codec: Codec): Message {
  try {
    if (codec === 'json') return fromJson(input, (parseJson(TEXT.decode(bytes)) ?? {}) as JsonValue, IGNORE_UNKNOWN)
    boundFields(input, bytes)
    return fromBinary(input, bytes, NO_UNKNOWN)
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    // Servers of gRPC and of Connect say so, each in its own way.
    if (codec === 'proto') throw new ApiError('INTERNAL', 'grpc: error unmarshalling request', { cause })
    throw new ApiError('INVALID_ARGUMENT', `the request is no JSON of ${input.typeName}`, { cause })
  }
}

const TEXT = new TextDecoder('utf-8', { fatal: true })

/** A message may hold what JSON cannot: a time beyond the year 9999. */
function jsonOf(input: DescMessage, message: Message): JsonObject {
  try {
    return toJson(input, message) as JsonObject
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', `the request holds a value that is none of ${input.typeName}`, { cause })
  }
}
