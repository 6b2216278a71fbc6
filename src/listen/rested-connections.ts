import type { Socket } from 'node:net'
import { createBucket } from '../limits/bucket.ts'

export interface RestedConnectionsSettings {
  /** Connections that may come out of their rest in a second; 0: none ever rests. */
  readonly perSecond: number
  /** Milliseconds after which a connection is heard again in any case. */
  readonly longestMs: number
}

/** Connections that were refused and are not read for a while. */
export interface RestedConnections {
  /** Lets a connection rest, unless so few were refused lately that it costs nothing to hear the next thing it asks. */
  refused(socket: Socket): void
  /** Hears all of them again; no connection rests any more. */
  end(): void
}

/** Milliseconds between two looks at who may be heard again. */
const LOOK_EVERY = 5

/** A pause is followed by as many refusals without a rest as fit into this part of a second. */
const BURST = 0.1

/**
 * To read a request and to write a refusal is a good part of what Node needs for an answer: clients that ask again at once, whatever
 * `retry-after` says, would leave little for those that are served. So their connections wait unread, in the order in which they were refused,
 * and only so many come back in a second; what they ask meanwhile stays with the system. `now` is a monotonic clock in milliseconds.
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

/** What a socket of Node reads from. */
interface Handle {
  readStart(): number
  readStop(): number
}

/**
 * The bytes of an HTTP/1.1 connection go from here to the parser past the socket, so that `pause` does not hold them up and Node has no other
 * word for it. Requests over HTTP/2 share their connection with others: they never rest.
 */
function handleOf(socket: Socket): Handle | undefined {
  const { _handle: handle } = socket as Socket & { readonly _handle?: Partial<Handle> | null }
  return handle?.readStop && handle.readStart ? (handle as Handle) : undefined
}
