import type { Comparison, Entry } from '../../../src/migrate/records/record.ts'

/** Returns the comparisons among recorded entries, by the hash of their callers. */
export function byCaller(entries: readonly Entry[]): ReadonlyMap<string, readonly Comparison[]> {
  const found = new Map<string, Comparison[]>()
  for (const entry of entries) {
    if (entry.kind !== 'comparison') continue
    found.set(entry.caller, [...(found.get(entry.caller) ?? []), entry])
  }
  return found
}
