import type { JsonObject } from '../../tables/json.ts'

/**
 * The answers that one request keeps for itself. They end with it. In a store that requests share, they would stay long after it, and the
 * collector would move all of them.
 */
export interface OwnAnswers {
  get(key: string): JsonObject | undefined
  /** Keeps an answer that holds `size` resources. */
  set(key: string, answer: JsonObject, size: number): void
}

/** Maximum resources: those of five pages of a list. The oldest are dropped first. */
const MOST = 1000

export function createOwnAnswers(most: number = MOST): OwnAnswers {
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
