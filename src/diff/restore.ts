import type { Evidence } from './evidence.ts'
import type { Expected } from './expected.ts'
import type { Inventory } from './inventory.ts'
import { isJudged } from './judge.ts'
import type { Comparison, Entry } from './record.ts'

/** What is told of a migration, and can be told again from its records: after a restart, or by a command. */
export interface Ledger {
  readonly evidence: Evidence
  readonly inventory: Inventory
  readonly expected: Expected
}

/** Counts one recorded entry as it was counted when it was made. Entries come in the order of their times. */
export function restore(entry: Entry, { evidence, inventory, expected }: Ledger): void {
  const at = Date.parse(entry.at)
  if (Number.isNaN(at)) return
  if (entry.kind === 'traffic') inventory.use({ ...entry, at })
  if (entry.kind !== 'comparison') return
  evidence.observe(entry, at)
  if (isJudged(entry)) expected.count(entry.operation, codesOf(entry))
  if (entry.outcome === 'mismatch') inventory.mismatch(entry.caller, entry.operation)
}

function codesOf({ totals }: Comparison): readonly string[] {
  return totals.flatMap(({ code, count }) => (code === undefined ? [] : Array<string>(count).fill(code)))
}
