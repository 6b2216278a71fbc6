/** Where a rollout stands, so that a restart goes on there. `nth` as in notes. */
export interface RolloutEntry {
  readonly kind: 'rollout'
  /** Records of older versions lack it. */
  readonly id?: string
  readonly at: string
  readonly name: string
  /** Tells the rollout from another one of the same name. */
  readonly digest: string
  readonly nth?: number
  /** Its state and the evidence of its step, as the engine of rollouts reads them. Absent once the modes have it no more. */
  readonly saved?: unknown
}
