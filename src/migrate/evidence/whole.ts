import { count, excluded, HOUR, HOURS, many, type OperationEvidence, percent, type Sample } from './evidence.ts'
import { type AskedOperation, callersSeen, type MissingKind, missingKinds, missingText, rehearsedOf } from './kinds.ts'
import {
  aloneOf,
  aloneReason,
  daysText,
  hasEnough,
  isTooLittleKnown,
  reasonOf,
  restOf,
  standingOf,
  triedOf,
  unknownReason,
  untriedReason,
  worstOf,
  worstShare,
} from './standing.ts'

/** An operation, its requests, and what was observed of it. */
export interface Part {
  readonly requests: number
  readonly seen: Sample
}

/**
 * Returns the upper bound, at 95 %, on the share of wrong answers in the requests of all parts, 0–1. It holds at all times at once.
 * The observations of all operations, in the order in which they were made, are one sequence. So `excluded` bounds the sum of all their
 * chances to be wrong, wherever these lie, and no part can have more of them than it has observations. The bound is the largest share of
 * the requests that fits: the chances lie where each stands for the most requests. (evidence §6)
 */
export function boundOfWhole(parts: readonly Part[]): number {
  const requests = total(parts.map((part) => part.requests))
  if (requests === 0) return 1
  let left = excluded(total(parts.map(({ seen }) => seen.bad)))
  let wrong = 0
  for (const { requests, seen } of parts
    .filter((part) => part.requests > 0)
    .sort((a, b) => b.requests * a.seen.n - a.requests * b.seen.n)) {
    wrong += seen.n <= left ? requests : requests * (left / seen.n)
    left = Math.max(0, left - seen.n)
  }
  return Math.min(1, wrong / requests)
}

function total(all: readonly number[]): number {
  return all.reduce((sum, one) => sum + one, 0)
}

/** Returns the least `amount`, within a thousandth, from which on `isEnough` holds; undefined if not even `most` is enough. */
function least(most: number, isEnough: (amount: number) => boolean): number | undefined {
  if (isEnough(0)) return 0
  if (!isEnough(most)) return undefined
  let [low, high] = [0, 1]
  while (!isEnough(high)) [low, high] = [high, Math.min(most, 2 * high)]
  while (high - low > high / 1000) {
    const middle = (low + high) / 2
    if (isEnough(middle)) high = middle
    else low = middle
  }
  return high
}

function grown(parts: readonly Part[], more: (nth: number) => number): readonly Part[] {
  return parts.map(({ requests, seen }, nth) => ({ requests, seen: { n: seen.n + more(nth), bad: seen.bad } }))
}

/** More observations than anybody waits for. */
const ENDLESS = 1e12

/** Returns how many further observations, all clean and spread like the requests, bring the bound down to `target`. */
export function moreOfWhole(parts: readonly Part[], target: number): number {
  const requests = total(parts.map((part) => part.requests))
  if (requests === 0) return ENDLESS
  const spread = (amount: number) => grown(parts, (nth) => (amount * (parts[nth]?.requests ?? 0)) / requests)
  return Math.ceil(least(ENDLESS, (amount) => boundOfWhole(spread(amount)) <= target) ?? ENDLESS)
}

/** An operation that v2 can answer, as far as the whole needs it. */
interface WholePart {
  readonly operation: string
  readonly calls: number
  readonly evidence: OperationEvidence | undefined
  /** Its own target, if it has one. */
  readonly target?: number | undefined
  /** The kinds of its requests that were not seen often enough. */
  readonly missing?: readonly MissingKind[] | undefined
}

/** The verdict on all requests together. */
export interface WholeVerdict {
  readonly each: number
  /** Acceptable share of wrong answers in all requests: the mean of the targets of the operations, by their requests. */
  readonly target: number
  /** Requests of the operations that were judged. */
  readonly requests: number
  readonly observations: number
  readonly bad: number
  /** Upper end of the anytime-valid 95 % confidence interval for the share of wrong answers in these requests, 0–1. */
  readonly bound: number
  /** The same by repeats; absent while they are too few. */
  readonly repeatsBound?: number
  /** Further clean observations, spread like the requests, that bring the bound to the target. */
  readonly needed: number
  /** Days until the bound is at the target and each operation was seen often enough; absent if the pace does not lead there. */
  readonly days?: number
  readonly isInside: boolean
  /** One sentence: where the whole stands, or what is missing. */
  readonly reason: string
  /** When all is ready, and what that takes for granted. Absent if all is. */
  readonly when?: string
}

/** Returns the observations of an operation that say what v2 does. Of a write, they are those in which v2 itself wrote. */
function seenOf(evidence: OperationEvidence | undefined): Sample {
  return evidence ? { n: triedOf(evidence), bad: evidence.bad } : { n: 0, bad: 0 }
}

/** Returns the same as if all that v2 did alone were wrong. */
function partOf(one: WholePart): Part {
  return { requests: requestsOf(one), seen: one.evidence ? worstOf(one.evidence) : { n: 0, bad: 0 } }
}

/** Requests that were compared are requests, even if no record tells of the traffic. */
function requestsOf({ calls, evidence }: WholePart): number {
  return Math.max(calls, evidence?.comparisons ?? 0)
}

/** Returns the share of all requests that may be wrong, if this share of each operation may be. */
function targetOf(all: readonly WholePart[], general: number): number {
  if (all.every(({ target = general }) => target === general)) return general
  const requests = total(all.map(requestsOf))
  return requests === 0 ? general : total(all.map((one) => (one.target ?? general) * requestsOf(one))) / requests
}

/**
 * Judges all requests together. Whether each operation was seen at all is judged apart (`blindSpotOf`). `general` is the target of operations
 * that have none of their own, and `each` is how often each must have been seen the same.
 */
export function judgeWhole(all: readonly WholePart[], general: number, each: number): WholeVerdict {
  const target = targetOf(all, general)
  const parts = all.map(partOf)
  const seen = all.map(({ evidence }) => seenOf(evidence))
  const bound = boundOfWhole(parts)
  const repeatsBound = boundOfRepeats(all, target)
  const isInside = bound <= target && (repeatsBound ?? 0) <= target
  const sums = {
    requests: total(parts.map(({ requests }) => requests)),
    observations: total(seen.map(({ n }) => n)),
    bad: total(seen.map(({ bad }) => bad)),
  }
  const needed = bound <= target ? 0 : moreOfWhole(parts, target)
  // Wrong repeats need further requests, whose pace nobody knows.
  const days = (repeatsBound ?? 0) > target ? undefined : daysOfWhole(all, target, each)
  const counted = {
    each,
    target,
    ...sums,
    bound,
    needed,
    ...(repeatsBound !== undefined && { repeatsBound }),
    ...(days !== undefined && { days }),
  }
  return { ...counted, isInside, reason: reasonOfWhole(counted, all.length, target) }
}

function boundOfRepeats(all: readonly WholePart[], target: number): number | undefined {
  const parts = all.flatMap(({ evidence }) => (evidence ? [{ requests: evidence.repeats.requests, seen: evidence.repeats }] : []))
  return hasEnough({ repeats: { n: total(parts.map(({ seen }) => seen.n)) } }, target) ? boundOfWhole(parts) : undefined
}

function reasonOfWhole(
  { requests, observations, bound, repeatsBound, needed }: Omit<WholeVerdict, 'isInside' | 'reason'>,
  operations: number,
  target: number,
): string {
  const seen = `${many(observations, 'observation')} of ${many(operations, 'operation')}`
  if (needed > 0) {
    const more = `${many(needed, 'more clean observation')}, spread like the requests, until ≤ ${percent(target)}`
    return `All together: up to ${percent(bound)} of ${many(requests, 'request')} may be wrong after ${seen}; ${more}.`
  }
  if ((repeatsBound ?? 0) > target) {
    return `All together: up to ${percent(repeatsBound ?? 1)} of the repeats may be wrong; further requests until ≤ ${percent(target)}.`
  }
  return `At most ${percent(bound)} of ${many(requests, 'request')} get something wrong, at 95 % confidence, by ${seen}.`
}

/** Days after which nobody waits any more. */
const TOO_LATE = 3650

/**
 * Returns the milliseconds until an operation and each missing kind of its requests were seen often enough, if they come in the intervals in
 * which they came so far. Undefined if these are not known: the operation was seen for less than an hour, or it has been silent for longer
 * than that, as it is after the first run of a job. `now` is the time of the last comparison of all.
 */
function waitOf(one: WholePart, each: number, now: number): number | undefined {
  const { n, bad } = partOf(one).seen
  const rehearsed = rehearsedOf(one.evidence ?? {})
  const own = n - bad + rehearsed < each ? [{ same: n - bad + rehearsed, rehearsed }] : []
  const lacking = [...own, ...(one.missing ?? [])]
  if (lacking.length === 0) return 0
  const { firstAt = 0, lastAt = 0 } = one.evidence ?? {}
  const [seenFor, silentFor] = [lastAt - firstAt, now - lastAt]
  if (n === 0 || seenFor < HOUR || silentFor > seenFor) return undefined
  const waits = lacking.map(({ same, rehearsed = 0 }) => (Math.max(1, each - same) * seenFor) / Math.max(1, same - rehearsed - 1))
  return Math.max(0, Math.max(...waits) - silentFor)
}

function daysOfWhole(all: readonly WholePart[], target: number, each: number): number | undefined {
  const parts = all.map(partOf)
  const now = Math.max(0, ...all.map(({ evidence }) => evidence?.lastAt ?? 0))
  const waits = all.map((one) => waitOf(one, each, now) ?? Number.POSITIVE_INFINITY)
  const pace = all.map(({ evidence }) => evidence?.perDay ?? 0)
  const after = (days: number) => grown(parts, (nth) => days * (pace[nth] ?? 0))
  const seenBy = Math.max(0, ...waits) / (HOURS * HOUR)
  return least(TOO_LATE, (days) => days >= seenBy && boundOfWhole(after(days)) <= target)
}

/**
 * Says when the whole is there, and what that takes for granted. `ready` of `of` operations are in the way no more; of the others,
 * `rehearsable` only lack reads that a person can have rehearsed.
 */
export function whenDone({ days }: Pick<WholeVerdict, 'days'>, ready: number, of: number, rehearsable: number): string {
  const rehearsals = rehearsable > 0 ? ` crosswalk rehearse may do ${count(rehearsable)} of the others now.` : ''
  const there = `${ready} of ${many(of, 'operation')} ${ready === 1 || of === 1 ? 'is' : 'are'} ready.${rehearsals}`
  if (days === undefined) {
    return `${there} It is not known when all will be: an operation has no known pace or takes more than ten years at it, or too many repeats are wrong.`
  }
  if (days === 0) return `${there} Enough was observed: all are ready once nothing is in the way.`
  return `${there} At this traffic, all are ready in ${daysText(days)}, if every further observation is clean${ready < of ? ', what is wrong is fixed' : ''} and the shares of the operations stay.`
}

/** Why an operation is in the way of the whole. */
interface BlindSpot {
  /** One or several sentences. */
  readonly reason: string
  /** The kinds of its requests that are missing, if only they are. */
  readonly missing?: readonly MissingKind[]
  /** True if it only was seen too seldom: a read that is rehearsed would be enough. */
  readonly isRare?: true
}

/**
 * Returns why an operation is in the way of the whole, if it is. Its own bound is not asked. It may have no known wrong answers beyond the
 * target, no more unknown uses than the strict verdict allows, and it must have been seen the same often enough, by two callers if there are two.
 * The last holds for each kind of its requests, too.
 */
export function blindSpotOf(
  evidence: OperationEvidence,
  target: number,
  each: number,
  asked: AskedOperation | undefined,
): BlindSpot | undefined {
  const { operation } = evidence
  if (standingOf(evidence, target) === 'outside') return { reason: reasonOf(evidence, target) }
  const { n, bad } = seenOf(evidence)
  const told = (reason: string): BlindSpot => ({ reason: [`${operation}: ${reason}.`, ...restOf(evidence, reason)].join(' ') })
  if (isTooLittleKnown(evidence, target)) return told(unknownReason(evidence, target))
  if (aloneOf(evidence) > 0 && worstShare(evidence) > target) return told(aloneReason(evidence))
  const same = n - bad + rehearsedOf(evidence)
  // v1 wrote what was observed.
  const isUntried = same < each && evidence.n - bad > same && (same === 0 || evidence.n - bad >= each)
  if (isUntried) return told(untriedReason(operation, n, `${count(each - same)} more are asked for`))
  const missing = `INCONCLUSIVE, because it was seen the same ${times(same)}; at least ${count(each)} are asked for: call it, or wait for its clients`
  const kinds = missingKinds(evidence, asked, each)
  const ofKinds = { missing: kinds, ...(kinds.every(({ why }) => why !== 'wrong') && { isRare: true as const }) }
  if (kinds.some(({ why }) => why === 'wrong')) return { ...told(missingText(kinds, each)), ...ofKinds }
  if (same < each) return { ...told(missing), isRare: true }
  if (callersSeen(evidence) < 2 && (asked?.clients ?? 0) > 1) {
    return {
      ...told('INCONCLUSIVE, because only one of its callers was compared; two are asked for: wait for the others'),
      isRare: true,
    }
  }
  return kinds.length > 0 ? { ...told(missingText(kinds, each)), ...ofKinds } : undefined
}

/** Says that an operation is no blind spot. */
export function seenText(evidence: OperationEvidence): string {
  const { n, bad } = seenOf(evidence)
  const wrong = bad > 0 ? `, and ${count(bad)} wrong` : ''
  const rehearsed = rehearsedOf(evidence)
  const rehearsals = rehearsed > 0 ? `, and ${times(rehearsed)} by rehearsal` : ''
  return `${evidence.operation}: seen the same ${times(n - bad)}${rehearsals}${wrong} (bound of its own ${percent(evidence.bound)}).`
}

function times(n: number): string {
  return n === 1 ? 'once' : many(n, 'time')
}
