import http2, { type ClientHttp2Session, type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from 'node:http2'
import { ApiError } from '../../errors.ts'
import { destroyLater, outlive, probe } from '../../serve/listen/http2.ts'
import { whenClosed } from '../../serve/signals.ts'
import { DIRECT, type Dial, http2Options } from '../../serve/upstream/dial.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { codeOfHttp } from '../wire/status.ts'

/** Nothing was sent: the client may repeat the call, even a write. */
export function unreachable(service: Service, cause?: unknown): ApiError {
  return new ApiError('UNAVAILABLE', `the ${service} service cannot be reached`, { cause, unsent: true })
}

/**
 * The call was sent, and no answer came. The service may have done what it asks. Clients repeat a call that is UNAVAILABLE, so UNKNOWN
 * tells them not to.
 */
export function brokenOff(service: Service): ApiError {
  return new ApiError('UNKNOWN', `the ${service} service broke off during the call, which may have been done`)
}

/** The process stops before the answer is whole. */
export function stopped(): ApiError {
  return new ApiError('UNKNOWN', 'Crosswalk stopped before the call was answered; it may have been done')
}

/** A unary answer is held as a whole, so that it is bounded. */
export function tooLong(service: Service, limit: number): ApiError {
  return new ApiError('RESOURCE_EXHAUSTED', `the ${service} service sent an answer of more than limits.answerBytes (${limit})`)
}

/** The sentence about a service that answers, but not as a gRPC service. */
function saysNoGrpc(service: Service): string {
  return `the ${service} service does not speak gRPC; set upstream.${service}Grpc to rest if it speaks REST`
}

/** The error of an answer that is not gRPC. */
export function foreignAnswer(service: Service, status: number): ApiError {
  const code = codeOfHttp('grpc', status)
  if (code === undefined) return new ApiError('UNIMPLEMENTED', saysNoGrpc(service), { cause: `HTTP ${status}` })
  return new ApiError(code, `the ${service} service answered HTTP ${status} without gRPC`)
}

/** Codes of Node for the first bytes of a service that does not speak HTTP/2, or refuses to over TLS. */
const OTHER_PROTOCOL = new Set(['ERR_HTTP2_ERROR', 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'])

/**
 * What such a connection means. v2 is expected to speak gRPC, so that the fault may pass. v1 may well be older than its gRPC clients: for
 * them the method is missing.
 */
const NO_HTTP2 = { v2: 'UNAVAILABLE', v1: 'UNIMPLEMENTED' } as const

/** The error of a connection that was never ready. */
function notReady(service: Service, cause: Error): ApiError {
  const { code } = cause as { code?: string }
  if (!OTHER_PROTOCOL.has(code ?? '')) return unreachable(service, cause)
  return new ApiError(NO_HTTP2[service], saysNoGrpc(service), { cause, unsent: true })
}

/** One stream to the service. */
export interface Sent {
  readonly stream: ClientHttp2Stream
  /** True if the connection of the stream was lost; false if the service itself reset the stream. */
  isLost(): boolean
  /** False if the service certainly did nothing: it never got the stream, or refused it. */
  mayBeDone(): boolean
}

export interface SessionSettings {
  /** Its name in errors. */
  readonly service: Service
  /** The origin of the service: `http:` is h2c, `https:` is TLS. */
  readonly origin: string
  /** Milliseconds until the connection must be ready. */
  readonly connectTimeoutMs: number
  /** Milliseconds after which a connection takes no further stream, so that a name that moves is followed; 0 or absent = unlimited. */
  readonly connectionAgeMs?: number
  /** How a connection opens; directly without it. */
  readonly dial?: Dial
  /** The maximum number of connections. */
  readonly connections: number
}

const { NGHTTP2_REFUSED_STREAM } = constants

/** Bytes. The windows equal those towards clients, so that neither side is the bottleneck. */
const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024
const MAX_HEADER_SIZE = 64 * 1024

/** Milliseconds. Many gRPC servers end a connection with several PINGs in five minutes, unless they sent headers or data meanwhile. */
const PROBES = { first: 10_000, again: 300_000, answer: 10_000, early: 2 }

/** Megabytes for all streams of the connection; Node's default of 10 is less than their windows. */
const SESSION_MEMORY = 128

/** Milliseconds of silence before TCP probes the other side. */
const PROBE_AFTER = 30_000

/** Opens one HTTP/2 connection to the service. `closed` is called at least once, however it ends. */
function connect({ service, origin, connectTimeoutMs, connectionAgeMs = 0, dial = DIRECT }: SessionSettings, closed: () => void) {
  const connection = http2.connect(origin, {
    ...http2Options(dial, origin),
    settings: { initialWindowSize: STREAM_WINDOW, maxHeaderListSize: MAX_HEADER_SIZE, enablePush: false },
    maxSessionMemory: SESSION_MEMORY,
  })
  destroyLater(connection)
  const probed = probe(connection, PROBES)
  let streams = 0
  let isReady = false
  let lastTaken = Number.POSITIVE_INFINITY
  const streamEnded = () => {
    streams -= 1
  }
  const ended = () => {
    clearTimeout(aged)
    closed()
  }
  connection.once('connect', (_, socket) => {
    outlive(connection)
    socket.setKeepAlive(true, PROBE_AFTER)
    // Without our certificate, TLS fails behind the handshake. Node then says nothing on the session.
    socket.once('error', ended)
    // The service may have hung up before Node tells of the connection.
    if (connection.destroyed) ended()
    else connection.setLocalWindowSize(CONNECTION_WINDOW)
  })
  let aged: NodeJS.Timeout | undefined
  connection.once('remoteSettings', () => {
    isReady = true
    // Its streams end in their own time. `isOpen` is false from then on. A connection that is not ready yet has no age.
    if (connectionAgeMs > 0) aged = setTimeout(() => connection.close(), connectionAgeMs).unref()
  })
  connection.on('goaway', (_, last) => {
    lastTaken = last
  })
  connection.once('close', ended)
  return {
    /** Settles when the service has announced its number of streams; a stream sent earlier may be refused. Rejects with an ApiError; nothing was sent then. */
    ready: whenReady(connection, service, connectTimeoutMs),
    isReady: () => isReady,
    /** False if it takes no further streams: it broke, or the service closed it (GOAWAY). One with an error ends the connection a turn later. */
    isOpen: () => !connection.closed && !connection.destroyed && lastTaken === Number.POSITIVE_INFINITY,
    /** The number of streams that it can take now. */
    room: () => (connection.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY) - streams,
    /** Opens a stream. Throws if the headers are not those of a request. If the connection fails later, so does the stream. */
    send(headers: OutgoingHttpHeaders, endStream: boolean): Sent {
      const { socket } = connection
      const stream = connection.request(headers, { endStream })
      probed(stream)
      streams += 1
      whenClosed(stream, { over: streamEnded, next: undefined })
      return {
        stream,
        isLost: () => connection.destroyed || socket.destroyed,
        mayBeDone: () => stream.id !== undefined && stream.id <= lastTaken && stream.rstCode !== NGHTTP2_REFUSED_STREAM,
      }
    },
    destroy: () => connection.destroy(),
  }
}

function whenReady(connection: ClientHttp2Session, service: Service, timeoutMs: number): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    const fail = (cause: Error) => reject(notReady(service, cause))
    const timer = setTimeout(() => connection.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    connection.once('remoteSettings', resolve)
    connection.once('remoteSettings', () => clearTimeout(timer))
    connection.on('error', fail)
    connection.once('connect', (_, socket) => {
      socket.once('error', fail)
      if (connection.destroyed) fail(new Error('the connection was closed'))
    })
    connection.once('close', () => {
      clearTimeout(timer)
      fail(new Error('the connection was closed'))
    })
  })
  // A promise that no caller awaits must not be rejected unhandled.
  ready.catch(() => {})
  return ready
}

/** What is known of a client's call when its stream opens. */
interface Waiting {
  readonly closed: boolean
  /** No message follows. */
  readonly endAfterHeaders: boolean
}

/** All HTTP/2 connections to the service. */
export type Sessions = ReturnType<typeof createSessions>

/**
 * Streams share a connection up to the number that the service allows on it; then another connection opens.
 * When no more connections are allowed, streams wait on the emptiest one.
 */
export function createSessions(settings: SessionSettings) {
  type Session = ReturnType<typeof connect>
  const all = new Set<Session>()

  const open = (): Session => {
    const session = connect(settings, () => all.delete(session))
    all.add(session)
    return session
  }
  const choose = (): Session => {
    const [only] = all
    // Most often one connection has room for all streams.
    if (only && all.size === 1 && only.isOpen() && only.room() > 0) return only
    const [emptiest, ...others] = [...all].filter((session) => session.isOpen()).sort((a, b) => b.room() - a.room())
    if (!emptiest) return open()
    const fullestWithRoom = [emptiest, ...others].findLast((session) => session.room() > 0)
    return fullestWithRoom ?? (others.length + 1 < settings.connections ? open() : emptiest)
  }
  return {
    /** Opens a stream for a client's call; undefined if that has ended meanwhile. Rejects if no connection is possible; nothing was sent then. */
    async request(headers: OutgoingHttpHeaders, client: Waiting): Promise<Sent | undefined> {
      let session = choose()
      while (!session.isReady()) {
        await session.ready
        session = choose()
      }
      return client.closed ? undefined : session.send(headers, client.endAfterHeaders)
    },
    close() {
      for (const session of all) session.destroy()
    },
  }
}
