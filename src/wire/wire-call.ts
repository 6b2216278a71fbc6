import type { IncomingHttpHeaders } from 'node:http'
import type { CallTimes } from './call-signal.ts'

/** One unary call as a client sent it, whichever protocol carried it. Its message is bytes that the wire does not read. */
export interface WireCall {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly protocol: 'grpc' | 'grpc-web' | 'connect'
  readonly codec: 'proto' | 'json'
  /** The client's headers, names in lower case. Values of `-bin` headers are still base64. */
  readonly headers: IncomingHttpHeaders
  /** The message without its frame, inflated; at most `requestBytes`. */
  readonly message: Buffer
  /** Milliseconds until the client gives up; undefined if it said nothing. */
  readonly timeoutMs: number | undefined
  /** True for a GET of Connect, which only methods without side effects serve. */
  readonly isGet: boolean
  /** Fires with an ApiError when the client goes away (CANCELLED) or its time is over (DEADLINE_EXCEEDED). */
  readonly signal: CallTimes
}

/** A google.rpc.Status. `type` is the full name of a message, as in `google.rpc.ErrorInfo`. */
export interface WireStatus {
  /** 1 to 16. */
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly type: string; readonly value: Uint8Array }[]
}

/** Names and values of metadata; a repeated name has a list. Values of `-bin` names are base64. */
export type WireMetadata = Readonly<Record<string, string | readonly string[]>>

/** The answer of a handler: the pieces of one message in the codec of the call, or an error. */
export type WireReply = ({ readonly message: readonly Uint8Array[] } | { readonly status: WireStatus }) & {
  readonly headers?: WireMetadata
  readonly trailers?: WireMetadata
}

/** Answers one call. A rejection with an ApiError is answered with its code; any other is INTERNAL and is reported. */
export type WireHandler = (call: WireCall) => Promise<WireReply>
