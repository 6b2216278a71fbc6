import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Signal } from '../../serve/signals.ts'
import type { Inflated } from '../framing/gzip.ts'
import type { WireCall, WireReply } from '../wire-call.ts'

/** A request over HTTP/1.1 or HTTP/2, and its response. */
export interface WebPair {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** One call of a protocol that is an ordinary request of HTTP. */
export interface PairCall {
  readonly call: Omit<WireCall, 'message' | 'signal' | 'timeoutMs'>
  /** Reads the client's timeout; throws an ApiError if it is malformed. */
  timeoutMs(): number | undefined
  read(signal: Signal): Promise<Inflated>
  /** Sends the answer. */
  write(reply: WireReply): void | Promise<void>
}

/** The path of a request without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
