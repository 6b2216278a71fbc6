import { Agent } from 'undici'

export interface PoolSettings {
  /** Connections to one origin. */
  readonly connections: number
  /** Milliseconds until a connection must stand. */
  readonly connectTimeoutMs: number
  /** Milliseconds until the answer's headers must be there, and between two pieces of its body. */
  readonly callTimeoutMs: number
}

/** The one connection pool: translated calls and passed-through bytes share it. It verifies TLS (design §6.1). */
export function createPool({ connections, connectTimeoutMs, callTimeoutMs }: PoolSettings): Agent {
  return new Agent({ connections, headersTimeout: callTimeoutMs, bodyTimeout: callTimeoutMs, connect: { timeout: connectTimeoutMs } })
}
