import type { RequestListener } from 'node:http'
import { guarded } from '../relay/guard.ts'

/** The handlers of a port. None may throw; `failed` takes the exception of one that does. */
export interface Handlers {
  /** HTTP/2 requests have the form of HTTP/1.1 requests. WebSocket handshakes are requests too (`handshakeOf`). */
  readonly request: RequestListener
  /** Takes a request with an expectation that cannot be met (RFC 9110 §10.1.1). */
  readonly expectation: RequestListener
  readonly failed: (error: unknown) => void
  /** Called when a connection was closed at once because there are too many. */
  readonly dropped: () => void
}

/** Returns the same handlers. An exception of one ends its answer and nothing else. */
export function carefully({ request, expectation, ...told }: Handlers): Handlers {
  const careful = (handler: RequestListener) =>
    guarded(handler, (error, _, response) => {
      told.failed(error)
      response.destroy()
    })
  return { request: careful(request), expectation: careful(expectation), ...told }
}
