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
import {
  answeredBy,
  type CallContext,
  createSendCall,
  type RawAnswer,
  type SendCall,
  type SendCallSettings,
  targetOf,
  whole,
} from './exchange.ts'
import { Coalescer, deliver, type Reader, type Receiver, type Underway, waitFor } from './shared-reads.ts'
import { parseHeaders } from './undici.ts'

/** Returns the answer in the form that the call prefers, or parsed. Throws an ApiError. */
export function bodyOf(call: Call, raw: RawAnswer, context: CallContext, errors?: ErrorForm): JsonObject {
  return readAs(call, raw, context) ?? parse(call, raw, errors)
}

/** Bytes of an answer that the preferred form reads in one piece: values that it does not know take longer than a parser needs for them. */
const PREFERRED = 256 * 1024

/** Returns the answer in the form that the call prefers, if it is a success of at most PREFERRED bytes and has that form. */
function readAs({ read }: Call, { status, pieces, bytes }: RawAnswer, context: CallContext): JsonObject | undefined {
  if (!read || status !== 200) return undefined
  const body = bytes > PREFERRED ? undefined : read(pieces)
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

/** A long answer is read alone: the turns of two would be one. */
const oneByOne = pLimit(1)

/** Returns the content of an answer above SHORT_JSON as `bodyOf` does, and serves others in between. Rejects with an ApiError. */
function longBodyOf(call: Call, raw: RawAnswer, context: CallContext, errors?: ErrorForm): Promise<JsonObject> {
  const reading = oneByOne(async () => readAs(call, raw, context) ?? parseLong(call, raw, context.signal, errors))
  return waitFor(context.signal, (receiver) => {
    deliver(reading, receiver)
    return { cancel: (reason) => receiver.failed(fromTransport(reason)) }
  })
}

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
  const begun = first.subarray(0, SHORT_JSON)
  return { status, headers, pieces: [begun], bytes: begun.length }
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
 * One read of a request. It waits until the answer has come or the signal fires, delivers the content of the answer and gives its memory back.
 * Others who share the answer read it in the same turn of the event loop, before further bytes can arrive. A class, because every read has
 * one.
 */
class Read implements Reader<RawAnswer> {
  readonly signal: Signal
  shared: Reader<RawAnswer>['shared']
  readonly #sendCall: SendCall
  readonly #context: CallContext
  readonly #call: Call
  readonly #target: string
  readonly #receiver: Receiver<JsonObject>
  readonly #errors: ErrorForm | undefined

  constructor(
    sendCall: SendCall,
    context: CallContext,
    call: Call,
    target: string,
    receiver: Receiver<JsonObject>,
    errors: ErrorForm | undefined,
  ) {
    this.signal = context.signal
    this.shared = undefined
    this.#sendCall = sendCall
    this.#context = context
    this.#call = call
    this.#target = target
    this.#receiver = receiver
    this.#errors = errors
  }

  start(receiver: Receiver<RawAnswer>): Underway {
    return this.#sendCall(this.#context, this.#call, this.#target, receiver)
  }

  handleEvent(): void {
    this.shared?.leave(this, this.signal.reason as Error)
  }

  received(raw: RawAnswer): void {
    this.signal.removeEventListener('abort', this)
    const call = this.#call
    const context = this.#context
    // The memory of a long answer is not used again: all who share it read it later.
    if (raw.bytes > SHORT_JSON) {
      deliver(longBodyOf(call, raw, context, this.#errors), this.#receiver)
      return
    }
    let body: JsonObject
    try {
      body = readAs(call, raw, context) ?? parse(call, raw, this.#errors)
    } catch (error) {
      this.#receiver.failed(error as ApiError)
      return
    } finally {
      // A short answer has memory of its own, or is collected with it.
      if (raw.bytes > SHORT_TEXT) for (const piece of raw.pieces) ARRIVED_MEMORY.give(piece)
    }
    this.#receiver.received(body)
  }

  failed(error: Error): void {
    this.signal.removeEventListener('abort', this)
    this.#receiver.failed(error)
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
function mayHaveWritten({ code, unsent }: ApiError): boolean {
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

/** Makes v2 reads for one v1 request and delivers the JSON body or an ApiError. The context's `budget` bounds all their answers. */
export type UnsharedReads = (context: ReadContext) => (call: Call, receiver: Receiver<JsonObject>) => void

/**
 * Sends the calls of a side that is only compared. It can only read: a write reaches exactly one side (design §7).
 * It shares no reads in flight or cached ones, because an older answer than the other side's would look like a difference.
 * Only look-ups within one request are made once.
 */
export function createUnsharedReads(settings: SendCallSettings): UnsharedReads {
  const sendCall = createSendCall(settings)
  return (context) => {
    const known = new Map<string, Promise<JsonObject>>()
    const read = async (call: Call) => {
      if (call.method !== 'GET') throw new ApiError('INTERNAL', 'a side that is only asked is never written to')
      const answer = await waitFor<RawAnswer>(context.signal, (receiver) => sendCall(context, call, targetOf(call), receiver))
      context.onAnswer?.(call, answer)
      if (answer.bytes > SHORT_JSON) return longBodyOf(call, answer, context, settings.errors)
      return bodyOf(call, answer, context, settings.errors)
    }
    const shared = (call: Call, key: string) => {
      const answer = known.get(key) ?? read(call)
      known.set(key, answer)
      return answer
    }
    return (call, receiver) => deliver(call.keep ? shared(call, call.keep.key) : read(call), receiver)
  }
}

export interface SendSettings extends SendCallSettings {
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
export type SendIn = (context: SendContext, call: Call, receiver: Receiver<JsonObject>) => void

/**
 * Sends calls to v2. Identical reads of one caller are made once, if the first began after the second request had arrived.
 * Answers may be cached. Both are keyed by the caller's credential (design §6) and by whatever else v2 may answer by.
 * A write with that credential ends both. No caller therefore reads data from before its own write, whichever replica it went through.
 */
export function createSend(settings: SendSettings): SendIn {
  const coalescer = new Coalescer<RawAnswer>()
  const kept = new LRUCache<string, JsonObject>({ maxSize: settings.keep.entries })
  const marks = createWriteMarks()
  const sendCall = createSendCall(settings)
  const bulk = pLimit(settings.bulkCalls)

  const read: SendIn = (context, call, receiver) => {
    if (call.method !== 'GET') return deliver(write(context, call), receiver)
    if (call.keep) return readKept(context, call, call.keep, receiver)
    if (call.bulk) return readInTurn(context, call, receiver)
    context.since ??= coalescer.turn()
    const target = targetOf(call)
    const key = { who: marks.nameOf(context.credential), what: target, headers: context.headers }
    coalescer.join(key, context.since, new Read(sendCall, context, call, target, receiver, settings.errors))
  }
  const readInTurn: SendIn = (context, { bulk: _, ...call }, receiver) => {
    const inTurn = bulk(() => new Promise<JsonObject>((received, failed) => read(context, call, { received, failed })))
    deliver(inTurn, receiver)
  }
  const write = async (context: SendContext, call: Call) => {
    const over = marks.begin(context.credential)
    let mayHave = true
    try {
      const answer = await waitFor<RawAnswer>(context.signal, (receiver) => sendCall(context, call, targetOf(call), receiver))
      return answer.bytes > SHORT_JSON ? await longBodyOf(call, answer, context, settings.errors) : parse(call, answer, settings.errors)
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
  const readKept = (
    context: SendContext,
    call: Call,
    { key, scope, size = 1 }: NonNullable<Call['keep']>,
    receiver: Receiver<JsonObject>,
  ) => {
    const { keep: _, ...once } = call
    if (scope === 'caller' && settings.keep.ttlMs === 0) return read(context, once, receiver)
    const who = marks.nameOf(context.credential)
    if (scope === 'request') context.own ??= createOwnAnswers()
    else context.by ??= answeredBy(context.headers)
    const store = scope === 'request' && context.own ? context.own : ofAll
    const name = scope === 'request' ? `${who} ${key}` : `${who} ${context.by} ${key}`
    const known = store.get(name)
    if (known) return receiver.received(known)
    const received = (answer: JsonObject) => {
      store.set(name, answer, size)
      receiver.received(answer)
    }
    read(context, once, { received, failed: (error) => receiver.failed(error) })
  }
  return read
}
