import type { IncomingHttpHeaders } from 'node:http'

/** What is told of a v1 request when it is over. */
export interface Ending {
  /** Operation id, which names the span. */
  readonly operation: string
  readonly mode: string
  readonly method: string
  readonly status: number
  readonly failed: boolean
}

/** One v2 call of a traced request. */
export interface CallSpan {
  /** Tells v2 whose child its own spans are. */
  readonly traceparent: string
  /** `status` is undefined when no answer came. */
  end(status: number | undefined): void
}

/** One traced v1 request. */
export interface RequestSpan {
  readonly traceId: string
  /** `path` has no query, which may hold secrets. */
  call(method: string, path: string): CallSpan
  end(ending: Ending): void
}

/** Spans for requests and the v2 calls they cost. */
export interface Tracing {
  /** Opens the span of a request, as a child of the one that its `traceparent` names. */
  begin(headers: IncomingHttpHeaders): RequestSpan
  /** Sends what has not been sent yet. */
  close(): Promise<void>
}
