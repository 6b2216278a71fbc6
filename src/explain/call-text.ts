import type { Call } from '../tables/turn.ts'

/** Returns a call as text. Two calls are the same if their texts are. */
export function textOf({ method, path, query, body }: Call): string {
  return JSON.stringify([method, path, query, body])
}

export function textsOf(calls: readonly Call[]): ReadonlySet<string> {
  return new Set(calls.map(textOf))
}
