import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { type FleetReplica, newestOf, type UnreadReplica } from '../fleet/exchange.ts'
import { type Fleet, type Leader, otherServices } from '../fleet/fleet.ts'
import { type Obedience, type PutEnd, type PutModes, STORE_MS } from '../fleet/modes.ts'
import type { Client } from '../migrate/clients.ts'
import type { ModeRules } from '../migrate/modes/rules.ts'
import type { Actor, Comparison } from '../migrate/records/record.ts'
import type { ComparisonQuery } from '../migrate/records/record-file.ts'
import { sendError } from '../serve/http/v1-surface.ts'
import type { FleetCounted } from './report/report.ts'

export const MALFORMED = new ApiError('INVALID_ARGUMENT', 'If-Match must be * or the etag of an answer, with its quotes')

const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g

/**
 * Compares `If-Match` with the present tag (RFC 9110 §13.1.1): no header, `*` and a list that holds the tag are met. So is a weak tag: a
 * reverse proxy that compresses makes one of each, and a tag names a version of the rules, not bytes. `ifMatch('"a-1", "a-2"', '"a-2"')`
 * is `met`.
 */
export function ifMatch(header: string | undefined, tag: string): 'met' | 'failed' | 'malformed' {
  if (header === undefined || header.trim() === '*') return 'met'
  if (!header.match(TAGS) || !/^[\s,]*$/.test(header.replaceAll(TAGS, ''))) return 'malformed'
  return hasTag(header, tag) ? 'met' : 'failed'
}

/** True if `If-None-Match` lists the present tag, weak or not (RFC 9110 §13.1.2). */
export function hasTag(header: string | undefined, tag: string): boolean {
  return [...(header ?? '').matchAll(TAGS)].some(([one]) => one.replace(/^W\//, '') === tag)
}

/** What all replicas know together. */
export interface FleetAnswers {
  clients(): Promise<FleetAnswer<readonly Client[]>>
  comparisons(query: ComparisonQuery): Promise<FleetAnswer<readonly Comparison[]>>
  /** What a report is made of. */
  counted(): Promise<FleetCounted>
  /** Is called for each comparison of another replica that a report reads. */
  onComparison(listener: (comparison: Comparison) => void): void
}

/** An answer of the fleet, or of this replica alone if the store does not answer. */
export interface FleetAnswer<T> {
  readonly answer: T
  /** What is missing in it, in sentences. Empty if it is that of all replicas, up to the question. */
  readonly problems: readonly string[]
}

/** Tells in a header what is missing, because the body is a list. */
export const INCOMPLETE = 'x-crosswalk-incomplete'

/** Characters of that header: clients refuse longer heads. Who shares the store may make any number of sentences necessary. */
const LONGEST_TEXT = 2000

/** Returns the body of an answer, and says in a header what is missing in it. */
export function toldBy<T>(reply: FastifyReply, { answer, problems }: FleetAnswer<T>): T {
  if (problems.length === 0) return answer
  const told = problems.join(' ').replace(/[^ -~]/g, '?')
  reply.header(INCOMPLETE, told.length <= LONGEST_TEXT ? told : `${told.slice(0, LONGEST_TEXT)}... (${problems.length} sentences in all)`)
  return answer
}

/**
 * Puts rules in force on all replicas, or with `?scope=replica` on this one alone while the store does not answer. Returns the
 * replicas that have them; undefined if an error was sent: with 412 what `overtaken` returns.
 */
export async function putShared(
  request: FastifyRequest,
  reply: FastifyReply,
  { modes, needsMatch }: { readonly modes: PutModes; readonly needsMatch: boolean },
  rules: ModeRules,
  by: Actor,
  overtaken: () => ApiError,
): Promise<Obedience | undefined> {
  const header = request.headers['if-match']
  const { scope } = request.query as { readonly scope?: unknown }
  if (scope !== undefined && scope !== 'replica') throw new ApiError('INVALID_ARGUMENT', 'scope must be replica, or be left out')
  const isHere = scope === 'replica'
  const refuse = (error: ApiError, status: number) => {
    sendError(reply, error, status)
    return undefined
  }
  if (header === undefined && needsMatch && !isHere) return refuse(UNCONDITIONAL, 428)
  const end: PutEnd = await (isHere ? modes.putHere(rules, by) : modes.put(rules, by, (tag) => ifMatch(header, `"${tag}"`) === 'met'))
  if (end.end === 'put') return { obeyed: end.obeyed, missing: end.missing }
  if (end.end === 'overtaken') return refuse(overtaken(), 412)
  if (end.end === 'late') throw lateStore(end.tookMs)
  throw end.end === 'up' ? STORE_ANSWERS : NO_STORE
}

/** google.rpc has no code for 428; the status says it. */
const UNCONDITIONAL = new ApiError(
  'FAILED_PRECONDITION',
  'all replicas share the modes: send the etag of GET /modes as If-Match, or If-Match: * to replace whatever is active',
)

const HERE = 'PUT /modes?scope=replica changes this replica alone, and proposes its modes to all once the store answers'

const NO_STORE = new ApiError(
  'UNAVAILABLE',
  `the store does not answer, so the modes of all replicas cannot be changed now; read GET /modes before you try again. ${HERE}`,
)

function lateStore(tookMs: number): ApiError {
  const late = `the store answers too late: its last answer took ${Math.round(tookMs)} ms, and a change of the modes waits for ${STORE_MS} ms`
  return new ApiError('UNAVAILABLE', `${late}, so nobody knows whether they changed; read GET /modes before you try again. ${HERE}`)
}

const STORE_ANSWERS = new ApiError('FAILED_PRECONDITION', 'the store answers: PUT /modes without scope changes all replicas')

export interface ReplicasSources {
  readonly fleet: Pick<Fleet, 'replicas' | 'readReplicas' | 'unread'>
  readonly leader: Pick<Leader, 'id'>
}

/** One process of the fleet as `GET /replicas` shows it. */
interface ReplicaRow extends Pick<FleetReplica, 'id' | 'name' | 'version' | 'unread' | 'seenMs' | 'waiting' | 'dropped' | 'lost'> {
  /** `silent` after three seconds without a heartbeat. */
  readonly state: 'live' | 'silent'
  /** True of the replica that answers. */
  readonly self: boolean
  /** True of the replica that decides about rollouts, and that sends notifications. */
  readonly leads: boolean
  /** How many versions of the modes it lacks. */
  readonly behind: number
  /** The settings by which it reaches other services than the replica that answers; absent if there are none. */
  readonly differs?: readonly string[]
  /** When it started. */
  readonly since: string
}

/** A process of another version of Crosswalk: it is there, and nobody knows more. */
interface UnreadRow extends Pick<ReplicaRow, 'id' | 'state' | 'self' | 'leads' | 'seenMs'> {
  readonly problem: string
}

const UNREAD =
  'It speaks a newer version of Crosswalk: its heartbeat cannot be read here, so nobody knows its modes, or what it has not handed over.'

/** Adds `GET /replicas`: who shares the store, as the last heartbeats tell. */
export function addReplicas(app: FastifyInstance, { fleet, leader }: ReplicasSources): void {
  app.get('/replicas', async () => {
    const rows = rowsOf(await fleet.readReplicas().catch(fleet.replicas), leader.id())
    return [...rows, ...fleet.unread().map((one) => unreadRowOf(one, leader.id()))]
  })
}

function unreadRowOf({ id, isLive, seenMs }: UnreadReplica, leader: string | undefined): UnreadRow {
  return { id, state: stateOf(isLive), self: false, leads: id === leader, seenMs: Math.round(seenMs), problem: UNREAD }
}

function stateOf(isLive: boolean): ReplicaRow['state'] {
  return isLive ? 'live' : 'silent'
}

function rowsOf(replicas: readonly FleetReplica[], leader: string | undefined): readonly ReplicaRow[] {
  const newest = newestOf(replicas)
  return replicas.map(({ id, name, isLive, isSelf, version, unread, seenMs, waiting, dropped, lost, since }) => ({
    ...{ id, name, state: stateOf(isLive), self: isSelf, leads: id === leader, version, behind: newest - version },
    ...(unread !== undefined && { unread }),
    ...differsIn(id, replicas),
    ...{ seenMs: Math.round(seenMs), waiting, dropped, lost, since: new Date(since).toISOString() },
  }))
}

function differsIn(id: string, replicas: readonly FleetReplica[]): Pick<ReplicaRow, 'differs'> {
  const differs = replicas.flatMap((one) => (one.id === id ? otherServices(one, replicas).map((service) => `upstream.${service}`) : []))
  return differs.length > 0 ? { differs } : {}
}
