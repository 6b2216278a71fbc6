import type { Uncompared } from '../../diff/evidence/uncompared.ts'
import type { ComparedRead } from './compare-read.ts'

const SKIPPED = ['gone', 'malformed', 'pageToken', 'perSecond', 'repeat', 'stranger', 'unreadable', 'unverified', 'waiting'] as const
type Reason = Extract<(typeof SKIPPED)[number], Uncompared | 'stranger'>

/** Requests that were not compared, by reason. Neither side had accepted the credential of a stranger. */
export type Skipped = Readonly<Record<Reason, number>>

export function nothingSkipped(): Record<Reason, number> {
  return Object.fromEntries(SKIPPED.map((why) => [why, 0])) as Record<Reason, number>
}

/** Says why a comparison has no result; undefined if it has one. */
export function whyUncompared({ judgement, v1, v2 }: ComparedRead): Uncompared | undefined {
  if (judgement.outcome !== 'inconclusive') return undefined
  const sides = [v1.seen, v2.seen]
  if (sides.some(({ body }) => body.kind === 'too-large')) return 'answerBytes'
  if (sides.some(({ status }) => status === 401) || (v1.seen.status === 403 && v2.seen.unasked)) return 'refused'
  return v1.seen.status >= 500 || v1.seen.status === 429 ? 'v1Failed' : 'other'
}
