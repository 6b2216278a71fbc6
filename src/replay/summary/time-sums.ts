import type { Replayed, V2Cost } from './replayed.ts'
import type { RequestGroup } from './request-group.ts'

/** The span of the traffic and its busiest minute. */
export interface TimeSums {
  /** Extends the span of the traffic. */
  seenAt(at: number | undefined): void
  /** Counts requests and their v2 calls in their minute, where they have one. */
  add(group: RequestGroup, calls: number): void
  span(): Replayed['span']
  /** The minute with the most calls; undefined when nothing has a time. */
  peak(): V2Cost['peak']
}

const MINUTE = 60_000

export function createTimeSums(): TimeSums {
  const minutes = new Map<number, { requests: number; calls: number }>()
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  return {
    seenAt(at) {
      if (at === undefined) return
      from = Math.min(from, at)
      to = Math.max(to, at)
    },
    add({ at, times }, calls) {
      if (at === undefined) return
      const minute = Math.floor(at / MINUTE) * MINUTE
      const known = minutes.get(minute) ?? { requests: 0, calls: 0 }
      minutes.set(minute, { requests: known.requests + times, calls: known.calls + calls })
    },
    span: () => (from <= to ? { from, to } : undefined),
    peak() {
      const [busiest] = [...minutes].sort(([, a], [, b]) => b.calls - a.calls)
      return busiest && { at: busiest[0], requests: busiest[1].requests, calls: Math.round(busiest[1].calls) }
    },
  }
}
