import type { CodeName } from '../../../src/errors.ts'

/** Errors of v1 that Crosswalk itself answers, and that have one cause and one remedy. */
export interface ErrorRow {
  /** Absent where what went wrong decides it. */
  readonly code?: CodeName
  /** What it says, with `…` for what differs. */
  readonly texts: readonly string[]
  readonly cause: string
  readonly remedy: string
}

/** Errors that belong together. */
export interface ErrorGroup {
  readonly title: string
  readonly about: string
  readonly rows: readonly ErrorRow[]
}
