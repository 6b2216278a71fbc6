/** What is over once: a response, an HTTP/2 stream. Its `close` comes however it ended. */
export interface Ending {
  on(event: 'close', listener: () => void): unknown
}

interface Listening {
  readonly listener: () => void
  next: Listening | undefined
}

const FIRST = Symbol('first')
const LAST = Symbol('last')

/**
 * Calls `listener` when it is over, after those that asked before. Half a dozen places want to know that of every request; they share one
 * listener, because those of Node cost more than what most of them do.
 */
export function whenOver(ending: Ending, listener: () => void): void {
  const known = ending as Ending & { [FIRST]?: Listening; [LAST]?: Listening }
  const listening: Listening = { listener, next: undefined }
  if (known[LAST]) known[LAST].next = listening
  else {
    known[FIRST] = listening
    ending.on('close', () => {
      for (let each = known[FIRST]; each; each = each.next) each.listener()
    })
  }
  known[LAST] = listening
}
