import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { ApiError } from '../errors/api-error.ts'
import type { CodeName } from '../errors/codes.ts'
import { fromTransport, unrelayable } from '../errors/from-v2.ts'
import { flat, grouped, relayable } from '../relay/head.ts'
import { endToEnd } from './hop-by-hop.ts'
import { abortSignalOf, type Signal } from './signal.ts'

/** A v1 request as it came in. */
export interface RawRequest {
  readonly id: string
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
}

/** An answer of the v1 service, its bytes not read yet. */
export interface LegacyAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly stream: AsyncIterable<Uint8Array>
}

export interface LegacySettings {
  readonly pool: Agent
  /** Origin of the v1 service, with an optional path prefix. */
  readonly base: string
  /** Milliseconds until the v1 service must begin to answer; its body may take as long as it likes. */
  readonly answerMs: number
}

/** Gives a request to the v1 service, once. Rejects with an ApiError when no answer comes. */
export type LegacyAsk = (request: RawRequest, signal: Signal) => Promise<LegacyAnswer>

export function createLegacyAsk({ pool, base, answerMs }: LegacySettings): LegacyAsk {
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
      return read(answer)
    } catch (error) {
      throw fromV1Transport(signal.aborted ? signal.reason : error)
    }
  }
}

/** An answer that clients of either version of HTTP can be given. */
function read({ statusCode: status, headers, body }: Dispatcher.ResponseData): LegacyAnswer {
  const head = relayable(2, { status, reason: '', headers: flat(endToEnd(headers)) })
  if (!('problem' in head)) return { status, headers: grouped(head.headers), stream: body }
  body.on('error', () => {}).destroy()
  throw unrelayable('v1', head.problem)
}

/** What the connection to v1 says for itself stays behind, and so does what is between the client and us. */
const OURS = new Set(['host', 'content-length', 'expect', 'x-crosswalk-mode'])

function requestHeaders(headers: IncomingHttpHeaders, id: string): Record<string, string | string[]> {
  const kept = Object.entries(endToEnd(headers)).filter(([name, value]) => value !== undefined && !OURS.has(name))
  return { ...(Object.fromEntries(kept) as Record<string, string | string[]>), 'x-request-id': id }
}

const SENTENCES: Partial<Record<CodeName, string>> = {
  DEADLINE_EXCEEDED: 'the v1 service did not answer in time',
  UNAVAILABLE: 'the v1 service cannot be reached',
}

/** A call to v1 that got no answer. */
export function fromV1Transport(cause: unknown): ApiError {
  const { code, message } = fromTransport(cause)
  return new ApiError(code, SENTENCES[code] ?? message, { cause })
}
