import { Firing, type Signal } from '../../serve/signals.ts'

export interface QueueSettings {
  /** Maximum jobs that wait. */
  readonly waiting: number
  /** Maximum characters that waiting and running jobs hold together. */
  readonly characters: number
  /** Maximum jobs that run at the same time. */
  readonly parallel: number
  /** Milliseconds after which a job is given up. */
  readonly deadlineMs: number
}

/** A job that runs when there is time. It must end when the signal fires. */
export type Job = (signal: Signal) => Promise<void>

export interface QueueCounts {
  readonly waiting: number
  readonly running: number
  readonly done: number
  /** Jobs that were refused for lack of room, or given up at the end. */
  readonly dropped: number
  /** Jobs that ended with an error of Crosswalk's own. */
  readonly failed: number
}

/**
 * Something that is used up, and that users share. A user is an operation and the side that answered its clients, so that the few clients of a
 * canary are compared beside the many others.
 */
export interface Stock {
  readonly most: number
  left(): number
  usedBy(user: string): number
}

/** Runs the jobs that clients do not wait for. */
export interface Queue {
  /** The places of waiting jobs. A slow side leaves few of them. */
  readonly places: Stock
  /** True if a job that holds this many characters finds no room. It counts as dropped then. */
  refuses(characters: number): boolean
  /** Takes a job of a user of `places` that holds this many characters. Drops and counts it if there is no room. Never waits. */
  offer(job: Job, characters: number, user: string): void
  counts(): QueueCounts
  /** Milliseconds since the oldest waiting or running job came; undefined if there is none. */
  oldestMs(): number | undefined
  /** Resolves when no job waits or runs. */
  idle(): Promise<void>
  /** Gives up running jobs and drops waiting ones. */
  close(): Promise<void>
}

interface Waiting {
  readonly user: string
  readonly job: Job
  readonly size: number
  /** When it came, in milliseconds of a monotonic clock. */
  readonly at: number
}

/** The places of waiting jobs. Their number may change. */
function placesOf(settings: Pick<QueueSettings, 'waiting'>, jobs: readonly Waiting[], taken: ReadonlyMap<string, number>): Stock {
  return {
    get most() {
      return settings.waiting
    },
    left: () => settings.waiting - jobs.length,
    usedBy: (user) => taken.get(user) ?? 0,
  }
}

/**
 * Creates a bounded queue, whose bounds may change. A job that does not fit is dropped and counted: memory and the other side are worth more than one comparison.
 * `failed` receives the error of a job.
 */
export function createQueue(settings: QueueSettings, failed: (error: unknown) => void): Queue {
  const jobs: Waiting[] = []
  /** Waiting jobs by user. */
  const taken = new Map<string, number>()
  const take = (user: string, jobsMore: number) => taken.set(user, (taken.get(user) ?? 0) + jobsMore)
  /** Running jobs, oldest first, with the times when they came. */
  const running = new Map<Firing, number>()
  const idles: (() => void)[] = []
  const counts = { done: 0, dropped: 0, failed: 0 }
  let held = 0
  let closed = false

  const next = () => {
    while (running.size < settings.parallel && jobs.length > 0) {
      const job = jobs.shift()!
      take(job.user, -1)
      void work(job)
    }
    if (running.size + jobs.length === 0) for (const tell of idles.splice(0)) tell()
  }
  const work = async ({ job, size, at }: Waiting) => {
    const over = new Firing()
    const timer = setTimeout(
      () => over.abort(new DOMException('the comparison took too long', 'TimeoutError')),
      settings.deadlineMs,
    ).unref()
    running.set(over, at)
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

  const refuses = (size: number) => {
    const isFull = closed || jobs.length >= settings.waiting || held + size > settings.characters
    if (isFull) counts.dropped += 1
    return isFull
  }
  return {
    places: placesOf(settings, jobs, taken),
    refuses,
    offer(job, size, user) {
      if (refuses(size)) return
      held += size
      jobs.push({ user, job, size, at: performance.now() })
      take(user, 1)
      // The answer that this job compares is sent first.
      setImmediate(next)
    },
    counts: () => ({ waiting: jobs.length, running: running.size, ...counts }),
    oldestMs() {
      const at = running.values().next().value ?? jobs[0]?.at
      return at === undefined ? undefined : performance.now() - at
    },
    idle,
    close() {
      closed = true
      counts.dropped += jobs.splice(0).length
      next()
      for (const over of running.keys()) over.abort(new DOMException('the proxy is shutting down', 'AbortError'))
      return idle()
    },
  }
}
