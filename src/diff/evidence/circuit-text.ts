import { percent } from '../percent.ts'
import type { RateState } from './rate-watch.ts'

const WORDS = {
  errors: { all: 'answers', bad: 'failed' },
  mismatches: { all: 'comparisons', bad: 'differed' },
} as const

type Rate = keyof typeof WORDS

/** `mismatches: 3 of the last 3 comparisons differed, so at least 3.68 % do; 1 % is allowed`. */
export function describeExcess(rate: Rate, { run, allowed }: RateState): string {
  const { all, bad } = WORDS[rate]
  return `${rate}: ${run?.bad} of the last ${run?.n} ${all} ${bad}, so at least ${percent(run?.atLeast ?? 0)} do; ${percent(allowed)} is allowed`
}

interface Known {
  readonly state: 'closed' | 'open' | 'inconclusive'
  readonly errors: RateState
  readonly mismatches: RateState
  /** Why the circuit opened. */
  readonly opened: string | undefined
  /** True if answers may close an open circuit. */
  readonly probed: boolean
}

/** Says in one line what is known of an operation, and what is lacking for more. */
export function describeCircuit({ state, errors, mismatches, opened, probed }: Known): string {
  const seen = `${counted('errors', errors)}; ${counted('mismatches', mismatches)}`
  if (opened !== undefined) return probed ? `${opened}. Since then: ${seen}` : `${opened}. Only a person can close it`
  if (state === 'closed') return seen
  return `INCONCLUSIVE: ${seen}${suspicion('errors', errors)}${suspicion('mismatches', mismatches)}`
}

/** `0 of 40 answers failed, at most 8.2 % do (allowed: 5 %, after 25 more clean ones)`. */
function counted(rate: Rate, { n, bad, atMost, allowed, cleanNeeded }: RateState): string {
  const more = cleanNeeded > 0 ? `, after ${cleanNeeded} more clean ones` : ''
  return `${bad} of ${n} ${WORDS[rate].all} ${WORDS[rate].bad}, at most ${percent(atMost)} do (allowed: ${percent(allowed)}${more})`
}

/** `; 2 of the last 3 comparisons differed, 1 more in a row opens the circuit`. */
function suspicion(rate: Rate, { run }: RateState): string {
  if (!run) return ''
  const { all, bad } = WORDS[rate]
  return `; ${run.bad} of the last ${run.n} ${all} ${bad}, ${run.badNeeded} more in a row open${run.badNeeded === 1 ? 's' : ''} the circuit`
}
