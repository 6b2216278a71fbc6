import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { unrelayable } from '../errors/from-v2.ts'
import { abortSignalOf, type Signal } from '../limits/signal.ts'
import { flat, grouped, relayable } from '../relay/head.ts'
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

/** An answer of a service whose body has not been read. */
export interface RestAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
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

export function createAskRest({ service, pool, base, answerMs }: AskRestSettings): AskRest {
  const { origin, pathname } = new URL(base)
  const prefix = pathname.replace(/\/$/, '')
  return async ({ id, method, url, headers, body }, signal) => {
    try {
      const answer = await pool.request({
        origin,
        path: prefix + url,
        method: method as 'GET',
        headers: requestHeaders(headers, id),
        body: body ?? null,
        signal: abortSignalOf(signal),
        headersTimeout: answerMs,
        bodyTimeout: 0,
      })
      return read(service, answer)
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }
}

/** Reads an answer in a form that clients of both HTTP versions can be given. */
function read(service: Service, { statusCode: status, headers, body }: Dispatcher.ResponseData): RestAnswer {
  const head = relayable(2, { status, reason: '', headers: flat(endToEnd(headers)) })
  if (!('problem' in head)) return { status, headers: grouped(head.headers), stream: body }
  body.on('error', () => {}).destroy()
  throw unrelayable(service, head.problem)
}

/** Headers of our own connections to the service and to the client; they are not passed on. */
const OURS = new Set(['host', 'content-length', 'expect', 'x-crosswalk-mode'])

function requestHeaders(headers: IncomingHttpHeaders, id: string): Record<string, string | string[]> {
  const kept = Object.entries(endToEnd(headers)).filter(([name, value]) => value !== undefined && !OURS.has(name))
  return { ...(Object.fromEntries(kept) as Record<string, string | string[]>), 'x-request-id': id }
}
