import type { Comparison } from '../records/record.ts'
import type { Recorder } from '../records/recorder.ts'
import { isRepeat } from './collapse.ts'
import type { Evidence } from './evidence.ts'
import { addRepeats, addUncompared, type OperationCounts, type OperationTally, repeatOf } from './operation-counts.ts'
import type { Uncompared } from './uncompared.ts'

/** Counts what is too much for records of its own: repeats, and requests that were not compared. */
export interface Tallies {
  /** Counts a comparison. Returns it as it is recorded; undefined if it is not worth a record. */
  count(comparison: Comparison): Comparison | undefined
  uncompared(operation: string, why: Uncompared): void
  /** Passes on what is counted from now on, each time. */
  follow(listener: TallyListener): void
  /** Records the counts since the last flush. */
  flush(): void
}

export type TallyListener = (operation: string, tally: OperationTally) => void

/** `now` returns milliseconds since 1970. */
export function createTallies(evidence: Pick<Evidence, 'add' | 'observe'>, recorder: Pick<Recorder, 'record'>, now: () => number): Tallies {
  let since = new Map<string, Sum>()
  const listeners: TallyListener[] = []
  const add = (operation: string, tally: OperationTally) => {
    evidence.add(operation, tally)
    const sum = since.get(operation) ?? newSum()
    since.set(operation, sum)
    addTo(sum, tally)
    for (const listener of listeners) listener(operation, tally)
  }
  return {
    count(comparison) {
      const place = evidence.observe(comparison)
      if (place) return isRepeat(comparison, place) ? { ...comparison, repeat: true } : comparison
      add(comparison.operation, { comparisons: 1, repeats: repeatOf(comparison) })
      return undefined
    },
    uncompared: (operation, why) => add(operation, { uncompared: { [why]: 1 } }),
    follow: (listener) => void listeners.push(listener),
    flush() {
      const at = new Date(now()).toISOString()
      for (const [operation, sum] of since) recorder.record({ kind: 'tally', at, operation, ...tallyOf(sum) })
      since = new Map()
    },
  }
}

/** The counts of one operation since the last flush. It grows in place, because most requests of a busy proxy are only counted. */
type Sum = Pick<OperationCounts, 'comparisons' | 'repeats' | 'uncompared'>

function newSum(): Sum {
  return { comparisons: 0, repeats: { n: 0, bad: 0, requests: 0, wrong: 0 }, uncompared: {} }
}

function addTo(sum: Sum, { comparisons = 0, repeats, uncompared }: OperationTally): void {
  sum.comparisons += comparisons
  if (repeats) addRepeats(sum, repeats)
  if (uncompared) addUncompared(sum, uncompared)
}

/** Leaves out what is zero. */
function tallyOf({ comparisons, repeats, uncompared }: Sum): OperationTally {
  return {
    ...(comparisons > 0 && { comparisons, repeats }),
    ...(Object.keys(uncompared).length > 0 && { uncompared }),
  }
}
