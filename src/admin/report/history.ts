import type { ComparisonOutcome } from '../../migrate/compare/judge.ts'
import { upperBound, WEIGHTS, type Weight } from '../../migrate/evidence/evidence.ts'
import type { ModesState } from '../../migrate/modes/modes.ts'
import type { Comparison, Note, WouldSend } from '../../migrate/records/record.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { type CountedStep, createDifferences, createDurations, createSteps, type RecentDurations } from './difference.ts'
import type { OperationReport, Timeline, TimeStep, TrendPoint } from './report.ts'

/** What a report shows of an operation beyond its evidence. */
export type OperationSeen = Pick<
  OperationReport,
  'trend' | 'steps' | 'latency' | 'differences' | 'furtherDifferences' | 'wouldSend' | 'writes'
>

/** Gathers times, examples and notes. `at` is in milliseconds since 1970. */
export interface OperationHistory {
  comparison(comparison: Comparison, at: number): void
  unsent(entry: WouldSend): void
  note(note: Note, at: number): void
  of(operation: string): OperationSeen
  timeline(): Timeline
}

/** Maximum notes, and unsent calls of one operation, that are shown. */
const NOTES = 500
const UNSENT = 5

/** The series of all operations together. No operation has this name. */
const ALL = ''

interface Times {
  readonly v1: RecentDurations
  readonly v2: RecentDurations
  readonly wouldSend: OperationReport['wouldSend'][number][]
  writes: number
}

const noTimes = (): Times => ({ v1: createDurations(), v2: createDurations(), wouldSend: [], writes: 0 })

export function createOperationHistory(): OperationHistory {
  const steps = createSteps<ComparisonOutcome>()
  const observed = createSteps<Weight>()
  const differences = createDifferences()
  const operations = new Map<string, Times>()
  const notes: Timeline['notes'][number][] = []
  const timesOf = (operation: string) => {
    const known = operations.get(operation) ?? noTimes()
    operations.set(operation, known)
    return known
  }
  return {
    comparison(comparison, at) {
      const { operation, outcome, v1, v2 } = comparison
      for (const series of [ALL, operation]) steps.count(series, at, outcome)
      if (!comparison.repeat) observed.count(operation, at, WEIGHTS[outcome])
      differences.add(comparison, at)
      const times = timesOf(operation)
      if (v1?.ms !== undefined) times.v1.add(v1.ms)
      if (v1 && v2.ms !== undefined) times.v2.add(v2.ms)
    },
    unsent({ operation, at, mode, shape, call }) {
      const times = timesOf(operation)
      times.writes += 1
      push(times.wouldSend, { at, mode, shape, call }, UNSENT)
    },
    note: ({ kind: _, id: __, ...note }, at) => push(notes, { ...note, at }, NOTES),
    of: (operation) => ({
      ...timed(operations.get(operation) ?? noTimes()),
      trend: trendOf(observed.of(operation)),
      steps: steps.of(operation).map(timeStep),
      ...found(differences.of(operation)),
    }),
    timeline: () => ({ stepMs: steps.stepMs(), steps: steps.of(ALL).map(timeStep), notes: notes.toSorted((a, b) => a.at - b.at) }),
  }
}

function timed({ v1, v2, wouldSend, writes }: Times) {
  const [old, young] = [v1.quantiles(), v2.quantiles()]
  return { ...(old && young && { latency: { v1: old, v2: young } }), wouldSend: [...wouldSend].reverse(), writes }
}

function found({ differences, further }: ReturnType<ReturnType<typeof createDifferences>['of']>) {
  return { differences, furtherDifferences: further }
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
