/** What is over once: a response, an HTTP/2 stream. Its `close` comes however it ended. */
export interface Closing {
  on(event: 'close', listener: () => void): unknown
}

/** Who wants to know that something is over. It waits for one thing only, because the next to tell is noted on it. */
export interface OnClose {
  over(): void
  next: OnClose | undefined
}

const FIRST = Symbol('first')
const LAST = Symbol('last')

/**
 * Tells somebody when it is over, after those that asked before. Half a dozen places want to know that of every request; they share one
 * listener, because those of Node cost more than what most of them do.
 */
export function whenClosed(ending: Closing, over: OnClose): void {
  const known = ending as Closing & { [FIRST]?: OnClose; [LAST]?: OnClose }
  if (known[LAST]) known[LAST].next = over
  else {
    known[FIRST] = over
    ending.on('close', () => {
      for (let each = known[FIRST]; each; each = each.next) each.over()
    })
  }
  known[LAST] = over
}
