import { createDeaths, DEATHS } from './deaths.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

/** The workers of one supervisor. */
export interface Crew<W extends WorkerProcess> {
  /** Starts them. Resolves when all listen. If one cannot, it rejects with the reason, and none is left. */
  start(): Promise<void>
  /** Replaces them one by one: a worker leaves when its successor listens. Rejects, and stops there, if a successor cannot listen. */
  roll(): Promise<void>
  /** Lets all of them finish. Resolves when they have ended. */
  retire(): Promise<void>
  /** Ends them at once. */
  stop(): Promise<void>
  /** Those that listen now. */
  listening(): readonly W[]
}

export interface CrewSettings<W extends WorkerProcess> {
  readonly workers: number
  readonly fork: (place: number) => W
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  readonly warn: (text: string) => void
  /** Is told, in a sentence, that workers die again and again. None is replaced from then on. */
  readonly givenUp: (sentence: string) => void
}

/** Keeps a number of workers alive. A worker that dies is replaced at once, in its place. */
export function createCrew<W extends WorkerProcess>({ workers, fork, ticks, warn, givenUp }: CrewSettings<W>): Crew<W> {
  /** The worker of each place. One that leaves has none, and is not replaced. */
  const crew = new Map<number, W>()
  const present = new Set<W>()
  const ready = new Set<W>()
  const areTooMany = createDeaths(ticks)
  let isOver = false

  const begin = (place: number): W => {
    const worker = fork(place)
    present.add(worker)
    void worker.listens.then(
      () => void ready.add(worker),
      () => {},
    )
    void worker.left.then((ending) => left(worker, ending))
    void worker.ended.then(() => void present.delete(worker))
    return worker
  }
  const left = (worker: W, ending: WorkerEnd) => {
    ready.delete(worker)
    if (isOver || crew.get(worker.place) !== worker) return
    if (areTooMany()) {
      isOver = true
      return givenUp(`${DEATHS.most} workers ended within a minute, the last with ${ending}`)
    }
    warn(`worker ${worker.place} ended with ${ending} and is replaced`)
    crew.set(worker.place, begin(worker.place))
  }
  const release = (worker: W, isReplaced: boolean) => {
    ready.delete(worker)
    worker.leave(isReplaced)
  }
  const end = async (how: (worker: W) => void) => {
    isOver = true
    for (const worker of present) how(worker)
    await Promise.all([...present].map(({ ended }) => ended))
  }
  const stop = () => end((worker) => worker.kill())
  const succeed = async (place: number) => {
    const successor = begin(place)
    try {
      await successor.listens
    } catch (error) {
      throw new Error(`worker ${place} was not replaced: ${(error as Error).message}`)
    }
    const before = crew.get(place)
    crew.set(place, successor)
    if (!before) return
    release(before, true)
    await before.ended
  }
  return {
    async start() {
      for (let place = 1; place <= workers; place += 1) begin(place)
      const first = [...present]
      const died = first.map(async ({ place, left }) => {
        throw new Error(`worker ${place} ended with ${await left}`)
      })
      try {
        await Promise.race([Promise.all(first.map(({ listens }) => listens)), ...died])
      } catch (error) {
        await stop()
        throw error
      }
      for (const worker of first) crew.set(worker.place, worker)
    },
    async roll() {
      for (let place = 1; place <= workers && !isOver; place += 1) await succeed(place)
    },
    retire: () => end((worker) => release(worker, false)),
    stop,
    listening: () => [...ready],
  }
}
