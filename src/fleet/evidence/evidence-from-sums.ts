import type { ComparisonOutcome } from '../../migrate/compare/judge.ts'
import {
  evidenceOf,
  HOUR,
  HOURS,
  noOutcomes,
  type OperationCounts,
  type OperationEvidence,
  perDayOf,
} from '../../migrate/evidence/evidence.ts'
import type { Uncompared } from '../../migrate/evidence/standing.ts'
import type { Sums } from '../../store/store-change.ts'
import { type EvidenceNames, fieldOf } from './evidence-names.ts'

/** New observations by operation, for an hour since 1970. */
export type HourSums = readonly [hour: number, observations: Sums]

/** Returns the names that tell the pace at a time in milliseconds, with their hours. */
export function paceNames({ pace }: EvidenceNames, now: number): readonly (readonly [hour: number, name: string])[] {
  const last = Math.floor(now / HOUR)
  return Array.from({ length: HOURS }, (_, nth) => [last - nth, pace(last - nth)] as const)
}

/** Returns what the sums of a fleet say of each operation, as one process says it that has served all requests. */
export function evidenceFromSums(sums: Sums, hours: readonly HourSums[]): readonly OperationEvidence[] {
  const operations = Object.keys(sums).flatMap((field) => (field.startsWith(FIRST_AT) ? [field.slice(FIRST_AT.length)] : []))
  const uncompared = uncomparedIn(sums)
  const latest = Math.max(0, ...operations.map((operation) => sums[fieldOf('lastAt', operation)] ?? 0))
  return operations.sort().map((operation) => {
    const figure = (name: string) => sums[fieldOf(name, operation)] ?? 0
    const outcomes = noOutcomes()
    for (const outcome of Object.keys(outcomes) as ComparisonOutcome[]) outcomes[outcome] = figure(outcome)
    const repeats = { n: figure('repeats.n'), bad: figure('repeats.bad') }
    const observedAt = sums[fieldOf('observedAt', operation)] ?? Number.POSITIVE_INFINITY
    const ofHours = hours.map(([hour, observed]) => [hour, observed[operation] ?? 0] as const)
    return evidenceOf(operation, {
      ...{ comparisons: figure('comparisons'), n: figure('n'), bad: figure('bad'), outcomes },
      repeats: { ...repeats, requests: figure('repeats.requests'), wrong: figure('repeats.wrong') },
      uncompared: uncompared.get(operation) ?? {},
      ...{ callers: figure('callers'), shapes: figure('shapes'), perDay: perDayOf(ofHours, observedAt, latest) },
      ...{ firstAt: figure('firstAt'), lastAt: figure('lastAt') },
    })
  })
}

const FIRST_AT = fieldOf('firstAt', '')

const UNCOMPARED = /^uncompared\.(?<why>\w+) (?<operation>.*)$/s

function uncomparedIn(sums: Sums): ReadonlyMap<string, OperationCounts['uncompared']> {
  const found = new Map<string, OperationCounts['uncompared']>()
  for (const [field, count] of Object.entries(sums)) {
    const { why, operation = '' } = UNCOMPARED.exec(field)?.groups ?? {}
    if (why !== undefined) found.set(operation, { ...found.get(operation), [why as Uncompared]: count })
  }
  return found
}
