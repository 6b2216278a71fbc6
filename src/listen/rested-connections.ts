import type { Socket } from 'node:net'
import { createBucket } from '../limits/bucket.ts'

export interface RestedConnectionsSettings {
  /** The number of connections that may resume in a second; 0 = connections never rest. */
  readonly perSecond: number
  /** Milliseconds after which a connection resumes in any case. */
  readonly longestMs: number
}

/** Connections that were refused and are not read for a while. */
export interface RestedConnections {
  /** Lets a connection rest, unless refusals were so rare lately that its next request costs nothing. */
  refused(socket: Socket): void
  /** Resumes all connections; none rests any more. */
  end(): void
}

/** Milliseconds between two checks for connections to resume. */
const LOOK_EVERY = 5

/** After a pause, as many refusals without a rest are allowed as fit into this part of a second. */
const BURST = 0.1

/**
 * Reading a request and writing a refusal costs Node a large part of an answer. Clients that retry at once, whatever `retry-after` says,
 * would leave little for the others. Their connections therefore wait unread, in the order of their refusals, and resume at a limited
 * rate. Their requests meanwhile stay with the operating system. `now` is a monotonic clock in milliseconds.
 */
export function createRestedConnections({ perSecond, longestMs }: RestedConnectionsSettings, now: () => number): RestedConnections {
  const resting = new Map<Socket, number>()
  const most = Math.max(1, perSecond * BURST)
  const turns = createBucket({ most, fillMs: (1000 * most) / perSecond }, now)
  let ended = perSecond === 0
  let waits = false

  const hear = (socket: Socket) => {
    resting.delete(socket)
    handleOf(socket)?.readStart()
  }
  const lookSoon = () => {
    waits = resting.size > 0
    if (waits) setTimeout(look, LOOK_EVERY).unref()
  }
  const look = () => {
    for (const [socket, since] of resting) {
      if (!turns.take() && now() - since < longestMs) break
      hear(socket)
    }
    lookSoon()
  }
  return {
    refused(socket) {
      if (ended || resting.has(socket)) return
      if (resting.size === 0 && turns.take()) return
      const handle = handleOf(socket)
      if (!handle) return
      handle.readStop()
      resting.set(socket, now())
      if (!waits) lookSoon()
    },
    end() {
      ended = true
      for (const socket of resting.keys()) hear(socket)
    },
  }
}

/** The object that a socket of Node reads from. */
interface Handle {
  readStart(): number
  readStop(): number
}

/**
 * Node passes the bytes of an HTTP/1.1 connection from this handle to the parser, not through the socket.
 * `pause` has no effect on them, and Node offers no other way. Requests over HTTP/2 share their connection with others, so it never rests.
 */
function handleOf(socket: Socket): Handle | undefined {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Partial<Handle> | null }
  return handle?.readStop && handle.readStart ? (handle as Handle) : undefined
}
