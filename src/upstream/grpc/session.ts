import http2, { type ClientHttp2Session, type ClientHttp2Stream, constants, type OutgoingHttpHeaders } from 'node:http2'
import { destroyLater, outlive, probe } from '../../serve/listen/http2.ts'
import { whenClosed } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { notReady } from './failures.ts'

/** One stream to the service. */
export interface Sent {
  readonly stream: ClientHttp2Stream
  /** True if the connection of the stream was lost; false if the service itself reset the stream. */
  isLost(): boolean
  /** False if the service certainly did nothing: it never got the stream, or refused it. */
  mayBeDone(): boolean
}

/** One HTTP/2 connection to the service. */
export interface Session {
  /** Settles when the service has announced its number of streams; a stream sent earlier may be refused. Rejects with an ApiError; nothing was sent then. */
  readonly ready: Promise<void>
  isReady(): boolean
  /** False if it takes no further streams: it broke, or the service closed it (GOAWAY). */
  isOpen(): boolean
  /** The number of streams that it can take now. */
  room(): number
  /** Opens a stream. Throws if the headers are not those of a request. If the connection fails later, so does the stream. */
  send(headers: OutgoingHttpHeaders, endStream: boolean): Sent
  destroy(): void
}

export interface SessionSettings {
  /** Its name in errors. */
  readonly service: Service
  /** The origin of the service: `http:` is h2c, `https:` is TLS. */
  readonly origin: string
  /** Milliseconds until the connection must be ready. */
  readonly connectTimeoutMs: number
}

const { NGHTTP2_REFUSED_STREAM } = constants

/** Bytes. The windows equal those towards clients, so that neither side is the bottleneck. */
const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024
const MAX_HEADER_SIZE = 64 * 1024

/** Milliseconds. Many gRPC servers treat PINGs without a stream as an attack if they come more often than every five minutes. */
const PROBES = { first: 10_000, again: 300_000, answer: 10_000 }

/** Megabytes for all streams of the connection; Node's default of 10 is less than their windows. */
const SESSION_MEMORY = 128

/** Milliseconds of silence before TCP probes the other side. */
const PROBE_AFTER = 30_000

/** Connects to the service. `closed` is called once, however the connection ends. */
export function connect({ service, origin, connectTimeoutMs }: SessionSettings, closed: () => void): Session {
  const connection = http2.connect(origin, {
    settings: { initialWindowSize: STREAM_WINDOW, maxHeaderListSize: MAX_HEADER_SIZE, enablePush: false },
    maxSessionMemory: SESSION_MEMORY,
  })
  destroyLater(connection)
  const probed = probe(connection, PROBES)
  let streams = 0
  let isReady = false
  let lastTaken = Number.POSITIVE_INFINITY
  const ended = () => {
    streams -= 1
  }
  connection.once('connect', (_, socket) => {
    outlive(connection)
    socket.setKeepAlive(true, PROBE_AFTER)
    connection.setLocalWindowSize(CONNECTION_WINDOW)
  })
  connection.once('remoteSettings', () => {
    isReady = true
  })
  connection.on('goaway', (_, last) => {
    lastTaken = last
  })
  connection.once('close', closed)
  return {
    ready: whenReady(connection, service, connectTimeoutMs),
    isReady: () => isReady,
    isOpen: () => !connection.closed && !connection.destroyed,
    room: () => (connection.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY) - streams,
    send(headers, endStream) {
      const { socket } = connection
      const stream = connection.request(headers, { endStream })
      probed(stream)
      streams += 1
      whenClosed(stream, { over: ended, next: undefined })
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
    connection.once('close', () => {
      clearTimeout(timer)
      fail(new Error('the connection was closed'))
    })
  })
  // A promise that no caller awaits must not be rejected unhandled.
  ready.catch(() => {})
  return ready
}
