import { ApiError, asApiError } from '../../errors.ts'
import type { TranslateSettings } from '../../serve/answer.ts'
import type { ClientRequest } from '../../serve/request.ts'
import { isAccepted, isRead, otherSide, type Side } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import { createAnswerBudget } from '../../serve/upstream/exchange.ts'
import type { UnsharedReads } from '../../serve/upstream/send.ts'
import type { AskRest, ReadV1 } from '../../serve/upstream/v1.ts'
import type { Env, Operation } from '../../tables/operation.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import type { ComparisonOutcome } from '../compare/judge.ts'
import { createReadShapes, shapeOf } from '../evidence/standing.ts'
import type { ComparedRequest, Journal } from '../modes/journal.ts'
import { nextTokenOf, pageTokenOf } from '../modes/select.ts'
import {
  type Ask,
  compareRead,
  createAsk,
  createReadingsOf,
  isForAll,
  provingBy,
  type ReadingsOf,
  readOf,
  seenOf,
  UNREAD,
} from './compare-read.ts'
import {
  createCursors,
  createSampler,
  drain,
  everyNth,
  isShutDown,
  type KindOfWrite,
  type LiveComparing,
  nothingSkipped,
  type Queue,
  reservesOf,
  type Skipped,
  type WatchedRequest,
} from './observe.ts'
import { judgeRefusal, judgeWrite, verifyWrite, wouldSend } from './verify-write.ts'

function kindOf({ operation, caller, request, shape = shapeOf(operation, request) }: ComparedRequest): KindOfWrite {
  return { operation: operation.id, caller, shape }
}

/** Returns the error of a request that the tables cannot read. */
function unreadOf({ read }: ClientRequest): ApiError | undefined {
  try {
    read()
    return undefined
  } catch (thrown) {
    return asApiError(thrown)
  }
}

/** All requests to an operation that the tables cannot read have one shape. */
function subjectOf({ request, mode, term }: Pick<WatchedRequest, 'request' | 'mode' | 'term'>): ComparedRequest {
  const { operation, caller, subject } = request
  const read = readOf(request)
  return { operation, caller, subject, mode, term, request: read ?? UNREAD, ...(!read && { shape: unreadShape(operation) }) }
}

function unreadShape({ id }: Operation): string {
  return `${id}?(unreadable)`
}

/** What leaves a part of the stocks to others: an operation and the side that answered. */
interface User {
  readonly name: string
  readonly operation: string
  /** Requests that came. */
  requests: number
}

/** Milliseconds for which it is known how much is known. */
const RESERVES_MS = 1_000

/** A side that answers fewer of the requests of its operation leaves nothing to others: a canary is compared whatever else is known. */
const SIDE_SHARE = 0.25

/** Knows which part of the stocks each user leaves to others. Each replica goes by what it has observed itself. */
function createUsers({ evidence, inventory }: Pick<Journal, 'evidence' | 'inventory'>, now: () => number) {
  const users = new Map<Operation, Readonly<Record<Side, User>>>()
  const byName = new Map<string, readonly [user: User, other: User]>()
  let [readAt, reserves] = [Number.NEGATIVE_INFINITY, reservesOf(new Map(), new Map())]
  const made = ({ id }: Operation): Readonly<Record<Side, User>> => {
    const of = (side: Side): User => ({ name: `${id} ${side}`, operation: id, requests: 0 })
    const [v1, v2] = [of('v1'), of('v2')]
    byName.set(v1.name, [v1, v2])
    byName.set(v2.name, [v2, v1])
    return { v1, v2 }
  }
  return {
    of(operation: Operation, by: Side): User {
      const known = users.get(operation) ?? made(operation)
      users.set(operation, known)
      return known[by]
    },
    reserve(name: string): number {
      if (now() - readAt >= RESERVES_MS) {
        readAt = now()
        reserves = reservesOf(evidence.observed, inventory.traffic())
      }
      const [user, other] = byName.get(name) ?? []
      if (!user || !other || user.requests < SIDE_SHARE * (user.requests + other.requests)) return 0
      return reserves.get(user.operation) ?? 0
    },
  }
}

/** What a rehearsed read showed. */
export interface Rehearsed {
  readonly operation: string
  /** Its kind. */
  readonly shape: string
  /** `refused`: v1 did not answer with success, so that it counts for nothing. `earlier`: another epoch began meanwhile. */
  readonly outcome: ComparisonOutcome | 'refused' | 'earlier'
  readonly reason?: string
  /** Places that differ: `value $.name`. */
  readonly differences: readonly string[]
  /** HTTP statuses. */
  readonly v1: number
  readonly v2: number
}

export interface ObserverSettings {
  readonly ask: Ask
  readonly unsharedReads: UnsharedReads
  readonly env: Env
  readonly readingsOf: ReadingsOf
  /** What may change while the proxy serves. */
  readonly live: Omit<LiveComparing, 'probePercent'>
  /** Largest answer that is compared, in characters. */
  readonly limit: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** A number from 0 up to 1 that no caller can foresee. */
  readonly random: () => number
}

/** Compares served requests when there is time. No client waits for it. */
export class Observer {
  readonly limit: number
  readonly skipped = nothingSkipped()
  readonly #settings: ObserverSettings
  readonly #queue: Queue
  readonly #journal: Journal
  readonly #users: ReturnType<typeof createUsers>
  readonly #sampler: ReturnType<typeof createSampler>
  readonly #learning: (operation: string) => boolean
  readonly #shapes = createReadShapes()
  readonly #cursors = createCursors()

  constructor(settings: ObserverSettings, queue: Queue, journal: Journal) {
    const { live, now, random, limit } = settings
    this.limit = limit
    this.#settings = settings
    this.#queue = queue
    this.#journal = journal
    this.#users = createUsers(journal, now)
    this.#sampler = createSampler(live, { now, random, reserve: this.#users.reserve }, queue.places)
    this.#learning = everyNth(live)
  }

  /** Why nothing of an operation that this side answers can be compared now; undefined if something can. Most requests of a busy proxy end here. */
  full(operation: Operation, by: Side): 'perSecond' | 'waiting' | undefined {
    const user = this.#users.of(operation, by)
    user.requests += 1
    return this.#queue.refuses(0) ? 'waiting' : this.#sampler.full(user.name)
  }

  /** Counts a request that cannot be compared; `isUse` if it was not counted as a use before. */
  skip({ id }: Operation, why: keyof Skipped, isUse?: boolean): void {
    this.skipped[why] += 1
    if (why !== 'stranger') this.#journal.tallies.uncompared(id, why, isUse)
  }

  /** Notes the status with which v1 answered a write of an accepted caller. */
  wroteV1(request: ClientRequest, status: number): void {
    const { judging, terms } = this.#journal
    judging.refusals.noteStatus(kindOf(subjectOf({ request, mode: 'v1', term: terms.now })), status)
  }

  look(watched: WatchedRequest): void {
    const { request, served, kept, isKnown } = watched
    const { operation, caller, raw, read } = request
    const user = this.#users.of(operation, served.by).name
    const size = kept.size + (raw.body?.length ?? 0)
    const left = (why: keyof Skipped) => this.#left(watched, why)
    if (isKnown) this.#journal.tallies.used(operation.id)
    // The size of v2's own answer says something of v2, so it was not left out by chance alone.
    if (this.#queue.refuses(size)) {
      left(served.by === 'v2' && !this.#queue.refuses(0) ? 'heldBytes' : 'waiting')
      return
    }
    const shape = isRead(operation) ? this.#shapeOf(operation, read, raw) : undefined
    const chosen = this.#sampler.choose(shape === undefined ? { user, caller } : { user, caller, shape: () => shape })
    if (typeof chosen === 'string') {
      left(chosen)
      return
    }
    const ask: Ask = async (side, asking, signal) => {
      const answer = await this.#settings.ask(side, asking, signal)
      this.#sampler.charge(user, answer.bytes ?? 0)
      return answer
    }
    if (shape === undefined) this.#queue.offer((signal) => this.#lookAtWrite(watched, ask, signal), size, user, left)
    else {
      const subject = { ...subjectOf(watched), ...chosen, shape }
      this.#sampler.charge(user, size)
      this.#queue.offer((signal) => this.#lookAtRead(watched, subject, ask, signal), size, user, left)
    }
  }

  /**
   * Asks both sides for a read that no client waits for, and counts it as rehearsed. If v1 does not answer it with success, it counts for
   * nothing: neither side may have accepted the credential.
   */
  async rehearse(request: ClientRequest, signal: Signal): Promise<Rehearsed> {
    const { ask } = this.#settings
    const { judging, operations, terms } = this.#journal
    const { operation, raw, read } = request
    const subject = subjectOf({ request, mode: 'diff-v1', term: terms.now })
    const asking = { operation, raw, read }
    const proving = () => provingBy(ask, operations, raw, signal)
    const since = judging.now()
    const first = await ask('v1', asking, signal)
    const compared = await compareRead({ ...asking, by: 'v1', since, first, proving, learn: false }, ask, judging, signal)
    const shown = { operation: operation.id, shape: shapeOf(operation, subject.request) }
    const statuses = { v1: compared.v1.seen.status, v2: compared.v2.seen.status }
    if (!isAccepted(compared.v1.seen)) return { ...shown, outcome: 'refused', differences: [], ...statuses }
    const entry = this.#journal.rehearsed(subject, compared)
    if (!entry) return { ...shown, outcome: 'earlier', differences: [], ...statuses }
    const { outcome, reason, totals } = entry
    const differences = totals.flatMap(({ kind, where, noise }) => (noise ? [] : [`${kind} ${where}`]))
    return { ...shown, outcome, ...(reason !== undefined && { reason }), differences, ...statuses }
  }

  #shapeOf(operation: Operation, read: ClientRequest['read'], raw: ClientRequest['raw']): string {
    try {
      return this.#shapes(operation, read, raw)
    } catch {
      return unreadShape(operation)
    }
  }

  /** Counts a request that was to be compared and was not. A stranger is counted when a side accepts it. */
  #left({ request: { operation }, isKnown, term }: WatchedRequest, why: keyof Skipped): void {
    if (!isKnown) this.skip(operation, 'stranger')
    else if (!this.#journal.isDropped({ operation, term })) this.skip(operation, why)
  }

  /** Counts the use of a caller whom v1 has accepted only now. In another epoch it counts nowhere. */
  #accepted({ request, isKnown, term }: WatchedRequest): void {
    const { tallies, terms } = this.#journal
    if (!isKnown && term.epoch === terms.now.epoch) tallies.used(request.operation.id)
  }

  /** Compares a read with the other side's answer. */
  async #lookAtRead(watched: WatchedRequest, subject: ComparedRequest, ask: Ask, signal: Signal): Promise<void> {
    const { request, served, kept, ms, wrote, others, isKnown } = watched
    const { judging, operations } = this.#journal
    const { operation, caller, raw, read, begin } = request
    const token = operation.paging ? pageTokenOf(operation, raw.url) : undefined
    const otherToken = token === undefined ? undefined : this.#cursors.find(caller, operation.id, token)
    if (token !== undefined && otherToken === undefined) return this.#left(watched, 'pageToken')
    const { limit } = this
    const other = served.failed && { seen: await seenOf(await drain(served.failed, limit), limit), ms }
    const proving = () => provingBy(ask, operations, raw, signal)
    const asking = { operation, raw, read, begin, wrote, others, otherToken, proving, learn: this.#learning(operation.id) }
    // What the tables refuse without a call is asked of them again: that costs nothing. v1 is asked again if only the client can use its answer.
    const isAsked = served.by === 'v2' ? served.unasked : !isForAll(kept)
    const seen = isAsked ? undefined : await seenOf(kept, limit)
    const shown = seen && served.unasked ? { ...seen, unasked: true as const } : seen
    const first = shown ? { seen: shown, ms } : await ask(served.by, asking, signal)
    const since = judging.now() - (performance.now() - watched.began)
    const compared = await compareRead({ ...asking, by: served.by, since, first, other }, ask, judging, signal)
    if (isShutDown(signal)) return this.#left(watched, 'waiting')
    if (served.by === 'v2') watched.noteStatus(compared.v1.seen.status)
    if (!isKnown && !isAccepted(compared.v1.seen)) return this.skip(operation, 'stranger')
    this.#accepted(watched)
    if (operation.paging) {
      const own = nextTokenOf(operation, compared[served.by].seen)
      const its = nextTokenOf(operation, compared[otherSide(served.by)].seen)
      if (own && its) this.#cursors.learn(caller, operation.id, own, its)
    }
    this.#journal.compared(subject, 'read', operation, compared)
  }

  /** Judges a write by the side that served it, and reads back what it wrote. */
  async #lookAtWrite(watched: WatchedRequest, ask: Ask, signal: Signal): Promise<void> {
    const { served, kept } = watched
    const subject = subjectOf(watched)
    const isDone = isAccepted(kept)
    if (served.by === 'v2' && !isDone && !served.unasked) return this.#lookAtRefusal(watched, subject, ask, signal)
    if (served.by === 'v1' && !(await this.#isTranslated(watched, subject, signal))) return
    if (!isDone) return this.#left(watched, served.by === 'v1' || this.#isRefusedByV1(subject, kept.status) ? 'refused' : 'writeRefused')
    const { live, readingsOf, limit } = this.#settings
    if (!live.verifyWrites) return this.#left(watched, 'unverified')
    const verified = await verifyWrite(watched, subject, { ask, readingsOf, limit }, this.#journal, signal)
    if (verified !== 'booked') this.#left(watched, verified)
  }

  /** Counts a write that v2 failed or refused. */
  async #lookAtRefusal(watched: WatchedRequest, subject: ComparedRequest, ask: Ask, signal: Signal): Promise<void> {
    const { request, kept, ms, isKnown } = watched
    const { operation } = request
    const { operations } = this.#journal
    const asked = judgeWrite(kept.status) ?? (await judgeRefusal(watched, subject, ask, this.#settings.readingsOf, operations, signal))
    if (isShutDown(signal)) return this.#left(watched, 'waiting')
    const isUnknown = asked !== 'refused by both' && asked.outcome === 'inconclusive'
    const failure = isUnknown && this.#isRefusedByV1(subject, kept.status) ? 'refused by both' : asked
    if (failure === 'refused by both') return this.#left(watched, 'refused')
    if (!isKnown && failure.outcome !== 'mismatch') return this.skip(operation, 'stranger')
    this.#accepted(watched)
    if (failure.outcome === 'inconclusive') this.#left(watched, 'writeRefused')
    this.#journal.unwritten(subject, failure, { seen: await seenOf(kept, this.limit), ms })
  }

  #isRefusedByV1(subject: ComparedRequest, status: number): boolean {
    return this.#journal.judging.refusals.has(kindOf(subject), status)
  }

  /**
   * Keeps what v2 would have been sent for a write that v1 made. Returns false if the tables refuse what v1 accepted, which counts as wrong.
   * A refusal after a read of v2 says nothing: v1 has already changed what it reads.
   */
  async #isTranslated({ request, kept }: WatchedRequest, subject: ComparedRequest, signal: Signal): Promise<boolean> {
    const { unsharedReads, env, limit } = this.#settings
    const { headers, id: requestId } = request.raw
    let isAsked = false
    const onCall = () => {
      isAsked = true
      return undefined
    }
    const send = unsharedReads({ headers, requestId, signal, budget: createAnswerBudget(limit), onCall })
    const begun = performance.now()
    const made = unreadOf(request) ?? (await wouldSend(subject.operation, subject.request, env, send))
    if (made && !(made instanceof ApiError)) this.#journal.wouldSend(subject, made)
    if (!(made instanceof ApiError) || isAsked || !isAccepted(kept)) return true
    const seen: SeenAnswer = { status: made.http, headers: {}, body: { kind: 'json', value: undefined }, unasked: true }
    const reason = `v1 answered ${kept.status} to a write that the tables refuse with HTTP ${made.http}`
    this.#journal.unwritten(subject, { outcome: 'mismatch', findings: [], reason }, { seen, ms: Math.round(performance.now() - begun) })
    return false
  }
}

/** What it takes to ask v1 and v2 as services. */
export interface ServiceSides {
  readonly ask: AskRest
  /** Reads of v1 that no client waits for. */
  readonly readForDiff: ReadV1
  /** Reads of v2 that are not shared with those of clients. */
  readonly unsharedReads: UnsharedReads
  readonly translate: TranslateSettings
}

export interface ServiceObserverSettings extends LiveComparing, Pick<ObserverSettings, 'limit' | 'random'> {
  /** Milliseconds in which an asked side must answer. */
  readonly answerMs: number
}

/** Creates the observer that compares what services answer. */
export function observeServices(
  { readForDiff, unsharedReads, translate }: ServiceSides,
  settings: ServiceObserverSettings,
  queue: Queue,
  journal: Journal,
): Observer {
  const { answerMs, limit, random } = settings
  const ask = createAsk({ readV1: readForDiff, unsharedReads, translate, deadlineMs: answerMs, limit })
  const readingsOf = createReadingsOf(journal.operations, translate.dialect)
  const now = () => performance.now()
  return new Observer({ ask, unsharedReads, env: translate, readingsOf, live: settings, limit, now, random }, queue, journal)
}
