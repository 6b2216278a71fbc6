import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from 'node:http2'
import { ApiError } from '../../errors/api-error.ts'
import { outlive } from '../../relay/outlive.ts'
import { probe } from '../../relay/probe.ts'

/** One stream to the service. */
export interface Sent {
  readonly stream: ClientHttp2Stream
  /** True when its connection is gone, as opposed to a stream that the service itself has reset. */
  readonly isLost: () => boolean
}

/** One HTTP/2 connection to the service. */
export interface Session {
  /** Settled when the service has said how many streams it allows, as streams sent before that may be refused; else UNAVAILABLE. */
  readonly ready: Promise<void>
  isReady(): boolean
  /** False when it takes no further streams: broken, or told to go by the service (GOAWAY). */
  isOpen(): boolean
  /** Streams that it may take now. */
  room(): number
  /** Opens a stream; throws when the headers are not those of a request. A connection that fails later fails the stream. */
  send(headers: OutgoingHttpHeaders, endStream: boolean): Sent
  destroy(): void
}

export interface SessionSettings {
  /** Origin of the service: `http:` is h2c, `https:` is TLS. */
  readonly origin: string
  /** Milliseconds until the connection must be ready. */
  readonly connectTimeoutMs: number
}

/** Bytes: the windows are as large as those towards clients, so that neither side is the narrow one. */
const STREAM_WINDOW = 256 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024
const MAX_HEADER_SIZE = 64 * 1024

/** Milliseconds: many a gRPC server takes PINGs that come more often than every five minutes, without a stream, for an attack. */
const PROBES = { first: 10_000, again: 300_000, answer: 10_000 }

/** Megabytes that all streams of the connection may take; Node's 10 are fewer than their windows. */
const SESSION_MEMORY = 128

/** Milliseconds of silence after which TCP looks whether the other side is still there. */
const PROBE_AFTER = 30_000

/** `closed` is told once, whatever became of the connection. */
export function connect({ origin, connectTimeoutMs }: SessionSettings, closed: () => void): Session {
  const connection = http2.connect(origin, {
    settings: { initialWindowSize: STREAM_WINDOW, maxHeaderListSize: MAX_HEADER_SIZE, enablePush: false },
    maxSessionMemory: SESSION_MEMORY,
  })
  const probed = probe(connection, PROBES)
  let streams = 0
  let isReady = false
  connection.once('connect', (_, socket) => {
    outlive(connection)
    socket.setKeepAlive(true, PROBE_AFTER)
    connection.setLocalWindowSize(CONNECTION_WINDOW)
  })
  connection.once('remoteSettings', () => {
    isReady = true
  })
  connection.once('close', closed)
  return {
    ready: whenReady(connection, connectTimeoutMs),
    isReady: () => isReady,
    isOpen: () => !connection.closed && !connection.destroyed,
    room: () => (connection.remoteSettings?.maxConcurrentStreams ?? Number.POSITIVE_INFINITY) - streams,
    send(headers, endStream) {
      const { socket } = connection
      const stream = connection.request(headers, { endStream })
      probed(stream)
      streams += 1
      stream.once('close', () => {
        streams -= 1
      })
      return { stream, isLost: () => connection.destroyed || socket.destroyed }
    },
    destroy: () => connection.destroy(),
  }
}

function whenReady(connection: ClientHttp2Session, timeoutMs: number): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    const fail = (cause: Error) => reject(new ApiError('UNAVAILABLE', 'the v2 service cannot be reached', { cause }))
    const timer = setTimeout(() => connection.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
    connection.once('remoteSettings', resolve)
    connection.once('remoteSettings', () => clearTimeout(timer))
    connection.on('error', fail)
    connection.once('close', () => {
      clearTimeout(timer)
      fail(new Error('the connection was closed'))
    })
  })
  // Whoever waits is told; when nobody does any more, nobody needs to know.
  ready.catch(() => {})
  return ready
}
