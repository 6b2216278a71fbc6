import { COLLAPSE, type Evidence, type OperationEvidence } from '../../migrate/evidence/evidence.ts'
import type { Entry } from '../../migrate/records/record.ts'
import type { StoreChange, Sums } from '../../store/store-change.ts'
import { evidenceChanges } from './evidence-changes.ts'
import { type EvidenceNames, fieldOf } from './evidence-names.ts'

/** Tells a store that ends with its process what was read back from records. */
export interface RestoredEvidence {
  /** Takes an entry that is read back. */
  entry(entry: Entry): void
  /** Returns what the store is to be told, at the first call. */
  changes(names: EvidenceNames): readonly StoreChange[]
}

/** `now` gives milliseconds since 1970. */
export function createRestored(evidence: Pick<Evidence, 'all'>, now: () => number): RestoredEvidence {
  let recent: Entry[] | undefined = []
  return {
    entry(entry) {
      if (entry.kind === 'comparison' && now() - Date.parse(entry.at) < COLLAPSE.windowMs) recent?.push(entry)
    },
    changes(names) {
      const claimed = (recent ?? []).flatMap((entry) => claimsOf(entry, names))
      const counted = recent ? evidence.all().flatMap((one) => countsOf(one, names)) : []
      recent = undefined
      return [...counted, ...claimed]
    },
  }
}

/** A pair that was observed in the last ten minutes is no observation again. */
function claimsOf(entry: Entry, names: EvidenceNames): readonly StoreChange[] {
  if (entry.kind !== 'comparison') return []
  const { operation, caller, shape, outcome } = entry
  const changes = evidenceChanges({ operation, caller, shape, outcome, at: Date.parse(entry.at) }, names)
  return changes.flatMap((change) => (change.kind === 'claim' ? [{ ...change, first: {}, again: {} }] : []))
}

/** Callers and shapes are not among them: nobody knows which of them come again. */
function countsOf(one: OperationEvidence, { evidence }: EvidenceNames): readonly StoreChange[] {
  const { operation, comparisons, n, bad, firstAt, lastAt, uncompared } = one
  const { bound: _, ...repeats } = one.repeats
  const outcomes = {
    ...{ match: one.matches, expected: one.expected, noise: one.noise, race: one.races, inconclusive: one.inconclusive },
    ...{ mismatch: one.mismatches, transient: one.transients, error: one.errors },
  }
  const fields = (prefix: string, counts: Sums) =>
    Object.fromEntries(Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [[fieldOf(prefix + what, operation), count]] : [])))
  const sums = { ...fields('', { comparisons, n, bad, ...outcomes }), ...fields('repeats.', repeats), ...fields('uncompared.', uncompared) }
  return [
    { kind: 'add', name: evidence, sums },
    { kind: 'least', name: evidence, sums: { [fieldOf('firstAt', operation)]: firstAt, [fieldOf('observedAt', operation)]: firstAt } },
    { kind: 'most', name: evidence, sums: { [fieldOf('lastAt', operation)]: lastAt } },
  ]
}
