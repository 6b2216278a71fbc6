import type { EpochView } from '../../migrate/evidence/cutover.ts'

/** The replicas that share a store, as the page shows them. */
export interface ReportFleet {
  /** What is missing in the report, in sentences that name the replica. Empty if it is that of all replicas. */
  readonly problems: readonly string[]
  readonly epoch: EpochView
  /** This replica first. */
  readonly replicas: readonly ReportReplica[]
  /** Replicas of another version of Crosswalk, of which nothing else is known. */
  readonly unread: readonly Pick<ReportReplica, 'id' | 'silentSeconds'>[]
}

/** One process of a fleet. */
export interface ReportReplica {
  readonly id: string
  /** True of the replica that made the report. */
  readonly isSelf: boolean
  /** It decides about rollouts. */
  readonly isLeader: boolean
  /** When it started, in milliseconds since 1970. */
  readonly since: number
  /** The version of the modes in force there, and how many it lacks. */
  readonly version: number
  readonly behind: number
  /** The version of newer modes in the store, which its version of Crosswalk cannot read. */
  readonly unread?: number
  /** The services that it reaches at other addresses than the replica that made the report; absent if there are none. */
  readonly otherServices?: readonly string[]
  /** Seconds since its last heartbeat; absent if it was heard of lately. */
  readonly silentSeconds?: number
  /** Observations that the store does not have yet, clean ones that had no room, and wrong ones that had none. */
  readonly waiting: number
  readonly dropped: number
  readonly lost: number
}
