import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '../../tables/plan/plan.ts'
import type { Signal } from '../signal.ts'

/** Somebody who wants to know what becomes of a call. */
export interface CallWatch {
  /** What v2 is told of the trace, in place of the client's own. */
  readonly traceparent?: string | undefined
  /** `status` is undefined when no answer came. */
  ended(status: number | undefined): void
}

/** What all calls of one v1 request share. */
export interface CallContext {
  readonly headers: IncomingHttpHeaders
  /** The hash of the caller's credential, where it is known already (`credentialHash`). */
  readonly credential?: string
  readonly requestId: string
  /** Fires when the client went away (AbortError) or the request's deadline passed (TimeoutError). */
  readonly signal: Signal
  /** Told of every call that really goes out; may watch it. */
  onCall(call: Call): CallWatch | undefined
  /** Told of every answer that its call could not read as it wanted, and that was parsed instead. */
  onParsed?(): void
  /** Told whenever a call is wanted, also of one that is shared or was kept. */
  onAsk?(): void
}
