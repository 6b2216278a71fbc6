import type { Call } from '../../tables/turn.ts'
import { exampleOf } from '../excerpt/example-of.ts'
import type { Explained, Judgement } from '../judge/judge.ts'
import type { Redacted } from '../redact/redacted.ts'
import type { Comparison, Total, WouldSend } from './record.ts'

/** What is known of a comparison besides its judgement. */
export type Circumstances = Omit<Comparison, 'kind' | 'outcome' | 'reason' | 'totals' | 'examples'>

/** Maximum examples in one record, one for each kind and place. */
const EXAMPLES = 20

export function comparisonOf(judgement: Judgement, circumstances: Circumstances, redacted: Redacted): Comparison {
  const groups = groupsOf(judgement)
  return {
    kind: 'comparison',
    ...circumstances,
    outcome: judgement.outcome,
    ...(judgement.reason !== undefined && { reason: judgement.reason }),
    totals: groups.map(([first, count]) => ({ ...labelOf(first), count })),
    examples: shownFindings(judgement).map((finding) => ({ ...labelOf(finding), ...exampleOf(finding, redacted) })),
  }
}

/** The first finding of each kind and place, and how many there are. */
type Groups = readonly (readonly [first: Explained, count: number])[]

function groupsOf({ findings }: Judgement): Groups {
  const groups = new Map<string, { readonly first: Explained; count: number }>()
  for (const finding of findings) {
    const key = `${finding.kind} ${finding.where} ${finding.code ?? finding.noise ?? ''}`
    const group = groups.get(key)
    if (group) group.count += 1
    else groups.set(key, { first: finding, count: 1 })
  }
  return [...groups.values()].map(({ first, count }) => [first, count])
}

/** Returns the findings of which a record has examples, in their order. */
export function shownFindings(judgement: Judgement): readonly Explained[] {
  return groupsOf(judgement)
    .slice(0, EXAMPLES)
    .map(([first]) => first)
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
