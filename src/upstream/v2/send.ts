import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import type { ApiError } from '../../errors/api-error.ts'
import type { ErrorForm } from '../../errors/error-form.ts'
import { asApiError } from '../../errors/to-v1.ts'
import type { JsonObject } from '../../tables/json.ts'
import type { Call } from '../../tables/plan/plan.ts'
import { credentialHash } from '../credential.ts'
import { bodyOf, parse } from './call-answer.ts'
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
  const kept = new LRUCache<string, JsonObject>({ max: settings.keep.entries, maxSize: settings.keep.entries })
  const marks = createWriteMarks()
  const make = createMake(settings)
  const bulk = pLimit(settings.bulkCalls)

  const fly = ({ context, since }: Sending, call: Call, landing: Landing<RawAnswer>) => {
    const target = targetOf(call)
    const key = { who: marks.nameOf(credentialOf(context)), what: target, headers: context.headers }
    flights.join(key, since, context.signal, (passenger) => make(context, call, target, passenger), landing)
  }
  const flown = (sending: Sending, call: Call) => new Promise<RawAnswer>((landed, failed) => fly(sending, call, { landed, failed }))
  const read = async (sending: Sending, call: Call) =>
    bodyOf(call, await (call.bulk ? bulk(() => flown(sending, call)) : flown(sending, call)), sending.context, settings.errors)
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
  const readThrough = async (store: KeptAnswers, key: string, sending: Sending, call: Call) => {
    const known = store.get(key)
    if (known) return known
    const answer = await read(sending, call)
    store.set(key, answer, call.keep?.size ?? 1)
    return answer
  }
  const readKept = (sending: Sending, call: Call, { key, scope }: NonNullable<Call['keep']>) => {
    const who = marks.nameOf(credentialOf(sending.context))
    if (scope === 'request') {
      sending.own ??= createOwnAnswers()
      return readThrough(sending.own, `${who} ${key}`, sending, call)
    }
    if (settings.keep.ttlMs === 0) return read(sending, call)
    sending.by ??= answeredBy(sending.context.headers)
    return readThrough(ofAll, `${who} ${sending.by} ${key}`, sending, call)
  }
  return (context) => {
    const sending: Sending = { context, since: flights.turn(), by: undefined, own: undefined }
    return (call, landing) => {
      context.onAsk?.()
      if (call.method !== 'GET') tell(write(sending, call), landing)
      else if (call.keep) tell(readKept(sending, call, call.keep), landing)
      else if (call.bulk) tell(read(sending, call), landing)
      else fly(sending, call, new Parsed(call, context, landing, settings.errors))
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

/** Delivers the content of an answer. A class, because every read has one. */
class Parsed implements Landing<RawAnswer> {
  readonly #call: Call
  readonly #context: CallContext
  readonly #landing: Landing<JsonObject>
  readonly #errors: ErrorForm | undefined

  constructor(call: Call, context: CallContext, landing: Landing<JsonObject>, errors: ErrorForm | undefined) {
    this.#call = call
    this.#context = context
    this.#landing = landing
    this.#errors = errors
  }

  landed(raw: RawAnswer): void {
    let body: JsonObject
    try {
      body = bodyOf(this.#call, raw, this.#context, this.#errors)
    } catch (error) {
      this.#landing.failed(error as ApiError)
      return
    }
    this.#landing.landed(body)
  }

  failed(error: Error): void {
    this.#landing.failed(error)
  }
}
