/**
 * The rows of the store, one type a collection. A row is the v2 resource with exactly its JSON member names (`sync_config` keeps its
 * snake_case, facts §16.1) and every scalar, list and map filled with its zero value when unset; only messages, timestamps and oneof
 * members may be undefined. Members under "never rendered" are the service's own: no API answer shows them.
 */

/** What every resource has (specification §1). Some resources know no create or update time (facts §25). */
export type Row = {
  readonly uid: string
  readonly createTime?: string | undefined
  readonly updateTime?: string | undefined
}

export type Dated = { readonly createTime: string; readonly updateTime: string }

/** Events of its parent group, and of every group below, are sent to `sink`. It has no dates (semantics §3.16). */
export type Subscription = Row & { readonly sink: string }
