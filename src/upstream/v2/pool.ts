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
  return new Agent({ connections, headersTimeout: callTimeoutMs, bodyTimeout: callTimeoutMs, connect: { timeout: connectTimeoutMs } })
}
