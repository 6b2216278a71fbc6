import type { JsonObject } from '../../tables/json.ts'

/** Answers that are kept, by their keys. */
export interface KeptAnswers {
  get(key: string): JsonObject | undefined
  /** Keeps an answer that holds `size` resources. */
  set(key: string, answer: JsonObject, size: number): void
}

/** Maximum resources: those of five pages of a list. The oldest are dropped first. */
const MOST = 1000

/**
 * Creates the store of what one request keeps for itself. It ends with the request. In a store that requests share, these answers would stay
 * long after it, and the collector would move all of them.
 */
export function createOwnAnswers(most: number = MOST): KeptAnswers {
  const kept = new Map<string, { readonly answer: JsonObject; readonly size: number }>()
  let held = 0
  return {
    get: (key) => kept.get(key)?.answer,
    set(key, answer, size) {
      if (kept.has(key)) return
      kept.set(key, { answer, size })
      held += size
      for (const [oldest, { size: freed }] of kept) {
        if (held <= most) return
        kept.delete(oldest)
        held -= freed
      }
    },
  }
}
