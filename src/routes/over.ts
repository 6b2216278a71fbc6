/** What is over once: a response, an HTTP/2 stream. Its `close` comes however it ended. */
export interface Ending {
  once(event: 'close', listener: () => void): unknown
}

const LISTENERS = Symbol('listeners')

/**
 * Calls `listener` when it is over. Half a dozen places want to know that of every request; they share one listener, because those of Node
 * cost more than what most of them do.
 */
export function whenOver(ending: Ending, listener: () => void): void {
  const known = ending as Ending & { [LISTENERS]?: (() => void)[] }
  if (known[LISTENERS]) return void known[LISTENERS].push(listener)
  const listeners = [listener]
  known[LISTENERS] = listeners
  ending.once('close', () => {
    for (const each of listeners) each()
  })
}
