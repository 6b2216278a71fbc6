import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import type { ServerParts } from '../http/outcome.ts'
import { CODES, gatewayError, isStatusError } from '../status.ts'
import { readTimeout } from './deadline.ts'
import { answerGrpc, findMethod, type GrpcReply } from './grpc-call.ts'
import { readFrame, writeFrame } from './grpc-frame.ts'
import { grpcApi } from './grpc-method.ts'
import { type GrpcStatus, trailersOf } from './grpc-status.ts'

type Headers = Readonly<Record<string, string>>

const HEADERS = { 'content-type': 'application/grpc' }

const single = (value: string | readonly string[] | undefined): string | undefined => (typeof value === 'string' ? value : value?.[0])

/** Only gzip is known besides none. */
const encodingOf = (headers: IncomingHttpHeaders): 'gzip' | undefined => {
  const encoding = single(headers['grpc-encoding'])
  if (encoding === undefined || encoding === 'identity') return undefined
  if (encoding === 'gzip') return encoding
  return gatewayError('UNIMPLEMENTED', `grpc: Decompressor is not installed for grpc-encoding ${JSON.stringify(encoding)}`)
}

const statusOf = (error: unknown): GrpcStatus => {
  if (isStatusError(error)) return { code: CODES[error.status.code].code, message: error.status.message, details: [] }
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return { code: CODES.INTERNAL.code, message: 'unexpected error, see the output of the sandbox', details: [] }
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
  const ending = endingOf(stream, readTimeout(single(headers['grpc-timeout'])), closing)
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
    serve(parts, closing, stream, headers).catch((error: unknown) => sendStatus(stream, statusOf(error)))
  })
  return server
}
