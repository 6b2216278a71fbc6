import { createHash } from 'node:crypto'
import {
  COLLAPSE,
  DISTINCT,
  HOUR,
  type Observation,
  type OperationTally,
  type RepeatCounts,
  repeatOf,
  WEIGHTS,
} from '../../migrate/evidence/evidence.ts'
import type { Claim, StoreChange, Sums } from '../../store/store-change.ts'
import { type EvidenceNames, fieldOf } from './evidence-names.ts'

/** A comparison that was worth a record: an observation of this replica, or another outcome of its pair. */
export interface TimedObservation extends Observation {
  /** Milliseconds since 1970. */
  readonly at: number
}

/**
 * Returns what a comparison changes in the store. It claims its pair and its outcome for ten minutes, as `createCollapse` remembers them:
 * the observation of one replica is a repeat if another replica has observed its pair.
 *
 * One that comes `late`, after these ten minutes, keeps to a name of its own time.
 *
 * `evidenceChanges({ operation: 'iam.groups.list', caller: 'c', shape: 's', outcome: 'match', at: 0 }, names)` adds 1 to
 * `n iam.groups.list` of `evidence:0-…`, if nobody has observed the pair in the last ten minutes.
 */
export function evidenceChanges(one: TimedObservation, names: EvidenceNames, late?: string): readonly StoreChange[] {
  const { operation, caller, shape, outcome, at } = one
  const { evidence } = names
  const field = (figure: string) => fieldOf(figure, operation)
  const key = hashOf([names.epoch, operation, caller, shape, late].join('\n'))
  const claim = (what: string, name: string, sums: Pick<Claim, 'first' | 'again'>): Claim => {
    return { kind: 'claim', key: `${key}${what}`, at, ms: COLLAPSE.windowMs, name, ...sums }
  }
  const counted: readonly StoreChange[] = [
    { kind: 'add', name: evidence, sums: { [field('comparisons')]: 1 } },
    claim(outcome, evidence, { first: { [field(outcome)]: 1 }, again: {} }),
    { kind: 'least', name: evidence, sums: { [field('firstAt')]: at } },
    { kind: 'most', name: evidence, sums: { [field('lastAt')]: at } },
  ]
  if (WEIGHTS[outcome] === 'nothing') return counted
  const observed: Sums = { [field('n')]: 1, ...(WEIGHTS[outcome] === 'bad' && { [field('bad')]: 1 }) }
  return [
    ...counted,
    claim('', evidence, { first: observed, again: repeatSums(operation, repeatOf(one)) }),
    claim('pace', names.pace(Math.floor(at / HOUR)), { first: { [operation]: 1 }, again: {} }),
    { kind: 'least', name: evidence, sums: { [field('observedAt')]: at } },
    { kind: 'join', name: evidence, field: field('callers'), member: caller, most: DISTINCT },
    { kind: 'join', name: evidence, field: field('shapes'), member: shape, most: DISTINCT },
  ]
}

/** Returns what counts a comparison that the store may have lost. If it has not, it knows its claims, and nothing changes. */
export function changesIfLost(one: TimedObservation, names: EvidenceNames): readonly StoreChange[] {
  return evidenceChanges(one, names).flatMap((change) => {
    if (change.kind === 'add') return []
    return [change.kind === 'claim' ? { ...change, again: {} } : change]
  })
}

/** Returns what changes by counts without a record of their own, made at a time in milliseconds since 1970. */
export function tallyChanges(operation: string, tally: OperationTally, at: number, { evidence }: EvidenceNames): readonly StoreChange[] {
  const { comparisons = 0, repeats, uncompared = {} } = tally
  const reasons = Object.entries(uncompared).map(([why, count]) => [fieldOf(`uncompared.${why}`, operation), count] as const)
  const counted: Sums = {
    ...(comparisons > 0 && { [fieldOf('comparisons', operation)]: comparisons }),
    ...(repeats && repeatSums(operation, repeats)),
    ...Object.fromEntries(reasons),
  }
  return [
    { kind: 'add', name: evidence, sums: counted },
    { kind: 'least', name: evidence, sums: { [fieldOf('firstAt', operation)]: at } },
    { kind: 'most', name: evidence, sums: { [fieldOf('lastAt', operation)]: at } },
  ]
}

function repeatSums(operation: string, repeats: RepeatCounts): Sums {
  const counted = Object.entries(repeats).filter(([, count]) => count > 0)
  return Object.fromEntries(counted.map(([what, count]) => [fieldOf(`repeats.${what}`, operation), count]))
}

/** 128 bits: no two pairs of a fleet have one hash. */
function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
