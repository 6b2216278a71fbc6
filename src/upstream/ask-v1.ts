import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { ApiError } from '../errors/api-error.ts'
import type { CodeName } from '../errors/codes.ts'
import { fromTransport, unrelayable } from '../errors/from-v2.ts'
import { abortSignalOf, type Signal } from '../limits/signal.ts'
import { flat, grouped, relayable } from '../relay/head.ts'
import { endToEnd } from './hop-by-hop.ts'

/** A v1 request as received. */
export interface RawRequest {
  readonly id: string
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
}

/** An answer of the v1 service whose body has not been read. */
export interface V1Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly stream: AsyncIterable<Uint8Array>
}

export interface AskV1Settings {
  readonly pool: Agent
  /** The origin of the v1 service, with an optional path prefix. */
  readonly base: string
  /** Milliseconds until the v1 service must begin to answer; its body has no limit. */
  readonly answerMs: number
}

/** Sends a request to the v1 service once. Rejects with an ApiError if no answer arrives. */
export type AskV1 = (request: RawRequest, signal: Signal) => Promise<V1Answer>

export function createAskV1({ pool, base, answerMs }: AskV1Settings): AskV1 {
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

/** Reads an answer in a form that clients of both HTTP versions can be given. */
function read({ statusCode: status, headers, body }: Dispatcher.ResponseData): V1Answer {
  const head = relayable(2, { status, reason: '', headers: flat(endToEnd(headers)) })
  if (!('problem' in head)) return { status, headers: grouped(head.headers), stream: body }
  body.on('error', () => {}).destroy()
  throw unrelayable('v1', head.problem)
}

/** Headers of our own connections to v1 and to the client; they are not passed on. */
const OURS = new Set(['host', 'content-length', 'expect', 'x-crosswalk-mode'])

function requestHeaders(headers: IncomingHttpHeaders, id: string): Record<string, string | string[]> {
  const kept = Object.entries(endToEnd(headers)).filter(([name, value]) => value !== undefined && !OURS.has(name))
  return { ...(Object.fromEntries(kept) as Record<string, string | string[]>), 'x-request-id': id }
}

const SENTENCES: Partial<Record<CodeName, string>> = {
  DEADLINE_EXCEEDED: 'the v1 service did not answer in time',
  UNAVAILABLE: 'the v1 service cannot be reached',
}

/** The error of a call to v1 without an answer. */
export function fromV1Transport(cause: unknown): ApiError {
  const { code, message, unsent } = fromTransport(cause)
  return new ApiError(code, SENTENCES[code] ?? message, { cause, ...(unsent && { unsent }) })
}
