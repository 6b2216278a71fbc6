/** A list that is read page by page on both sides: which page token of the other side belongs to one that the client was given. */
export interface Cursors {
  /** Remembers the tokens that the two sides gave for the next page of one answer. */
  learn(caller: string, operation: string, served: string, asked: string): void
  /** The other side's token for the one that the client sends; undefined when it is not known, and the page cannot be compared. */
  find(caller: string, operation: string, served: string): string | undefined
}

/** Pairs kept; the oldest are forgotten first. Tokens stay in memory and are never recorded. */
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
