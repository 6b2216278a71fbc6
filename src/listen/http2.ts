import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import http2, {
  constants,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { guarded } from '../relay/guard.ts'
import { outlive } from '../relay/outlive.ts'
import { probe } from '../relay/probe.ts'
import type { ConnectionLimits } from './limits.ts'

/** Serves one gRPC call; `rawHeaders` is the flat list of names and values as they came. */
export type OnGrpc = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) => void

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

/** Bytes that a client may send on one stream before somebody has read them: a few round trips of a fast network. */
const STREAM_WINDOW = 256 * 1024

/** Who waits for the end of an answer: what carries it, what counts it and Node's own streams are more than the ten that Node expects. */
const LISTENERS = 20

/** Milliseconds: a client that is gone gives its places back soon. More PINGs would keep a connection alive that `idleTimeoutMs` has to end. */
const PROBES = { first: 10_000, again: Number.POSITIVE_INFINITY, answer: 10_000 }

/** Megabytes that one connection may hold for all of its streams; Node's 10 are fewer than their windows. */
const SESSION_MEMORY = 128

/**
 * An HTTP/2 server that never listens itself: connections are handed to it. A connection without a frame for `idleTimeoutMs` is ended with all
 * that is under way on it, as one of HTTP/1.1 is; a PING is a frame, so that gRPC streams may be silent for long. gRPC calls are given to
 * `onGrpc` as bare streams, because Node's request and response objects write trailers of their own (design §6.4); every other request goes
 * to `handler`. `failed` is told what a handler throws; its stream is reset.
 */
export function createHttp2(
  handler: RequestListener,
  onGrpc: OnGrpc,
  { headerBytes, idleTimeoutMs, maxStreams }: ConnectionLimits,
  failed: (error: unknown) => void,
): Http2Server {
  const server = http2.createServer({
    settings: { initialWindowSize: STREAM_WINDOW, maxConcurrentStreams: maxStreams, maxHeaderListSize: headerBytes },
    maxSessionMemory: SESSION_MEMORY,
  })
  server.on('session', (session) => {
    outlive(session)
    session.on('stream', probe(session, PROBES))
    session.setTimeout(idleTimeoutMs, () => session.destroy())
  })
  server.on('request', (request, response) => {
    speakHttp1(request)
    tellWholeFromCut(response)
    response.setMaxListeners(LISTENERS)
    if (request.method === 'HEAD') tellEndOfHead(response)
    handler(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  const asRequest = server.listeners('stream') as OnStream[]
  const onStream: OnStream = (stream, headers, flags, rawHeaders) => {
    // Whoever serves a stream hears of its errors; nobody else would, and an error that nobody hears ends the process.
    if (isGone(stream)) return void stream.on('error', () => {})
    if (isGrpc(headers)) onGrpc(stream, headers, rawHeaders)
    else for (const listener of asRequest) listener.call(server, stream, headers, flags, rawHeaders)
  }
  server.removeAllListeners('stream')
  server.on(
    'stream',
    guarded(onStream, (error, stream) => {
      failed(error)
      stream.destroy()
    }),
  )
  return server
}

/** Node still tells of a stream that was reset, or whose connection was ended, in the packet that began it; it has no session then. */
function isGone({ destroyed, closed, session }: ServerHttp2Stream): boolean {
  return destroyed || closed || session === undefined || session.destroyed
}

/** Every call of gRPC is a POST; anything else that calls itself so is a request like others. */
function isGrpc({ ':method': method, 'content-type': type }: IncomingHttpHeaders): boolean {
  return method === 'POST' && (type?.startsWith('application/grpc') ?? false)
}

/**
 * Says in the words of HTTP/1.1 what Node says otherwise for HTTP/2, so that every carrier reads one language: the host, and that a body
 * follows.
 */
function speakHttp1({ headers, stream, authority }: Http2ServerRequest): void {
  headers.host ??= authority
  if (!stream.endAfterHeaders && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked'
}

/**
 * Node says of an answer that was reset that it is finished, and ends one that is destroyed as if it were whole. Neither may be: what is
 * cut short has to look so, to us and to the client.
 */
function tellWholeFromCut(response: Http2ServerResponse): void {
  const { stream, destroy } = response as Http2ServerResponse & Pick<ServerResponse, 'destroy'>
  const isWhole = () => response.writableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR
  Object.defineProperty(response, 'writableFinished', { get: isWhole })
  Object.assign(response, { destroy: (error?: Error) => destroy.call(response as never, error ?? new Error('broken off')) })
}

/** Node does not tell of the end of a HEAD that was not answered. */
function tellEndOfHead(response: Http2ServerResponse): void {
  let isTold = false
  response.once('close', () => {
    isTold = true
  })
  response.stream.once('close', () => setImmediate(() => !isTold && response.emit('close')))
}
