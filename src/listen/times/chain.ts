/** A thing in a chain; where it stands among the others is noted on it. */
export interface Link<T> {
  older?: T | undefined
  newer?: T | undefined
}

/** Things in the order in which they came. Each can leave at any time, for the price of two assignments; a Set would hash it twice. */
export interface Chain<T extends Link<T>> {
  oldest(): T | undefined
  add(link: T): void
  /** Nothing when it has left before. */
  remove(link: T): void
}

export function createChain<T extends Link<T>>(): Chain<T> {
  let oldest: T | undefined
  let newest: T | undefined
  return {
    oldest: () => oldest,
    add(link) {
      link.older = newest
      if (newest) newest.newer = link
      else oldest = link
      newest = link
    },
    remove(link) {
      const { older, newer } = link
      if (older) older.newer = newer
      else if (oldest === link) oldest = newer
      if (newer) newer.older = older
      else if (newest === link) newest = older
      link.older = undefined
      link.newer = undefined
    },
  }
}
