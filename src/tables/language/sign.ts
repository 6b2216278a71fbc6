/** The way in which two answers differ at one place. */
export type DifferenceKind = 'status' | 'missing' | 'extra' | 'type' | 'value' | 'order'

/** How a declared difference looks in the answers of v1 and v2 to one read. Every given member must match. */
export interface Sign {
  /** JSON Pointers in table names. The segment `*` matches any one segment, `**` any number. `''` is the whole answer, for `status`. */
  readonly at: readonly string[]
  readonly kinds: readonly DifferenceKind[]
  /** The exact value on that side; for `status` its HTTP status. Absent = any value. The more is given, the less is hidden. */
  readonly v1?: unknown
  readonly v2?: unknown
}
