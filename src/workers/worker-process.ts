/** How a process ended: `signal SIGKILL`, `exit code 1`. */
export type WorkerEnd = string

/** One worker as its supervisor sees it. */
export interface WorkerProcess {
  /** Its place among the workers, from 1. The worker that replaces it has the same. */
  readonly place: number
  /** Resolves when it accepts connections. Rejects with the reason if it never will. */
  readonly listens: Promise<void>
  /** Resolves when it accepts no more connections: it has ended, or a fault makes it leave. */
  readonly left: Promise<WorkerEnd>
  readonly ended: Promise<WorkerEnd>
  /** Lets it finish its requests. With `isReplaced`, others serve meanwhile, so that no balancer needs time to notice. */
  leave(isReplaced: boolean): void
  /** Ends it at once. */
  kill(): void
}
