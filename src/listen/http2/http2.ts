import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import http2, { type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { breakOff, cut } from '../../relay/cut.ts'
import { destroyLater } from '../../relay/destroy-later.ts'
import { guarded } from '../../relay/guard.ts'
import { outlive } from '../../relay/outlive.ts'
import { probe } from '../../relay/probe.ts'
import type { ConnectionLimits } from '../limits.ts'
import { asHttp1 } from './as-http1.ts'
import { fewAtOnce } from './few-at-once.ts'
import { refuseLate } from './refuse-late.ts'

/** Serves one gRPC call; `rawHeaders` is the flat list of names and values as received. */
export type OnGrpc = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) => void

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

/** The unread bytes that a client may send on one stream: a few round trips of a fast network. */
const STREAM_WINDOW = 256 * 1024

/** Milliseconds. A lost client soon frees its places. Repeated PINGs would keep a connection alive that `idleTimeoutMs` must end. */
const PROBES = { first: 10_000, again: Number.POSITIVE_INFINITY, answer: 10_000 }

/** Megabytes that one connection may hold for all its streams; Node's default of 10 is less than their windows. */
const SESSION_MEMORY = 128

/**
 * Creates an HTTP/2 server that never listens itself; it is given connections. It ends a connection without a frame for `idleTimeoutMs`,
 * with all its streams, as HTTP/1.1 does. A PING is a frame, so gRPC streams may be silent for long. gRPC calls go to `onGrpc` as bare
 * streams, because Node's request and response objects write their own trailers (design §6.4). Other requests go to `handler`. `failed`
 * takes an exception of a handler; its stream is reset.
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
  server.on('request', (request, response) => {
    asHttp1(request, response)
    handler(request as unknown as IncomingMessage, response as unknown as ServerResponse)
  })
  const asRequest = server.listeners('stream') as OnStream[]
  server.removeAllListeners('stream')
  const onStream: OnStream = guarded(
    (stream, headers, flags, rawHeaders) => {
      // An error without a listener ends the process, and a connection may fail while its stream is handed over.
      stream.on('error', () => {})
      if (isGone(stream)) return
      if (isGrpc(headers)) onGrpc(stream, headers, rawHeaders)
      else for (const listener of asRequest) listener.call(server, stream, headers, flags, rawHeaders)
    },
    (error, stream) => {
      failed(error)
      breakOff(stream)
    },
  )
  server.on('session', (session) => {
    outlive(session)
    destroyLater(session)
    const refused = refuseLate(session)
    const begin: OnStream = (stream, ...rest) => {
      if (!refused(stream)) onStream(stream, ...rest)
    }
    session.on('stream', fewAtOnce(begin))
    session.on('stream', probe(session, PROBES))
    session.setTimeout(idleTimeoutMs, () => cut(session))
  })
  return server
}

/** Node still emits a stream that was reset, or whose connection ended, in its own first packet. Such a stream has no session. */
function isGone({ destroyed, closed, session }: ServerHttp2Stream): boolean {
  return destroyed || closed || session === undefined || session.destroyed
}

/** The content types of gRPC. Those of gRPC-Web begin alike and are ordinary requests. */
const GRPC = /^application\/grpc(?:$|[+; ])/i

/** Every gRPC call is a POST. Any other request with its content type is an ordinary one. */
function isGrpc({ ':method': method, 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return method === 'POST' && GRPC.test(type)
}
