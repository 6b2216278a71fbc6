/** Who waits for work that has begun is told one of the two, once. */
export interface Landing<T> {
  landed(answer: T): void
  failed(error: Error): void
}

/** Tells what becomes of a promise. */
export function tell<T>(promised: Promise<T>, landing: Landing<T>): void {
  promised.then(
    (answer) => landing.landed(answer),
    (error) => landing.failed(error),
  )
}

/** Work that has begun. */
export interface Underway {
  /** Gives it up: whoever waits is told this reason. Without effect once it is over. */
  cancel(reason: Error): void
}
