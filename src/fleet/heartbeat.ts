import { z } from 'zod'
import type { Beat } from '../store/store.ts'
import { readText } from './read-text.ts'

/** What a replica says of itself in each exchange. */
const beatSchema = z.object({
  /** A name that a person knows: that of the machine or the container. */
  name: z.string(),
  /** Version and entity tag of the modes in force. */
  version: z.number(),
  tag: z.string(),
  /** Version of newer modes in the store, which it cannot read. */
  unread: z.number().optional(),
  /** Hash of what it counts: answers by its mapping tables, of its v2. */
  epoch: z.string(),
  /** Hashes of the addresses of its services; '' if it has none. */
  v2: z.string().optional(),
  v1: z.string().optional(),
  waiting: z.number(),
  dropped: z.number(),
  lost: z.number(),
  /** When the process started, in milliseconds since 1970. */
  since: z.number(),
  /** The newest question that it has heard, and the newest before which everything that had begun is handed over; see `settle`. */
  heard: z.number(),
  asked: z.number(),
})

export type BeatText = z.infer<typeof beatSchema>

/** One process of the fleet, as its last heartbeat tells. */
export interface FleetReplica extends BeatText {
  readonly id: string
  /** True of the replica that answers. */
  readonly isSelf: boolean
  /** Milliseconds since its last heartbeat. */
  readonly seenMs: number
  /** It was heard of lately: `seenMs` is at most `SILENT_MS`. */
  readonly isLive: boolean
}

/** A replica whose heartbeat another version of Crosswalk wrote in another form: nobody knows how it is. */
export type UnreadReplica = Pick<FleetReplica, 'id' | 'seenMs' | 'isLive'>

/** Milliseconds between two heartbeats. */
export const BEAT_MS = 1000

/** Milliseconds without a heartbeat after which a replica counts as silent. */
export const SILENT_MS = 3 * BEAT_MS

/** Milliseconds after which a silent replica is no longer listed. Until then nobody can know whether it still serves. */
export const LISTED_MS = 300_000

/** The newest version of the modes that any replica knows of. */
export function newestOf(replicas: readonly Pick<FleetReplica, 'version' | 'unread'>[]): number {
  return Math.max(...replicas.flatMap(({ version, unread = 0 }) => [version, unread]))
}

/** Reads a heartbeat; undefined if another version of Crosswalk wrote it in another form. */
export function readBeat({ replica: id, text, agoMs: seenMs }: Beat, self: string): FleetReplica | undefined {
  const said = readText(beatSchema, text)
  return said && { ...said, ...unreadOf({ replica: id, agoMs: seenMs }), isSelf: id === self }
}

/** What is known of a replica whose heartbeat cannot be read. */
export function unreadOf({ replica: id, agoMs: seenMs }: Pick<Beat, 'replica' | 'agoMs'>): UnreadReplica {
  return { id, seenMs, isLive: seenMs <= SILENT_MS }
}

/** The number of replicas that were heard of lately, those that nobody can read among them. */
export function liveIn(fleet: { replicas(): readonly FleetReplica[]; unread(): readonly UnreadReplica[] }): number {
  return [...fleet.replicas(), ...fleet.unread()].filter(({ isLive }) => isLive).length
}
