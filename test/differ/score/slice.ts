import type { Tally } from './tally.ts'

export interface SliceOptions {
  /** Chooses the places that are spoiled, and the cases of a sample. */
  readonly seed: number
  /** Milliseconds for a sample of the cases; all cases without it. */
  readonly ms?: number | undefined
  /** Only the cases whose name it matches; all without it. */
  readonly only?: RegExp | undefined
}

/** A part of the score that runs by itself. */
export interface Slice {
  readonly name: string
  /** What it tries, for `--help`. */
  readonly tries: string
  /** Its cases have names, by which some can be chosen. An example of a choice. */
  readonly only?: string
  readonly run: (options: SliceOptions) => Promise<readonly Tally[]>
}
