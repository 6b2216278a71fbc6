import type { ComparisonOutcome } from '../../../migrate/compare/judge.ts'
import type { TimeStep } from '../../report.ts'
import type { Lane } from './lanes.tsx'

/** Groups outcomes by their weight (`WEIGHTS` of the evidence). */
const LANES: readonly { readonly name: string; readonly tone: string; readonly of: readonly ComparisonOutcome[] }[] = [
  { name: 'Equal', tone: 'match', of: ['match'] },
  { name: 'Declared or noise', tone: 'declared', of: ['expected', 'noise'] },
  { name: 'Wrong', tone: 'unexplained', of: ['mismatch', 'transient', 'error'] },
  { name: 'Not counted', tone: 'race', of: ['race', 'inconclusive'] },
]

export function outcomeLanes(steps: readonly TimeStep[]): readonly Lane[] {
  return LANES.map(({ name, tone, of }) => {
    const counted = steps.map(({ at, outcomes }) => [at, of.reduce((sum, one) => sum + (outcomes[one] ?? 0), 0)] as const)
    return { name, tone, counts: new Map(counted.filter(([, value]) => value > 0)) }
  })
}
