import type { Operation } from '../../tables/operations/operation.ts'
import { createUseOf, type Use } from '../clients/uses.ts'
import { many } from '../many.ts'
import { percent } from '../percent.ts'
import { moreNeeded, type OperationEvidence, sampleOf } from './evidence.ts'

/**
 * `inside`: at 95 %, fewer answers than the target are wrong. `outside`: more were wrong. `inconclusive`: too little is known, never a
 * pass.
 */
export type Standing = 'inside' | 'outside' | 'inconclusive' | 'v1-only'

export interface OperationVerdict {
  readonly operation: string
  readonly standing: Standing
  /** One sentence that gives the reason. */
  readonly reason: string
  /** Clean observations that are still needed; undefined for an operation that v2 cannot answer. */
  readonly needed: number | undefined
}

export interface CutoverVerdict {
  /** True if there was traffic and every operation with traffic is inside. */
  readonly ready: boolean
  readonly target: number
  readonly operations: readonly OperationVerdict[]
  /** One sentence for each operation that is not inside; one sentence in all if `ready`. */
  readonly reasons: readonly string[]
}

/** The usual target: 0.1 % wrong answers. */
export const TARGET = 0.001

export interface CutoverQuestion {
  /** Acceptable share of wrong answers, 0 < target < 1. */
  readonly target: number
  readonly evidence: readonly OperationEvidence[]
  /** v1 requests by operation id, compared or not. */
  readonly traffic: ReadonlyMap<string, number>
  readonly operations: readonly Operation[]
}

/** Judges whether every operation with traffic can move to v2. */
export function judgeCutover({ target, evidence, traffic, operations }: CutoverQuestion): CutoverVerdict {
  const useOf = createUseOf(operations)
  const seen = new Map(evidence.map((one) => [one.operation, one]))
  const ids = [...new Set([...traffic.keys(), ...seen.keys()])].sort()
  const verdicts = ids.map((id) => verdictOf(id, useOf(id), seen.get(id), traffic.get(id) ?? 0, target))
  const inTheWay = verdicts.filter(({ standing }) => standing !== 'inside').map(({ reason }) => reason)
  if (verdicts.length === 0) return { ready: false, target, operations: [], reasons: ['No v1 request was seen yet: nothing is known.'] }
  const done = `All ${verdicts.length} operations with traffic have a bound of ${percent(target)} or less.`
  return { ready: inTheWay.length === 0, target, operations: verdicts, reasons: inTheWay.length > 0 ? inTheWay : [done] }
}

function verdictOf(
  id: string,
  operation: Use | undefined,
  evidence: OperationEvidence | undefined,
  calls: number,
  target: number,
): OperationVerdict {
  if (operation?.kind === 'v1-only') {
    return { operation: id, standing: 'v1-only', reason: `${id} needs a v1 service: ${operation.because}.`, needed: undefined }
  }
  if (!evidence) {
    const reason = `${id} had ${many(calls, 'request')} and no comparison: put it into a diff mode.`
    return { operation: id, standing: 'inconclusive', reason, needed: moreNeeded(NOTHING, target) }
  }
  const standing = standingOf(evidence, target)
  return { operation: id, standing, reason: SENTENCES[standing](evidence, target), needed: moreNeeded(evidence, target) }
}

const NOTHING = { n: 0, mismatches: 0, transients: 0, errors: 0 } as OperationEvidence

function standingOf(evidence: OperationEvidence, target: number): Exclude<Standing, 'v1-only'> {
  if (evidence.bound <= target) return 'inside'
  const { n, bad } = sampleOf(evidence)
  return bad > target * n ? 'outside' : 'inconclusive'
}

const SENTENCES: Readonly<Record<Exclude<Standing, 'v1-only'>, (evidence: OperationEvidence, target: number) => string>> = {
  inside: ({ operation, n, bound }, target) =>
    `${operation}: bound ${percent(bound)} ≤ ${percent(target)} after ${many(n, 'observation')}.`,
  outside: (evidence, target) =>
    `${evidence.operation}: ${many(evidence.mismatches, 'mismatch', 'mismatches')}, ${many(evidence.transients, 'transient difference')} and ` +
    `${many(evidence.errors, 'error')} in ` +
    `${many(evidence.n, 'observation')}; mend them, then ${further(evidence, target)}.`,
  inconclusive: (evidence, target) =>
    `${evidence.operation}: INCONCLUSIVE after ${many(evidence.n, 'observation')} (bound ${percent(evidence.bound)}); ${further(evidence, target)}.`,
}

function further(evidence: OperationEvidence, target: number): string {
  return `${moreNeeded(evidence, target)} more clean requests until ≤ ${percent(target)}`
}
