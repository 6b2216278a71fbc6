import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { unrelayable } from '../errors.ts'
import { flat, grouped, relayable } from '../heads.ts'
import { abortSignalOf, type Signal } from '../limits/signal.ts'
import type { Service } from './health.ts'
import { endToEnd } from './hop-by-hop.ts'

/** A REST request as received, or as a call of another protocol became one. */
export interface RawRequest {
  readonly id: string
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
}

/** The head of a service's answer. */
export interface RestHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
}

/** An answer of a service whose body has not been read. */
export interface RestAnswer extends RestHead {
  readonly stream: AsyncIterable<Uint8Array>
}

export interface AskRestSettings {
  readonly service: Service
  readonly pool: Agent
  /** The origin of the service, with an optional path prefix. */
  readonly base: string
  /** Milliseconds until the service must begin to answer; its body has no limit. */
  readonly answerMs: number
}

/** Sends a request to a service once. Rejects if no answer arrives, with what stopped it. */
export type AskRest = (request: RawRequest, signal: Signal) => Promise<RestAnswer>

export function createAskRest({ service, pool, ...place }: AskRestSettings): AskRest {
  const sent = createSent(place)
  return async (request, signal) => {
    try {
      const { statusCode, headers, body } = await pool.request({ ...sent(request), signal: abortSignalOf(signal) })
      try {
        return { ...headOf(service, statusCode, headers), stream: body }
      } catch (error) {
        body.on('error', () => {}).destroy()
        throw error
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }
}

/** Returns a function that turns a request as received into the one that is sent to a service. */
export function createSent({ base, answerMs }: Pick<AskRestSettings, 'base' | 'answerMs'>) {
  const { origin, pathname } = new URL(base)
  const prefix = pathname.replace(/\/$/, '')
  return ({ id, method, url, headers, body }: RawRequest): Dispatcher.DispatchOptions & { readonly origin: string } => ({
    origin,
    path: prefix + url,
    method: method as 'GET',
    headers: requestHeaders(headers, id),
    body: body ?? null,
    headersTimeout: answerMs,
    bodyTimeout: 0,
  })
}

/** Returns the head of an answer in a form that clients of both HTTP versions can be given. Throws an ApiError if there is none. */
export function headOf(service: Service, status: number, headers: IncomingHttpHeaders): RestHead {
  const head = relayable(2, { status, reason: '', headers: flat(endToEnd(headers)) })
  if ('problem' in head) throw unrelayable(service, head.problem)
  return { status, headers: grouped(head.headers) }
}

/** Headers of our own connections to the service and to the client; they are not passed on. */
const OURS = new Set(['host', 'content-length', 'expect', 'x-crosswalk-mode'])

function requestHeaders(headers: IncomingHttpHeaders, id: string): Record<string, string | string[]> {
  const kept = Object.entries(endToEnd(headers)).filter(([name, value]) => value !== undefined && !OURS.has(name))
  return { ...(Object.fromEntries(kept) as Record<string, string | string[]>), 'x-request-id': id }
}
