import type { Inventory } from '../clients/inventory.ts'
import type { Evidence } from '../evidence/evidence.ts'
import { isDifference } from '../evidence/observation.ts'
import type { ExpectedDifferences } from '../judge/expected.ts'
import { isJudged } from '../judge/judge.ts'
import type { Comparison, Entry } from './record.ts'

/** The state of a migration that its records can restore, after a restart or in a command. */
export interface Ledger {
  readonly evidence: Evidence
  readonly inventory: Inventory
  readonly expected: ExpectedDifferences
}

/**
 * Counts one recorded entry as it was counted when it was made. Entries must come in the order of their times.
 * Returns false for an entry without a time, and for a comparison that the evidence has counted already.
 */
export function restore(entry: Entry, { evidence, inventory, expected }: Ledger): boolean {
  const at = Date.parse(entry.at)
  if (Number.isNaN(at)) return false
  if (entry.kind === 'traffic') inventory.use(entry, { operation: entry.operation, mode: entry.mode, calls: entry.calls, at })
  if (entry.kind === 'tally') evidence.add(entry.operation, entry, at)
  if (entry.kind !== 'comparison') return true
  const counted = evidence.observe(entry, at) !== undefined
  if (isJudged(entry)) expected.count(entry.operation, codesOf(entry))
  if (isDifference(entry.outcome)) inventory.mismatch(entry.caller, entry.operation)
  return counted
}

function codesOf({ totals }: Comparison): readonly string[] {
  return totals.flatMap(({ code, count }) => (code === undefined ? [] : Array<string>(count).fill(code)))
}
