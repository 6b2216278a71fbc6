import { isReadBack } from '../../tables/operations.ts'
import type { Use } from '../clients/uses.ts'
import { moreNeeded, noEvidence, type OperationEvidence } from '../evidence/evidence.ts'
import { type EvidenceStanding, reasonOf, standingOf } from '../evidence/standing.ts'
import { wrongOf } from '../evidence/wrong.ts'
import { many } from '../many.ts'
import type { Caller } from '../records/record.ts'

/**
 * `inside`: at 95 %, fewer answers than the target are wrong. `outside`: more were wrong. `inconclusive`: too little is known, never a
 * pass. `v1-only`: v2 cannot answer it. `unverifiable`: a write that v2 answers and no read can show, so that no evidence is possible.
 */
export type Standing = EvidenceStanding | 'v1-only' | 'unverifiable'

/** Calls of one operation by one client. */
export interface ClientCalls extends Caller {
  readonly calls: number
}

export interface OperationVerdict {
  /** Operation id, or the name of a use that only v1 answers (`createUseOf`). */
  readonly operation: string
  readonly standing: Standing
  /** True if it keeps the verdict from being ready. */
  readonly blocks: boolean
  /** One sentence that gives the reason. */
  readonly reason: string
  /** Clean observations that are still needed; undefined where none is possible. */
  readonly needed: number | undefined
  /** Requests of clients, compared or not. */
  readonly calls: number
  /** Most calls first. */
  readonly clients: readonly ClientCalls[]
  readonly evidence?: OperationEvidence
}

/** What is known of one operation. */
export interface OperationCase extends Pick<OperationVerdict, 'calls' | 'clients'> {
  readonly id: string
  readonly use: Use | undefined
  readonly evidence: OperationEvidence | undefined
  /** Why its circuit is open now, if it is. */
  readonly openCircuit: string | undefined
  /** Why a rollout of it turned back, if one did. */
  readonly turnedBack: string | undefined
}

interface Aim {
  readonly target: number
  readonly withoutV1: boolean
}

export function verdictOf(one: OperationCase, aim: Aim): OperationVerdict {
  const { id, use, evidence, openCircuit, turnedBack, calls, clients } = one
  const seen = { operation: id, calls, clients, ...(evidence && { evidence }) }
  if (use?.kind === 'v1-only') {
    return { ...seen, standing: 'v1-only', blocks: aim.withoutV1, reason: v1OnlyReason(one, use, aim), needed: undefined }
  }
  const stop = openCircuit === undefined ? turnedBack : `circuit is open. ${openCircuit}.`
  if (stop !== undefined) {
    // A week of clean evidence outweighs the last minutes, in which v2 may have broken.
    const isInside = evidence === undefined || standingOf(evidence, aim.target) === 'inside'
    const reason = `${isInside ? `${id}: its` : `${reasonOf(evidence, aim.target)} Its`} ${stop}`
    return { ...seen, standing: 'outside', blocks: true, reason, needed: moreNeeded(evidence ?? noEvidence(id), aim.target) }
  }
  if (use?.readBack && !isReadBack(use.readBack) && !isFailing(evidence, aim.target)) {
    const reason = `${id} cannot be verified (${usesOf(one)}): ${use.readBack.unverifiable}.`
    return { ...seen, standing: 'unverifiable', blocks: false, reason, needed: undefined }
  }
  const needed = moreNeeded(evidence ?? noEvidence(id), aim.target)
  if (!evidence) {
    const reason = `${id} had ${many(calls, 'request')} and no comparison: put it into a diff mode.`
    return { ...seen, standing: 'inconclusive', blocks: true, reason, needed }
  }
  const standing = standingOf(evidence, aim.target)
  return { ...seen, standing, blocks: standing !== 'inside', reason: reasonOf(evidence, aim.target), needed }
}

/** True if v2 failed too many writes whose effect cannot be read. Nothing else is known of them. */
function isFailing(evidence: OperationEvidence | undefined, target: number): boolean {
  return evidence !== undefined && wrongOf(evidence) > target * (evidence.n + evidence.inconclusive)
}

function v1OnlyReason(one: OperationCase, { because }: Use, { withoutV1 }: Aim): string {
  if (!withoutV1) return `${one.id} stays with v1 (${usesOf(one)}): ${because}.`
  return `${one.id} needs a v1 service (${usesOf(one)}${named(one.clients)}): ${because}.`
}

function usesOf({ calls, clients }: OperationCase): string {
  return `${many(calls, 'call')} by ${many(clients.length, 'client')}`
}

/** Maximum clients that a sentence names. */
const NAMED = 5

function named(clients: readonly ClientCalls[]): string {
  if (clients.length === 0) return ''
  const names = clients.slice(0, NAMED).map(({ caller, subject, calls }) => `${subject ?? caller} ${calls}`)
  return `: ${[...names, ...(clients.length > NAMED ? [`${clients.length - NAMED} more`] : [])].join(', ')}`
}
