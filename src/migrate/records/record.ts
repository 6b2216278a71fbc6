import type { Operation, V1Request } from '../../tables/operation.ts'
import type { Call } from '../../tables/turn.ts'
import type { Dialect } from '../../tables/uid.ts'
import type { SampledKind } from '../clients.ts'
import type { Finding, SeenAnswer } from '../compare/compare.ts'
import { answersOf, type Excerpt, exampleOf, excerptOf } from '../compare/excerpt.ts'
import type { AskedRequest, ComparisonOutcome, Explained, Judgement } from '../compare/judge.ts'
import { type Redacted, recordedParameter, type SentRequest, sentRequest } from '../compare/redact.ts'
import type { OperationTally } from '../evidence/evidence.ts'

/** What changed what the proxy does: a person, the program around it, the configuration file, the start, a rollout or a circuit. */
export interface Actor {
  readonly source: 'admin' | 'program' | 'file' | 'start' | 'rollout' | 'circuit'
  /** The name of the admin token, never the token. */
  readonly token?: string
  /** The remote address of the connection to the admin port. */
  readonly address?: string
  /** The path of the configuration file. */
  readonly path?: string
}

/** Names an actor in a line: `file crosswalk.json`, `admin port, token ops, from 127.0.0.1`. */
export function describeActor({ source, token, address, path }: Actor): string {
  const known = source === 'admin' ? 'admin port' : source
  const name = path === undefined ? known : `${known} ${path}`
  return [name, ...(token === undefined ? [] : [`token ${token}`]), ...(address === undefined ? [] : [`from ${address}`])].join(', ')
}

/** Tells an entry from every other, in whichever file it is. Records of older versions lack it in all but comparisons. */
interface Identified {
  readonly id?: string
  /** The epoch in which it was recorded (`epochHash`). Records of older versions lack it. */
  readonly epoch?: string
}

/** Where a rollout stands, so that a restart goes on there. `nth` as in notes. */
export interface RolloutEntry extends Identified {
  readonly kind: 'rollout'
  readonly at: string
  readonly name: string
  /** Tells the rollout from another one of the same name. */
  readonly digest: string
  readonly nth?: number
  /** Its state and the evidence of its step, as the engine of rollouts reads them. Absent once the modes have it no more. */
  readonly saved?: unknown
}

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
export interface Comparison extends Caller, Identified {
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

/** A read that a person had asked of both sides (`crosswalk rehearse`). It counts for its kind of request, and for no traffic. */
export interface Rehearsal extends Caller, Identified {
  readonly kind: 'rehearsal'
  readonly id: string
  readonly at: string
  readonly operation: string
  /** The replica that asked. A process without a store has none. */
  readonly replica?: string
  readonly shape: string
  readonly outcome: ComparisonOutcome
  readonly reason?: string
  /** Differences by kind and place. */
  readonly totals: readonly Total[]
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
  /** Nothing proves who calls a path that no table has: the calls of all strangers to it, which v1 answered well. */
  readonly stranger?: true
  /** The products that the client called itself, in the requests that were looked at. */
  readonly agents?: readonly string[]
  /** The kinds of requests among those that were looked at. */
  readonly requests?: readonly SampledKind[]
}

/** What was counted of one operation since the last such record, without a record of its own. */
interface TallyEntry extends OperationTally, Identified {
  readonly kind: 'tally'
  readonly at: string
  readonly operation: string
}

/** Every kind of note. */
export const NOTE_KINDS = [
  ...(['modes', 'circuit', 'circuit-closed', 'rollout', 'ready', 'not-ready'] as const),
  ...(['restart', 'epoch', 'store-lost', 'records-lost', 'conflict', 'clock', 'acceptance'] as const),
] as const

/** A change of what the proxy does, or of what may be done next; `circuit` is one that opened. Log lines and metrics follow from notes. */
export interface Note extends Identified {
  readonly kind: 'note'
  readonly at: string
  readonly what: (typeof NOTE_KINDS)[number]
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
export type Entry = Comparison | Rehearsal | WouldSend | TrafficEntry | TallyEntry | Note | RolloutEntry

/** One v2 call of a translated request, and v2's answer. */
export interface Exchanged {
  readonly call: Call
  readonly status: number
  readonly body: unknown
}

/** All that is needed to reproduce a mismatch, redacted: v1's answer, and v2's answer to each call. */
export interface Exhibit {
  readonly dialect: Dialect
  /** The operation that was read. */
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: readonly (readonly [name: string, values: readonly string[]])[]
  readonly v1: { readonly status: number; readonly body: unknown }
  readonly v2: readonly { readonly method: string; readonly path: string; readonly status: number; readonly body: unknown }[]
}

/** What is known when a mismatch is confirmed. */
export interface Observed {
  readonly request: V1Request
  readonly v1: SeenAnswer
  readonly calls: readonly Exchanged[]
}

/** Maximum characters of one exhibit; a larger one is not recorded. */
const LARGEST = 64 * 1024

/**
 * `redacted` must not cut lists, and knows the words of all operations, because the calls of one may read what another describes. Returns
 * undefined if the exhibit is too large or has no calls.
 */
export function exhibitOf(operation: string, dialect: Dialect, { request, v1, calls }: Observed, redacted: Redacted): Exhibit | undefined {
  if (calls.length === 0 || v1.body.kind !== 'json') return undefined
  const exhibit: Exhibit = {
    dialect,
    operation,
    params: Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, redacted.path(value)])),
    query: [...request.query].map(([name, values]) => [
      redacted.word(name),
      values.map((value) => recordedParameter(value, name, redacted)),
    ]),
    v1: { status: v1.status, body: redacted.value(v1.body.value, '') },
    v2: calls.map(({ call, status, body }, nth) => ({
      method: call.method,
      path: redacted.path(call.path),
      status,
      body: withCursor(body, redacted.value(body, ''), nth),
    })),
  }
  return JSON.stringify(exhibit).length > LARGEST ? undefined : exhibit
}

/** Hides a page token like every secret, but numbers it. Otherwise tokens of different pages would look the same. */
function withCursor(original: unknown, shown: unknown, nth: number): unknown {
  const token = (original as { nextPageToken?: unknown } | null)?.nextPageToken
  return typeof token === 'string' && token !== '' ? { ...(shown as object), nextPageToken: `page-${nth + 1}` } : shown
}

/** What is known of a comparison besides its judgement. */
type Circumstances = Omit<Comparison, 'kind' | 'outcome' | 'reason' | 'totals' | 'examples'>

/** Maximum examples in one record, one for each kind and place. */
const EXAMPLES = 20

export function comparisonOf(judgement: Judgement, circumstances: Circumstances, redacted: Redacted): Comparison {
  const groups = groupsOf(judgement)
  return {
    kind: 'comparison',
    ...circumstances,
    outcome: judgement.outcome,
    ...(judgement.reason !== undefined && { reason: judgement.reason }),
    totals: totalsOf(judgement),
    examples: groups.slice(0, EXAMPLES).map(({ first }) => ({ ...labelOf(first), ...exampleOf(first, redacted) })),
  }
}

/** Returns the differences by kind and place. */
export function totalsOf(judgement: Judgement): readonly Total[] {
  return groupsOf(judgement).map(({ first, count }) => ({ ...labelOf(first), count }))
}

/** Returns the first finding of each kind and place, and how many there are. */
function groupsOf({ findings }: Judgement): readonly { readonly first: Explained; readonly count: number }[] {
  const groups = new Map<string, { readonly first: Explained; count: number }>()
  for (const finding of findings) {
    const key = `${finding.kind} ${finding.where} ${finding.code ?? finding.noise ?? ''}`
    const group = groups.get(key)
    if (group) group.count += 1
    else groups.set(key, { first: finding, count: 1 })
  }
  return [...groups.values()]
}

function labelOf({ kind, where, code, noise }: Explained): Omit<Total, 'count'> {
  return { kind, where, ...(code !== undefined && { code }), ...(noise && { noise }) }
}

/** Returns the v2 call that a write would have made, redacted. */
export function recordedCall({ method, path, query, body }: Call, redacted: Redacted): WouldSend['call'] {
  return {
    method,
    path: redacted.path(path),
    query: query.map(([name, value]) => [name, redacted.value(value, name)] as const),
    ...(body !== undefined && { body: redacted.value(body, '') }),
  }
}

/** Most characters of all excerpts in one record. */
export const MOST = 8 * 1024

/**
 * Adds what people need to look at a difference: the request, and the JSON around each example. A match gets nothing, because this costs
 * time and space. `about` is the operation whose answers were compared.
 */
export function detailed(
  comparison: Comparison,
  judgement: Judgement,
  asked: AskedRequest,
  about: Operation,
  redactedOf: (operation: Operation) => Redacted,
): Comparison {
  if (comparison.outcome === 'match') return comparison
  const redacted = redactedOf(about)
  const answers = judgement.answers && answersOf(judgement.answers, redacted)
  const groups = groupsOf(judgement)
  let left = MOST
  const examples = comparison.examples.map((example, nth) => {
    const finding = groups[nth]?.first
    const around = finding && left > 0 ? excerptOf(finding, redacted) : undefined
    left -= around ? JSON.stringify(around).length : 0
    return around && left >= 0 ? { ...example, around } : example
  })
  return { ...comparison, request: sentRequest(asked, redactedOf(asked.operation)), examples, ...(answers && { answers }) }
}
