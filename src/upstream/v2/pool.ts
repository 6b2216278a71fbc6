import type { Socket } from 'node:net'
import { ARRIVED_MEMORY, SHORT_TEXT } from '../../tables/text/engine.ts'
import { Agent } from '../undici.ts'

export interface PoolSettings {
  /** Connections to one origin. */
  readonly connections: number
  /** Milliseconds until a connection must be open. */
  readonly connectTimeoutMs: number
  /** Milliseconds until the answer's headers, and between two pieces of its body. */
  readonly callTimeoutMs: number
}

/** Creates the one connection pool of translated calls and passed-through bytes. It verifies TLS (design §6.1). */
export function createPool({ connections, connectTimeoutMs, callTimeoutMs }: PoolSettings): Agent {
  const connect = { timeout: connectTimeoutMs, onread: { buffer: arrived, callback: received } }
  return new Agent({ connections, headersTimeout: callTimeoutMs, bodyTimeout: callTimeoutMs, connect })
}

/** The memory that all sockets read into. Each read is copied before the next: without it, Node allocates 64 KiB for every read. */
const arrived = Buffer.allocUnsafeSlow(64 * 1024)

/** Passes a copy of what was read on to the socket's stream. A long one is in memory that is used again. Node calls it on the socket. */
function received(this: Socket, length: number): boolean {
  if (length <= SHORT_TEXT) return this.push(Buffer.from(arrived.subarray(0, length)))
  const piece = ARRIVED_MEMORY.take(length)
  arrived.copy(piece, 0, 0, length)
  return this.push(piece)
}
