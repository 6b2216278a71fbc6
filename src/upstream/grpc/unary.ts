import type { Signal } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { framed } from '../../wire/framing/frame.ts'
import type { WireCall } from '../../wire/wire-call.ts'
import type { Sessions } from './sessions.ts'
import { readAnswer, type UnaryAnswer } from './unary-answer.ts'
import { gather } from './unary-exchange.ts'
import { unaryHeaders } from './unary-metadata.ts'

/** One message for a method of a service; its headers are those of the client. */
export type UnaryCall = Pick<WireCall, 'path' | 'headers' | 'message' | 'timeoutMs'> & { readonly signal: Signal }

export interface UnarySettings {
  readonly service: Service
  readonly url: URL
  /** The maximum size of an answer in bytes. */
  readonly answerBytes: number
}

/**
 * Calls a method with one message and returns its answer. Rejects with an ApiError if none arrives: UNAVAILABLE only if the service
 * certainly did nothing, UNKNOWN if it may have done what was asked.
 *
 *     await callUnary({ path: '/chainguard.platform.iam.Groups/List', headers, message, timeoutMs: undefined, signal })
 */
export type CallUnary = (call: UnaryCall) => Promise<UnaryAnswer>

export function createCallUnary(sessions: Sessions, { service, url, answerBytes }: UnarySettings): CallUnary {
  return async (call) => {
    const { signal, message } = call
    if (signal.aborted) throw signal.reason
    const waiting = {
      endAfterHeaders: false,
      get closed() {
        return signal.aborted
      },
    }
    const sent = await sessions.request(unaryHeaders(url, call), waiting)
    if (!sent) throw signal.reason
    sent.stream.end(Buffer.concat(framed([message], false)))
    const answer = gather(sent, signal, { service, answerBytes })
    return readAnswer(await answer, service)
  }
}
