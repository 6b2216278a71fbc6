import { suggestion } from '../../tables/check.ts'
import { covers } from '../../tables/operation.ts'

/** True if a pattern covers an operation: its id, a pattern with `*`, or the beginning of ids: `iam`, `iam.groups`. */
export function fitsOperation(pattern: string, id: string): boolean {
  return covers(pattern, id) || id.startsWith(`${pattern}.`)
}

/** Returns a sentence about a pattern that fits none of the operations. */
export function whyNoOperation(pattern: string, ids: readonly string[]): string | undefined {
  if (ids.some((id) => fitsOperation(pattern, id))) return undefined
  const beginnings = ids.flatMap((id) => id.split('.').map((_, at, words) => words.slice(0, at + 1).join('.')))
  return `"${pattern}" fits no operation; ${suggestion(pattern, [...new Set(beginnings)], 'crosswalk operations lists them.')}`
}
