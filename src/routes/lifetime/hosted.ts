import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { askAgain } from '../../errors.ts'
import { asHttp1 } from '../../listen/http2/as-http1.ts'
import { guarded } from '../../relay/guard.ts'
import { whenClosed } from '../../relay/on-close.ts'
import { refuse } from '../refusal.ts'

/** Requests that a server of somebody else has accepted. */
export interface Hosted {
  /** Serves one of them. It cannot throw. */
  readonly handler: RequestListener
  /** Resolves when all of them are answered. After `ms` milliseconds it breaks off the rest. Later requests are refused. */
  drain(ms: number): Promise<void>
}

/** `failed` takes an exception of `serve`, which must not reach the other server. */
export function createHosted(serve: RequestListener, failed: (error: unknown) => void): Hosted {
  const open = new Set<ServerResponse>()
  let state: 'open' | 'draining' | 'closed' = 'open'
  let emptied = () => {}
  const begin: RequestListener = (request, response) => {
    if (isGone(response)) return
    if (state === 'closed') return refuse(response, askAgain('UNAVAILABLE', 'Crosswalk is closed'))
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
  const careful = guarded(begin, (error, _, response) => {
    failed(error)
    response.destroy()
  })
  return {
    handler: (request, response) => whenItsTurn(request, response, careful),
    async drain(ms) {
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
