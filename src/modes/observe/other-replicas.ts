/** Tells when everything is known that other replicas did. */
export interface OtherReplicas {
  /**
   * Resolves when the others have told their writes up to now: true, or false if that cannot be known in time. Returns undefined if this
   * process shares nothing with others.
   */
  told(): Promise<boolean> | undefined
  /** Asks the others by this function from now on. */
  askBy(ask: () => Promise<boolean>): void
}

/** Why nothing is known of a difference that a write through another replica would explain. */
export const UNTOLD = 'another replica may have written, and the store does not tell'

export function createOtherReplicas(): OtherReplicas {
  let ask: (() => Promise<boolean>) | undefined
  return {
    told: () => ask?.(),
    askBy(by) {
      ask = by
    },
  }
}
