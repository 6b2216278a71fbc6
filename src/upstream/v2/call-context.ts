import type { IncomingHttpHeaders } from 'node:http'
import type { Signal } from '../../limits/signal.ts'
import type { Call } from '../../tables/turn.ts'
import type { AnswerRoom } from './answer-room.ts'

/** Observes one call. */
export interface CallWatch {
  /** The trace context that v2 gets instead of the client's. */
  readonly traceparent?: string | undefined
  /** Called at the end of the call; `status` is undefined if no answer arrived. */
  ended(status: number | undefined): void
}

/** The context that all calls of one v1 request share. */
export interface CallContext {
  readonly headers: IncomingHttpHeaders
  /** The hash of the caller's credential, if it is already known (`credentialHash`). */
  readonly credential?: string
  readonly requestId: string
  /** Bounds the answers of all calls together. Without it, each has its own limit only. */
  readonly room?: AnswerRoom | undefined
  /** Fires when the client goes away (AbortError) or the request's deadline passes (TimeoutError). */
  readonly signal: Signal
  /** Called for every call that is really sent; may return an observer. */
  onCall(call: Call): CallWatch | undefined
  /** Called for every answer that was parsed because its call could not read it in the preferred form. */
  onParsed?(): void
  /** Called for every wanted call, even if it is shared or cached. */
  onAsk?(): void
  /** Called for every call that may have changed something: it succeeded, or nothing tells that it did not. */
  onWritten?(): void
}
