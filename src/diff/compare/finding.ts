import type { Kind } from '../../tables/language/sign.ts'

/** One place at which v2's answer, in v1 space, differs from v1's. Its values are as they came: `redact` them before they leave the process. */
export interface Finding {
  readonly kind: Kind
  /** JSON Pointer into the body as sent, or `header:<name>`. A row that only v2 has is counted in v2's list, every other one in v1's. */
  readonly at: string
  /** The same in table names, with `*` for indices and map keys: what totals, declarations and noise go by, in either dialect. */
  readonly where: string
  /** The same with ids of rows for their indices: what tells whether two findings are about one thing. */
  readonly path: string
  /** undefined where that side has nothing; for `status` the HTTP statuses, for `order` the ids of the first rows that changed places. */
  readonly v1: unknown
  readonly v2: unknown
}
