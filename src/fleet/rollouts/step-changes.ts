import { createHash } from 'node:crypto'
import { COLLAPSE, WEIGHTS } from '../../migrate/evidence/evidence.ts'
import type { RecordedCounts } from '../../migrate/rollout/evidence.ts'
import type { RolloutState } from '../../migrate/rollout/plan.ts'
import type { StepNews, StepTotals } from '../../migrate/rollout/run.ts'
import type { StoreChange, Sums } from '../../store/store-change.ts'
import type { RolloutDocument } from './rollout-document.ts'

/** Milliseconds in which a caller counts once in a step. Its side follows from its hash, so that it keeps it for longer. */
const CALLER_MS = 7 * 24 * 3_600_000

/** Returns the name of the sums of a step. Another step, and another life of the rollout, has other sums. */
export function stepKey(name: string, { life }: Pick<RolloutDocument, 'life'>, { runsBegun, stepsBegun }: RolloutState): string {
  return `rollout:${name}:${life}:${runsBegun}.${stepsBegun}`
}

/** Returns what a replica has counted as changes of the store. An observation and a caller that two replicas saw count once. */
export function changesOf(key: string, news: StepNews): readonly StoreChange[] {
  const sums: Record<string, number> = {}
  const add = (field: string, count: number) => {
    if (count > 0) sums[field] = (sums[field] ?? 0) + count
  }
  for (const [operation, count] of news.requests) add(`${operation}|requests`, count)
  for (const [operation, { n, bad }] of news.comparisons) {
    add(`${operation}|comparisons`, n)
    add(`${operation}|differed`, bad)
  }
  add('sided|got', news.sides.got)
  add('sided|other', news.sides.other)
  const observations = news.observations.map(({ operation, caller, shape, outcome, at }): StoreChange => {
    const first = { [`${operation}|n`]: 1, ...(WEIGHTS[outcome] === 'bad' && { [`${operation}|bad`]: 1 }) }
    return { kind: 'claim', key: `${key}:${hashOf(operation, caller, shape)}`, at, ms: COLLAPSE.windowMs, name: key, first, again: {} }
  })
  const callers = news.callers.map(({ caller, got, at }): StoreChange => {
    const first = { 'callers|n': 1, ...(got && { 'callers|got': 1 }) }
    return { kind: 'claim', key: `${key}:caller:${caller}`, at, ms: CALLER_MS, name: key, first, again: {} }
  })
  return [...(Object.keys(sums).length > 0 ? [{ kind: 'add', name: key, sums } as const] : []), ...observations, ...callers]
}

/** Returns what was counted before the store knew the step: records were read back. */
export function changesOfCounts(key: string, counts: RecordedCounts): readonly StoreChange[] {
  const sums = Object.entries(counts).flatMap(([operation, { requests, observations, comparisons }]) => [
    [`${operation}|requests`, requests] as const,
    [`${operation}|n`, observations.n] as const,
    [`${operation}|bad`, observations.bad] as const,
    [`${operation}|comparisons`, comparisons.n] as const,
    [`${operation}|differed`, comparisons.bad] as const,
  ])
  return sums.length === 0 ? [] : [{ kind: 'add', name: key, sums: Object.fromEntries(sums) }]
}

/** Returns what all replicas together have counted. */
export function totalsOf(sums: Sums): StepTotals {
  const of = (field: string) => sums[field] ?? 0
  const operations = new Set(Object.keys(sums).map((field) => field.slice(0, field.indexOf('|'))))
  const counts = [...operations]
    .filter((operation) => operation !== 'sided' && operation !== 'callers')
    .map((operation) => {
      const observations = { n: of(`${operation}|n`), bad: of(`${operation}|bad`) }
      const comparisons = { n: of(`${operation}|comparisons`), bad: of(`${operation}|differed`) }
      return [operation, { requests: of(`${operation}|requests`), observations, comparisons }] as const
    })
  const sides = { got: of('sided|got'), other: of('sided|other') }
  return { counts: Object.fromEntries(counts), callers: of('callers|n'), got: of('callers|got'), sides }
}

/** 128 bits: two observations of one step never share them. */
function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 22)
}
