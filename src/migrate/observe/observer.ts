import { ApiError, asApiError } from '../../errors.ts'
import type { TranslateSettings } from '../../serve/answer.ts'
import type { Send } from '../../serve/calls.ts'
import type { ClientRequest } from '../../serve/request.ts'
import { isAccepted, isRead, otherSide, type Served, type Side } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import { createAnswerRoom } from '../../serve/upstream/exchange.ts'
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
  type Asking,
  compareRead,
  createAsk,
  createReadingsOf,
  type Kept,
  provingBy,
  type ReadingsOf,
  readOf,
  seenOf,
  UNREAD,
} from './compare-read.ts'
import {
  type Cursors,
  createCursors,
  createSampler,
  everyNth,
  type KindOfWrite,
  type LiveComparing,
  nothingSkipped,
  type Queue,
  reservesOf,
  type SamplerSettings,
  type Skipped,
  type WatchedRequest,
} from './observe.ts'
import { judgeRefusal, judgeWrite, verifyWrite, wouldSend } from './verify-write.ts'

export interface LookSettings {
  readonly ask: Ask
  readonly unsharedReads: UnsharedReads
  readonly env: Env
  readonly readingsOf: ReadingsOf
  /** What may change while the proxy serves. */
  readonly live: Omit<LiveComparing, 'probePercent'>
  /** Largest answer that is compared, in characters. */
  readonly limit: number
}

/** What looking at a served request needs. */
export interface LookMeans {
  readonly settings: LookSettings
  readonly journal: Journal
  readonly cursors: Cursors
  /** Counts a request that cannot be compared. */
  readonly skip: (operation: Operation, why: keyof Skipped) => void
  readonly learning: (operation: string) => boolean
}

/** Compares a read with the other side's answer. */
export async function lookAtRead(watched: WatchedRequest, subject: ComparedRequest, means: LookMeans, signal: Signal): Promise<void> {
  const { request, served, wrote, others } = watched
  const { settings, journal, cursors, skip } = means
  const { operation, caller, raw, read } = request
  const token = pageTokenOf(operation, raw.url)
  const otherToken = token === undefined ? undefined : cursors.find(caller, operation.id, token)
  if (token !== undefined && otherToken === undefined) return skip(operation, watched.isKnown ? 'pageToken' : 'stranger')
  const failed = served.failed && { seen: await seenOf(wholeOf(served.failed), settings.limit), ms: watched.ms }
  const proving = () => provingBy(settings.ask, journal.operations, raw, signal)
  const asking = { operation, raw, read, wrote, others, otherToken, proving, learn: means.learning(operation.id) }
  const first = await firstOf(watched, asking, settings, signal)
  const question = { ...asking, by: served.by, since: journal.judging.now() - (performance.now() - watched.began), first, other: failed }
  const compared = await compareRead(question, settings.ask, journal.judging, signal)
  if (isShutDown(signal)) return skip(operation, watched.isKnown ? 'waiting' : 'stranger')
  if (served.by === 'v2') watched.heard(compared.v1.seen.status)
  if (!watched.isKnown && !isAccepted(compared.v1.seen)) return skip(operation, 'stranger')
  if (!watched.isKnown) journal.tallies.used(operation.id)
  if (operation.paging) {
    const own = nextTokenOf(operation, compared[served.by].seen)
    const other = nextTokenOf(operation, compared[otherSide(served.by)].seen)
    if (own && other) cursors.learn(caller, operation.id, own, other)
  }
  journal.compared(subject, 'read', operation, compared)
}

/** Returns the answer that the client got. What the tables refuse without a call is asked of them again: that costs nothing. */
async function firstOf({ served, kept, ms }: WatchedRequest, asking: Asking, { ask, limit }: LookSettings, signal: Signal) {
  if (served.by === 'v2' && served.unasked) return ask('v2', asking, signal)
  const seen = await seenOf(kept, limit)
  return { seen: { ...seen, ...(served.unasked && { unasked: true as const }) }, ms }
}

/** True if the proxy gave a comparison up. What its sides answered then says nothing of them. */
function isShutDown({ aborted, reason }: Signal): boolean {
  return aborted && (reason as Error | undefined)?.name === 'AbortError'
}

/** Judges a write by the side that served it, and reads back what it wrote. */
export async function lookAtWrite(watched: WatchedRequest, means: LookMeans, signal: Signal): Promise<void> {
  const { settings, journal, skip } = means
  const { request, served, kept } = watched
  const subject = subjectOf(watched)
  const isDone = isAccepted(kept)
  if (served.by === 'v2' && !isDone && !served.unasked) return lookAtRefusal(watched, subject, means, signal)
  if (served.by === 'v1' && !(await isTranslated(watched, subject, means, signal))) return
  if (!isDone)
    return skip(request.operation, served.by === 'v1' || isRefusedByV1(subject, kept.status, journal) ? 'refused' : 'writeRefused')
  if (!settings.live.verifyWrites) return skip(request.operation, 'unverified')
  const verified = await verifyWrite(watched, subject, settings, journal, signal)
  if (verified !== 'booked') skip(request.operation, verified)
}

function kindOf({ operation, caller, request, shape = shapeOf(operation, request) }: ComparedRequest): KindOfWrite {
  return { operation: operation.id, caller, shape }
}

function isRefusedByV1(subject: ComparedRequest, status: number, { judging }: Journal): boolean {
  return judging.refusals.has(kindOf(subject), status)
}

/** Counts a write that v2 failed or refused. */
async function lookAtRefusal(watched: WatchedRequest, subject: ComparedRequest, means: LookMeans, signal: Signal): Promise<void> {
  const { settings, journal, skip } = means
  const { operation } = watched.request
  const { status } = watched.kept
  const asked = judgeWrite(status) ?? (await judgeRefusal(watched, subject, settings, journal.operations, signal))
  const isUnknown = asked !== 'refused by both' && asked.outcome === 'inconclusive'
  const failure = isUnknown && isRefusedByV1(subject, status, journal) ? 'refused by both' : asked
  if (failure === 'refused by both') return skip(operation, watched.isKnown ? 'refused' : 'stranger')
  if (!watched.isKnown && failure.outcome !== 'mismatch') return skip(operation, 'stranger')
  if (!watched.isKnown) journal.tallies.used(operation.id)
  if (failure.outcome === 'inconclusive') skip(operation, 'writeRefused')
  journal.unwritten(subject, failure, { seen: await seenOf(watched.kept, settings.limit), ms: watched.ms })
}

/**
 * Keeps what v2 would have been sent for a write that v1 made. Returns false if the tables refuse what v1 accepted, which counts as wrong.
 * A refusal after a read of v2 says nothing: v1 has already changed what it reads.
 */
async function isTranslated(watched: WatchedRequest, subject: ComparedRequest, { settings, journal }: LookMeans, signal: Signal) {
  const { headers, id: requestId } = watched.request.raw
  let isAsked = false
  const onCall = () => {
    isAsked = true
    return undefined
  }
  const send = settings.unsharedReads({ headers, requestId, signal, room: createAnswerRoom(settings.limit), onCall })
  const begun = performance.now()
  const made = await translationOf(watched, subject, settings.env, send)
  if (made && !(made instanceof ApiError)) journal.wouldSend(subject, made)
  if (!(made instanceof ApiError) || isAsked || !isAccepted(watched.kept)) return true
  const seen: SeenAnswer = { status: made.http, headers: {}, body: { kind: 'json', value: undefined }, unasked: true }
  const reason = `v1 answered ${watched.kept.status} to a write that the tables refuse with HTTP ${made.http}`
  journal.unwritten(subject, { outcome: 'mismatch', findings: [], reason }, { seen, ms: Math.round(performance.now() - begun) })
  return false
}

async function translationOf({ request }: WatchedRequest, subject: ComparedRequest, env: Env, send: Send) {
  try {
    request.read()
  } catch (thrown) {
    return asApiError(thrown)
  }
  return wouldSend(subject.operation, subject.request, env, send)
}

/** All requests to an operation that the tables cannot read have one shape. */
export function subjectOf({ request, mode, term }: Pick<WatchedRequest, 'request' | 'mode' | 'term'>): ComparedRequest {
  const { operation, caller, subject } = request
  const read = readOf(request)
  return { operation, caller, subject, mode, term, request: read ?? UNREAD, ...(!read && { shape: unreadShape(operation) }) }
}

function unreadShape({ id }: Operation): string {
  return `${id}?(unreadable)`
}

/** v2's failed answers are never streamed. */
function wholeOf(answer: NonNullable<Served['failed']>): Kept {
  const { status, headers } = answer
  return { status, headers, body: { value: 'body' in answer ? answer.body : undefined }, size: 0 }
}

export type ObserverSettings = LookSettings & Pick<SamplerSettings, 'now' | 'random'>

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

/** Compares served requests when there is time. No client waits for it. */
export interface Observer {
  readonly limit: number
  /** Why nothing of an operation that this side answers can be compared now; undefined if something can. Most requests of a busy proxy end here. */
  full(operation: Operation, by: Side): 'perSecond' | 'waiting' | undefined
  look(watched: WatchedRequest): void
  /** Notes the status with which v1 answered a write of an accepted caller. */
  wroteV1(request: ClientRequest, status: number): void
  /** Counts a request that cannot be compared; `isUse` if it was not counted as a use before. */
  skip(operation: Operation, why: keyof Skipped, isUse?: boolean): void
  readonly skipped: Skipped
  /**
   * Asks both sides for a read that no client waits for, and counts it as rehearsed. If v1 does not answer it with success, it counts for
   * nothing: neither side may have accepted the credential.
   */
  rehearse(request: ClientRequest, signal: Signal): Promise<Rehearsed>
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

export function createObserver(settings: ObserverSettings, queue: Queue, journal: Journal): Observer {
  const skipped = nothingSkipped()
  const { live, now, random } = settings
  const users = createUsers(journal, now)
  const sampler = createSampler({ perSecond: () => live.perSecond, now, random, reserve: users.reserve }, queue.places)
  const shapes = createReadShapes()
  const skip: Observer['skip'] = ({ id }, why, isUse) => {
    skipped[why] += 1
    if (why !== 'stranger') journal.tallies.uncompared(id, why, isUse)
  }
  const shared = { journal, cursors: createCursors(), skip, learning: everyNth(() => live.learnEvery) }
  const meansOf = (user: string): LookMeans => {
    const ask: Ask = async (side, asking, signal) => {
      const answer = await settings.ask(side, asking, signal)
      sampler.charge(user, answer.bytes ?? 0)
      return answer
    }
    return { settings: { ...settings, ask }, ...shared }
  }
  const shapeIn = ({ request: { operation, read, raw } }: WatchedRequest) => {
    try {
      return shapes(operation, read, raw)
    } catch {
      return unreadShape(operation)
    }
  }
  return {
    limit: settings.limit,
    skip,
    skipped,
    wroteV1(request, status) {
      journal.judging.refusals.heard(kindOf(subjectOf({ request, mode: 'v1', term: journal.terms.now })), status)
    },
    async rehearse(request, signal) {
      const { operation, raw, read } = request
      const subject = subjectOf({ request, mode: 'diff-v1', term: journal.terms.now })
      const asking = { operation, raw, read }
      const proving = () => provingBy(settings.ask, journal.operations, raw, signal)
      const since = journal.judging.now()
      const first = await settings.ask('v1', asking, signal)
      const question = { ...asking, by: 'v1' as const, since, first, proving, learn: false }
      const compared = await compareRead(question, settings.ask, journal.judging, signal)
      const shown = { operation: operation.id, shape: shapeOf(operation, subject.request) }
      const statuses = { v1: compared.v1.seen.status, v2: compared.v2.seen.status }
      if (!isAccepted(compared.v1.seen)) return { ...shown, outcome: 'refused', differences: [], ...statuses }
      const entry = journal.rehearsed(subject, compared)
      if (!entry) return { ...shown, outcome: 'earlier', differences: [], ...statuses }
      const { outcome, reason, totals } = entry
      const differences = totals.flatMap(({ kind, where, noise }) => (noise ? [] : [`${kind} ${where}`]))
      return { ...shown, outcome, ...(reason !== undefined && { reason }), differences, ...statuses }
    },
    full(operation, by) {
      const user = users.of(operation, by)
      user.requests += 1
      return queue.refuses(0) ? 'waiting' : sampler.full(user.name)
    },
    look(watched) {
      const { operation, caller } = watched.request
      const user = users.of(operation, watched.served.by).name
      const size = sizeOf(watched)
      // A stranger is counted when a side accepts it.
      const left = (why: keyof Skipped) => skip(operation, watched.isKnown ? why : 'stranger')
      if (watched.isKnown) journal.tallies.used(operation.id)
      // The size of v2's own answer says something of v2, so that no coin left it out.
      if (queue.refuses(size)) return left(watched.served.by === 'v2' && !queue.refuses(0) ? 'heldBytes' : 'waiting')
      if (!isRead(operation)) {
        const chosen = sampler.choose({ user, caller })
        if (typeof chosen === 'string') return left(chosen)
        return queue.offer((signal) => lookAtWrite(watched, meansOf(user), signal), size, user, left)
      }
      const shape = shapeIn(watched)
      const chosen = sampler.choose({ user, caller, shape: () => shape })
      if (typeof chosen === 'string') return left(chosen)
      const subject = subjectOf(watched)
      sampler.charge(user, size)
      queue.offer((signal) => lookAtRead(watched, { ...subject, ...chosen, shape }, meansOf(user), signal), size, user, left)
    },
  }
}

function sizeOf({ kept, request }: WatchedRequest): number {
  return kept.size + (request.raw.body?.length ?? 0)
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
  const means = { ask, unsharedReads, readingsOf: createReadingsOf(journal.operations, translate.dialect) }
  return createObserver({ ...means, env: translate, limit, live: settings, random, now: () => performance.now() }, queue, journal)
}
