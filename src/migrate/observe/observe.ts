import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Answer, type JsonText, lengthOf } from '../../serve/answer.ts'
import { entries } from '../../serve/bounds.ts'
import type { ClientRequest } from '../../serve/request.ts'
import { isAccepted, type Mode, type Served } from '../../serve/sides.ts'
import { Firing, type Signal } from '../../serve/signals.ts'
import { isObject } from '../../tables/json.ts'
import { ROWS } from '../../tables/turn.ts'
import { type CompareSettings, createCompare } from '../compare/compare.ts'
import type { ExpectedDifferences } from '../compare/expected.ts'
import { createJudge, createNoise, createSettle } from '../compare/judge.ts'
import { COLLAPSE } from '../evidence/evidence.ts'
import type { Uncompared } from '../evidence/standing.ts'
import type { Term } from '../modes/journal.ts'
import type { OtherWrites } from '../modes/serve.ts'
import type { RecordedSide } from '../records/record.ts'
import type { ComparedRead, Judging, Kept, SideAnswer } from './compare-read.ts'

/** Why nothing is known of a difference that a write through another replica would explain. */
export const UNKNOWN_WRITES = 'another replica may have written, and the store does not tell'

export type OtherReplicas = ReturnType<typeof createOtherReplicas>

/** Tells when everything is known that other replicas did. */
export function createOtherReplicas() {
  let ask: (() => Promise<boolean>) | undefined
  return {
    /**
     * Resolves when the others have told their writes up to now: true, or false if that cannot be known in time. Returns undefined if this
     * process shares nothing with others.
     */
    told: () => ask?.(),
    /** Asks the others by this function from now on. */
    askBy(by: () => Promise<boolean>): void {
      ask = by
    },
  }
}

/** A write of one caller and one kind. */
export interface KindOfWrite {
  readonly operation: string
  /** Hash that identifies the caller. */
  readonly caller: string
  readonly shape: string
}

/** What v1 answers to all writes of one caller and kind: the status of its refusal, or 0 if it does not always refuse them so. */
export interface V1Habit {
  /** Hash of the caller and the kind. */
  readonly key: string
  readonly status: number
}

/** Kinds of writes that are remembered. Of later ones nothing is known: forgetting one that v1 accepted would make its next refusal a habit. */
const HABITS = 50_000

/** Statuses that say nothing of what v1 makes of the write itself: it does not know the caller, limits it, or the client went away. */
const SAYS_NOTHING: ReadonlySet<number> = new Set([401, 429, 499])

export type V1Refusals = ReturnType<typeof createV1Refusals>

/**
 * Knows which writes v1 refuses by itself. A write reaches one side, so that nobody can ask v1 about one that v2 refused. v1 is known to refuse
 * the same if it has answered writes of the same caller and kind, and has refused all of them with the same status. One that it accepted, or
 * refused otherwise, proves that the kind does not tell: v2 may refuse what v1 would accept.
 */
export function createV1Refusals() {
  const known = new Map<string, number>()
  const listeners: ((habit: V1Habit) => void)[] = []
  const tell = (habit: V1Habit) => {
    for (const listener of listeners) listener(habit)
  }
  const keyOf = ({ operation, caller, shape }: KindOfWrite) =>
    createHash('sha256').update(`${operation}\n${caller}\n${shape}`).digest('base64url').slice(0, 22)
  /** Returns what is known afterwards; undefined if there is no room. */
  const learn = (key: string, status: number) => {
    const before = known.get(key)
    if (before === undefined && known.size >= HABITS) return undefined
    const now = before === undefined || before === status ? status : 0
    known.set(key, now)
    return now
  }
  return {
    /** Notes the status with which v1 answered a write. */
    noteStatus(write: KindOfWrite, status: number): void {
      if (status >= 500 || SAYS_NOTHING.has(status)) return
      const key = keyOf(write)
      const before = known.get(key)
      const now = learn(key, status >= 400 ? status : 0)
      // Others need to know of kinds that v1 refused. That it accepts a kind is no news unless somebody believes otherwise.
      if (now !== undefined && now !== before && (now > 0 || before !== undefined)) tell({ key, status: now })
    },
    /** True if v1 has refused all writes of this caller and kind with this status. */
    has: (write: KindOfWrite, status: number) => status > 0 && known.get(keyOf(write)) === status,
    /** Takes what another replica has found. */
    learn({ key, status }: V1Habit): void {
      if (learn(key, status) === 0 && status > 0) tell({ key, status: 0 })
    },
    /** Passes on what this replica finds from now on. */
    onNews: (listener: (habit: V1Habit) => void) => void listeners.push(listener),
  }
}

/** Puts the parts together that judge answers. Nothing is learnt yet. `now` returns milliseconds since 1970. */
export function createJudging(settings: CompareSettings, expected: ExpectedDifferences, now: () => number): Judging {
  const compare = createCompare(settings)
  const noise = createNoise()
  const judge = createJudge(compare, expected, noise)
  return {
    compare,
    judge,
    wants: expected.wants,
    noise,
    settle: createSettle(judge, compare, noise),
    others: createOtherReplicas(),
    refusals: createV1Refusals(),
    now,
  }
}

/** How much is compared. It may change while the proxy serves, so that it is read at each use. */
export interface LiveComparing {
  /** Maximum comparisons per second, and at once after a pause; 0 = unlimited. */
  readonly perSecond: number
  /** Every n-th compared read asks v1 twice, to learn which members change by themselves; 0 = none. */
  readonly learnEvery: number
  /** Read a resource through both sides after it was written. */
  readonly verifyWrites: boolean
  /** Share of the requests of an open circuit that are compared, 0–100. If it is not 0, comparisons may close the circuit. */
  readonly probePercent: number
}

const SKIPPED = [
  'earlier',
  'failed',
  'gone',
  'heldBytes',
  'malformed',
  'pageToken',
  'perSecond',
  'refused',
  'repeat',
  'stranger',
  'unreadable',
  'unverified',
  'v1Failed',
  'v2Bytes',
  'waiting',
  'writeRefused',
] as const
type Reason = Extract<(typeof SKIPPED)[number], Uncompared | 'stranger'>

/** Requests that were not compared, by reason. Neither side had accepted the credential of a stranger. */
export type Skipped = Readonly<Record<Reason, number>>

export function nothingSkipped(): Record<Reason, number> {
  return Object.fromEntries(SKIPPED.map((why) => [why, 0])) as Record<Reason, number>
}

/** Says why an inconclusive comparison has no result. */
export function whyUncompared({ judgement, v1, v2 }: ComparedRead): Uncompared {
  const sides = [v1.seen, v2.seen]
  if (v2.seen.body.kind === 'too-large' && v1.seen.body.kind === 'json') return 'v2Bytes'
  if (judgement.findings.length > 0) return 'manyPlaces'
  if (sides.some(({ body }) => body.kind === 'too-large')) return 'answerBytes'
  if (sides.some(({ status }) => status === 401) || (v1.seen.status === 403 && v2.seen.unasked)) {
    return isAccepted(v2.seen) ? 'v1Refused' : 'refused'
  }
  return v1.seen.status >= 500 || v1.seen.status === 429 || v1.seen.body.kind !== 'json' ? 'v1Failed' : 'other'
}

/** Returns the side of a comparison as records show it. */
export function sideOf({ seen: { status, body }, ms }: SideAnswer): RecordedSide {
  const code = status >= 400 && body.kind === 'json' && isObject(body.value) ? body.value.code : undefined
  return { status, ...(typeof code === 'number' && { code }), ms }
}

/** A request that was served in a diff mode, with its kept answer. */
export interface WatchedRequest {
  readonly request: ClientRequest
  readonly mode: Mode
  readonly served: Pick<Served, 'by' | 'unasked' | 'failed'>
  readonly kept: Kept
  /** When it arrived, by `performance.now()`. */
  readonly began: number
  /** Milliseconds until the client had the answer. */
  readonly ms: number
  /** Whether the caller wrote meanwhile. */
  readonly wrote: () => boolean
  /** Tells what other writes may have done meanwhile. */
  readonly others: () => OtherWrites
  /** Notes the status with which v1 answered the same credential. */
  readonly noteStatus: (status: number) => void
  /** A side accepted the credential before. Otherwise only v1's success makes this a use. */
  readonly isKnown: boolean
  readonly term: Term
}

/**
 * Returns the same answer, and keeps it on the way to the client, unless it has more than `limit` bytes. Nothing is copied: most answers of a
 * busy proxy are not compared.
 * Calls `done` when the client has the whole answer. It passes `undefined` if the client disconnects first.
 */
export function tee(answer: Answer, limit: number, done: (kept: Kept | undefined) => void): Answer {
  const { status, headers } = answer
  if ('text' in answer) {
    done({ status, headers, ...keptOf(answer.text, limit) })
    return answer
  }
  if ('stream' in answer) return { status, headers, stream: watched(answer, limit, done) }
  done({ status, headers, body: { value: answer.body }, size: weightOf(answer.body) })
  return answer
}

type Body = Pick<Kept, 'body' | 'size'>

function keptOf(text: JsonText, limit: number): Body {
  const size = lengthOf(text)
  return size > limit ? { body: { pieces: undefined, broken: false }, size: 0 } : { body: { text }, size }
}

/** An answer that its side broke off. */
const BROKEN: Body = { body: { pieces: [], broken: true }, size: 0 }

/** Copies each piece, because the memory of one that a client has is used again. */
async function* watched(answer: Extract<Answer, { readonly stream: unknown }>, limit: number, done: (kept: Kept | undefined) => void) {
  const { status, headers, stream } = answer
  let pieces: Uint8Array[] | undefined = []
  let size = 0
  let seen: Body | undefined
  try {
    for await (const piece of stream) {
      size += piece.length
      if (size > limit) pieces = undefined
      else pieces?.push(Buffer.from(piece))
      yield piece
    }
    seen = { body: { pieces, broken: false }, size: pieces ? size : 0 }
  } catch (error) {
    seen = BROKEN
    throw error
  } finally {
    done(seen && { status, headers, ...seen })
  }
}

/** Estimated bytes of a list's row in memory. A whole list is not serialized just to measure it. */
const ROW = 1024

function weightOf(body: unknown): number {
  const rows = isObject(body) ? body[ROWS] : undefined
  return ROW * (Array.isArray(rows) ? rows.length + 1 : 1)
}

/** Reads at most `limit` bytes of an answer that no client gets, and hangs up. An answer that breaks off is kept as broken. */
export async function drain({ status, headers, ...rest }: Answer, limit: number): Promise<Kept> {
  if ('body' in rest) return { status, headers, body: { value: rest.body }, size: 0 }
  if ('text' in rest) return { status, headers, ...keptOf(rest.text, limit) }
  const most = Number(headers['content-length'] ?? 0) > limit ? 0 : limit
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of rest.stream) {
      size += piece.length
      if (size > most) return { status, headers, body: { pieces: undefined, broken: false }, size: 0 }
      pieces.push(piece)
    }
  } catch {
    return { status, headers, body: { pieces: [], broken: true }, size: 0 }
  }
  return { status, headers, body: { pieces, broken: false }, size }
}

/** Maximum pairs of page tokens; the oldest are dropped first. Tokens stay in memory and are never recorded. */
const PAIRS = 10_000

/** Maps page tokens that clients were given to the other side's tokens, for lists that are read page by page on both sides. */
export function createCursors(pairs: number = PAIRS) {
  const known = new LRUCache<string, string>(entries(pairs))
  const keyOf = (caller: string, operation: string, served: string) => `${caller}\n${operation}\n${served}`
  return {
    /** Remembers both sides' tokens for the next page of one answer. */
    learn: (caller: string, operation: string, served: string, asked: string) => void known.set(keyOf(caller, operation, served), asked),
    /** Returns the other side's token for a client's token. If it is unknown (undefined), the page cannot be compared. */
    find: (caller: string, operation: string, served: string) => known.peek(keyOf(caller, operation, served)),
  }
}

export interface QueueSettings {
  /** Maximum jobs that wait. */
  readonly waiting: number
  /** Maximum characters that waiting and running jobs hold together. */
  readonly characters: number
  /** Maximum jobs that run at the same time. */
  readonly parallel: number
  /** Milliseconds after which a job is given up. */
  readonly deadlineMs: number
}

/** A job that runs when there is time. It must end when the signal fires. */
export type Job = (signal: Signal) => Promise<void>

/** True if the proxy gave a job up. What the sides answered then says nothing of them. */
export function isShutDown({ aborted, reason }: Signal): boolean {
  return aborted && (reason as Error).name === 'AbortError'
}

export type QueueCounts = ReturnType<Queue['counts']>

/**
 * Something that is used up, and that users share. A user is an operation and the side that answered its clients, so that the few clients of a
 * canary are compared beside the many others.
 */
export interface Stock {
  readonly most: number
  left(): number
  usedBy(user: string): number
}

interface Waiting {
  readonly user: string
  readonly job: Job
  readonly lost: ((why: 'failed' | 'waiting') => void) | undefined
  readonly size: number
  /** When it came, in milliseconds of a monotonic clock. */
  readonly at: number
}

export type Queue = ReturnType<typeof createQueue>

/**
 * Runs the jobs that clients do not wait for. It is bounded, and its bounds may change. A job that does not fit is dropped and counted: memory
 * and the other side are worth more than one comparison. `failed` receives the error of a job.
 */
export function createQueue(settings: QueueSettings, failed: (error: unknown) => void) {
  const jobs: Waiting[] = []
  /** Waiting jobs by user. */
  const taken = new Map<string, number>()
  /** Running jobs, oldest first, with the times when they came. */
  const running = new Map<Firing, number>()
  const idles: (() => void)[] = []
  /** `dropped`: jobs that were refused for lack of room, or given up at the end. `failed`: those that ended with an error of Crosswalk's own. */
  const counts = { done: 0, dropped: 0, failed: 0 }
  let held = 0
  let closed = false

  const next = () => {
    while (running.size < settings.parallel && jobs.length > 0) {
      const job = jobs.shift()!
      taken.set(job.user, (taken.get(job.user) ?? 0) - 1)
      void work(job)
    }
    if (running.size + jobs.length === 0) for (const tell of idles.splice(0)) tell()
  }
  const work = async ({ job, lost, size, at }: Waiting) => {
    const over = new Firing()
    const timer = setTimeout(
      () => over.abort(new DOMException('the comparison took too long', 'TimeoutError')),
      settings.deadlineMs,
    ).unref()
    running.set(over, at)
    try {
      await job(over)
      counts.done += 1
    } catch (error) {
      counts.failed += 1
      lost?.('failed')
      failed(error)
    }
    clearTimeout(timer)
    running.delete(over)
    held -= size
    next()
  }
  /** Resolves when no job waits or runs. */
  const idle = () => (running.size + jobs.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => idles.push(resolve)))
  /** True if a job that holds this many characters finds no room. It counts as dropped then. */
  const refuses = (size: number) => {
    const isFull = closed || jobs.length >= settings.waiting || held + size > settings.characters
    if (isFull) counts.dropped += 1
    return isFull
  }
  /** The places of waiting jobs. Their number may change, and a slow side leaves few of them. */
  const places: Stock = {
    get most() {
      return settings.waiting
    },
    left: () => settings.waiting - jobs.length,
    usedBy: (user) => taken.get(user) ?? 0,
  }
  return {
    places,
    refuses,
    /**
     * Takes a job of a user of `places` that holds this many characters. Drops and counts it if there is no room, now or at the end, and calls
     * `lost` then, as for a job that fails. Never waits.
     */
    offer(job: Job, size: number, user: string, lost?: (why: 'failed' | 'waiting') => void): void {
      if (refuses(size)) {
        lost?.('waiting')
        return
      }
      held += size
      jobs.push({ user, job, lost, size, at: performance.now() })
      taken.set(user, places.usedBy(user) + 1)
      // The answer that this job compares is sent first.
      setImmediate(next)
    },
    counts: () => ({ waiting: jobs.length, running: running.size, ...counts }),
    /** Milliseconds since the oldest waiting or running job came; undefined if there is none. */
    oldestMs(): number | undefined {
      const at = running.values().next().value ?? jobs[0]?.at
      return at === undefined ? undefined : performance.now() - at
    },
    idle,
    /** Gives up running jobs and drops waiting ones. */
    close(): Promise<void> {
      closed = true
      for (const { lost } of jobs.splice(0)) {
        counts.dropped += 1
        lost?.('waiting')
      }
      next()
      for (const over of running.keys()) over.abort(new DOMException('the proxy is shutting down', 'AbortError'))
      return idle()
    },
  }
}

/** Returns a function that is true for the first of every `learnEvery` uses of each name; 0 = never. */
export function everyNth(live: Pick<LiveComparing, 'learnEvery'>): (name: string) => boolean {
  const counts = new Map<string, number>()
  return (name) => {
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    const every = live.learnEvery
    return every > 0 && count % every === 0
  }
}

/** A request that could be compared. */
interface Candidate {
  /** The operation and the side that answered (`Stock`). */
  readonly user: string
  readonly caller: string
  /** Returns its shape; it is asked only if it matters. A write has none: each one is new. */
  readonly shape?: () => string
}

/** The number of requests that a chosen one stands for, or why it was not chosen. */
export type Sampled = { readonly weight: number } | 'perSecond' | 'waiting' | 'repeat'

/** How many times what is left of a stock one user may use of it: the dynamic threshold of Choudhury and Hahne. */
const SHARE = 4

/** The part of a stock that is kept for the operations of which too little is known. */
const RESERVE = 0.25

/** An operation of which less was observed leaves nothing to others, so that a rare one and its kinds are seen soon. */
const FEW = 30

/**
 * Returns by operation the part of a stock that it leaves to others, 0 up to `RESERVE`. It grows with the observations that the operation has
 * for its requests, against those that all together have. So comparisons go where the bound of all requests is weakest (evidence §6), and all
 * operations end with the same ratio. It knows numbers alone, and no outcome.
 */
export function reservesOf(
  observed: ReadonlyMap<string, { readonly n: number }>,
  traffic: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  let [allObserved, allRequests] = [0, 0]
  for (const [operation, { n }] of observed) {
    allObserved += n
    allRequests += Math.max(n, traffic.get(operation) ?? 0)
  }
  const reserves = new Map<string, number>()
  for (const [operation, { n }] of observed) {
    const due = (allObserved * Math.max(n, traffic.get(operation) ?? 0)) / Math.max(1, allRequests)
    reserves.set(operation, n < FEW ? 0 : RESERVE * Math.max(0, 1 - due / n))
  }
  return reserves
}

/** One of this many known requests is compared while less than half of a stock is left. */
const EVERY = 20

/** Bytes of answers that one comparison of the rate pays for. Memory for many of them makes V8 collect all the time, which clients notice. */
const BYTES = 65_536

/** A pair is new again a little later than its next observation may begin. */
const KNOWN_MS = COLLAPSE.windowMs * 1.05

/** Time in which the use of a user fades, in milliseconds. */
const FADE = 1_000

export type Sampler = ReturnType<typeof createSampler>

/**
 * Spends the comparisons where they tell most (evidence §3). `now` returns milliseconds of a monotonic clock, `random` a number from 0 up to 1
 * that no caller can foresee, and `reserve` the part of each stock that a user leaves to others (`reservesOf`). `places` are those of the
 * comparisons that wait.
 */
export function createSampler(
  live: Pick<LiveComparing, 'perSecond'>,
  sources: { readonly now: () => number; readonly random: () => number; readonly reserve?: (user: string) => number },
  places: Stock,
) {
  const { now, random, reserve = () => 0 } = sources
  const isKnown = createPairs(now)
  const used = new Map<string, { readonly amount: number; readonly at: number }>()
  /** The comparisons of a second that are not spent yet, and when they were counted. */
  let left = live.perSecond
  let filled = now()
  const usedBy = (user: string) => {
    const known = used.get(user)
    return known ? known.amount * Math.exp((known.at - filled) / FADE) : 0
  }
  const take = (user: string, amount: number) => {
    if (live.perSecond === 0) return
    used.set(user, { amount: usedBy(user) + amount, at: filled })
    left -= amount
  }
  /** Why a user may not use one more of each stock and leave this part to others; undefined if that is possible. */
  const full = (user: string, part = reserve(user)) => {
    if (!fits(places.most, places.left(), places.usedBy(user), part)) return 'waiting'
    const most = live.perSecond
    if (most === 0) return undefined
    const at = now()
    left = Math.min(most, left + ((at - filled) / 1_000) * most)
    filled = at
    return fits(most, left, usedBy(user), part) ? undefined : 'perSecond'
  }
  return {
    full,
    choose({ user, caller, shape }: Candidate): Sampled {
      const why = full(user)
      if (why) return why
      const isNew = shape === undefined || !isKnown(`${user}\n${caller}\n${shape()}`)
      const weight = isNew || !full(user, 0.5) ? 1 : EVERY
      if (weight > 1 && random() * weight >= 1) return 'repeat'
      take(user, 1)
      return { weight }
    },
    /** Spends further comparisons of the rate on the bytes of answers that a user had compared. */
    charge: (user: string, bytes: number) => take(user, Math.floor(bytes / BYTES)),
  }
}

/** True if a user who uses so much of a stock may use one more and leave this part of it, 0–1, to others. */
function fits(most: number, left: number, used: number, part: number): boolean {
  const free = left - part * most
  return free >= Math.min(1, (1 - part) * most) && SHARE * free > used
}

/** Tells whether a pair was compared lately, and remembers it if it was not. When the memory is full, all others count as known. */
function createPairs(now: () => number): (pair: string) => boolean {
  /** Oldest first. */
  const compared = new Map<string, number>()
  return (pair) => {
    for (const [old, at] of compared) {
      if (now() - at < KNOWN_MS) break
      compared.delete(old)
    }
    if (compared.has(pair) || compared.size >= COLLAPSE.entries) return true
    compared.set(pair, now())
    return false
  }
}
