import type { Actor } from '../records/actor.ts'

/** What replicas that share a store say besides their counts. */
export interface FleetView {
  /** The replica that answers. */
  readonly self: string
  /** What is missing, in sentences that name the replica. Empty if the counts are those of all replicas, up to the question. */
  readonly problems: readonly string[]
  readonly epoch: EpochView
  readonly replicas: readonly FleetMember[]
}

/** One process of a fleet, as its last heartbeat tells. */
export interface FleetMember {
  readonly id: string
  /** That of its machine or container. */
  readonly name: string
  /** Milliseconds since its last heartbeat, and whether that is recent. */
  readonly seenMs: number
  readonly isLive: boolean
  /** The version of the modes in force there. */
  readonly version: number
  /** Observations that the store does not have yet, clean ones that had no room, and wrong ones that had none. */
  readonly waiting: number
  readonly dropped: number
  readonly lost: number
}

/** Evidence of different epochs never merges. */
export interface EpochView {
  /** Grows with each epoch that a person begins; 0 before the first. */
  readonly nth: number
  /** Hash of the mapping tables. */
  readonly tables: string
  /** What the operator calls the v2 build (`upstream.v2Build`). */
  readonly build?: string
  /** When a person began it (RFC 3339), and who. */
  readonly at?: string
  readonly by?: Actor
}
