import type { Report } from '../admin/report/report.ts'
import type { Entry } from '../migrate/records/record.ts'
import type { Clocks } from '../serve/bounds.ts'
import type { AsyncFunction, CompareOptions } from './compare-options.ts'
import type { FunctionVerdict } from './function-verdict.ts'
import type { Mismatch } from './mismatch.ts'

/** What settings cannot say. */
export interface ComparisonOptions {
  /** Acceptable share of wrong answers, more than 0 and less than 1. Default: 0.001. */
  readonly target?: number
  /** Gets every difference that nothing explains, with the values themselves. They are masked nowhere here: log with care. */
  readonly onMismatch?: (mismatch: Mismatch) => void
  /** Gets every entry that is recorded. Its values are masked, unless `records.values` is `shown`. */
  readonly onEntry?: (entry: Entry) => void
  /**
   * Tells names of members, which are recorded, from keys that are data. Default: up to 40 letters, digits, `_` and `$`, without four digits in a
   * row.
   */
  readonly isName?: (name: string) => boolean
  /** Gets one sentence for each fault of an option, such as arguments that cannot be copied. Default: `process.emitWarning`. */
  readonly warn?: (text: string) => void
  /** Another clock than that of the machine, for tests. */
  readonly clocks?: Clocks
  /** Returns a number from 0 up to but not including 1. Default: `Math.random`. */
  readonly random?: () => number
}

/** Functions that are compared, and what is learnt of them. Several of them share nothing. */
export interface ComparisonGroup {
  /** Compares two functions of one name; see `compare`. */
  compare<Args extends readonly unknown[], Result>(
    legacy: AsyncFunction<Args, Result>,
    next: AsyncFunction<Args, Result>,
    options: CompareOptions<Args, Result>,
  ): ComparedFunction<Args, Result>
  /** The data of the report, as `crosswalk report --json` prints it. */
  report(): Report
  /** The report as lines for a terminal. */
  reportText(): string
  /** The report as one page of HTML that loads nothing from elsewhere. */
  reportPage(): string
  /** Whether callers can be moved to the next functions. */
  verdict(): FunctionVerdict
  /** Closes the circuit of a name. Its comparisons then count anew for the circuit. */
  closeCircuit(name: string): void
  /** Resolves when no comparison waits or runs, and the earlier records are read. */
  idle(): Promise<void>
  /** Gives up comparisons. Resolves when the records are written. The functions then answer as before, and nothing is compared. */
  close(): Promise<void>
}

/** Answers as the mode says. `comparison` has the report and the verdict. */
export type ComparedFunction<Args extends readonly unknown[], Result> = AsyncFunction<Args, Result> & {
  readonly comparison: ComparisonGroup
}
