import type { Finding } from '../migrate/compare/compare.ts'
import type { Judgement } from '../migrate/compare/judge.ts'

/** A difference that nothing explains. Its values are those of your data, as they were compared. */
export interface Mismatch {
  /** The name of the functions. */
  readonly name: string
  /** `transient`: it was gone when both were asked again. `error`: next did not answer in time. */
  readonly outcome: Extract<Judgement['outcome'], 'mismatch' | 'transient' | 'error'>
  /** A copy of the arguments. */
  readonly args: readonly unknown[]
  /** What each side first did: `returned`, `threw TypeError`. */
  readonly legacy: FirstDeed
  readonly next: FirstDeed
  /** JSON Pointers and values. `v1` is legacy, and `v2` is next. */
  readonly differences: readonly Pick<Finding, 'kind' | 'at' | 'where' | 'v1' | 'v2'>[]
  /** For an error: what happened. */
  readonly reason?: string
}

/** What one side did, and its result as it was compared. */
export interface FirstDeed {
  readonly did: string
  readonly value: unknown
}
