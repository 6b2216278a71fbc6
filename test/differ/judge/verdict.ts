import type { Comparison, Example } from '../../../src/migrate/records/record.ts'
import type { Place } from './places.ts'

/** What Crosswalk made of one spoiled answer. */
export type Verdict =
  /** A visible one was found, in its operation and at its place. */
  | { readonly is: 'found' }
  /** Nobody could see it, and it was not flagged. */
  | { readonly is: 'silent' }
  /** Missed, found elsewhere, or flagged though nobody could see it. */
  | { readonly is: 'missed' | 'misplaced' | 'flagged'; readonly reason: string }

/** Outcomes that count against v2. */
const AGAINST: ReadonlySet<string> = new Set(['mismatch', 'error', 'transient'])

/** Judges what was recorded of one caller, who sent one request to an operation, by the places where its answer was visibly spoiled. */
export function verdictOf(operation: string, places: readonly Place[], recorded: readonly Comparison[]): Verdict {
  const against = recorded.find(({ outcome }) => AGAINST.has(outcome))
  if (recorded.length === 0) return { is: 'missed', reason: 'not compared' }
  if (places.length === 0) return against ? { is: 'flagged', reason: describe(against) } : { is: 'silent' }
  if (!against) return { is: 'missed', reason: recorded.map(describe).join('; ') }
  const right = against.operation === operation && isAt(against, places)
  return right
    ? { is: 'found' }
    : { is: 'misplaced', reason: `${against.operation}: ${describe(against)}, seen at ${listed(places.map(({ at }) => at))}` }
}

/** Tells whether every difference without an explanation is at a place that the oracle saw, or around or inside one. */
function isAt(comparison: Comparison, places: readonly Place[]): boolean {
  if (comparison.outcome === 'error') return comparison.v1?.status !== comparison.v2.status && places.some(({ at }) => at === '')
  const unexplained = unexplainedOf(comparison)
  return unexplained.length > 0 && unexplained.every((example) => places.some(({ at }) => isNear(at, example.at)))
}

function unexplainedOf({ examples }: Comparison): readonly Example[] {
  return examples.filter(({ code, noise }) => code === undefined && !noise)
}

function isNear(one: string, other: string): boolean {
  if (one === other) return true
  // The answer as a whole encloses everything, which would place nothing.
  const [outer, inner] = one.length < other.length ? [one, other] : [other, one]
  return outer !== '' && inner.startsWith(`${outer}/`)
}

/** Describes a comparison for people. */
export function describe({ outcome, reason, examples, v1, v2 }: Comparison): string {
  const codes = [...new Set(examples.flatMap(({ code, noise }) => code ?? (noise ? 'noise' : [])))]
  const at = examples.filter(({ code }) => code === undefined).map((example) => `${example.kind} ${example.at}`)
  const parts = [...codes, ...(reason === undefined ? [] : [reason]), ...at, `${v1?.status ?? 'not asked'}×${v2.status}`]
  return `${outcome} (${listed(parts)})`
}

function listed(parts: readonly string[]): string {
  return parts.length > 4 ? `${parts.slice(0, 4).join(', ')} and ${parts.length - 4} more` : parts.join(', ')
}
