import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import protojson from 'protobufjs/ext/protojson.js'
import protobuf, { type Field, type Root, type Type } from 'protobufjs/light.js'
import { faultStatus, queryObject, shifted } from '../control.ts'
import {
  dispatchCall,
  headerText,
  LONGEST_MS,
  outcomeOf,
  type RequestEntry,
  type RequestOutcome,
  type ServerParts,
  statusOf,
} from '../http/dispatch.ts'
import type { Answer, Pairs } from '../http/route.ts'
import { CODES, gatewayError, malformed } from '../status.ts'
import type { World } from '../world/store.ts'
import { createProtos, type PublishedRule, readPublishedFacts } from './protos.ts'

/** Milliseconds of each unit. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** Reads `grpc-timeout`, e.g. `1500m`, in milliseconds; undefined without one. Code 13 for a malformed one, as grpc-go answers. */
const readTimeout = (value: string | undefined): number | undefined => {
  if (value === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? []
  if (digits === undefined) return gatewayError('INTERNAL', `malformed grpc-timeout: ${JSON.stringify(value)}`)
  return Math.min(Number(digits) * (UNITS[unit] ?? 0), LONGEST_MS)
}

/** Bytes of one message, the service's limit in both directions (semantics §4.3). */
const MESSAGE_LIMIT = 100 * 1024 * 1024

/** A flag byte and four bytes of length. */
const PREFIX = 5

const inflate = promisify(gunzip)
const deflate = promisify(gzip)

const refuse = (error: NodeJS.ErrnoException, limit: number): never =>
  error.code === 'ERR_BUFFER_TOO_LARGE'
    ? gatewayError('RESOURCE_EXHAUSTED', `grpc: message after decompression larger than max (${limit + 1} vs. ${limit})`)
    : gatewayError('INTERNAL', `grpc: failed to decompress the received message: ${error.message}`)

/** The bytes of the one frame of a unary request. Refuses a longer request before all of it is here. */
const collect = async (chunks: AsyncIterable<Buffer>, limit: number): Promise<Buffer> => {
  const all: Buffer[] = []
  let received = 0
  let length: number | undefined
  for await (const chunk of chunks) {
    all.push(chunk)
    received += chunk.length
    if (length === undefined && received >= PREFIX) length = Buffer.concat(all).readUInt32BE(1)
    if (length === undefined) continue
    if (length > limit) gatewayError('RESOURCE_EXHAUSTED', `grpc: received message larger than max (${length} vs. ${limit})`)
    if (received > PREFIX + length)
      gatewayError('INTERNAL', 'cardinality violation: received multiple request messages for non-client-streaming RPC')
  }
  if (received === 0) gatewayError('INTERNAL', 'cardinality violation: received no request message from non-client-streaming RPC')
  if (length === undefined || received < PREFIX + length) gatewayError('INTERNAL', 'unexpected EOF')
  return Buffer.concat(all)
}

/**
 * The one message of a request, inflated, with at most `limit` bytes. Refuses with the codes and texts of grpc-go (ASSUMPTIONS.md,
 * "gRPC").
 */
export const readFrame = async (
  chunks: AsyncIterable<Buffer>,
  encoding: string | undefined,
  limit: number = MESSAGE_LIMIT,
): Promise<Buffer> => {
  const frame = await collect(chunks, limit)
  const flag = frame[0]
  const message = frame.subarray(PREFIX)
  if (flag === 0) return message
  if (flag !== 1) return gatewayError('INTERNAL', `grpc: received unexpected payload format ${flag}`)
  if (encoding !== 'gzip') return gatewayError('INTERNAL', 'grpc: compressed flag set with identity or empty encoding')
  return inflate(message, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => refuse(error, limit))
}

/** A message behind its prefix, compressed if the request named an encoding. */
const writeFrame = async (message: Uint8Array, encoding: string | undefined): Promise<Buffer> => {
  if (message.length > MESSAGE_LIMIT)
    gatewayError('RESOURCE_EXHAUSTED', `grpc: trying to send message larger than max (${message.length} vs. ${MESSAGE_LIMIT})`)
  const content = encoding === undefined ? message : await deflate(message)
  const prefix = Buffer.alloc(PREFIX)
  prefix[0] = encoding === undefined ? 0 : 1
  prefix.writeUInt32BE(content.length, 1)
  return Buffer.concat([prefix, content])
}

/** A google.rpc.Status as REST writes it. */
type GrpcStatus = { readonly code: number; readonly message: string; readonly details: readonly unknown[] }

/** `grpc-message` encodes what is not printable ASCII, and the percent sign. */
const encodeMessage = (message: string): string =>
  [...Buffer.from(message)]
    .map((byte) => (byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : escaped(byte)))
    .join('')

const escaped = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

/** The trailers of a call that failed. `grpc-status-details-bin` is there only with details. */
const trailersOf = ({ root }: GrpcApi, status: GrpcStatus): Readonly<Record<string, string>> => {
  const { code, message, details } = status
  const trailers = { 'grpc-status': String(code), 'grpc-message': encodeMessage(message) }
  if (details.length === 0) return trailers
  const type = root.lookupType('google.rpc.Status')
  const bytes = type.encode(protojson.fromJson(type, status)).finish()
  return {
    ...trailers,
    'grpc-status-details-bin': Buffer.from(bytes)
      .toString('base64')
      .replace(/(?<!=)=+$/, ''),
  }
}

const VERBS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const

/** What an http rule says: the REST request of a message. */
type HttpRule = {
  readonly method: (typeof VERBS)[keyof typeof VERBS]
  readonly template: string
  /** The paths of the fields in the template, in order: `subscription.id`. */
  readonly variables: readonly string[]
  /** The field that is the body; `*`: every field that is not in the path. Undefined: every other field is in the query. */
  readonly body: string | undefined
}

type GrpcMethod = {
  readonly name: string
  readonly input: Type
  readonly output: Type
  /** Undefined for the one method that REST does not have. */
  readonly rule: HttpRule | undefined
}

/** Every method of v1, v2 and v2beta1, and the types that they use. */
type GrpcApi = {
  readonly root: Root
  /** Finds `/chainguard.platform.iam.Groups/List`. */
  readonly find: (path: string) => GrpcMethod | undefined
  readonly hasService: (name: string) => boolean
}

const readRule = (http: PublishedRule | undefined): HttpRule | undefined => {
  if (!http) return undefined
  for (const [verb, method] of Object.entries(VERBS)) {
    const template = http[verb as keyof typeof VERBS]
    if (template === undefined) continue
    const variables = [...template.matchAll(/\{([^=}]+)/g)].map(([, name = '']) => name)
    return { method, template, variables, body: http.body }
  }
  return undefined
}

/** v2beta1 is v2 in other packages (ASSUMPTIONS.md, "gRPC"). Its messages have the same bytes. */
const inV2 = (name: string): string => name.replace('.v2beta1.', '.v2.')

const createApi = (): GrpcApi => {
  const facts = readPublishedFacts()
  const root = createProtos(facts)
  const methods = new Map<string, GrpcMethod>()
  for (const [service, published] of Object.entries(facts.services)) {
    for (const [name, { in: input, out: output, http }] of Object.entries(published)) {
      methods.set(`/${service}/${name}`, {
        name,
        input: root.lookupType(input),
        output: root.lookupType(output),
        rule: readRule(http),
      })
    }
  }
  return { root, find: (path) => methods.get(inV2(path)), hasService: (name) => inV2(name) in facts.services }
}

let api: GrpcApi | undefined

/** The methods, from the facts. They are read once in a process. */
export const grpcApi = (): GrpcApi => {
  api ??= createApi()
  return api
}

type Fields = Readonly<Record<string, unknown>>
type Pair = Pairs[number]

/** The REST request of a message by its http rule, as a gateway would send it. */
type RestRequest = {
  /** The values of the template's variables, in order. */
  readonly values: readonly string[]
  readonly pairs: Pairs
  /** JSON. Without a body in the rule, it holds what a query cannot carry, maps and lists of messages; undefined if there is none. */
  readonly body: unknown
}

/** The set fields of a message, each with its value. */
const setFields = (type: Type, message: Fields): readonly (readonly [Field, unknown])[] =>
  type.fieldsArray.flatMap((field): (readonly [Field, unknown])[] =>
    Object.hasOwn(message, field.name) ? [[field.resolve(), message[field.name]]] : [],
  )

const jsonOf = (type: Type, field: Field, value: unknown): unknown =>
  protojson.toJson(type, { [field.name]: value })[field.jsonName ?? field.name]

/** True for a message that is not one of the well-known types, which JSON writes as texts. */
const isOwnMessage = ({ resolvedType }: Field): boolean =>
  resolvedType instanceof protobuf.Type && !resolvedType.fullName.startsWith('.google.protobuf.')

const FIELD_MASK = '.google.protobuf.FieldMask'

/** A query carries scalars and the well-known types that are texts. It has no form for maps and lists of messages. */
const pairsOfField = (type: Type, field: Field, value: unknown, prefix: string, skip: ReadonlySet<string>): readonly Pair[] => {
  const name = prefix + field.name
  if (skip.has(name) || field.map) return []
  const inner = field.resolvedType
  if (inner?.fullName === FIELD_MASK) return [[name, ((value as Fields)['paths'] as readonly string[]).join(',')]]
  if (isOwnMessage(field)) return field.repeated ? [] : queryPairsOf(inner as Type, value as Fields, `${name}.`, skip)
  const json = jsonOf(type, field, value)
  return (Array.isArray(json) ? json : json === undefined ? [] : [json]).map((one): Pair => [name, String(one)])
}

const queryPairsOf = (type: Type, message: Fields, prefix: string, skip: ReadonlySet<string>): readonly Pair[] =>
  setFields(type, message).flatMap(([field, value]) => pairsOfField(type, field, value, prefix, skip))

/** The text at a path of the message; empty if it or a message around it is unset. */
const textAt = (message: Fields, path: string): string =>
  String(path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], message) ?? '')

/** The JSON of the set fields that pass `keep`; undefined without any. */
const jsonOfSome = (type: Type, message: Fields, keep: (field: Field) => boolean): unknown => {
  const kept = setFields(type, message).flatMap(([field, value]) => (keep(field) ? [[field.name, value] as const] : []))
  return kept.length === 0 ? undefined : protojson.toJson(type, Object.fromEntries(kept))
}

const bodyOf = (type: Type, message: Fields, { variables, body }: HttpRule): unknown => {
  if (body === undefined) return jsonOfSome(type, message, (field) => field.map || (field.repeated && isOwnMessage(field)))
  if (body === '*') return jsonOfSome(type, message, ({ name }) => !variables.includes(name)) ?? {}
  const field = type.fields[body]?.resolve()
  return field && Object.hasOwn(message, field.name) ? jsonOf(type, field, message[field.name]) : {}
}

/**
 * Reads the REST request of a decoded message. Throws a plain error if the message holds a value without a JSON form, such as a time
 * after the year 9999.
 */
const restRequestOf = (type: Type, message: Fields, rule: HttpRule): RestRequest => {
  const { variables, body = '' } = rule
  const pairs = body === '*' ? [] : queryPairsOf(type, message, '', new Set([...variables, body]))
  return { values: variables.map((path) => textAt(message, path)), pairs, body: bodyOf(type, message, rule) }
}

/** The path of a template with its variables' values in place. */
const pathOf = (template: string, values: readonly string[]): string => {
  const rest = [...values]
  return template.replace(/\{[^{}]*\}/g, () => rest.shift() ?? '')
}

type Headers = Readonly<Record<string, string>>

/** One unary call. */
type GrpcCall = {
  readonly method: GrpcMethod
  /** `/chainguard.platform.iam.Groups/List` */
  readonly path: string
  /** The bytes of the request message. */
  readonly message: Buffer
  readonly authorization: string | undefined
  /** Fires when the client or the sandbox goes away and when the deadline passes. */
  readonly ending: AbortSignal
}

/** The reply to a call. `http` is what a gateway in between would answer: no gRPC. */
type GrpcReply =
  | { readonly kind: 'message'; readonly message: Uint8Array; readonly headers: Headers }
  | { readonly kind: 'status'; readonly status: GrpcStatus; readonly headers: Headers }
  | { readonly kind: 'http'; readonly status: number; readonly body: string; readonly headers: Headers }
  | { readonly kind: 'cut' }

/** Finds the method of a path. Throws the status for an unknown one: grpc-go answers before it reads a message. */
const findMethod = ({ journal, world }: ServerParts, path: string): GrpcMethod => {
  const method = grpcApi().find(path)
  if (method) return method
  journal.record({ method: 'POST', path, query: {}, body: null, grpc: path, at: world.clock.now().toISOString() })
  const [, service, name] = /^\/(.+)\/([^/]*)$/.exec(path) ?? []
  if (service === undefined) return gatewayError('UNIMPLEMENTED', `malformed method name: ${JSON.stringify(path)}`)
  const known = grpcApi().hasService(service)
  return gatewayError('UNIMPLEMENTED', known ? `unknown method ${name} for service ${service}` : `unknown service ${service}`)
}

/** Decodes a request with the codes and texts of grpc-go (ASSUMPTIONS.md, "gRPC"). */
const decode = (type: Type, bytes: Buffer): Fields => {
  try {
    return type.decode(bytes) as unknown as Fields
  } catch (error) {
    const isText = /utf-?8/i.test((error as Error).message)
    const reason = isText ? 'string field contains invalid UTF-8' : 'proto: cannot parse invalid wire-format data'
    return gatewayError('INTERNAL', `grpc: error unmarshalling request: ${reason}`)
  }
}

const restOf = ({ input, rule }: GrpcMethod, request: Fields): RestRequest => {
  try {
    return rule ? restRequestOf(input, request, rule) : { values: [], pairs: [], body: protojson.toJson(input, request) }
  } catch (error) {
    return malformed((error as Error).message)
  }
}

/** gRPC has one dialect of v1: the published names. */
const inPublishedNames = (world: World): World => ({ ...world, options: { ...world.options, v1Dialect: 'published' } })

const messageOf = (type: Type, { body = {} }: Answer): Uint8Array => {
  try {
    // The text of the REST answer, so that both carry the same.
    const json: unknown = JSON.parse(JSON.stringify(body))
    return type.encode(protojson.fromJson(type, json, { ignoreUnknownFields: true })).finish()
  } catch (error) {
    return gatewayError('INTERNAL', `the answer has no gRPC form: ${(error as Error).message}`)
  }
}

const replyOf = (type: Type, outcome: RequestOutcome): GrpcReply => {
  if (outcome.kind === 'cut') return outcome
  if (outcome.kind === 'fault') {
    const { status = 200, body, headers = {} } = outcome.fault
    if (body !== undefined) return { kind: 'http', status, body, headers }
    return { kind: 'status', status: faultStatus(outcome.fault), headers }
  }
  const { 'www-authenticate': _, ...headers } = outcome.answer.headers ?? {}
  const { status = 200, body } = outcome.answer
  if (status < 400) return { kind: 'message', message: messageOf(type, outcome.answer), headers }
  const { code = CODES.UNKNOWN.code, message = '', details = [] } = body as Partial<GrpcStatus>
  return { kind: 'status', status: { code, message, details }, headers }
}

/**
 * Answers one call from the routes of REST. Throws a status for what gRPC refuses before the service: bytes that are no message, and
 * methods that the sandbox does not have.
 */
const answerGrpc = async (parts: ServerParts, { method, path, message, authorization, ending }: GrpcCall): Promise<GrpcReply> => {
  const { name, input, output, rule } = method
  const { values, pairs, body } = restOf(method, decode(input, message))
  const rest = rule ? { method: rule.method, path: pathOf(rule.template, values) } : { method: 'POST', path }
  const match = rule && parts.router.named(rule.method, rule.template, values)
  const world = inPublishedNames(parts.world)
  const entry: RequestEntry = { ...rest, query: queryObject(pairs), body: body ?? null, grpc: path }
  const outcome = await outcomeOf(parts, entry, ending, async (fault) => {
    if (!match) return gatewayError('UNIMPLEMENTED', `method ${name} not implemented`)
    return dispatchCall(world, { ...rest, ...match, pairs: shifted(pairs, fault), body: body ?? {}, authorization })
  })
  return replyOf(output, outcome)
}

const HEADERS = { 'content-type': 'application/grpc' }

/** Only gzip is known besides none. */
const encodingOf = (headers: IncomingHttpHeaders): 'gzip' | undefined => {
  const encoding = headerText(headers['grpc-encoding'])
  if (encoding === undefined || encoding === 'identity') return undefined
  if (encoding === 'gzip') return encoding
  return gatewayError('UNIMPLEMENTED', `grpc: Decompressor is not installed for grpc-encoding ${JSON.stringify(encoding)}`)
}

/** Node throws on an answer to a stream that is gone, and on a second one. */
const isDone = ({ closed, destroyed, session, headersSent }: ServerHttp2Stream): boolean =>
  closed || destroyed || session === undefined || headersSent

/** HTTP/2 has no headers about the connection. A fault may set one for REST. */
const HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

const allowed = (headers: Headers): Headers => Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.has(name.toLowerCase())))

/** Answers with a head alone. */
const sendHead = (stream: ServerHttp2Stream, head: OutgoingHttpHeaders): void => {
  stream.respond(head, { endStream: true })
  // A stream with an unread request would never end. Node 22 would drop the answer if it ended at once.
  if (!stream.readableEnded) setImmediate(() => stream.destroy())
}

const sendStatus = (stream: ServerHttp2Stream, status: GrpcStatus, headers: Headers = {}): void => {
  if (!isDone(stream)) sendHead(stream, { ':status': 200, ...allowed(headers), ...HEADERS, ...trailersOf(grpcApi(), status) })
}

const sendMessage = async (
  stream: ServerHttp2Stream,
  message: Uint8Array,
  headers: Headers,
  encoding: 'gzip' | undefined,
): Promise<void> => {
  const frame = await writeFrame(message, encoding)
  if (isDone(stream)) return
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': '' }))
  stream.respond(
    { ':status': 200, ...allowed(headers), ...HEADERS, ...(encoding && { 'grpc-encoding': encoding }) },
    { waitForTrailers: true },
  )
  stream.end(frame)
}

const send = async (stream: ServerHttp2Stream, reply: GrpcReply, encoding: 'gzip' | undefined): Promise<void> => {
  if (isDone(stream)) return
  if (reply.kind === 'cut') return stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  if (reply.kind === 'message') return sendMessage(stream, reply.message, reply.headers, encoding)
  if (reply.kind === 'status') return sendStatus(stream, reply.status, reply.headers)
  stream.respond({ ':status': reply.status, 'content-type': 'application/json', ...allowed(reply.headers) })
  stream.end(reply.body)
}

/** Fires when the stream ends, at the deadline, and when the sandbox closes. */
const endingOf = (stream: ServerHttp2Stream, timeout: number | undefined, closing: AbortSignal): AbortSignal => {
  const gone = new AbortController()
  const timer = timeout === undefined ? undefined : setTimeout(() => gone.abort(), timeout)
  stream.once('close', () => {
    clearTimeout(timer)
    gone.abort()
  })
  const expired = { code: CODES.DEADLINE_EXCEEDED.code, message: 'context deadline exceeded', details: [] }
  gone.signal.addEventListener('abort', () => sendStatus(stream, expired))
  return AbortSignal.any([closing, gone.signal])
}

const serve = async (parts: ServerParts, closing: AbortSignal, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> => {
  const ending = endingOf(stream, readTimeout(headerText(headers['grpc-timeout'])), closing)
  const encoding = encodingOf(headers)
  const path = headers[':path'] ?? ''
  const method = findMethod(parts, path)
  // A refusal must still be sent, so reading does not destroy the stream.
  const message = await readFrame(stream.iterator({ destroyOnReturn: false }), encoding)
  const reply = await answerGrpc(parts, { method, path, message, authorization: headers.authorization, ending })
  await send(stream, reply, encoding)
}

/** Every gRPC call is a POST with a content type that begins so; gRPC-Web is another protocol. */
const isGrpc = (headers: IncomingHttpHeaders): boolean => /^application\/grpc(?:[+;]|$)/.test(headers['content-type'] ?? '')

/**
 * Creates the HTTP/2 server, which is given connections. It serves unary gRPC calls of v1, v2 and v2beta1. Other requests are refused
 * with 415, or 405 if they are no POST.
 */
export const createGrpcServer = (parts: ServerParts, closing: AbortSignal): Http2Server => {
  const server = createServer()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (isDone(stream)) return
    if (headers[':method'] !== 'POST') return sendHead(stream, { ':status': 405 })
    if (!isGrpc(headers)) return sendHead(stream, { ':status': 415 })
    serve(parts, closing, stream, headers).catch((error: unknown) => {
      const { code, message } = statusOf(error)
      sendStatus(stream, { code: CODES[code].code, message, details: [] })
    })
  })
  return server
}
