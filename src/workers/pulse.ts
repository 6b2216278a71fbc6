import type { WorkerProcess } from './worker-process.ts'

export interface PulseParts {
  /** Resolves when the worker answers. */
  readonly ping: () => Promise<unknown>
  /** Calls a function again and again, after so many milliseconds. Returns a function that ends this. */
  readonly repeat: (run: () => void, ms: number) => () => void
  readonly warn: (text: string) => void
}

/** Milliseconds between two pings. */
const PING_MS = 1000

/**
 * Pings in a row without an answer after which a worker is killed. Its event loop then stood for ten seconds, and nobody was served: the
 * longest work of a healthy one takes less than one. Pings are counted, and not the time: a supervisor that stood still itself sent none.
 */
export const UNANSWERED = 10

/** Kills a worker whose event loop stands. It is watched from when it listens: a start may take long. */
export function watchPulse(worker: Pick<WorkerProcess, 'place' | 'listens' | 'ended' | 'kill'>, { ping, repeat, warn }: PulseParts): void {
  const watch = () => {
    let unanswered = 0
    const beat = () => {
      if (unanswered >= UNANSWERED) {
        end()
        warn(
          `worker ${worker.place} has answered no ping for ${(UNANSWERED * PING_MS) / 1000} seconds: its event loop stands, so it is killed`,
        )
        return worker.kill()
      }
      unanswered += 1
      ping().then(
        () => {
          unanswered = 0
        },
        () => {},
      )
    }
    const end = repeat(beat, PING_MS)
    void worker.ended.then(end)
  }
  worker.listens.then(watch, () => {})
}
