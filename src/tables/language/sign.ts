import type { Condition } from './condition.ts'

/** The way in which two answers differ at one place. */
export const DIFFERENCE_KINDS = ['status', 'missing', 'extra', 'type', 'value', 'order'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

/** In `v2Shows`: any value, or none. It is equal in every copy of this module. */
export const anything: unique symbol = Symbol.for('crosswalk.anything')

/**
 * How a declared difference looks in the answers of v1 and v2 to one read. Every given member must match: the more is given, the less is
 * hidden. A request for an id that is no uid is answered, and no other refusal of v1 is:
 *
 *     { at: [''], kinds: ['status'], v1: 400, v2: 200, when: [{ param: 'repo_id', isNot: 'uid' }] }
 */
export interface Sign {
  /** JSON Pointers in table names. The segment `*` matches any one segment, `**` any number. `''` is the whole answer, for `status`. */
  readonly at: readonly string[]
  readonly kinds: readonly DifferenceKind[]
  /** What the request must be. Absent = any request. */
  readonly when?: Condition
  /**
   * The request asks for a window that v1 ignores, in a list that v1 pages by token. A row is explained if it lies in the window of one
   * side alone; a member beside the rows, if the windows differ.
   */
  readonly otherWindow?: true
  /** The exact value on that side; for `status` its HTTP status. Absent = any value. */
  readonly v1?: unknown
  readonly v2?: unknown
  /** The values that go together, v1's first: `[['TAG_IN_GRACE', 'TAG_ACTIVE']]`. */
  readonly pairs?: readonly (readonly [v1: unknown, v2: unknown])[]
  /** v2 counts some, but fewer than v1. A count of 0 is not covered: it would hide a v2 that has lost everything. */
  readonly v2Counts?: 'fewer'
  /** v2 shows a list that is not empty, and each item has one of these values in this member. */
  readonly v2Items?: Readonly<Record<string, readonly unknown[]>>
  /**
   * All that v2 shows: in the object that lacks a member, or in its whole answer if the status differs. `{ id: anything }` says that all
   * members except the id are missing together.
   */
  readonly v2Shows?: Readonly<Record<string, unknown>>
}
