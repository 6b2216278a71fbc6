import type { Group, Row } from './fault.ts'
import { observe } from './fault.ts'

/** Brings all faults about, one after the other, telling `note` of each. */
export async function runFaults(groups: readonly Group[], note: (row: Row) => void): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { name, faults } of groups) {
    for (const fault of faults) {
      const row = await observe(name, fault)
      rows.push(row)
      note(row)
    }
  }
  return rows
}
