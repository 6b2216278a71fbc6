import type { Call } from '../../tables/plan/plan.ts'
import type { Judgement } from '../judge/judge.ts'
import type { Redacted } from '../redact/redacted.ts'
import type { Comparison, Example, WouldSend } from './record.ts'

/** What is known of a comparison besides its judgement. */
export type Circumstances = Omit<Comparison, 'kind' | 'outcome' | 'reason' | 'totals' | 'examples'>

/** Maximum examples in one record, one for each kind and place. */
const EXAMPLES = 20

export function comparisonOf(judgement: Judgement, circumstances: Circumstances, redacted: Redacted): Comparison {
  const groups = new Map<string, Judgement['findings'][number][]>()
  for (const finding of judgement.findings) {
    const key = `${finding.kind} ${finding.where} ${finding.code ?? finding.noise ?? ''}`
    const group = groups.get(key)
    if (group) group.push(finding)
    else groups.set(key, [finding])
  }
  const first = [...groups.values()].flatMap((group) => group.slice(0, 1))
  return {
    kind: 'comparison',
    ...circumstances,
    outcome: judgement.outcome,
    ...(judgement.reason !== undefined && { reason: judgement.reason }),
    totals: [...groups.values()].flatMap((group) => group.slice(0, 1).map((one) => ({ ...labelOf(one), count: group.length }))),
    examples: first.slice(0, EXAMPLES).map((finding) => exampleOf(finding, redacted)),
  }
}

type Explained = Judgement['findings'][number]

function labelOf({ kind, where, code, noise }: Explained) {
  return { kind, where, ...(code !== undefined && { code }), ...(noise && { noise }) }
}

function exampleOf(finding: Explained, redacted: Redacted): Example {
  const name = finding.where.split('/').findLast((segment) => segment !== '*') ?? ''
  const side = (value: unknown) => redacted.value(value, finding.kind === 'order' ? 'id' : name)
  return {
    ...labelOf(finding),
    at: redacted.pointer(finding.at, finding.where),
    ...(finding.v1 !== undefined && { v1: side(finding.v1) }),
    ...(finding.v2 !== undefined && { v2: side(finding.v2) }),
  }
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
