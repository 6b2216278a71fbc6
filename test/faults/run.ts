import { type Group, observe, type Row } from './fault.ts'

/** Causes all faults, one after the other; `note` gets each result and how many seconds it took. */
export async function runFaults(groups: readonly Group[], note: (row: Row, seconds: number) => void): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const { name, faults } of groups) {
    for (const fault of faults) {
      const begun = performance.now()
      const row = await observe(name, fault)
      rows.push(row)
      note(row, (performance.now() - begun) / 1000)
    }
  }
  return rows
}
