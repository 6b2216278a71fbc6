import type { Operation } from '../../tables/operations/operation.ts'
import type { Compare, Seen } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import type { Expected } from './expected.ts'
import type { Noise } from './noise.ts'

/** What one comparison came to. */
export type Outcome =
  /** Equal. */
  | 'match'
  /** Every difference is declared. */
  | 'expected'
  /** Every difference is declared, or one of a member that changes by itself. */
  | 'noise'
  /** v1 changed while the two were asked: nothing is known. */
  | 'race'
  /** A difference that nothing explains. */
  | 'mismatch'
  /** v2 failed where v1 did not. */
  | 'error'
  /** The answers could not be compared: never a pass. */
  | 'inconclusive'

/** A difference with what explains it: a declared code, or noise. */
export interface Explained extends Finding {
  readonly code?: string
  readonly noise?: true
}

export interface Judgement {
  readonly outcome: Outcome
  readonly findings: readonly Explained[]
  /** In words, for the outcomes that need them: race, error, inconclusive, and a mismatch that came and went. */
  readonly reason?: string
}

/** Judges two answers to one request, both in v1 space. Pure: `tally` counts what is finally recorded. */
export type Judge = (operation: Operation, v1: Seen, v2: Seen) => Judgement

export function createJudge(compare: Compare, expected: Expected, noise: Noise): Judge {
  return (operation, v1, v2) => {
    const failed = failureOf(v1, v2)
    if (failed) return failed
    const compared = compare(operation, v1, v2)
    if ('inconclusive' in compared) return { outcome: 'inconclusive', findings: [], reason: compared.inconclusive }
    const findings = compared.findings.map((finding) => explain(operation.id, finding, expected, noise))
    return { outcome: outcomeOf(findings), findings }
  }
}

/** The differences that nothing explains. */
export function unexplained(findings: readonly Explained[]): readonly Explained[] {
  return findings.filter(({ code, noise }) => code === undefined && !noise)
}

/** Whether the two answers were really compared, so that a declared difference could have shown. */
export function isJudged({ outcome }: Pick<Judgement, 'outcome'>): boolean {
  return outcome !== 'inconclusive' && outcome !== 'error'
}

/** Tells the declarations of a comparison that is recorded, so that they are not stale. */
export function tally(expected: Expected, operation: string, judgement: Judgement): void {
  if (!isJudged(judgement)) return
  const codes = judgement.findings.flatMap(({ code }) => code ?? [])
  expected.count(operation, codes)
}

function explain(operation: string, finding: Finding, expected: Expected, noise: Noise): Explained {
  const code = expected.codeOf(operation, finding)
  if (code !== undefined) return { ...finding, code }
  return noise.isNoise(operation, finding) ? { ...finding, noise: true } : finding
}

function outcomeOf(findings: readonly Explained[]): Outcome {
  if (unexplained(findings).length > 0) return 'mismatch'
  if (findings.length === 0) return 'match'
  return findings.some(({ noise }) => noise) ? 'noise' : 'expected'
}

/** Answers that say nothing about the translation, before their bodies are looked at. */
function failureOf(v1: Seen, v2: Seen): Judgement | undefined {
  const inconclusive = (reason: string): Judgement => ({ outcome: 'inconclusive', findings: [], reason })
  const stranger = strangeness(v1, v2)
  if (stranger !== undefined) return inconclusive(stranger)
  if (hasFailed(v1) || v1.status === 429) return inconclusive(`v1 itself answered HTTP ${v1.status}`)
  if (v1.status === 499 || v2.status === 499) return inconclusive('the client went away')
  if (hasFailed(v2) || v2.status === 429)
    return { outcome: 'error', findings: [], reason: `v2 answered HTTP ${v2.status} where v1 answered ${v1.status}` }
  return undefined
}

/** Why the answers may be those to a stranger: counting them would let anybody fill the evidence, or open a circuit. */
function strangeness(v1: Seen, v2: Seen): string | undefined {
  if (v1.status === UNAUTHENTICATED) return v2.status === UNAUTHENTICATED ? 'neither side knew the caller' : 'v1 did not know the caller'
  if (v2.status === UNAUTHENTICATED) return 'v2 did not know the caller'
  // v2 may have refused the same, had it been asked.
  return v1.status === FORBIDDEN && v2.unasked ? 'v1 refused the caller, and v2 was not asked' : undefined
}

const UNAUTHENTICATED = 401
const FORBIDDEN = 403

/** 501 says what v1 never had: nothing failed. */
function hasFailed({ status }: Seen): boolean {
  return status >= 500 && status !== 501
}
