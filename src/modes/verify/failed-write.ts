import type { Judgement } from '../../diff/judge/judge.ts'
import { hasFailed } from '../../serve/sides.ts'

/**
 * Judges the status of a write that v2 was sent; undefined if v2 made or refused it. Nobody knows what v1 would have answered, because a
 * write reaches one side.
 */
export function judgeWrite(status: number): Judgement | undefined {
  if (hasFailed(status)) return { outcome: 'error', findings: [], reason: `v2 answered HTTP ${status} to a write` }
  if (status !== 429) return undefined
  return { outcome: 'inconclusive', findings: [], reason: 'v2 answered HTTP 429 to a write, and v1 was not asked' }
}
