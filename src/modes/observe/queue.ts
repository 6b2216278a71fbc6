import { createBucket } from '../../limits/bucket.ts'
import { Firing, type Signal } from '../../upstream/signal.ts'

export interface QueueSettings {
  /** Jobs that may wait. */
  readonly waiting: number
  /** Characters that waiting and running jobs may hold together. */
  readonly characters: number
  /** Jobs under way at the same time. */
  readonly parallel: number
  /** Jobs that are taken in a second, and at once after a pause, so that they take no more than their share of the process; 0 = no bound. */
  readonly perSecond: number
  /** Milliseconds after which a job is given up. */
  readonly deadlineMs: number
}

/** One thing to do when there is time for it; it must end when the signal fires. */
export type Job = (signal: Signal) => Promise<void>

export interface QueueCounts {
  readonly waiting: number
  readonly running: number
  readonly done: number
  /** Refused because there was no room, or given up at the end. */
  readonly dropped: number
  /** Ended with an error of ours. */
  readonly failed: number
}

/** Everything that clients do not wait for. */
export interface Queue {
  /** Takes a job that holds so many characters; false, and it is counted as dropped, when there is no room. Returns at once. */
  offer(job: Job, characters: number): boolean
  counts(): QueueCounts
  /** Resolves when nothing waits or runs. */
  idle(): Promise<void>
  /** Gives up what runs and drops what waits. */
  close(): Promise<void>
}

interface Waiting {
  readonly job: Job
  readonly size: number
}

/**
 * A bounded queue: what does not fit is dropped and counted, because the memory and the other side are worth more than one comparison. What
 * is too much for the pace does not wait either: whatever waits is in the way of the collector, and that is what clients notice.
 * `failed` is told what a job threw.
 */
export function createQueue(
  { waiting, characters, parallel, perSecond, deadlineMs }: QueueSettings,
  failed: (error: unknown) => void,
): Queue {
  const jobs: Waiting[] = []
  const running = new Set<Firing>()
  const idles: (() => void)[] = []
  const counts = { done: 0, dropped: 0, failed: 0 }
  let held = 0
  let closed = false

  const pace = perSecond > 0 ? createBucket({ most: perSecond, fillMs: 1000 }, () => performance.now()) : undefined
  const next = () => {
    while (running.size < parallel && jobs.length > 0) void work(jobs.shift()!)
    if (running.size + jobs.length === 0) for (const tell of idles.splice(0)) tell()
  }
  const work = async ({ job, size }: Waiting) => {
    const over = new Firing()
    const timer = setTimeout(() => over.abort(new DOMException('the comparison took too long', 'TimeoutError')), deadlineMs)
    running.add(over)
    try {
      await job(over)
      counts.done += 1
    } catch (error) {
      counts.failed += 1
      failed(error)
    }
    clearTimeout(timer)
    running.delete(over)
    held -= size
    next()
  }
  const idle = () => (running.size + jobs.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => idles.push(resolve)))

  return {
    offer(job, size) {
      if (closed || jobs.length >= waiting || held + size > characters || pace?.take() === false) {
        counts.dropped += 1
        return false
      }
      held += size
      jobs.push({ job, size })
      // The answer that this job is about goes out first.
      setImmediate(next)
      return true
    },
    counts: () => ({ waiting: jobs.length, running: running.size, ...counts }),
    idle,
    close() {
      closed = true
      counts.dropped += jobs.splice(0).length
      next()
      for (const over of running) over.abort(new DOMException('the proxy is shutting down', 'AbortError'))
      return idle()
    },
  }
}
