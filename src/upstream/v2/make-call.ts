import type { Agent } from 'undici'
import type { ErrorForm } from '../../errors.ts'
import type { Call } from '../../tables/turn.ts'
import type { CallContext, CallWatch } from './call-context.ts'
import { exchange, type RawAnswer } from './exchange.ts'
import type { Landing, Underway } from './flights/landing.ts'
import { callHeaders } from './headers.ts'

export interface MakeSettings {
  readonly pool: Agent
  /** The origin of the v2 service, with an optional path prefix and without a trailing slash. */
  readonly base: string
  /** The maximum size of a v2 answer in bytes. */
  readonly answerBytes: number
  /** Milliseconds until the head of an answer, and between two pieces of its body. They may change. Without them, those of the pool hold. */
  readonly times?: { readonly callTimeoutMs: number } | undefined
  /** How the API writes errors. */
  readonly errors?: ErrorForm | undefined
}

export type MakeCall = (context: CallContext, call: Call, target: string, landing: Landing<RawAnswer>) => Underway

/** Starts calls on the pool; `target` is a call's path and query. */
export function createMake({ pool, base, answerBytes, times }: MakeSettings): MakeCall {
  const { origin, pathname } = new URL(base)
  const prefix = pathname === '/' ? '' : pathname
  return (context, call, target, landing) => {
    const watch = context.onCall(call)
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const hasBody = body !== undefined
    const headers = callHeaders(context.headers, { requestId: context.requestId, traceparent: watch?.traceparent, hasBody })
    const { room } = context
    const ms = times?.callTimeoutMs ?? null
    const limits = { answerBytes, room, headersTimeout: ms, bodyTimeout: ms }
    const request = { origin, path: prefix + target, method: call.method, headers, ...(hasBody && { body }), ...limits }
    return exchange(pool, request, watch ? new Watched(landing, watch) : landing)
  }
}

/** Calls the observer first. A class, because every call has one. */
class Watched implements Landing<RawAnswer> {
  readonly #landing: Landing<RawAnswer>
  readonly #watch: CallWatch

  constructor(landing: Landing<RawAnswer>, watch: CallWatch) {
    this.#landing = landing
    this.#watch = watch
  }

  landed(answer: RawAnswer): void {
    this.#watch.ended(answer.status)
    this.#landing.landed(answer)
  }

  failed(error: Error): void {
    this.#watch.ended(undefined)
    this.#landing.failed(error)
  }
}

/** Returns path and query of a call. */
export function targetOf(call: Call): string {
  return call.query.length === 0 ? call.path : `${call.path}?${queryText(call)}`
}

/** Returns a call's query, percent-encoded. A space is `%20`, as v2 documents it (specification §4 rule 2). */
export function queryText(call: Pick<Call, 'query'>): string {
  return call.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}
