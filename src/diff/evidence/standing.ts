import { many } from '../many.ts'
import { percent } from '../percent.ts'
import { cleanNeeded } from './bound.ts'
import { moreNeeded, type OperationEvidence } from './evidence.ts'
import { uncomparedSentences } from './uncompared.ts'

/** What the evidence about an operation says at a target (evidence §6). */
export type EvidenceStanding = 'inside' | 'outside' | 'inconclusive'

/** Judges by the worst stratum that has enough, and by the share of requests. */
export function standingOf(evidence: OperationEvidence, target: number): EvidenceStanding {
  const { n, bad, bound, repeats, share } = evidence
  const strata = hasEnough(evidence, target) ? [{ n, bad, bound }, repeats] : [{ n, bad, bound }]
  if (share <= target && strata.every((one) => one.bound <= target)) return 'inside'
  return share > target || strata.some((one) => one.bad > target * one.n) ? 'outside' : 'inconclusive'
}

/** True if the repeats are so many that a clean v2 would be inside by them alone. */
function hasEnough({ repeats }: OperationEvidence, target: number): boolean {
  return repeats.n >= cleanNeeded({ n: 0, bad: 0 }, target)
}

/** Says in one or several sentences why the operation stands where it stands, and what leads further. */
export function reasonOf(evidence: OperationEvidence, target: number): string {
  const standing = standingOf(evidence, target)
  const text = `${evidence.operation}: ${SENTENCES[standing](evidence, target)}.`
  return standing === 'inside' ? text : [text, ...uncomparedSentences(evidence.uncompared)].join(' ')
}

const SENTENCES: Readonly<Record<EvidenceStanding, (evidence: OperationEvidence, target: number) => string>> = {
  inside: ({ n, bound, share }, target) =>
    `bound ${percent(bound)} ≤ ${percent(target)} after ${many(n, 'observation')}${share > 0 ? `, ${percent(share)} of the requests wrong` : ''}`,
  outside: (evidence, target) => `${wrongIn(evidence)}. Mend them, then ${further(evidence, target)}`,
  inconclusive: (evidence, target) =>
    `INCONCLUSIVE after ${many(evidence.n, 'observation')} (bound ${percent(evidence.bound)}); ${further(evidence, target)}`,
}

function wrongIn({ mismatches, transients, errors, n, bad, share }: OperationEvidence): string {
  const wrong = `${many(mismatches, 'mismatch', 'mismatches')}, ${many(transients, 'transient difference')} and ${many(errors, 'error')}`
  return `${wrong}; ${bad} of ${many(n, 'observation')} and ${percent(share)} of the requests were wrong`
}

/** Says what is still needed: `3282 more clean observations until ≤ 0.1 %, about 9 days at today's pace`. */
function further(evidence: OperationEvidence, target: number): string {
  const { repeats } = evidence
  const needed = moreNeeded(evidence, target)
  if (needed > 0)
    return `${many(needed, 'more clean observation', 'more clean observations')} until ≤ ${percent(target)}, ${timeNeeded(evidence, target)}`
  if (!hasEnough(evidence, target)) return `further requests until at most ${percent(target)} of all are wrong`
  return `${many(moreNeeded(repeats, target), 'more clean repeat')} until ≤ ${percent(target)}`
}

/** Returns how many days the needed observations take at today's pace; undefined while it is unknown. */
export function daysNeeded(evidence: OperationEvidence, target: number): number | undefined {
  return evidence.perDay === undefined ? undefined : moreNeeded(evidence, target) / evidence.perDay
}

/** Estimates how long the needed observations take: `about 9 days at today's pace`. */
export function timeNeeded(evidence: OperationEvidence, target: number): string {
  const days = daysNeeded(evidence, target)
  if (days === undefined) return 'at a pace that is not known yet'
  return `about ${days < 2 ? many(Math.ceil(days * 24), 'hour') : many(Math.ceil(days), 'day')} at today's pace`
}
