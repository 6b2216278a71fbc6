import type { MetricValues } from '../admin/metrics.ts'
import { mergedMetrics, withEnded } from '../admin/metrics-text.ts'

/** A worker that can be asked for its metrics. */
export interface MeasuredWorker {
  readonly place: number
  metrics(): Promise<MetricValues>
}

/** The metrics of all workers, those that have ended among them. */
export interface CollectedMetrics {
  /** Asks all workers, so that little is lost of one that dies. A worker that does not answer in time counts with what it said last. */
  collect(): Promise<void>
  /** A worker leaves, and says its last word. */
  said(worker: MeasuredWorker, values: MetricValues): void
  ended(worker: MeasuredWorker, isDeath: boolean): void
  /** All of them as those of one process, together with what the supervisor itself counts. */
  values(supervisor: MetricValues): Promise<MetricValues>
}

export interface CollectedSettings {
  /** The workers that are there. */
  readonly workers: () => readonly MeasuredWorker[]
  /** How many of them listen. */
  readonly listening: () => number
  /** Returns what a promise resolves with; undefined if that takes too long. */
  readonly inTime: <T>(promise: Promise<T>) => Promise<T | undefined>
}

export function createCollectedMetrics({ workers, listening, inTime }: CollectedSettings): CollectedMetrics {
  const last = new Map<MeasuredWorker, MetricValues>()
  /** Workers that have said their last word: an answer that comes later is older. */
  const final = new Set<MeasuredWorker>()
  let ofEnded: MetricValues = []
  let deaths = 0
  /** Ends are added one after the other. */
  let adding = Promise.resolve()
  const ask = async (worker: MeasuredWorker) => {
    const values = await inTime(worker.metrics()).catch(() => undefined)
    if (values && workers().includes(worker) && !final.has(worker)) last.set(worker, values)
  }
  const collect = async () => {
    await Promise.all(workers().map(ask))
  }
  return {
    collect,
    said(worker, values) {
      final.add(worker)
      last.set(worker, values)
    },
    ended(worker, isDeath) {
      if (isDeath) deaths += 1
      adding = adding.then(async () => {
        ofEnded = await withEnded(ofEnded, last.get(worker) ?? [])
        last.delete(worker)
        final.delete(worker)
      })
    },
    async values(supervisor) {
      await collect()
      await adding
      const measured = [...last].map(([{ place }, values]) => ({ place, values }))
      return mergedMetrics({ supervisor, workers: measured, ended: ofEnded, listening: listening(), deaths })
    },
  }
}
