import { isObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { Compare, SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import { pointerOf, rowOf } from '../compare/json-path.ts'
import type { AskedRequest } from './asked-request.ts'
import { type Judge, type Judgement, unexplained } from './judge.ts'
import type { Noise } from './noise.ts'

/** The answers to a request that did not match. */
export interface First {
  readonly v1: SeenAnswer
  readonly v2: SeenAnswer
  readonly judgement: Judgement
}

/** The answers to the same request when it was repeated, in this order. */
export interface Again {
  readonly v1: SeenAnswer
  readonly v2: SeenAnswer
  readonly v1Again: SeenAnswer
}

/** Settles a mismatch after the request was repeated. */
export type Settle = (asked: AskedRequest, first: First, again: Again) => Judgement

/**
 * Distinguishes a race from a mismatch (design §7). v2 was asked again between two reads of v1:
 * - v2 still differs, in a row that v1 did not change meanwhile: a mismatch.
 * - v2 still differs, but only where v1 itself changed: a race.
 * - v2 now agrees, and v1 has changed since the first time: a race.
 * - v2 now agrees, and only had further rows with ids: a race, because a row may have been created and deleted in between.
 * - v2 now agrees otherwise: v2 was wrong once, which is a transient difference.
 */
export function createSettle(judge: Judge, compare: Compare, noise: Noise): Settle {
  return (asked, first, again) => {
    const { operation } = asked
    const between = movement(compare, noise, operation, first.v1, again.v1)
    const around = movement(compare, noise, operation, again.v1, again.v1Again)
    const second = judge(asked, again.v1, again.v2)
    if (second.outcome === 'inconclusive' || second.outcome === 'error') return second
    if (!between || !around) return inconclusive('v1 could not be asked again')
    const still = unexplained(second.findings)
    const isExplained = explainedBy(around)
    if (still.some((finding) => !isExplained(finding))) return second
    if (still.length > 0) return race('v1 changed while v2 was asked', second)
    if (between.length > 0 || around.length > 0) return race('v1 changed between the two answers', first.judgement)
    if (unexplained(first.judgement.findings).every(isNewRow)) return race('rows came and went', first.judgement)
    return { ...first.judgement, outcome: 'transient', reason: 'v2 answered rightly when it was asked again, and v1 had not changed' }
  }
}

/** Returns what changed between two reads of v1, without noise; undefined if that is unknown. */
function movement(
  compare: Compare,
  noise: Noise,
  operation: Operation,
  before: SeenAnswer,
  after: SeenAnswer,
): readonly Finding[] | undefined {
  if (before.status >= 500 || after.status >= 500) return undefined
  const compared = compare(operation, before, after)
  return 'findings' in compared ? compared.findings.filter((finding) => !noise.isNoise(operation.id, finding)) : undefined
}

/**
 * Returns a test of whether one of these changes of v1 can explain a finding.
 * Within a list both must concern the same row, because a row is written as a whole.
 * Outside of every row (a total, a single resource) any change can explain it. Only a changed order explains a changed order.
 * The changes are indexed, because a list may have changed in every row.
 */
function explainedBy(moved: readonly Finding[]): (finding: Finding) => boolean {
  const reordered = moved.some(({ kind }) => kind === 'order')
  const paths = new Set(moved.filter(({ kind }) => kind !== 'order').map(({ path }) => path))
  const around = new Set([...paths].flatMap(upwards))
  return ({ kind, path }) => {
    if (reordered && kind === 'order') return true
    const row = rowOf(path)
    if (row === undefined) return paths.size > 0
    return around.has(row) || upwards(path).some((above) => paths.has(above))
  }
}

/** Returns a path and all its ancestors. */
function upwards(path: string): readonly string[] {
  const paths = [path]
  for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
    paths.push(path.slice(0, end))
    if (end === 0) break
  }
  return paths
}

/** True if v2 has a row more than v1, and the row has an id. Its id is not used again, so no other row can have hidden it. */
function isNewRow({ kind, path, v2 }: Finding): boolean {
  return kind === 'extra' && isObject(v2) && Object.values(v2).some((value) => path.endsWith(pointerOf([`[${String(value)}]`])))
}

function race(reason: string, { findings }: Judgement): Judgement {
  return { outcome: 'race', findings, reason }
}

function inconclusive(reason: string): Judgement {
  return { outcome: 'inconclusive', findings: [], reason }
}
