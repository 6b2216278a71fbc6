import { setTimeout as delay } from 'node:timers/promises'
import { create, type DescMessage, fromBinary, fromJsonString, type Message, toBinary, toJsonString } from '@bufbuild/protobuf'
import { type Any, anyPack } from '@bufbuild/protobuf/wkt'
import { ApiError } from '../../../src/errors.ts'
import type { WireCall, WireHandler, WireMetadata, WireReply } from '../../../src/grpc/wire/call.ts'
import { messageNamed, registry } from './messages.ts'

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
