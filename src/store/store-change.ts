/** Numbers by field. */
export type Sums = Readonly<Record<string, number>>

/**
 * One change of what is shared. None depends on a value that a replica has read, so that batches of several replicas go together in any
 * order. `keepMs` is the time after which an unchanged name is forgotten, if it is not `KEPT_MS`.
 */
export type StoreChange =
  /** Adds to sums. */
  | { readonly kind: 'add'; readonly name: string; readonly sums: Sums; readonly keepMs?: number }
  /** Keeps the highest, or the lowest, of two values of a field of sums. */
  | { readonly kind: 'most' | 'least'; readonly name: string; readonly sums: Sums; readonly keepMs?: number }
  | Claim
  /** Adds a member to a set of at most `most`. A new one adds 1 to this field of the sums of the same name. */
  | { readonly kind: 'join'; readonly name: string; readonly field: string; readonly member: string; readonly most: number }
  /** Adds up to `amount` to the field of this replica in sums, as far as the sum of all fields stays within `most`. */
  | { readonly kind: 'draw'; readonly name: string; readonly amount: number; readonly most: number; readonly keepMs?: number }
  /** Writes a text. With `mark`, the first text stays. */
  | { readonly kind: 'write' | 'mark'; readonly name: string; readonly field: string; readonly text: string; readonly keepMs?: number }
  /** Appends to a log, which keeps its newest items. */
  | { readonly kind: 'log'; readonly name: string; readonly text: string; readonly items: number; readonly keepMs?: number }
  /** Takes a lease that is free, or renews an own one. `ms: 0` gives an own one back. */
  | { readonly kind: 'lease'; readonly name: string; readonly ms: number }
  /** Replaces a document by one of a higher version. */
  | { readonly kind: 'raise'; readonly name: string; readonly version: number; readonly text: string }
  /** Says that this replica lives, and what it says of itself. It is forgotten after `ms`. */
  | { readonly kind: 'beat'; readonly text: string; readonly ms: number }

/**
 * Adds `first` to sums if nobody has claimed the key for a time less than `ms` milliseconds from `at`, before or after it, and `again`
 * otherwise. Only `first` claims. The store forgets a claim `2 * ms` after it came.
 */
export interface Claim {
  readonly kind: 'claim'
  readonly key: string
  /** Milliseconds since 1970, by the clock of the replica: what waited for the store is claimed for the time when it happened. */
  readonly at: number
  readonly ms: number
  readonly name: string
  readonly first: Sums
  readonly again: Sums
}
