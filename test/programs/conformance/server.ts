import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import {
  create,
  createFileRegistry,
  type DescMessage,
  fromBinary,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from '@bufbuild/protobuf'
import { type Any, anyPack, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { ApiError } from '../../../src/errors.ts'
import type { Facts, FieldFact } from '../../../src/grpc/facts.ts'
import { protoFiles } from '../../../src/grpc/proto-files.ts'
import type { WireCall, WireHandler, WireMetadata, WireReply } from '../../../src/grpc/wire/call.ts'
import { createServePair } from '../../../src/grpc/wire/connect.ts'
import { createServeGrpc } from '../../../src/grpc/wire/grpc.ts'
import { createBudget } from '../../../src/serve/bounds.ts'
import { type Certificate, createListener } from '../../../src/serve/listen/listener.ts'
import { createDeadlines } from '../../../src/serve/listen/times.ts'
import { listening } from '../../stage/programs.ts'

const own = (name: string) => `connectrpc.conformance.v1.${name}`

/** The fields of a request of a unary method. */
const REQUEST: Readonly<Record<string, FieldFact>> = {
  response_definition: [1, own('UnaryResponseDefinition')],
  request_data: [2, 'bytes'],
}
const RESPONSE: Readonly<Record<string, FieldFact>> = { payload: [1, own('ConformancePayload')] }

/** The names of google.rpc.Code as the suite writes them, in the order of their numbers. */
const CODES =
  'UNSPECIFIED CANCELED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'

/** The messages that unary methods of the conformance service use, and those that its runner and a server exchange. */
const FACTS: Facts = {
  services: {},
  messages: {
    [own('UnaryRequest')]: REQUEST,
    [own('IdempotentUnaryRequest')]: REQUEST,
    [own('UnaryResponse')]: RESPONSE,
    [own('IdempotentUnaryResponse')]: RESPONSE,
    [own('UnaryResponseDefinition')]: {
      response_headers: [1, `repeated ${own('Header')}`],
      response_data: [2, 'bytes', { oneof: 'response' }],
      error: [3, own('Error'), { oneof: 'response' }],
      response_trailers: [4, `repeated ${own('Header')}`],
      response_delay_ms: [6, 'uint32'],
    },
    [own('ConformancePayload')]: { data: [1, 'bytes'], request_info: [2, own('ConformancePayload.RequestInfo')] },
    [own('ConformancePayload.RequestInfo')]: {
      request_headers: [1, `repeated ${own('Header')}`],
      timeout_ms: [2, 'optional int64'],
      requests: [3, 'repeated google.protobuf.Any'],
      connect_get_info: [4, own('ConformancePayload.ConnectGetInfo')],
    },
    [own('ConformancePayload.ConnectGetInfo')]: { query_params: [1, `repeated ${own('Header')}`] },
    [own('Error')]: { code: [1, own('Code')], message: [2, 'optional string'], details: [3, 'repeated google.protobuf.Any'] },
    [own('Header')]: { name: [1, 'string'], value: [2, 'repeated string'] },
    [own('ServerCompatRequest')]: { use_tls: [4, 'bool'], message_receive_limit: [6, 'uint32'], server_creds: [7, own('TLSCreds')] },
    [own('ServerCompatResponse')]: { host: [1, 'string'], port: [2, 'uint32'], pem_cert: [3, 'bytes'] },
    [own('TLSCreds')]: { cert: [1, 'bytes'], key: [2, 'bytes'] },
  },
  enums: { [own('Code')]: Object.fromEntries(CODES.split(' ').map((name, number) => [`CODE_${name}`, number])) },
}

export const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [...protoFiles([FACTS])] }))

/** Returns the message of this name in the package of the suite. */
export function messageNamed(name: string): DescMessage {
  const message = registry.getMessage(own(name))
  if (!message) throw new Error(`the suite has no message ${name}`)
  return message
}

/** The path of the service that the suite calls. */
export const SERVICE = '/connectrpc.conformance.v1.ConformanceService/'

/** The methods that are there, with the names of their messages; those of streams are not. */
const METHODS: Readonly<Record<string, readonly [input: string, output: string]>> = {
  Unary: ['UnaryRequest', 'UnaryResponse'],
  IdempotentUnary: ['IdempotentUnaryRequest', 'IdempotentUnaryResponse'],
}

interface Header {
  readonly name: string
  readonly value: readonly string[]
}

/** How a request says that it is to be answered. */
interface Definition {
  readonly responseHeaders: readonly Header[]
  readonly responseTrailers: readonly Header[]
  readonly responseDelayMs: number
  readonly response:
    | { readonly case: 'responseData'; readonly value: Uint8Array }
    | { readonly case: 'error'; readonly value: { readonly code: number; readonly message?: string; readonly details: readonly Any[] } }
    | { readonly case: undefined }
}

type Request = Message & { readonly responseDefinition?: Definition }

/** Answers as each request of the suite says, and echoes what arrived. */
export const conform: WireHandler = async (call) => {
  const [input, output] = METHODS[call.path.replace(SERVICE, '')] ?? []
  if (input === undefined || output === undefined) throw new ApiError('UNIMPLEMENTED', 'the service has no such method')
  const request = decoded(call, messageNamed(input)) as Request
  const definition = request.responseDefinition
  const info = infoOf(call, anyPack(messageNamed(input), request))
  const metadata = { headers: metadataOf(definition?.responseHeaders), trailers: metadataOf(definition?.responseTrailers) }
  if (definition && definition.responseDelayMs > 0) await delay(definition.responseDelayMs)
  if (definition?.response.case === 'error') return { ...errorOf(definition.response.value, info), ...metadata }
  const data = definition?.response.case === 'responseData' ? definition.response.value : new Uint8Array()
  const message = { payload: { data, requestInfo: info } }
  return { message: [encoded(call, messageNamed(output), message)], ...metadata }
}

function errorOf(
  { code, message = '', details }: { code: number; message?: string; details: readonly Any[] },
  info: Record<string, unknown>,
): WireReply {
  const schema = messageNamed('ConformancePayload.RequestInfo')
  const all = [...details, anyPack(schema, create(schema, info))]
  const written = all.map(({ typeUrl, value }) => ({ type: typeUrl.slice(typeUrl.lastIndexOf('/') + 1), value }))
  return { status: { code, message, details: written } }
}

function infoOf({ headers, timeoutMs, isGet }: WireCall, request: Any) {
  const own = Object.entries(headers).filter(([name]) => !name.startsWith(':'))
  return {
    requestHeaders: own.map(([name, value]) => ({ name, value: [value ?? []].flat().flatMap((one) => one.split(', ')) })),
    ...(timeoutMs !== undefined && { timeoutMs: BigInt(timeoutMs) }),
    requests: [request],
    ...(isGet && { connectGetInfo: {} }),
  }
}

function metadataOf(headers: readonly Header[] = []): WireMetadata {
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]))
}

function decoded({ codec, message }: WireCall, schema: DescMessage): Message {
  try {
    return codec === 'proto' ? fromBinary(schema, message) : fromJsonString(schema, message.toString(), { registry })
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', 'the message cannot be decoded', { cause })
  }
}

function encoded({ codec }: WireCall, schema: DescMessage, message: Record<string, unknown>): Uint8Array {
  const made = create(schema, message)
  return codec === 'proto' ? toBinary(schema, made) : Buffer.from(toJsonString(schema, made, { registry }))
}

// The runner of connectrpc/conformance starts this program: a request comes on standard input, its answer says where the server listens.

interface Wanted extends Message {
  readonly useTls: boolean
  readonly messageReceiveLimit: number
  readonly serverCreds?: { readonly cert: Uint8Array; readonly key: Uint8Array }
}

const MEBIBYTE = 2 ** 20
const LIMITS = { headerBytes: 65_536, headersTimeoutMs: 10_000, idleTimeoutMs: 60_000, maxStreams: 100, connections: 0 }

const wanted = fromBinary(messageNamed('ServerCompatRequest'), await firstMessage()) as Wanted
const failed = (error: unknown) => void process.stderr.write(`${(error as Error)?.stack ?? error}\n`)
const settings = {
  requestBytes: wanted.messageReceiveLimit || 4 * MEBIBYTE,
  budget: createBudget(64 * MEBIBYTE),
  deadlines: createDeadlines(60_000),
  failed,
}
const grpc = createServeGrpc(settings)
const pair = createServePair(settings)

const request: RequestListener = (arrived, response) => {
  if (!arrived.url?.startsWith(SERVICE)) return void response.writeHead(404).end()
  pair({ request: arrived, response }, { handler: conform, isSafe: arrived.url.startsWith(`${SERVICE}IdempotentUnary`) })
}

const certificate: Certificate | undefined =
  wanted.useTls && wanted.serverCreds
    ? { cert: Buffer.from(wanted.serverCreds.cert).toString(), key: Buffer.from(wanted.serverCreds.key).toString() }
    : undefined
const listener = createListener((stream, headers) => grpc(stream, headers, conform), { certificate, ...LIMITS })
const server = listener.create({ request, expectation: request, failed, dropped() {} })
const { port } = await listening(server)
const schema = messageNamed('ServerCompatResponse')
const pemCert = wanted.serverCreds?.cert ?? new Uint8Array()
write(toBinary(schema, create(schema, { host: '127.0.0.1', port, ...(certificate && { pemCert }) })))
process.once('SIGTERM', () => process.exit(0))

/** Reads a message after its length, four bytes. */
async function firstMessage(): Promise<Buffer> {
  let all = Buffer.alloc(0)
  for await (const piece of process.stdin) {
    all = Buffer.concat([all, piece as Buffer])
    if (all.length >= 4 && all.length >= 4 + all.readUInt32BE()) break
  }
  return all.subarray(4, 4 + all.readUInt32BE())
}

function write(bytes: Uint8Array): void {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  process.stdout.write(Buffer.concat([length, bytes]))
}
