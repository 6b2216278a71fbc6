/** The rows of a list that are shown. */
export interface RowRange {
  /** Index of the first one. */
  readonly from: number
  /** Length of the whole list. */
  readonly of: number
  /** Index of the row that differs; absent if the list does not have it. */
  readonly at?: number
}

/** The JSON around a difference on both sides, redacted and cut. A member `…` counts what is left out of an object. */
export interface Excerpt {
  /** JSON Pointer of what is shown; "" for the whole answer. */
  readonly at: string
  /** Absent if that side has nothing there. */
  readonly v1?: unknown
  readonly v2?: unknown
  /** In an object: the names that lead from it to the place, as they are written here. */
  readonly path?: readonly string[]
  /** In a list: which of its rows are shown. */
  readonly rows?: { readonly v1?: RowRange; readonly v2?: RowRange }
}
