import type { RequestListener } from 'node:http'
import { guarded } from '../relay/guard.ts'

/** What the port serves; none of it may throw, and `failed` is told when it does. */
export interface Handlers {
  /** HTTP/2 requests come in the shape of HTTP/1.1 ones, and WebSocket handshakes as requests (`handshakeOf`). */
  readonly request: RequestListener
  /** A request that expects what nobody here can do (RFC 9110 §10.1.1). */
  readonly expectation: RequestListener
  readonly failed: (error: unknown) => void
  /** A connection was closed at once because there are too many. */
  readonly dropped: () => void
}

/** The same handlers; what one throws ends its answer and nothing else. */
export function carefully({ request, expectation, ...told }: Handlers): Handlers {
  const careful = (handler: RequestListener) =>
    guarded(handler, (error, _, response) => {
      told.failed(error)
      response.destroy()
    })
  return { request: careful(request), expectation: careful(expectation), ...told }
}
