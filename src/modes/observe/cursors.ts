/** Maps page tokens that clients were given to the other side's tokens, for lists that are read page by page on both sides. */
export interface Cursors {
  /** Remembers both sides' tokens for the next page of one answer. */
  learn(caller: string, operation: string, served: string, asked: string): void
  /** Returns the other side's token for a client's token. If it is unknown (undefined), the page cannot be compared. */
  find(caller: string, operation: string, served: string): string | undefined
}

/** Maximum pairs; the oldest are dropped first. Tokens stay in memory and are never recorded. */
const PAIRS = 10_000

export function createCursors(pairs: number = PAIRS): Cursors {
  const known = new Map<string, string>()
  const keyOf = (caller: string, operation: string, served: string) => `${caller}\n${operation}\n${served}`
  return {
    learn(caller, operation, served, asked) {
      const key = keyOf(caller, operation, served)
      known.delete(key)
      known.set(key, asked)
      const [oldest] = known.size > pairs ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
    },
    find: (caller, operation, served) => known.get(keyOf(caller, operation, served)),
  }
}
