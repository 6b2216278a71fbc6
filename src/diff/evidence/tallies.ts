import type { Comparison } from '../records/record.ts'
import type { Recorder } from '../records/recorder.ts'
import { isRepeat } from './collapse.ts'
import type { Evidence } from './evidence.ts'
import { addCounts, type OperationTally, repeatOf } from './operation-counts.ts'
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
  let since = new Map<string, OperationTally>()
  const listeners: TallyListener[] = []
  const add = (operation: string, tally: OperationTally) => {
    evidence.add(operation, tally)
    since.set(operation, sumOf(since.get(operation) ?? {}, tally))
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
      for (const [operation, tally] of since) recorder.record({ kind: 'tally', at, operation, ...tally })
      since = new Map()
    },
  }
}

function sumOf(a: OperationTally, b: OperationTally): OperationTally {
  const comparisons = (a.comparisons ?? 0) + (b.comparisons ?? 0)
  const repeats = addCounts(a.repeats, b.repeats)
  const uncompared = addCounts(a.uncompared, b.uncompared)
  return { ...(comparisons > 0 && { comparisons }), ...(repeats && { repeats }), ...(uncompared && { uncompared }) }
}
