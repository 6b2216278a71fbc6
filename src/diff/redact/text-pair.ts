import { withoutSecrets } from './secrets.ts'

/** Two different texts of one place, as they may be kept. */
export interface TextPair {
  readonly v1: unknown
  readonly v2: unknown
  /** The number of the first character that differs, from 0. Absent for short texts and for secrets. */
  readonly differsAt?: number
}

/** Characters from which on nobody sees at a glance where two texts differ. */
export const LONG = 40

/** Texts that differ later are shown from their beginning, because what comes before the difference must be searched for secrets. */
const FARTHEST = 100_000

/** Characters that are shown before the first difference. */
const BEFORE = 60

export function firstDifference(v1: string, v2: string): number {
  const length = Math.min(v1.length, v2.length)
  for (let at = 0; at < length; at++) if (v1[at] !== v2[at]) return at
  return length
}

/**
 * Returns the parts of two long texts in which they differ, of `limit` characters; undefined if their beginnings show it. Secrets are
 * replaced before anything is cut, as far as `beyond` characters behind it.
 */
export function differingParts(v1: string, v2: string, limit: number, beyond: number): readonly [string, string] | undefined {
  const at = firstDifference(v1, v2)
  if (at < limit - BEFORE || at > FARTHEST) return undefined
  const [left, right] = [v1, v2].map((text) => withoutSecrets(text.slice(0, at + limit + beyond))) as [string, string]
  const from = Math.max(0, firstDifference(left, right) - BEFORE)
  const part = (seen: string, { length }: string) => `…${seen.slice(from, from + limit)}… (${length} characters)`
  return [part(left, v1), part(right, v2)]
}
