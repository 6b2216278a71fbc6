import type { JsonObject } from '../../tables/json.ts'
import type { DifferenceKind } from '../../tables/signs.ts'
import type { JsonPath } from './json-path.ts'

/** A place where v2's answer, in v1 space, differs from v1's. Its values are unredacted: `redact` them before they leave the process. */
export interface Finding {
  readonly kind: DifferenceKind
  /** JSON Pointer into the body as sent, or `header:<name>`. The index is v2's for a row that only v2 has, and v1's for every other row. */
  readonly at: string
  /** The same in table names, with `*` for indices and map keys. Totals, declarations and noise use it in either dialect. */
  readonly where: string
  /** The same with row ids in place of indices. It tells whether two findings concern the same row. */
  readonly path: string
  /** undefined if that side has no value. For `status`, the HTTP statuses; for `order`, the ids of the first rows that changed places. */
  readonly v1: unknown
  readonly v2: unknown
  /** What v2 shows, by table names: the object that lacks the member, or the whole answer of another status. */
  readonly shown?: JsonObject
  /** The place in both answers, so that records can show what is around it. Absent outside of the bodies. */
  readonly place?: JsonPath
}
