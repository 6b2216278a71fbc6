import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import http2, {
  constants,
  type Http2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Http2Session,
  type Http2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { Socket } from 'node:net'
import { guarded, whenClosed } from '../signals.ts'
import type { ConnectionLimits } from './listener.ts'
import { handleOf } from './times.ts'

/** Milliseconds. A connection that does not even take a reset in this time takes nothing. A slow one first takes what is under way. */
const TAKES_NOTHING = 5000

/**
 * Ends a connection of HTTP/2 at once, and its socket in the same turn. Node alone frees the memory of the streams while the socket still
 * sends from it. What the client reads would be whatever that memory holds then: answers to others.
 */
export function cut(session: Http2Session): void {
  if (session.destroyed) return
  const socket = socketOf(session)
  const end = () => void socket.destroy()
  session.destroy()
  // `destroyLater` has it destroyed in a later turn.
  if (session.destroyed) end()
  else setImmediate(end)
}

/** Returns the socket itself. `session.socket` forbids to destroy it, but passes other methods on to it, and `off` returns what it is called on. */
function socketOf({ socket }: Http2Session): Socket {
  return socket.off('close', nothing)
}

const nothing = () => {}

const RESET = Symbol('reset by us')

type Known = Partial<Http2Stream> & { [RESET]?: true }

/** Resets a stream whose client has not. */
export function reset(stream: Http2Stream, code: number): void {
  const known: Known = stream
  known[RESET] = true
  stream.close(code)
}

/** True if a closed stream was ended by its client, by a reset or with its connection, before its answer was whole. */
export function isLeft({ aborted, rstCode, [RESET]: isOurs }: Known): boolean {
  return !isOurs && (aborted === true || (rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR)
}

/**
 * Breaks a stream off. Node's `destroy` frees its memory although parts of it may be on their way to the socket. A reset waits until those
 * have gone. If it cannot be sent either, the client takes nothing of the whole connection, and that ends. A client that does not take its
 * answer (`isTaken`) has left it.
 */
export function breakOff(stream: Http2Stream, isTaken = true): void {
  const { session } = stream
  if (stream.destroyed || session === undefined) return
  const late = setTimeout(() => cut(session), TAKES_NOTHING).unref()
  stream.once('close', () => clearTimeout(late))
  if (isTaken) reset(stream, constants.NGHTTP2_INTERNAL_ERROR)
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}

/**
 * Makes `destroy` wait until Node has read the bytes that have arrived. Node itself calls it while it reads, for a frame that is wrong for its
 * stream. nghttp2 then reads on as if nothing had happened, and an assertion of it ends the process at a frame that is wrong for the connection
 * (`iframe->state == NGHTTP2_IB_IGN_ALL`). A few frames of a stranger are enough.
 */
export function destroyLater(session: Http2Session): void {
  const destroy = session.destroy.bind(session)
  session.destroy = (...reason) => void setImmediate(() => destroy(...reason))
}

/** Milliseconds; the streams of a connection are freed one turn of the event loop after it. */
const LONGER = 2000

/**
 * Keeps Node's objects of an HTTP/2 connection longer than the connection. Node frees a stream with a malformed head a turn after its
 * connection. If the collector is faster, an assertion of Node ends the process (nodejs/node#39951). No public object retains them. Call
 * this when the connection is open.
 */
export function outlive(session: Http2Session): void {
  const handle = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'kHandle')
  const kept = handle && (session as unknown as Record<symbol, unknown>)[handle]
  session.once('close', () => setTimeout(() => void kept, LONGER).unref())
}

/** Milliseconds. */
interface ProbeTimes {
  /** From the start of a stream to its first PING. */
  readonly first: number
  /** From an answered PING to the next, while streams are open; Infinity for none. */
  readonly again: number
  /** Until the PING must be answered. */
  readonly answer: number
  /** The number of PINGs without `again` between them that the peer bears before it has answered a stream. */
  readonly early: number
}

/**
 * Ends an HTTP/2 connection whose peer answers no PING while streams wait on it.
 * After a connection error, Node with nghttp2 before 1.69 neither reads nor ends the connection, and reports nothing.
 * Present and later streams would wait for ever. Returns the function that takes each stream.
 */
export function probe(session: Http2Session, { first, again, answer, early }: ProbeTimes): (stream: Http2Stream) => void {
  let open = 0
  let asked = 0
  let askedAt = 0
  let due = Number.POSITIVE_INFINITY
  let next: NodeJS.Timeout | undefined
  let late: NodeJS.Timeout | undefined

  const askIn = (ms: number) => {
    const now = performance.now()
    const at = asked < early ? now + ms : Math.max(now + ms, askedAt + again)
    if (at >= due) return
    clearTimeout(next)
    due = at
    next = setTimeout(ask, at - now).unref()
  }
  const ask = () => {
    due = Number.POSITIVE_INFINITY
    if (open === 0 || late !== undefined || session.destroyed) return
    late = setTimeout(() => cut(session), answer).unref()
    asked += 1
    askedAt = performance.now()
    session.ping(answered)
  }
  const answered = () => {
    clearTimeout(late)
    late = undefined
    if (open > 0) askIn(again)
  }
  session.once('close', () => {
    clearTimeout(next)
    clearTimeout(late)
  })
  return (stream) => {
    open += 1
    const over = () => {
      open -= 1
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) asked = 0
    }
    whenClosed(stream, { over, next: undefined })
    askIn(first)
  }
}

/** Milliseconds between two looks for the end of a connection. */
const LOOK_EVERY = 1000

/**
 * Notices the end of a connection on which streams wait, so that their places become free. After a connection error, Node with nghttp2
 * before 1.69 stops reading the socket, and never learns that the client has closed it. Where Node reads anyway, to begin reading changes
 * nothing. While Node writes, it may have stopped reading on purpose, and learns of the end by what it writes. Returns the function that
 * takes each stream.
 */
function hearEnd(session: Http2Session): (stream: Http2Stream) => void {
  const socket = socketOf(session)
  let open = 0
  let waits = false
  const ended = () => {
    open -= 1
  }
  const look = () => {
    waits = false
    if (open === 0 || session.destroyed) return
    const handle = handleOf(socket)
    if (handle?.writeQueueSize === 0) handle.readStart()
    lookSoon()
  }
  const lookSoon = () => {
    if (waits) return
    waits = true
    setTimeout(look, LOOK_EVERY).unref()
  }
  return (stream) => {
    open += 1
    whenClosed(stream, { over: ended, next: undefined })
    lookSoon()
  }
}

/** The carrier, the metrics and Node's own streams all listen for the end of an answer. They are more than the ten that Node expects. */
const LISTENERS = 20

/** Makes a request of HTTP/2 and its answer behave as those of HTTP/1.1 do, so that handlers know one form. */
export function asHttp1(request: Http2ServerRequest, response: Http2ServerResponse): void {
  speakHttp1(request)
  tellWholeFromCut(response)
  response.setMaxListeners(LISTENERS)
  if (request.method === 'HEAD') tellEndOfHead(response)
}

/**
 * Normalises an HTTP/2 request to HTTP/1.1 headers (the host, and that a body follows), so that carriers handle one format. A host header
 * beside an authority has no meaning (RFC 9113 §8.3.1). Node takes it for the authority where that is absent.
 */
function speakHttp1({ headers, stream, authority }: Http2ServerRequest): void {
  if (authority !== undefined) headers.host = authority
  if (!stream.endAfterHeaders && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked'
}

/**
 * Node reports a reset answer as finished, and ends a destroyed one as if it were complete.
 * A truncated answer must look truncated, to us and to the client. What comes after `destroy` is dropped.
 */
function tellWholeFromCut(response: Http2ServerResponse): void {
  const { stream } = response
  const isWhole = () => response.writableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR
  Object.defineProperty(response, 'writableFinished', { get: isWhole })
  const destroy = () => {
    Object.assign(response, { write: () => false, end: () => response })
    breakOff(stream)
    return response
  }
  Object.assign(response, { destroy })
}

/** Node does not report the end of an unanswered HEAD. */
function tellEndOfHead(response: Http2ServerResponse): void {
  let isTold = false
  response.once('close', () => {
    isTold = true
  })
  response.stream.once('close', () => setImmediate(() => !isTold && response.emit('close')))
}

/** Takes a stream that has just opened, and what came with it. */
type Begin<Rest extends unknown[]> = (stream: ServerHttp2Stream, ...rest: Rest) => void

/** More let fewer gRPC calls through. Fewer cost a write to the socket for each few. */
const AT_ONCE = 8

/**
 * Begins the streams of one connection a few in each turn of the event loop. One packet can open hundreds, and Node writes at the end of a
 * turn. So the service works on the first while the others are read, and no packet keeps other connections waiting for long.
 */
export function fewAtOnce<Rest extends unknown[]>(begin: Begin<Rest>): Begin<Rest> {
  const waiting: [ServerHttp2Stream, ...Rest][] = []
  let begun = 0
  const start: Begin<Rest> = (...opened) => {
    if (begun === 0) setImmediate(next)
    begun += 1
    begin(...opened)
  }
  const next = () => {
    begun = 0
    for (const opened of waiting.splice(0, AT_ONCE)) start(...opened)
  }
  return (...opened) => {
    if (begun < AT_ONCE) return start(...opened)
    // It may fail before it begins, and an error without a listener ends the process.
    opened[0].on('error', () => {})
    waiting.push(opened)
  }
}

/**
 * Makes `session.close()` refuse later streams safely: those that its GOAWAY does not cover, so that their clients may repeat them. Node
 * calls it too, for the GOAWAY of a client. Returns a function that refuses a stream if it is such a late one, and tells whether it did.
 *
 * Node would refuse such a stream while nghttp2 still reads it. On Node 20 and 22, that sends the GOAWAY, which frees the stream, and
 * nghttp2 goes on to use it. A few connections with a GOAWAY before their requests ended the process on Node 20.
 */
export function refuseLate(session: ServerHttp2Session): (stream: ServerHttp2Stream) => boolean {
  let last = Number.POSITIVE_INFINITY
  const close = session.close.bind(session)
  session.close = (closed) => {
    if (closed) session.once('close', closed)
    if (last !== Number.POSITIVE_INFINITY || session.destroyed) return
    last = session.state.lastProcStreamID ?? 0
    session.goaway(constants.NGHTTP2_NO_ERROR, last)
    // Node sends what is to be sent before it calls this, so that nghttp2 ignores later streams from then on.
    setImmediate(close)
  }
  return (stream) => {
    if ((stream.id ?? 0) <= last) return false
    stream.on('error', () => {})
    setImmediate(() => stream.close(constants.NGHTTP2_REFUSED_STREAM))
    return true
  }
}

/** Serves one gRPC call; `rawHeaders` is the flat list of names and values as received. */
export type OnGrpc = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, rawHeaders: readonly string[]) => void

type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, rawHeaders: string[]) => void

/** The unread bytes that a client may send on one stream: a few round trips of a fast network. */
const STREAM_WINDOW = 256 * 1024

/** Milliseconds. A lost client soon frees its places. Repeated PINGs would keep a connection alive that `idleTimeoutMs` must end. */
const PROBES = { first: 10_000, again: Number.POSITIVE_INFINITY, answer: 10_000, early: Number.POSITIVE_INFINITY }

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
      if (isGrpc(headers)) return onGrpc(stream, headers, rawHeaders)
      // Messages of gRPC tell their length. Other bodies do not.
      stream.on('aborted', cutShort)
      for (const listener of asRequest) listener.call(server, stream, headers, flags, rawHeaders)
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
    session.on('stream', hearEnd(session))
    session.setTimeout(idleTimeoutMs, () => cut(session))
  })
  return server
}

/** Node still emits a stream that was reset, or whose connection ended, in its own first packet. Such a stream has no session. */
function isGone({ destroyed, closed, session }: ServerHttp2Stream): boolean {
  return destroyed || closed || session === undefined || session.destroyed
}

/** Node takes a reset with NO_ERROR, which Envoy sends for a client that left, for the end of the body. Any other code destroys the stream. */
function cutShort(this: ServerHttp2Stream): void {
  if (this.rstCode === constants.NGHTTP2_NO_ERROR) this.destroy()
}

/** The content types of gRPC. Those of gRPC-Web begin alike and are ordinary requests. */
const GRPC = /^application\/grpc(?:$|[+; ])/i

/** Every gRPC call is a POST. Any other request with its content type is an ordinary one. */
function isGrpc({ ':method': method, 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return method === 'POST' && GRPC.test(type)
}
