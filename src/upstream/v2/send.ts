import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { asApiError } from '../../errors.ts'
import type { JsonObject } from '../../tables/json.ts'
import type { Call } from '../../tables/turn.ts'
import { credentialHash } from '../credential.ts'
import { ParsedLanding, parse } from './call-answer.ts'
import type { CallContext } from './call-context.ts'
import type { RawAnswer } from './exchange.ts'
import { createCoalescer } from './flights/coalesce.ts'
import { type Landing, tell } from './flights/landing.ts'
import { waitFor } from './flights/passenger.ts'
import { answeredBy } from './headers.ts'
import { createMake, type MakeSettings, targetOf } from './make-call.ts'
import { mayHaveWritten } from './may-have-written.ts'
import { createOwnAnswers, type KeptAnswers } from './own-answers.ts'
import { createWriteMarks } from './write-marks.ts'

export interface SendSettings extends MakeSettings {
  /** Limits of the cache that requests share: the resources that its answers hold, and milliseconds; 0 = no cache. */
  readonly keep: { readonly entries: number; readonly ttlMs: number }
  /**
   * The maximum number of parallel calls for further pages of lists. It is below the number of connections, so that single reads find one.
   */
  readonly bulkCalls: number
}

/**
 * Makes v2 calls for one v1 request and delivers the JSON body or an ApiError.
 * A read uses no promise, which would be a large part of its cost.
 */
export type SendFor = (context: CallContext) => (call: Call, landing: Landing<JsonObject>) => void

/**
 * Sends calls to v2. Identical reads of one caller are made once, if the first began after the second request had arrived.
 * Answers may be cached. Both are keyed by the caller's credential (design §6) and by whatever else v2 may answer by.
 * A write with that credential ends both. No caller therefore reads data from before its own write, whichever replica it went through.
 */
export function createSend(settings: SendSettings): SendFor {
  const flights = createCoalescer<RawAnswer>()
  const kept = new LRUCache<string, JsonObject>({ maxSize: settings.keep.entries })
  const marks = createWriteMarks()
  const make = createMake(settings)
  const bulk = pLimit(settings.bulkCalls)

  const fly = ({ context, since }: Sending, call: Call, landing: Landing<RawAnswer>) => {
    const target = targetOf(call)
    const key = { who: marks.nameOf(credentialOf(context)), what: target, headers: context.headers }
    flights.join(key, since, context.signal, (passenger) => make(context, call, target, passenger), landing)
  }
  const readNow = (sending: Sending, call: Call, landing: Landing<JsonObject>) =>
    fly(sending, call, new ParsedLanding(call, sending.context, landing, settings.errors))
  const read = (sending: Sending, call: Call, landing: Landing<JsonObject>) => {
    if (!call.bulk) return readNow(sending, call, landing)
    const inTurn = bulk(() => new Promise<JsonObject>((landed, failed) => readNow(sending, call, { landed, failed })))
    return tell(inTurn, landing)
  }
  const write = async ({ context }: Sending, call: Call) => {
    const over = marks.begin(credentialOf(context))
    let mayHave = true
    try {
      return parse(await waitFor<RawAnswer>(context.signal, (landing) => make(context, call, targetOf(call), landing)), settings.errors)
    } catch (error) {
      mayHave = mayHaveWritten(asApiError(error))
      throw error
    } finally {
      over(mayHave)
      if (mayHave) context.onWritten?.()
    }
  }
  const ofAll: KeptAnswers = {
    get: (key) => kept.get(key),
    set: (key, answer, size) => void kept.set(key, answer, { ttl: settings.keep.ttlMs, size }),
  }
  const readThrough = (store: KeptAnswers, key: string, sending: Sending, call: Call, landing: Landing<JsonObject>) => {
    const known = store.get(key)
    if (known) {
      landing.landed(known)
      return
    }
    const keep = (answer: JsonObject) => {
      store.set(key, answer, call.keep?.size ?? 1)
      landing.landed(answer)
    }
    read(sending, call, { landed: keep, failed: (error) => landing.failed(error) })
  }
  const readKept = (sending: Sending, call: Call, { key, scope }: NonNullable<Call['keep']>, landing: Landing<JsonObject>) => {
    const who = marks.nameOf(credentialOf(sending.context))
    if (scope === 'request') {
      sending.own ??= createOwnAnswers()
      readThrough(sending.own, `${who} ${key}`, sending, call, landing)
    } else if (settings.keep.ttlMs === 0) read(sending, call, landing)
    else {
      sending.by ??= answeredBy(sending.context.headers)
      readThrough(ofAll, `${who} ${sending.by} ${key}`, sending, call, landing)
    }
  }
  return (context) => {
    const sending: Sending = { context, since: flights.turn(), by: undefined, own: undefined }
    return (call, landing) => {
      context.onAsk?.()
      if (call.method !== 'GET') tell(write(sending, call), landing)
      else if (call.keep) readKept(sending, call, call.keep, landing)
      else read(sending, call, landing)
    }
  }
}

/** The calls of one v1 request. */
interface Sending {
  readonly context: CallContext
  /** The turn of the event loop in which its first call was made. */
  readonly since: number
  /** The headers that v2 may answer by, joined when first needed. */
  by: string | undefined
  /** The answers that are kept for this request alone. */
  own: KeptAnswers | undefined
}

function credentialOf({ credential, headers }: CallContext): string {
  return credential ?? credentialHash(headers.authorization)
}
