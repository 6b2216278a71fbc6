/** Keeps the last items, up to a capacity. */
export interface Ring<T> {
  add(item: T): void
  /** Returns the last `limit` items that pass, newest first. */
  last(limit: number, passes?: (item: T) => boolean): readonly T[]
}

export function createRing<T>(capacity: number): Ring<T> {
  const items: T[] = []
  let next = 0
  return {
    add(item) {
      items[next] = item
      next = (next + 1) % capacity
    },
    last(limit, passes = () => true) {
      const newest = [...items.slice(next), ...items.slice(0, next)].reverse()
      return newest.filter(passes).slice(0, limit)
    },
  }
}
