import type { SampledKind } from '../clients/request-kind.ts'
import type { Finding } from '../compare/finding.ts'
import type { OperationTally } from '../evidence/operation-counts.ts'
import type { Excerpt } from '../excerpt/excerpt.ts'
import type { ComparisonOutcome } from '../judge/judge.ts'
import type { SentRequest } from '../redact/sent-request.ts'
import type { Actor } from './actor.ts'
import type { Exhibit } from './exhibit.ts'
import type { RolloutEntry } from './rollout-entry.ts'

/** Identifies the caller: always by a hash, by the token's subject only if that is allowed. */
export interface Caller {
  /** Hash of the credential or of the subject; never the token. */
  readonly caller: string
  readonly subject?: string
}

/** An example of a difference, redacted. */
export interface Example extends Pick<Finding, 'kind' | 'at' | 'where'> {
  readonly v1?: unknown
  readonly v2?: unknown
  /** Of two long texts: the number of the first character that differs, from 0. */
  readonly differsAt?: number
  /** The id of the row that holds it, as far as it may be kept. */
  readonly row?: string
  /** What is around it. Records of older versions lack it, and it is left out where it would be too large. */
  readonly around?: Excerpt
  readonly code?: string
  readonly noise?: true
}

export interface Total extends Pick<Example, 'kind' | 'where' | 'code' | 'noise'> {
  readonly count: number
}

/** One side of a comparison. */
export interface RecordedSide {
  /** HTTP status. */
  readonly status: number
  /** google.rpc code of an error. */
  readonly code?: number
  /** Duration in milliseconds. */
  readonly ms?: number
}

/** One comparison of both sides that was worth a record (design §1). */
export interface Comparison extends Caller {
  readonly kind: 'comparison'
  readonly id: string
  /** RFC 3339. */
  readonly at: string
  readonly operation: string
  /** The replica that compared. A process without a store has none. */
  readonly replica?: string
  /** The mode that served the client. */
  readonly mode: string
  readonly shape: string
  /** What both sides were asked, or the write that v2 failed. A match, and records of older versions, lack it. */
  readonly request?: SentRequest
  /**
   * What was read: the client's own request, or the resource that it had just written. After a `write` that v2 failed, nothing was: a write
   * reaches one side, so that v1's answer to it is unknown.
   */
  readonly check: 'read' | 'after-write' | 'write'
  readonly outcome: ComparisonOutcome
  /** It repeats what was observed in the last ten minutes, with another outcome (evidence §2). */
  readonly repeat?: true
  /** Requests that it stands for, if chance chose it (evidence §3). */
  readonly weight?: number
  readonly reason?: string
  /** Differences by kind and place. Complete, even where `examples` is not. */
  readonly totals: readonly Total[]
  readonly examples: readonly Example[]
  /** Both answers in short, if v2 failed. */
  readonly answers?: Excerpt
  /** Absent after a failed write. */
  readonly v1?: RecordedSide
  readonly v2: RecordedSide
  /** For a mismatch that repeats: what is needed to reproduce it (`crosswalk case`). */
  readonly exhibit?: Exhibit
}

/** Tells an entry from every other, in whichever file it is. Records of older versions lack it in all but comparisons. */
interface Identified {
  readonly id?: string
}

/** The v2 call that a write would have made; it was not made (design §7). */
export interface WouldSend extends Caller, Identified {
  readonly kind: 'would-send'
  readonly at: string
  readonly operation: string
  /** The replica that was asked. A process without a store has none. */
  readonly replica?: string
  readonly mode: string
  readonly shape: string
  readonly call: {
    readonly method: string
    readonly path: string
    readonly query: readonly (readonly [string, unknown])[]
    readonly body?: unknown
  }
}

/** Calls since the last such record, for the inventory. `protocol` (`grpc`, `grpc-web`, `connect`) is absent for REST. */
export interface TrafficEntry extends Caller, Identified {
  readonly kind: 'traffic'
  readonly at: string
  readonly operation: string
  readonly mode: string
  readonly protocol?: string
  readonly calls: number
  /** The kinds of requests among those that were looked at. */
  readonly requests?: readonly SampledKind[]
}

/** What was counted of one operation since the last such record, without a record of its own. */
export interface TallyEntry extends OperationTally, Identified {
  readonly kind: 'tally'
  readonly at: string
  readonly operation: string
}

/** A change of what the proxy does, or of what may be done next; `circuit` is one that opened. Log lines and metrics follow from notes. */
export interface Note extends Identified {
  readonly kind: 'note'
  readonly at: string
  readonly what: 'modes' | 'circuit' | 'circuit-closed' | 'restart' | 'rollout' | 'ready' | 'not-ready' | 'epoch' | 'conflict'
  readonly operation?: string
  readonly rollout?: string
  readonly text: string
  readonly by?: Actor
  /** What was in force before, and what is now, each in one line. */
  readonly from?: string
  readonly to?: string
  /** The version of the modes that a change of them made. */
  readonly version?: number
  /** The replica that noted it. A process without a store has none. */
  readonly replica?: string
  /** Grows with each note and each record of a rollout, whatever the clock says. Older versions lack it. */
  readonly nth?: number
}

/** One line of a record file. */
export type Entry = Comparison | WouldSend | TrafficEntry | TallyEntry | Note | RolloutEntry
