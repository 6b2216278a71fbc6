import type { Inventory } from '../clients/inventory.ts'
import type { Evidence } from '../evidence/evidence.ts'
import { repeatOf } from '../evidence/operation-counts.ts'
import type { ExpectedDifferences } from '../judge/expected.ts'
import { isJudged } from '../judge/judge.ts'
import type { Comparison, Entry, TrafficEntry } from './record.ts'

/** The state of a migration that its records can restore, after a restart or in a command. */
export interface Ledger {
  readonly evidence: Evidence
  readonly inventory: Inventory
  readonly expected: ExpectedDifferences
}

/**
 * Counts one recorded entry as it was counted when it was made. Entries must come in the order of their times.
 * Returns false for an entry without a time, and for a comparison that is a repeat among those of all replicas.
 */
export function restore(entry: Entry, { evidence, inventory, expected }: Ledger): boolean {
  const at = Date.parse(entry.at)
  if (Number.isNaN(at)) return false
  if (entry.kind === 'traffic') countTraffic(entry, inventory, at)
  if (entry.kind === 'tally') evidence.add(entry.operation, entry, at)
  if (entry.kind !== 'comparison') return true
  const counted = evidence.observe(entry, at) !== undefined
  // Another replica has counted its pair and outcome: a process that had served the clients of both would have counted a repeat.
  if (!counted) evidence.add(entry.operation, { comparisons: 1, repeats: repeatOf(entry) }, at)
  if (isJudged(entry)) expected.count(entry.operation, codesOf(entry))
  inventory.compared(entry)
  return counted
}

function countTraffic(entry: TrafficEntry, inventory: Inventory, at: number): void {
  const { caller, operation, mode, protocol, calls, requests = [] } = entry
  inventory.use(entry, { operation, mode, protocol, calls, at })
  for (const { samples, ...kind } of requests) inventory.look(caller, operation, kind, samples)
}

function codesOf({ totals }: Comparison): readonly string[] {
  return totals.flatMap(({ code, count }) => (code === undefined ? [] : Array<string>(count).fill(code)))
}
