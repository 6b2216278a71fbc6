import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type { Agent } from 'undici'
import type { ApiError } from '../errors/api-error.ts'
import type { CodeName } from '../errors/codes.ts'
import { brokenAnswer, fromV2 } from '../errors/from-v2.ts'
import { asApiError } from '../errors/to-v1.ts'
import { isObject, type JsonObject } from '../tables/json.ts'
import type { Call } from '../tables/plan/plan.ts'
import { parseJson } from '../tables/text/parse-json.ts'
import { createCoalescer, waitFor } from './coalesce.ts'
import { credentialHash } from './credential.ts'
import { exchange, type Landing, type RawAnswer, tell, type Underway } from './exchange.ts'
import { answeredBy, callHeaders } from './headers.ts'
import type { Signal } from './signal.ts'
import { textOf } from './utf8.ts'
import { createWriteMarks } from './write-marks.ts'

export interface SendSettings {
  readonly pool: Agent
  /** Origin of the v2 service, with an optional path prefix and without a trailing slash. */
  readonly base: string
  /** Largest v2 answer that is read, in bytes. */
  readonly answerBytes: number
  /** Answers that may be kept: how many, and for how long those that outlive their request; 0 = no longer than it. */
  readonly keep: { readonly entries: number; readonly ttlMs: number }
  /** Calls for further pages of lists that are under way at one time: fewer than there are connections, so that single reads find one. */
  readonly bulkCalls: number
}

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
  readonly onCall: (call: Call) => CallWatch | undefined
  /** Told of every answer that its call could not read as it wanted, and that was parsed instead. */
  readonly onParsed?: () => void
}

/** Makes v2 calls for one v1 request; tells the JSON body or an ApiError. Without promises for a read, which most requests are: they would be a good part of what it costs. */
export type SendFor = (context: CallContext) => (call: Call, landing: Landing<JsonObject>) => void

/**
 * The way of a Call to v2. Identical reads of one caller are made once where the first began after the request of the second had come in, and
 * answers may be kept; both are keyed by the caller's credential (design §6) and by what else of the request v2 may answer by. A write with
 * that credential ends both. So nobody reads what was true before their own write, through whichever replica it went.
 */
export function createSend(settings: SendSettings): SendFor {
  const flights = createCoalescer<RawAnswer>()
  const kept = new LRUCache<string, JsonObject>({ max: settings.keep.entries })
  const marks = createWriteMarks()
  const make = createMake(settings)
  const bulk = pLimit(settings.bulkCalls)
  let requests = 0

  const fly = ({ context, since }: Sending, call: Call, landing: Landing<RawAnswer>) => {
    const target = targetOf(call)
    const key = { who: marks.nameOf(credentialOf(context)), what: target, headers: context.headers }
    flights.join(key, since, context.signal, (passenger) => make(context, call, target, passenger), landing)
  }
  const flown = (sending: Sending, call: Call) => new Promise<RawAnswer>((landed, failed) => fly(sending, call, { landed, failed }))
  const read = async (sending: Sending, call: Call) =>
    bodyOf(call, await (call.bulk ? bulk(() => flown(sending, call)) : flown(sending, call)), sending.context)
  const write = async ({ context }: Sending, call: Call) => {
    const over = marks.begin(credentialOf(context))
    try {
      const answer = parse(await waitFor<RawAnswer>(context.signal, (landing) => make(context, call, targetOf(call), landing)))
      over(true)
      return answer
    } catch (error) {
      over(!REFUSALS.has(asApiError(error).code))
      throw error
    }
  }
  const readKept = async (sending: Sending, call: Call, { key, scope }: NonNullable<Call['keep']>) => {
    const ttl = scope === 'caller' ? settings.keep.ttlMs : FOR_GOOD
    if (scope === 'caller' && ttl === 0) return read(sending, call)
    const { headers } = sending.context
    sending.by ??= answeredBy(headers)
    const whole = `${marks.nameOf(credentialOf(sending.context))} ${sending.by} ${scope === 'request' ? sending.request : ''} ${key}`
    const known = kept.get(whole)
    if (known) return known
    const answer = await read(sending, call)
    kept.set(whole, answer, { ttl })
    return answer
  }
  return (context) => {
    requests += 1
    const sending: Sending = { context, request: requests, since: flights.turn(), by: undefined }
    return (call, landing) => {
      if (call.method !== 'GET') tell(write(sending, call), landing)
      else if (call.keep) tell(readKept(sending, call, call.keep), landing)
      else if (call.bulk) tell(read(sending, call), landing)
      else fly(sending, call, parsed(call, context, landing))
    }
  }
}

/** The calls of one v1 request. */
interface Sending {
  readonly context: CallContext
  /** The request's number: what is kept for it alone is found by that. */
  readonly request: number
  /** The turn of the event loop in which its first call was made. */
  readonly since: number
  /** What v2 may answer by, put together when it is first needed. */
  by: string | undefined
}

/** The answers of one request are found by it alone, and go when others need their place. */
const FOR_GOOD = 0

/** Errors of a write that wrote nothing for certain: all that strangers get. */
const REFUSALS: ReadonlySet<CodeName> = new Set<CodeName>(['UNAUTHENTICATED', 'PERMISSION_DENIED', 'INVALID_ARGUMENT'])

function credentialOf({ credential, headers }: CallContext): string {
  return credential ?? credentialHash(headers.authorization)
}

/** Hands on what an answer says. */
function parsed(call: Call, context: CallContext, landing: Landing<JsonObject>): Landing<RawAnswer> {
  return {
    landed(raw) {
      let body: JsonObject
      try {
        body = bodyOf(call, raw, context)
      } catch (error) {
        return landing.failed(error as ApiError)
      }
      landing.landed(body)
    },
    failed: (error) => landing.failed(error),
  }
}

/** What an answer says: as the call would rather have it, or parsed. Throws an ApiError. */
function bodyOf(call: Call, raw: RawAnswer, context: CallContext): JsonObject {
  return (call.read && readAs(call.read, raw, context)) ?? parse(raw)
}

export type Make = (context: CallContext, call: Call, target: string, landing: Landing<RawAnswer>) => Underway

/** Starts calls on the pool; `target` is the path and query of one. */
export function createMake({ pool, base, answerBytes }: Omit<SendSettings, 'keep' | 'bulkCalls'>): Make {
  const { origin, pathname } = new URL(base)
  const prefix = pathname === '/' ? '' : pathname
  return (context, call, target, landing) => {
    const watch = context.onCall(call)
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const hasBody = body !== undefined
    const headers = callHeaders(context.headers, { requestId: context.requestId, traceparent: watch?.traceparent, hasBody })
    const request = { origin, path: prefix + target, method: call.method, headers, ...(hasBody && { body }), answerBytes }
    return exchange(pool, request, watch ? watched(landing, watch) : landing)
  }
}

function watched(landing: Landing<RawAnswer>, watch: CallWatch): Landing<RawAnswer> {
  return {
    landed(answer) {
      watch.ended(answer.status)
      landing.landed(answer)
    },
    failed(error) {
      watch.ended(undefined)
      landing.failed(error)
    },
  }
}

/** The answer as the call would rather have it, when it is a success and can be read so. */
export function readAs(read: NonNullable<Call['read']>, { status, pieces }: RawAnswer, { onParsed }: CallContext): JsonObject | undefined {
  if (status !== 200) return undefined
  const body = read(pieces)
  if (!body) onParsed?.()
  return body
}

/**
 * v2 answers 200 (facts §15); 201 and 204 say the same of a create and of a DELETE. Every other 2xx says that the body is not v2's answer:
 * not yet (202), changed on the way (203), a part (206).
 */
const SUCCESSES: ReadonlySet<number> = new Set([200, 201, 204])

/** The JSON body of an answer, `{}` when there is none; anything but a success is an ApiError. */
export function parse({ status, headers, pieces }: RawAnswer): JsonObject {
  const text = textOf(pieces)
  if (!SUCCESSES.has(status)) throw fromV2({ status, headers, text })
  if (text.trim() === '') return {}
  let body: unknown
  try {
    body = parseJson(text)
  } catch (error) {
    throw brokenAnswer(error)
  }
  if (!isObject(body)) throw brokenAnswer(new TypeError('the body is not a JSON object'))
  return body
}

/** Path and query of a call. */
export function targetOf(call: Call): string {
  return call.query.length === 0 ? call.path : `${call.path}?${queryText(call)}`
}

/** A Call's query, percent-encoded; a space is `%20`, as v2 documents it (specification §4 rule 2). */
export function queryText(call: Pick<Call, 'query'>): string {
  return call.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}
