/** Anything that closes once: a response, an HTTP/2 stream. It emits `close` however it ended. */
export interface Closing {
  on(event: 'close', listener: () => void): unknown
}

/** A close listener. It is also a node of a linked list, so it can watch only one thing. */
export interface OnClose {
  over(): void
  next: OnClose | undefined
}

const FIRST = Symbol('first')
const LAST = Symbol('last')

/**
 * Calls a listener on close, after earlier ones. Half a dozen places need this for every request.
 * They share one listener, because Node's listeners cost more than the work that most of them do.
 */
export function whenClosed(ending: Closing, over: OnClose): void {
  const known = ending as Closing & { [FIRST]?: OnClose | undefined; [LAST]?: OnClose | undefined }
  if (known[LAST]) known[LAST].next = over
  else {
    known[FIRST] = over
    ending.on('close', () => {
      for (let each = known[FIRST]; each; each = each.next) each.over()
      // Node keeps a stream of HTTP/2 for some time after its end, and with it what it holds.
      known[FIRST] = undefined
      known[LAST] = undefined
    })
  }
  known[LAST] = over
}
