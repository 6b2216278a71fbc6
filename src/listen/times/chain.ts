/** A member of a chain. It holds its own place among the others. */
export interface Link<T> {
  older?: T | undefined
  newer?: T | undefined
}

/** Members in the order of their arrival. Each can leave at any time for two assignments; a Set would hash it twice. */
export interface Chain<T extends Link<T>> {
  oldest(): T | undefined
  add(link: T): void
  /** No effect if it has already left. */
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
