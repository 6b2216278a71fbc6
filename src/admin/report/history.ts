import type { ComparisonOutcome } from '../../migrate/compare/judge.ts'
import { upperBound, WEIGHTS, type Weight } from '../../migrate/evidence/evidence.ts'
import type { ModesState } from '../../migrate/modes/modes.ts'
import type { Comparison, Note, WouldSend } from '../../migrate/records/record.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { type CountedStep, Differences, RecentDurations, Steps } from './difference.ts'
import type { OperationReport, Timeline, TimeStep, TrendPoint } from './report.ts'

/** What a report shows of an operation beyond its evidence. */
type OperationSeen = Pick<OperationReport, 'trend' | 'steps' | 'latency' | 'differences' | 'furtherDifferences' | 'wouldSend' | 'writes'>

/** Maximum notes, and unsent calls of one operation, that are shown. */
const NOTES = 500
const UNSENT = 5

/** The series of all operations together. No operation has this name. */
const ALL = ''

/** What is kept of one operation. */
class Times {
  readonly v1 = new RecentDurations()
  readonly v2 = new RecentDurations()
  readonly wouldSend: OperationReport['wouldSend'][number][] = []
  writes = 0
}

/** Gathers times, examples and notes. `at` is in milliseconds since 1970. */
export class OperationHistory {
  readonly #steps = new Steps<ComparisonOutcome>()
  readonly #observed = new Steps<Weight>()
  readonly #differences = new Differences()
  readonly #operations = new Map<string, Times>()
  readonly #notes: Timeline['notes'][number][] = []

  comparison(comparison: Comparison, at: number): void {
    const { operation, outcome, v1, v2 } = comparison
    for (const series of [ALL, operation]) this.#steps.count(series, at, outcome)
    if (!comparison.repeat) this.#observed.count(operation, at, WEIGHTS[outcome])
    this.#differences.add(comparison, at)
    const times = this.#timesOf(operation)
    if (v1?.ms !== undefined) times.v1.add(v1.ms)
    if (v1 && v2.ms !== undefined) times.v2.add(v2.ms)
  }

  unsent({ operation, at, mode, shape, call }: WouldSend): void {
    const times = this.#timesOf(operation)
    times.writes += 1
    push(times.wouldSend, { at, mode, shape, call }, UNSENT)
  }

  note({ kind: _, id: __, ...note }: Note, at: number): void {
    push(this.#notes, { ...note, at }, NOTES)
  }

  of(operation: string): OperationSeen {
    const { v1, v2, wouldSend, writes } = this.#operations.get(operation) ?? new Times()
    const [old, young] = [v1.quantiles(), v2.quantiles()]
    return {
      ...(old && young && { latency: { v1: old, v2: young } }),
      wouldSend: wouldSend.toReversed(),
      writes,
      trend: trendOf(this.#observed.of(operation)),
      steps: this.#steps.of(operation).map(timeStep),
      ...this.#differences.of(operation),
    }
  }

  timeline(): Timeline {
    const [steps, notes] = [this.#steps.of(ALL).map(timeStep), this.#notes.toSorted((a, b) => a.at - b.at)]
    return { stepMs: this.#steps.stepMs, steps, notes }
  }

  #timesOf(operation: string): Times {
    const known = this.#operations.get(operation) ?? new Times()
    this.#operations.set(operation, known)
    return known
  }
}

function push<T>(list: T[], item: T, most: number): void {
  list.push(item)
  if (list.length > most) list.shift()
}

function timeStep({ at, counts }: CountedStep<ComparisonOutcome>): TimeStep {
  return { at, outcomes: counts }
}

/** Returns the bound after each step, over all observations so far: what a reader would have seen at that time. */
function trendOf(steps: readonly CountedStep<Weight>[]): readonly TrendPoint[] {
  let [n, bad] = [0, 0]
  return steps.map(({ at, counts }) => {
    n += (counts.clean ?? 0) + (counts.bad ?? 0)
    bad += counts.bad ?? 0
    return { at, n, bad, bound: upperBound({ n, bad }) }
  })
}

/** What a running proxy does now. A report of record files has none. */
export interface InForce extends ModesState {
  /** When the process began to serve, in milliseconds since 1970: another time is another process. */
  readonly startedAt: number
  /** Rollouts of the rules, in their order. */
  readonly rollouts: readonly RolloutStatus[]
  /** Why each open circuit opened, by operation id. */
  readonly circuits: Readonly<Record<string, string>>
  /** Operations that v1 answers if no rule names them, because v2 can only emulate them (setting `emulated`). */
  readonly v1First: readonly string[]
  /** False if there is no v1 service, so that v2 answers everything whatever the rules say. */
  readonly hasV1: boolean
}
