import { whyUnread } from '../compare/captured-body.ts'
import { bodyOf, type Compare, MOST_FINDINGS, type SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import type { Both } from '../compare/json-path.ts'
import type { AskedRequest } from './asked-request.ts'
import type { ExpectedDifferences } from './expected.ts'
import type { Noise } from './noise.ts'

/** The outcome of one comparison. */
export type ComparisonOutcome =
  /** The answers are equal. */
  | 'match'
  /** Every difference is declared. */
  | 'expected'
  /** Every difference is declared or lies in a volatile member; at least one is volatile. */
  | 'noise'
  /** v1 changed between the two reads, so nothing is known. */
  | 'race'
  /** At least one difference has no explanation. */
  | 'mismatch'
  /** The answers differed, the difference was gone at the second asking, and nothing explains it. */
  | 'transient'
  /** v2 failed and v1 did not. */
  | 'error'
  /** The answers could not be compared: never a pass. */
  | 'inconclusive'

/** A difference and its explanation: a declared code, or noise. */
export interface Explained extends Finding {
  readonly code?: string
  readonly noise?: true
}

export interface Judgement {
  readonly outcome: ComparisonOutcome
  readonly findings: readonly Explained[]
  /** A sentence for the outcomes that need one: race, transient, error and inconclusive. */
  readonly reason?: string
  /** What both sides sent where v2 failed, unredacted. */
  readonly answers?: Both
}

/** Judges two answers to one request, both in v1 space. It is pure: `tally` counts the judgements that are recorded. */
export type Judge = (asked: AskedRequest, v1: SeenAnswer, v2: SeenAnswer) => Judgement

export function createJudge(compare: Compare, expected: ExpectedDifferences, noise: Noise): Judge {
  return (asked, v1, v2) => {
    const failed = failureOf(v1, v2)
    if (failed) return failed
    const compared = compare(asked.operation, v1, v2)
    if ('inconclusive' in compared) return { outcome: 'inconclusive', findings: [], reason: compared.inconclusive }
    const findings = compared.findings.map((finding) => explain(asked, finding, expected, noise))
    const outcome = outcomeOf(findings)
    if (!compared.isCut || outcome === 'mismatch') return { outcome, findings }
    return { outcome: 'inconclusive', findings, reason: `the answers differ in ${MOST_FINDINGS} places or more, so not all were compared` }
  }
}

/** Returns the differences that nothing explains. */
export function unexplained(findings: readonly Explained[]): readonly Explained[] {
  return findings.filter(({ code, noise }) => code === undefined && !noise)
}

/** True if the two answers were compared, so that a declared difference could have shown. */
export function isJudged({ outcome }: Pick<Judgement, 'outcome'>): boolean {
  return outcome !== 'inconclusive' && outcome !== 'error'
}

/** Tells the declarations about a recorded comparison, so that they do not become stale. */
export function tally(expected: ExpectedDifferences, operation: string, judgement: Judgement): void {
  if (!isJudged(judgement)) return
  const codes = judgement.findings.flatMap(({ code }) => code ?? [])
  expected.count(operation, codes)
}

function explain(asked: AskedRequest, finding: Finding, expected: ExpectedDifferences, noise: Noise): Explained {
  const code = expected.codeOf(asked, finding)
  if (code !== undefined) return { ...finding, code }
  return noise.isNoise(asked.operation.id, finding) ? { ...finding, noise: true } : finding
}

function outcomeOf(findings: readonly Explained[]): ComparisonOutcome {
  if (unexplained(findings).length > 0) return 'mismatch'
  if (findings.length === 0) return 'match'
  return findings.some(({ noise }) => noise) ? 'noise' : 'expected'
}

/** Judges answers that say nothing about the translation, before their bodies are compared. */
function failureOf(v1: SeenAnswer, v2: SeenAnswer): Judgement | undefined {
  const inconclusive = (reason: string): Judgement => ({ outcome: 'inconclusive', findings: [], reason })
  const stranger = strangeness(v1, v2)
  if (stranger !== undefined) return inconclusive(stranger)
  if (hasFailed(v1) || v1.status === 429) return inconclusive(`v1 itself ${whatDid(v1)}`)
  if (v1.status === 499 || v2.status === 499) return inconclusive('the client went away')
  // The status is that of an answer that was broken off.
  if (hasFailed(v2) && v2.body.kind === 'too-large') return inconclusive(whyUnread('v2', v2.body))
  if (!hasFailed(v2) && v2.status !== 429) return undefined
  const reason = `v2 ${whatDid(v2)} where v1 ${v1.did ?? `answered ${v1.status}`}`
  return { outcome: 'error', findings: [], reason, answers: { v1: bodyOf(v1), v2: bodyOf(v2) } }
}

function whatDid({ did, status }: SeenAnswer): string {
  return did ?? `answered HTTP ${status}`
}

/** Says why the answers may be answers to a stranger. Anyone could otherwise fill the evidence or open a circuit. */
function strangeness(v1: SeenAnswer, v2: SeenAnswer): string | undefined {
  if (v1.status === UNAUTHENTICATED) return v2.status === UNAUTHENTICATED ? 'neither side knew the caller' : 'v1 did not know the caller'
  if (v2.status === UNAUTHENTICATED) return 'v2 did not know the caller'
  // v2 may have refused too, had it been asked.
  return v1.status === FORBIDDEN && v2.unasked ? 'v1 refused the caller, and v2 was not asked' : undefined
}

const UNAUTHENTICATED = 401
const FORBIDDEN = 403

/** A 501 says that v1 never had the feature, so it is no failure. */
function hasFailed({ status }: SeenAnswer): boolean {
  return status >= 500 && status !== 501
}
