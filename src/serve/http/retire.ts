import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import net from 'node:net'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { ApiError, askAgain } from '../../errors.ts'
import { asHttp1 } from '../listen/http2.ts'
import { guarded, whenClosed } from '../signals.ts'
import { refuse } from './v1-surface.ts'

/** Takes requests that a server of somebody else has accepted. `failed` takes an exception of `serve`, which must not reach that server. */
export function createHosted(serve: RequestListener, failed: (error: unknown) => void) {
  const open = new Set<ServerResponse>()
  let state: 'open' | 'draining' | 'closed' = 'open'
  let emptied = () => {}
  const begin: RequestListener = (request, response) => {
    if (isGone(response)) return
    if (state === 'closed') return refuse(response, askAgain('UNAVAILABLE', 'Crosswalk is closed'))
    // Without its body, a write would be an empty one, and a PUT would unset what it leaves out.
    if (request.readableDidRead) return refuseRead(response)
    if (request.httpVersionMajor > 1) asHttp1(request as unknown as Http2ServerRequest, response as unknown as Http2ServerResponse)
    if (state === 'draining') endConnection(response)
    open.add(response)
    const over = () => {
      open.delete(response)
      if (open.size === 0) emptied()
    }
    whenClosed(response, { over, next: undefined })
    serve(request, response)
  }
  const refuseRead = (response: ServerResponse) => {
    const error = new ApiError('INTERNAL', 'the body of the request was read before Crosswalk got it')
    failed(error)
    refuse(response, error)
  }
  const careful = guarded(begin, (error, _, response) => {
    failed(error)
    response.destroy()
  })
  return {
    /** Serves one of them. It cannot throw. */
    handler: (request: IncomingMessage, response: ServerResponse): void => whenItsTurn(request, response, careful),
    /** Resolves when all of them are answered. After `ms` milliseconds it breaks off the rest. Later requests are refused. */
    async drain(ms: number): Promise<void> {
      state = 'draining'
      for (const response of open) endConnection(response)
      const over = new AbortController()
      const empty = new Promise<void>((resolve) => {
        emptied = resolve
      })
      if (open.size > 0) await Promise.race([empty, delay(ms, undefined, { signal: over.signal }).catch(() => {})])
      over.abort()
      state = 'closed'
      for (const response of open) response.destroy()
    },
  }
}

/** Lets an answer that has not begun be the last of its connection of HTTP/1.1: a server that closes would wait until it is idle for long. */
function endConnection(response: ServerResponse): void {
  response.shouldKeepAlive = false
}

/**
 * Waits until the earlier answers of a connection of HTTP/1.1 are over. An answer without a connection would not be told of its end: it
 * would keep its place among the requests in flight for ever. The answer before it gives its place back a tick after it ends.
 */
function whenItsTurn(request: IncomingMessage, response: ServerResponse, serve: RequestListener): void {
  const waits = request.httpVersionMajor === 1 && response.socket === null && !response.writableEnded
  if (waits) response.once('socket', () => process.nextTick(serve, request, response))
  else serve(request, response)
}

/** The client may have gone while its owner looked at the request; then nothing tells the end of the answer any more. */
function isGone(response: ServerResponse & { readonly stream?: { readonly destroyed: boolean; readonly closed: boolean } }): boolean {
  const { stream } = response
  if (stream) return stream.destroyed || stream.closed
  return response.destroyed || response.closed || response.writableEnded || !response.socket?.writable
}

/** The times in which a server leaves the balancer, in milliseconds. */
interface Retirement {
  /** Everything is still accepted: for a balancer that polls `/readyz` and needs time to notice. */
  readonly drainMs: number
  /** New connections are refused and open ones are served: for balancers such as nginx that detect shutdown by a refused connection. */
  readonly lingerMs: number
  /** Requests in flight may finish. */
  readonly shutdownMs: number
}

/** The connections that the HTTP/1.1 server does not know. */
export interface Others {
  /** Ends WebSockets, which have no end of their own, and tells HTTP/2 clients to leave. They know which requests were not served. */
  leave(): void
  /** Answers calls that would otherwise end without an answer. */
  giveUp(): void
  /** Ends connections on which nothing was ever asked. */
  tidy(): void
  /** Ends all remaining connections. */
  cut(): void
}

/**
 * Takes a server out of service without losing a request. A connection must not close while the balancer may be about to use it.
 * So every answer says `connection: close` first, and idle connections close only after both times.
 * `others` are the connections that are not HTTP/1.1. If `othersShare` the port, they close it together, after `drainMs` (`closePort`).
 */
export async function retire(
  app: FastifyInstance,
  others: Others,
  { drainMs, lingerMs, shutdownMs }: Retirement,
  othersShare = false,
): Promise<void> {
  if (drainMs > 0) endConnections(app.server)
  if (othersShare) await whenOffPort(app.server)
  else if (drainMs > 0) await delay(drainMs)
  others.leave()
  if (lingerMs > 0) await linger(app, lingerMs)
  await finish(app, others, shutdownMs)
}

/** Lets each later answer be the last of its connection. */
function endConnections(server: Server): void {
  server.prependListener('request', lastOfItsConnection)
}

function lastOfItsConnection(_: IncomingMessage, response: ServerResponse): void {
  response.setHeader('connection', 'close')
}

/**
 * Resolves when node:cluster takes a worker off the port, for which it calls `close` of each server. Open connections stay open. So does the
 * channel to the supervisor, which node:cluster closes when its callback is called.
 */
function whenOffPort(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close = () => {
      server.close = Object.getPrototypeOf(server).close
      net.Server.prototype.close.call(server)
      resolve()
      return server
    }
  })
}

/**
 * Stops listening only: the HTTP server's own `close` would also end idle connections. Answers end their connections afterwards: a client
 * that is told so earlier may open another one in the instant in which the port closes.
 */
async function linger({ server }: FastifyInstance, ms: number): Promise<void> {
  const over = new AbortController()
  if (server.listening) await quiet()
  net.Server.prototype.close.call(server, () => over.abort())
  endConnections(server)
  await delay(ms, undefined, { signal: over.signal }).catch(() => {})
}

/** Milliseconds of an empty turn of the event loop, which takes 5 to 20 µs, and how often one is waited for. */
const EMPTY_MS = 0.05
const ATTEMPTS = 200

/**
 * Waits for an empty turn of the event loop, behind `sleep`. A connection that arrived during a turn is not accepted yet. The system resets it
 * when the process stops listening, and the balancer may have sent a write on it. The system hardly interrupts a process that has just slept.
 */
export async function quiet(sleep: () => Promise<unknown> = () => delay(1)): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await sleep()
    await setImmediate()
    const began = performance.now()
    await setImmediate()
    if (performance.now() - began < EMPTY_MS) return
  }
}

/** Milliseconds in which the last answers leave. */
const LAST_ANSWERS = 100

/** Closes the app when its last request ends, or after `ms` milliseconds with requests still in flight. */
async function finish(app: FastifyInstance, others: Others, ms: number): Promise<void> {
  const over = new AbortController()
  const tidy = setInterval(() => {
    app.server.closeIdleConnections()
    others.tidy()
  }, 50)
  const force = async () => {
    await delay(ms, undefined, { signal: over.signal })
    others.giveUp()
    await delay(LAST_ANSWERS, undefined, { signal: over.signal })
    app.server.closeAllConnections()
    others.cut()
  }
  force().catch(() => {})
  await app.close()
  clearInterval(tidy)
  over.abort()
}
