import type { Tally } from './tally.ts'

export interface SliceOptions {
  /** Chooses the places that are spoiled, and the cases of a sample. */
  readonly seed: number
  /** Milliseconds for a sample of the cases; all cases without it. */
  readonly ms?: number | undefined
}

/** A part of the score that runs by itself. */
export interface Slice {
  readonly name: string
  /** What it tries, for `--help`. */
  readonly tries: string
  readonly run: (options: SliceOptions) => Promise<readonly Tally[]>
}
