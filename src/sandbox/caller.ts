/** The sender of a request, as `auth/caller.ts` established it. */
export type Caller = {
  /** The identity of the token. */
  readonly identityUid: string
  /** Holds every capability everywhere (the staff token). */
  readonly everything?: true | undefined
  /** If set, the token counts only at or below these groups, which the exchange named (semantics §2.5). */
  readonly scopes?: readonly string[] | undefined
  /** If set, the token carries at most these capabilities (dotted names). */
  readonly capabilities?: readonly string[] | undefined
}
