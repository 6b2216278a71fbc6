import { type CompareSettings, createCompare } from '../../diff/compare/compare.ts'
import type { ExpectedDifferences } from '../../diff/judge/expected.ts'
import { createJudge } from '../../diff/judge/judge.ts'
import { createNoise } from '../../diff/judge/noise.ts'
import { createSettle } from '../../diff/judge/race.ts'
import type { Judging } from './compare-read.ts'
import { createOtherReplicas } from './other-replicas.ts'

/** Puts the parts together that judge answers. Nothing is learnt yet. `now` returns milliseconds since 1970. */
export function createJudging(settings: CompareSettings, expected: ExpectedDifferences, now: () => number): Judging {
  const compare = createCompare(settings)
  const noise = createNoise()
  const judge = createJudge(compare, expected, noise)
  return { compare, judge, noise, settle: createSettle(judge, compare, noise), others: createOtherReplicas(), now }
}
