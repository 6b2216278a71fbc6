import type { Quantiles } from './report.ts'

/** The last durations in milliseconds, up to a capacity. */
export interface RecentDurations {
  add(ms: number): void
  /** undefined without durations. */
  quantiles(): Quantiles | undefined
}

const KEPT = 1_000

export function createDurations(): RecentDurations {
  const kept: number[] = []
  let next = 0
  return {
    add(ms) {
      kept[next] = ms
      next = (next + 1) % KEPT
    },
    quantiles() {
      const sorted = kept.toSorted((a, b) => a - b)
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]
      const [p50, p95] = [at(0.5), at(0.95)]
      return p50 === undefined || p95 === undefined ? undefined : { p50, p95 }
    },
  }
}
