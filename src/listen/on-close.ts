/** What is over once: a response, an HTTP/2 stream. Its `close` comes however it ended. */
export interface Ending {
  on(event: 'close', listener: () => void): unknown
}

/** Who wants to know that something is over. It waits for one thing only, because the next to tell is noted on it. */
export interface Over {
  over(): void
  next: Over | undefined
}

const FIRST = Symbol('first')
const LAST = Symbol('last')

/**
 * Tells somebody when it is over, after those that asked before. Half a dozen places want to know that of every request; they share one
 * listener, because those of Node cost more than what most of them do.
 */
export function whenOver(ending: Ending, over: Over): void {
  const known = ending as Ending & { [FIRST]?: Over; [LAST]?: Over }
  if (known[LAST]) known[LAST].next = over
  else {
    known[FIRST] = over
    ending.on('close', () => {
      for (let each = known[FIRST]; each; each = each.next) each.over()
    })
  }
  known[LAST] = over
}
