import type { Mode } from '../serve/sides.ts'

/** Only functions that return a promise are compared: a second side besides would stop the caller of any other. */
export type AsyncFunction<Args extends readonly unknown[], Result> = (...args: Args) => Promise<Result>

/** How two functions are compared. */
export type CompareOptions<Args extends readonly unknown[] = readonly unknown[], Result = unknown> = OfAnyCall<Args, Result> &
  (OfReads | OfWrites)

interface OfReads {
  /** True if a call changes nothing, so that it may be repeated. */
  readonly isRead: true
  readonly isSafeTwice?: never
}

interface OfWrites {
  /** False if a call may change something. Only the side that the mode says is called then. */
  readonly isRead: false
  /** True if next may be called besides legacy although it writes, such as to a copy. Neither is ever asked again. Default: false. */
  readonly isSafeTwice?: boolean
}

interface OfAnyCall<Args extends readonly unknown[], Result> {
  /** Names the functions in reports and records: letters, digits, `.`, `_`, `:` and `-`, such as `users.get`. */
  readonly name: string
  /**
   * The side that answers the caller, and whether the other one is called too. `v1` is legacy and `v2` is next; `diff-v1` and `diff-v2`
   * compare. A function is asked at every call. Default: `diff-v1`.
   */
  readonly mode?: Mode | (() => Mode)
  /** Another mode for a share of the callers, in percent. It needs `caller`. */
  readonly canary?: { readonly mode: Mode; readonly percent: number }
  /** Identifies whose call it is, such as a tenant. It is recorded as a hash. Default: all calls are those of one caller. */
  readonly caller?: (...args: Args) => string
  /** What two calls have in common that tell the same. Default: all arguments. Only a hash of it is recorded. */
  readonly shape?: (...args: Args) => unknown
  /** Copies arguments that are not plain data. `signal` ends with the comparison; it is undefined for the first copy. */
  readonly copy?: (args: Args, signal: AbortSignal | undefined) => readonly [...Args]
  /** What is compared of a result, as JSON. Default: the whole result. */
  readonly show?: (result: Result) => unknown
}
