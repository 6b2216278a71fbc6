import { systemReason } from '../errors.ts'
import { Agent } from '../serve/upstream/exchange.ts'
import { FROM_CROSSWALK } from '../serve/upstream/v1.ts'

/** The answer of a receiver. Its body is not kept. */
export interface Receipt {
  readonly status: number
  readonly retryAfter?: string
}

/** The service at `notify.url`. */
export interface Receiver {
  /** Scheme, host and port: all that may be shown, because path and query may hold a token. */
  readonly origin: string
  /** Sends one event. Rejects with a sentence that lacks its subject, the receiver, if no answer arrives in time. */
  post(headers: Readonly<Record<string, string>>, body: string): Promise<Receipt>
  /** Breaks off what is under way. */
  close(): Promise<void>
}

/** Bytes of an answer's body that are read, so that its connection can be used again. */
const ANSWER_BYTES = 16 * 1024

/**
 * Sends events over one connection of its own, so that a receiver that hangs holds nothing else up. Redirects are not followed. `expire`
 * returns a signal that aborts after so many milliseconds.
 */
export function createReceiver(address: string, timeoutMs: number, expire: (ms: number) => AbortSignal = AbortSignal.timeout): Receiver {
  const { origin, pathname, search } = new URL(address)
  const agent = new Agent({ connections: 1, headersTimeout: timeoutMs, bodyTimeout: timeoutMs, connect: { timeout: timeoutMs } })
  return {
    origin,
    async post(headers, body) {
      const signal = expire(timeoutMs)
      try {
        const request = { origin, path: pathname + search, method: 'POST', body, signal } as const
        const answer = await agent.request({ ...request, headers: { ...headers, ...FIXED } })
        await answer.body.dump({ limit: ANSWER_BYTES, signal }).catch(() => {})
        const retryAfter = answer.headers['retry-after']
        return { status: answer.statusCode, ...(typeof retryAfter === 'string' && { retryAfter }) }
      } catch (thrown) {
        throw new Error(
          signal.aborted ? `does not answer within notify.timeoutMs (${timeoutMs})` : `cannot be reached: ${systemReason(thrown)}`,
        )
      }
    },
    close: () => agent.destroy(),
  }
}

/** The content type is that of CloudEvents in structured mode (HTTP Protocol Binding 1.0.2). */
const FIXED = { 'content-type': 'application/cloudevents+json', 'user-agent': 'crosswalk-notify', ...FROM_CROSSWALK }
