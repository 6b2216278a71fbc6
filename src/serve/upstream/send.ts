import { isUtf8 } from 'node:buffer'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { ApiError, asApiError, brokenAnswer, type CodeName, type ErrorForm, fromTransport, fromV2 } from '../../errors.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import { ARRIVED_MEMORY, SHORT_TEXT } from '../../tables/text/engine.ts'
import { parseByRows, parseJson, SHORT_JSON } from '../../tables/text/parse-json.ts'
import { asksFor, type Call } from '../../tables/turn.ts'
import { entries, inTurns, type Steps } from '../bounds.ts'
import type { Signal } from '../signals.ts'
import { answeredBy, type CallContext, createMake, type MakeCall, type MakeSettings, type RawAnswer, targetOf, whole } from './exchange.ts'
import { Coalescer, type Landing, type Passenger, tell, type Underway, waitFor } from './flights.ts'
import { parseHeaders } from './undici.ts'

/** Returns the answer in the form that the call prefers, or parsed. Throws an ApiError. */
export function bodyOf(call: Call, raw: RawAnswer, context: CallContext, errors?: ErrorForm): JsonObject {
  return (call.read && readAs(call.read, raw, context)) ?? parse(call, raw, errors)
}

/** Returns the answer in the form that the call prefers, if it is a success and has that form. */
export function readAs(read: NonNullable<Call['read']>, { status, pieces }: RawAnswer, context: CallContext): JsonObject | undefined {
  if (status !== 200) return undefined
  const body = read(pieces)
  if (!body) context.onParsed?.()
  return body
}

/**
 * v2 answers 200 (facts §15). 201 and 204 mean the same for a create and a DELETE.
 * Other 2xx statuses say that the body is not v2's answer: not yet (202), changed on the way (203), a part (206).
 */
const SUCCESSES: ReadonlySet<number> = new Set([200, 201, 204])

/** Returns the JSON body of an answer, or `{}` without one. An answer other than a success is an ApiError, read in the API's form. */
export function parse(call: Call, { status, headers, pieces }: RawAnswer, errors?: ErrorForm): JsonObject {
  const bytes = whole(pieces)
  const text = bytes.toString()
  if (!SUCCESSES.has(status)) throw fromV2({ status, headers: parseHeaders(headers), text, asksFor: (name) => asksFor(call, name) }, errors)
  if (!isUtf8(bytes)) throw brokenAnswer(new TypeError('the body is not UTF-8'))
  if (text.trim() === '') return {}
  let body: unknown
  try {
    body = parseJson(text)
  } catch (error) {
    throw brokenAnswer(error)
  }
  if (!isObject(body)) throw brokenAnswer(new TypeError(NO_OBJECT))
  return body
}

const NO_OBJECT = 'the body is not a JSON object'

/** Bytes of an answer that the preferred form reads in one piece: values that it does not know take longer than a parser needs for them. */
const PREFERRED = 256 * 1024

/** A long answer is read alone: the turns of two would be one. */
const oneByOne = pLimit(1)

/** True if an answer is too long to be parsed in one turn of the event loop. */
function isLong({ pieces }: RawAnswer, most: number = SHORT_JSON): boolean {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes > most
}

/** Returns the content of a long answer as `bodyOf` does, and serves others in between. Rejects with an ApiError. */
function longBodyOf(call: Call, raw: RawAnswer, context: CallContext, errors?: ErrorForm): Promise<JsonObject> {
  const reading = oneByOne(async () => {
    const read = call.read && (isLong(raw, PREFERRED) ? unread : call.read)
    return (read && readAs(read, raw, context)) ?? parseLong(call, raw, context.signal, errors)
  })
  return waitFor(context.signal, (landing) => {
    tell(reading, landing)
    return { cancel: (reason) => landing.failed(fromTransport(reason)) }
  })
}

const unread = () => undefined

async function parseLong(call: Call, raw: RawAnswer, signal: Signal, errors: ErrorForm | undefined): Promise<JsonObject> {
  // No error of v2 is that long: what came is a page of something before it.
  if (!SUCCESSES.has(raw.status)) return parse(call, beginningOf(raw), errors)
  const goesOn = () => {
    if (signal.aborted) throw fromTransport(signal.reason)
  }
  const body = (await inTurns(parsed(raw.pieces), goesOn)) ?? {}
  if (!isObject(body)) throw brokenAnswer(new TypeError(NO_OBJECT))
  return body
}

function beginningOf({ status, headers, pieces: [first = Buffer.alloc(0)] }: RawAnswer): RawAnswer {
  return { status, headers, pieces: [first.subarray(0, SHORT_JSON)] }
}

function* parsed(pieces: RawAnswer['pieces']): Steps<unknown> {
  try {
    return yield* parseByRows(pieces, tooMuch)
  } catch (error) {
    throw error instanceof ApiError ? error : brokenAnswer(error)
  }
}

const tooMuch = (what: string) => new ApiError('INTERNAL', `the v2 service sent an answer with ${what}`)

/**
 * One read of a request. It waits until the answer lands or the signal fires, delivers the content of the answer and gives its memory back.
 * Others who share the answer read it in the same turn of the event loop, before further bytes can arrive. A class, because every read has
 * one.
 */
class Read implements Passenger<RawAnswer> {
  readonly signal: Signal
  flight: Passenger<RawAnswer>['flight']
  readonly #make: MakeCall
  readonly #context: CallContext
  readonly #call: Call
  readonly #target: string
  readonly #landing: Landing<JsonObject>
  readonly #errors: ErrorForm | undefined

  constructor(
    make: MakeCall,
    context: CallContext,
    call: Call,
    target: string,
    landing: Landing<JsonObject>,
    errors: ErrorForm | undefined,
  ) {
    this.signal = context.signal
    this.flight = undefined
    this.#make = make
    this.#context = context
    this.#call = call
    this.#target = target
    this.#landing = landing
    this.#errors = errors
  }

  start(landing: Landing<RawAnswer>): Underway {
    return this.#make(this.#context, this.#call, this.#target, landing)
  }

  handleEvent(): void {
    this.flight?.leave(this, this.signal.reason as Error)
  }

  landed(raw: RawAnswer): void {
    this.signal.removeEventListener('abort', this)
    const call = this.#call
    const context = this.#context
    // The memory of a long answer is not used again: all who share it read it later.
    if (isLong(raw)) {
      tell(longBodyOf(call, raw, context, this.#errors), this.#landing)
      return
    }
    let body: JsonObject
    try {
      body = (call.read && readAs(call.read, raw, context)) ?? parse(call, raw, this.#errors)
    } catch (error) {
      this.#landing.failed(error as ApiError)
      return
    } finally {
      // Short memory is never lent.
      for (const piece of raw.pieces) if (piece.buffer.byteLength > SHORT_TEXT) ARRIVED_MEMORY.give(piece)
    }
    this.#landing.landed(body)
  }

  failed(error: Error): void {
    this.signal.removeEventListener('abort', this)
    this.#landing.failed(error)
  }
}

/** Errors of a write that certainly wrote nothing. Callers without rights get no others. A rate is refused before the work (RFC 6585 §4). */
const REFUSALS: ReadonlySet<CodeName> = new Set<CodeName>([
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'INVALID_ARGUMENT',
  'RESOURCE_EXHAUSTED',
])

/**
 * True if a write that ended with this error may have been done. A 503 does not say whether the service, or a gateway before it, gave up
 * before or after the work.
 */
export function mayHaveWritten({ code, unsent }: ApiError): boolean {
  return !unsent && !REFUSALS.has(code)
}

/** Answers that are kept, by their keys. */
export interface KeptAnswers {
  get(key: string): JsonObject | undefined
  /** Keeps an answer that holds `size` resources. */
  set(key: string, answer: JsonObject, size: number): void
}

/** Maximum resources: those of five pages of a list. The oldest are dropped first. */
const MOST = 1000

/**
 * Creates the store of what one request keeps for itself. It ends with the request. In a store that requests share, these answers would stay
 * long after it, and the collector would move all of them.
 */
export function createOwnAnswers(most: number = MOST): KeptAnswers {
  const kept = new Map<string, { readonly answer: JsonObject; readonly size: number }>()
  let held = 0
  return {
    get: (key) => kept.get(key)?.answer,
    set(key, answer, size) {
      if (kept.has(key)) return
      kept.set(key, { answer, size })
      held += size
      for (const [oldest, { size: freed }] of kept) {
        if (held <= most) return
        kept.delete(oldest)
        held -= freed
      }
    },
  }
}

interface Writing {
  number: number
  active: number
}

/** The number of callers whose last write is remembered, beside those with a write in flight. */
const WRITERS = 10_000

/** Separates what a caller read before its own write from what it read afterwards: shared and cached reads change their name. */
export function createWriteMarks(limit: number = WRITERS) {
  let writes = 0
  /** The number of the last write among forgotten callers. An unknown caller may be one of them. */
  let forgotten = 0
  const written = new LRUCache<string, number>({
    ...entries(limit),
    dispose(number, _, reason) {
      if (reason === 'evict') forgotten = Math.max(forgotten, number)
    },
  })
  const writing = new Map<string, Writing>()
  return {
    /** The caller's name until its next write. */
    nameOf(caller: string): string {
      const number = writing.get(caller)?.number ?? written.get(caller) ?? forgotten
      return number === 0 ? caller : `${caller} ${number}`
    },
    /** Marks the beginning of a write. The returned function marks its end; it is told whether the write may have been done. */
    begin(caller: string): (mayHaveWritten: boolean) => void {
      const own = writing.get(caller) ?? { number: 0, active: 0 }
      writing.set(caller, own)
      writes += 1
      own.number = writes
      own.active += 1
      return (mayHaveWritten) => {
        own.active -= 1
        if (own.active === 0) writing.delete(caller)
        if (!mayHaveWritten) return
        writes += 1
        own.number = writes
        written.set(caller, writes)
      }
    },
  }
}

export interface ReadContext extends CallContext {
  /** Called with every answer as v2 sent it. */
  readonly onAnswer?: ((call: Call, answer: RawAnswer) => void) | undefined
}

/** Makes v2 reads for one v1 request and delivers the JSON body or an ApiError. The context's `room` bounds all their answers. */
export type UnsharedReads = (context: ReadContext) => (call: Call, landing: Landing<JsonObject>) => void

/**
 * Sends the calls of a side that is only compared. It can only read: a write reaches exactly one side (design §7).
 * It shares no reads in flight or cached ones, because an older answer than the other side's would look like a difference.
 * Only look-ups within one request are made once.
 */
export function createUnsharedReads(settings: MakeSettings): UnsharedReads {
  const make = createMake(settings)
  return (context) => {
    const known = new Map<string, Promise<JsonObject>>()
    const read = async (call: Call) => {
      if (call.method !== 'GET') throw new ApiError('INTERNAL', 'a side that is only asked is never written to')
      const answer = await waitFor<RawAnswer>(context.signal, (landing) => make(context, call, targetOf(call), landing))
      context.onAnswer?.(call, answer)
      if (isLong(answer)) return longBodyOf(call, answer, context, settings.errors)
      return (call.read && readAs(call.read, answer, context)) ?? parse(call, answer, settings.errors)
    }
    const shared = (call: Call, key: string) => {
      const answer = known.get(key) ?? read(call)
      known.set(key, answer)
      return answer
    }
    return (call, landing) => tell(call.keep ? shared(call, call.keep.key) : read(call), landing)
  }
}

export interface SendSettings extends MakeSettings {
  /** Limits of the cache that requests share: the resources that its answers hold, and milliseconds; 0 = no cache. */
  readonly keep: { readonly entries: number; readonly ttlMs: number }
  /**
   * The maximum number of parallel calls for further pages of lists. It is below the number of connections, so that single reads find one.
   */
  readonly bulkCalls: number
}

/** The context of a v1 request, and what is kept of its calls. */
export interface SendContext extends CallContext {
  /** The hash of the caller's credential. */
  readonly credential: string
  /** The turn of the event loop in which its first read was made. */
  since: number | undefined
  /** The headers that v2 may answer by, joined when first needed. */
  by: string | undefined
  /** The answers that are kept for this request alone. */
  own: KeptAnswers | undefined
}

/**
 * Makes one v2 call for a v1 request and delivers the JSON body or an ApiError.
 * A read uses no promise, which would be a large part of its cost.
 */
export type SendIn = (context: SendContext, call: Call, landing: Landing<JsonObject>) => void

/**
 * Sends calls to v2. Identical reads of one caller are made once, if the first began after the second request had arrived.
 * Answers may be cached. Both are keyed by the caller's credential (design §6) and by whatever else v2 may answer by.
 * A write with that credential ends both. No caller therefore reads data from before its own write, whichever replica it went through.
 */
export function createSend(settings: SendSettings): SendIn {
  const flights = new Coalescer<RawAnswer>()
  const kept = new LRUCache<string, JsonObject>({ maxSize: settings.keep.entries })
  const marks = createWriteMarks()
  const make = createMake(settings)
  const bulk = pLimit(settings.bulkCalls)

  const readNow: SendIn = (context, call, landing) => {
    context.since ??= flights.turn()
    const target = targetOf(call)
    const key = { who: marks.nameOf(context.credential), what: target, headers: context.headers }
    flights.join(key, context.since, new Read(make, context, call, target, landing, settings.errors))
  }
  const read: SendIn = (context, call, landing) => {
    if (!call.bulk) return readNow(context, call, landing)
    const inTurn = bulk(() => new Promise<JsonObject>((landed, failed) => readNow(context, call, { landed, failed })))
    return tell(inTurn, landing)
  }
  const write = async (context: SendContext, call: Call) => {
    const over = marks.begin(context.credential)
    let mayHave = true
    try {
      const answer = await waitFor<RawAnswer>(context.signal, (landing) => make(context, call, targetOf(call), landing))
      return isLong(answer) ? await longBodyOf(call, answer, context, settings.errors) : parse(call, answer, settings.errors)
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
  const readThrough = (store: KeptAnswers, key: string, context: SendContext, call: Call, landing: Landing<JsonObject>) => {
    const known = store.get(key)
    if (known) {
      landing.landed(known)
      return
    }
    const keep = (answer: JsonObject) => {
      store.set(key, answer, call.keep?.size ?? 1)
      landing.landed(answer)
    }
    read(context, call, { landed: keep, failed: (error) => landing.failed(error) })
  }
  const readKept = (context: SendContext, call: Call, { key, scope }: NonNullable<Call['keep']>, landing: Landing<JsonObject>) => {
    const who = marks.nameOf(context.credential)
    if (scope === 'request') {
      context.own ??= createOwnAnswers()
      readThrough(context.own, `${who} ${key}`, context, call, landing)
    } else if (settings.keep.ttlMs === 0) read(context, call, landing)
    else {
      context.by ??= answeredBy(context.headers)
      readThrough(ofAll, `${who} ${context.by} ${key}`, context, call, landing)
    }
  }
  return (context, call, landing) => {
    if (call.method !== 'GET') tell(write(context, call), landing)
    else if (call.keep) readKept(context, call, call.keep, landing)
    else if (call.bulk) read(context, call, landing)
    else readNow(context, call, landing)
  }
}
