/** Who sends a request, as `auth/caller.ts` established it. */
export type Caller = {
  /** The identity the token stands for. */
  readonly identityUid: string
  /** Holds every capability everywhere (the staff token). */
  readonly everything?: true | undefined
  /** When set, the token counts only at or below these groups (asked for at the exchange, semantics §2.5). */
  readonly scopes?: readonly string[] | undefined
  /** When set, the token carries at most these capabilities, dotted names. */
  readonly capabilities?: readonly string[] | undefined
}
