/**
 * The rows of the store, one type for each collection. A row is the v2 resource with exactly its JSON member names (`sync_config` keeps its
 * snake_case, facts §16.1). Unset scalars, lists and maps hold their zero value; only messages, timestamps and oneof members may be
 * undefined. Members under "never rendered" are internal: no API answer shows them.
 */

/** The members of every resource (specification §1). Some resources have no create or update time (facts §25). */
export type Row = {
  readonly uid: string
  readonly createTime?: string | undefined
  readonly updateTime?: string | undefined
}

export type Dated = { readonly createTime: string; readonly updateTime: string }

/** The service sends events of the parent group, and of every group below, to `sink`. It has no dates (semantics §3.16). */
export type Subscription = Row & { readonly sink: string }
