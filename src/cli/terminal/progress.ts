/** Milliseconds before anything is shown: shorter work needs no progress. */
const PATIENCE = 2000

/** Milliseconds between two updates. */
const EVERY = 500

/** Returns to the beginning of the line and clears it. */
const CLEAR = '\r\u001b[2K'

/** Where progress is shown: a terminal on standard error. */
export interface ProgressScreen {
  readonly write: (text: string) => void
  /** Milliseconds of a clock that only goes forward. */
  readonly now: () => number
  /** Calls a function again and again; the returned one stops that. */
  readonly every: (ms: number, look: () => void) => () => void
}

/** Shows what is done and for how long while work takes more than two seconds, in one line that is cleared at the end. */
export async function withProgress<T>(screen: ProgressScreen | undefined, what: string, work: () => Promise<T>): Promise<T> {
  if (!screen) return work()
  const began = screen.now()
  let isShown = false
  const stop = screen.every(EVERY, () => {
    const ms = screen.now() - began
    if (ms < PATIENCE) return
    isShown = true
    screen.write(`${CLEAR}${what}, ${Math.floor(ms / 1000)} s`)
  })
  try {
    return await work()
  } finally {
    stop()
    if (isShown) screen.write(CLEAR)
  }
}
