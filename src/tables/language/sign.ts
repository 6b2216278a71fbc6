/** In what way two answers differ at one place. */
export type DifferenceKind = 'status' | 'missing' | 'extra' | 'type' | 'value' | 'order'

/** What a declared difference looks like in the answers of v1 and v2 to one read; everything that is given must fit. */
export interface Sign {
  /** JSON Pointers in table names; a segment `*` is any one, `**` any number of them. `''` is the whole answer, for `status`. */
  readonly at: readonly string[]
  readonly kinds: readonly DifferenceKind[]
  /** Exactly what that side has there; for `status` its HTTP status. Not given = anything. The more is given, the less is hidden. */
  readonly v1?: unknown
  readonly v2?: unknown
}
