import type { Comparison, Example, Total } from '../migrate/records/record.ts'
import type { Difference, DifferenceState, ExampleReport } from './difference.ts'

/** What one comparison adds to one difference. */
export interface Sighting extends Pick<Difference, 'key' | 'state' | 'kind' | 'where' | 'code' | 'findings'> {
  readonly example?: ExampleReport
}

/** Returns the differences that a comparison shows. One without findings that is no match shows one difference, named by its reason. */
export function sightingsOf(comparison: Comparison): readonly Sighting[] {
  const { outcome, reason = 'no reason was recorded', totals } = comparison
  if (totals.length > 0) return totals.map((total) => sightingOf(comparison, total))
  if (outcome !== 'error' && outcome !== 'race' && outcome !== 'inconclusive') return []
  const state = outcome === 'error' ? 'failed' : outcome === 'race' ? 'race' : 'open'
  return [{ key: `${state} ${outcome} ${reason}`, state, kind: outcome, where: reason, findings: 1, example: exampleOf(comparison) }]
}

function sightingOf(comparison: Comparison, total: Total): Sighting {
  const { kind, where, code, count } = total
  const state = stateOf(comparison, total)
  const example = comparison.examples.find((one) => one.kind === kind && one.where === where && one.code === code)
  return {
    key: [state, kind, where, ...(code === undefined ? [] : [code])].join(' '),
    state,
    kind,
    where,
    ...(code !== undefined && { code }),
    findings: count,
    ...(example && { example: exampleOf(comparison, example) }),
  }
}

function stateOf({ outcome }: Comparison, { code, noise }: Total): DifferenceState {
  if (outcome === 'race') return 'race'
  if (code !== undefined) return 'declared'
  if (noise) return 'noise'
  return outcome === 'transient' ? 'transient' : 'unexplained'
}

function exampleOf(comparison: Comparison, example?: Example): ExampleReport {
  const { id, at, caller, subject, replica, mode, shape, check, request, reason, answers, v1, v2 } = comparison
  const around = example ? example.around : answers
  return {
    id,
    at: Date.parse(at),
    caller,
    ...(subject !== undefined && { subject }),
    ...(replica !== undefined && { replica }),
    mode,
    shape,
    check,
    ...(request && { request }),
    ...(example && placeOf(example)),
    ...(around && { around }),
    ...(v1 && { v1Side: v1 }),
    v2Side: v2,
    ...(reason !== undefined && { reason }),
  }
}

function placeOf(example: Example): Pick<ExampleReport, 'pointer' | 'v1' | 'v2' | 'differsAt' | 'row'> {
  const { at, differsAt, row } = example
  return {
    pointer: at,
    ...(Object.hasOwn(example, 'v1') && { v1: example.v1 }),
    ...(Object.hasOwn(example, 'v2') && { v2: example.v2 }),
    ...(differsAt !== undefined && { differsAt }),
    ...(row !== undefined && { row }),
  }
}
