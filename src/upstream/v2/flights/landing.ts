/** Takes the result or the error of work, once. */
export interface Landing<T> {
  landed(answer: T): void
  failed(error: Error): void
}

/** Passes the result of a promise on. */
export function tell<T>(promised: Promise<T>, landing: Landing<T>): void {
  promised.then(
    (answer) => landing.landed(answer),
    (error) => landing.failed(error),
  )
}

/** Work in flight. */
export interface Underway {
  /** Cancels the work: the landing gets this reason. Without effect once the work has ended. */
  cancel(reason: Error): void
}
