import type { Condition } from './condition.ts'
import type { DifferenceKind } from './sign.ts'

/** A difference that an operator knows and accepts for a time (setting `diff.ignore`). It becomes a sign like those of the tables. */
export interface IgnoreRule {
  /** In the code `ignored:<name>`. Absent = its number in the list, from 1. */
  readonly name?: string | undefined
  /** Operation ids, or patterns with `*`. */
  readonly operations: string | readonly string[]
  /** A place of the answer in table names: `/items/*` stands for every row, `''` for the status. */
  readonly at: string
  /** Absent = the status for `''`, and every other kind elsewhere. */
  readonly kinds?: readonly DifferenceKind[] | undefined
  readonly when?: Condition | undefined
  /** The exact value on that side. A rule about the status gives both. */
  readonly v1?: unknown
  readonly v2?: unknown
  readonly reason: string
  /** Milliseconds since 1970 from which it explains nothing. */
  readonly until: number
}
