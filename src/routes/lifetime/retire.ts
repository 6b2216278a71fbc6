import type { IncomingMessage, ServerResponse } from 'node:http'
import net from 'node:net'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

/** How a server leaves the balancer in front of it; all in milliseconds. */
export interface Retirement {
  /** Everything is still accepted: for a balancer that asks `/readyz` and needs time to notice. */
  readonly drainMs: number
  /** New connections are refused, open ones are served: for a balancer that learns from a refused connection, as nginx does. */
  readonly lingerMs: number
  /** What is under way may finish. */
  readonly shutdownMs: number
}

/** Connections that the HTTP/1.1 server knows nothing of. */
export interface Others {
  /** Ends WebSockets, which have no end of their own, and tells HTTP/2 clients to go: they know what was not served. */
  leave(): void
  /** Ends whatever is left. */
  cut(): void
}

/**
 * Takes a server out of service without losing a request. A connection must never be closed while the balancer may be about to use it:
 * so every answer says `connection: close` from the start, and idle connections are closed only when both times are over.
 * `others` are the connections that are not HTTP/1.1.
 */
export async function retire(app: FastifyInstance, others: Others, { drainMs, lingerMs, shutdownMs }: Retirement): Promise<void> {
  if (drainMs + lingerMs > 0) app.server.prependListener('request', lastOfItsConnection)
  if (drainMs > 0) await delay(drainMs)
  others.leave()
  if (lingerMs > 0) await linger(app, lingerMs)
  await finish(app, others, shutdownMs)
}

function lastOfItsConnection(_: IncomingMessage, response: ServerResponse): void {
  response.setHeader('connection', 'close')
}

/** An HTTP server's own `close` would end idle connections too; the one below it only stops listening. */
async function linger({ server }: FastifyInstance, ms: number): Promise<void> {
  const over = new AbortController()
  await quiet()
  net.Server.prototype.close.call(server, () => over.abort())
  await delay(ms, undefined, { signal: over.signal }).catch(() => {})
}

/** Turns of the event loop that are waited for, and what one may take in milliseconds. */
const TURNS = 100
const QUIET_MS = 1

/**
 * Waits for a turn of the event loop that has little to do. A connection that came in while this one was busy is not accepted yet, and the
 * system resets it when nobody listens any more; the balancer may have sent a write on it.
 */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    const began = performance.now()
    await setImmediate()
    if (turn > 0 && performance.now() - began < QUIET_MS) return
  }
}

/** Closes the app when its last request is over, or after `ms` milliseconds whatever is still under way. */
async function finish(app: FastifyInstance, others: Others, ms: number): Promise<void> {
  const tidy = setInterval(() => app.server.closeIdleConnections(), 50)
  const force = setTimeout(() => {
    app.server.closeAllConnections()
    others.cut()
  }, ms)
  await app.close()
  clearInterval(tidy)
  clearTimeout(force)
}
