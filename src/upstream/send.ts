import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Agent } from 'undici'
import { brokenAnswer, fromTransport, fromV2 } from '../errors/from-v2.ts'
import { isObject, type JsonObject } from '../mapping/json.ts'
import type { Call } from '../mapping/plan.ts'
import { createCoalescer } from './coalesce.ts'
import { credentialHash } from './credential.ts'
import { exchange, type RawAnswer } from './exchange.ts'
import { callHeaders } from './headers.ts'

export interface SendSettings {
  readonly pool: Agent
  /** Origin of the v2 service, with an optional path prefix and without a trailing slash. */
  readonly base: string
  /** Largest v2 answer that is read, in bytes. */
  readonly answerBytes: number
  /** Answers that may be kept (readmes, hydration): how many, and for how long at most. */
  readonly keep: { readonly entries: number; readonly ttlMs: number }
}

/** What all calls of one v1 request share. */
export interface CallContext {
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** Fires when the client went away (AbortError) or the request's deadline passed (TimeoutError). */
  readonly signal: AbortSignal
  /** Told of every call that really went out. */
  readonly onCall: (call: Call) => void
}

/** Makes v2 calls for one v1 request; returns the JSON body or throws an ApiError. */
export type SendFor = (context: CallContext) => (call: Call) => Promise<JsonObject>

/**
 * The way of a Call to v2. Identical reads of one caller that are under way are made once, and answers may be kept; both are keyed by
 * the caller's credential (design §6), and a write by that caller ends both, so that nobody reads what was true before their own write.
 */
export function createSend(settings: SendSettings): SendFor {
  const flights = createCoalescer<JsonObject>()
  const kept = new LRUCache<string, JsonObject>({ max: settings.keep.entries, ttl: settings.keep.ttlMs })
  const writes = new LRUCache<string, number>({ max: 10_000 })
  const wrote = (caller: string) => writes.set(caller, (writes.get(caller) ?? 0) + 1)
  let requests = 0

  return (context) => {
    const caller = credentialHash(context.headers.authorization)
    const request = ++requests
    const since = () => `${caller} ${writes.get(caller) ?? 0}`
    const go = async (call: Call, signal: AbortSignal) => parse(await make(settings, context, call, signal))
    const read = (call: Call) => {
      const key = `${since()} ${call.path}?${queryText(call)}`
      return flights.join(key, context.signal, (signal) => go(call, signal)).catch(asTransport)
    }
    return async (call) => {
      if (call.method !== 'GET') {
        wrote(caller)
        return go(call, context.signal).finally(() => wrote(caller))
      }
      if (!call.keep) return read(call)
      const key = `${since()} ${call.keep.scope === 'request' ? request : ''} ${call.keep.key}`
      const known = kept.get(key)
      if (known) return known
      const answer = await read(call)
      kept.set(key, answer)
      return answer
    }
  }
}

function asTransport(error: unknown): never {
  throw fromTransport(error)
}

async function make(settings: SendSettings, context: CallContext, call: Call, signal: AbortSignal): Promise<RawAnswer> {
  context.onCall(call)
  const query = queryText(call)
  const body = call.body === undefined ? undefined : JSON.stringify(call.body)
  const url = new URL(settings.base)
  return exchange(settings.pool, {
    origin: url.origin,
    path: `${url.pathname === '/' ? '' : url.pathname}${call.path}${query && `?${query}`}`,
    method: call.method,
    headers: callHeaders(context.headers, context.requestId, body !== undefined),
    ...(body !== undefined && { body }),
    signal,
    answerBytes: settings.answerBytes,
  })
}

function parse({ status, headers, text }: RawAnswer): JsonObject {
  if (status < 200 || status > 299) throw fromV2({ status, headers, text })
  if (text.trim() === '') return {}
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw brokenAnswer(error)
  }
  if (!isObject(body)) throw brokenAnswer(new TypeError('the body is not a JSON object'))
  return body
}

/** A Call's query, percent-encoded; a space is `%20`, as the specification writes it (§4 rule 2). */
export function queryText(call: Pick<Call, 'query'>): string {
  return call.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}
