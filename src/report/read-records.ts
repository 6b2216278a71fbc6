import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInventory } from '../diff/clients/inventory.ts'
import { createEvidence } from '../diff/evidence/evidence.ts'
import { createExpected, type Declaration } from '../diff/judge/expected.ts'
import { type ReadCount, readEntries } from '../diff/records/read-entries.ts'
import { type Ledger, restore } from '../diff/records/restore.ts'
import type { Operation } from '../tables/operations/operation.ts'
import type { Report } from './report.ts'
import { createReporter, type Describe } from './reporter.ts'

export interface ReadSources {
  readonly operations: readonly Operation[]
  readonly declarations: readonly Declaration[]
  readonly describe: Describe
  readonly target: number
  /** Milliseconds since 1970. */
  readonly now: number
}

/** Builds the report of record files. A folder stands for the record files in it. Rejects if one cannot be read. */
export async function readReport(
  paths: readonly string[],
  { operations, declarations, describe, target, now }: ReadSources,
): Promise<Report> {
  const ledger: Ledger = {
    evidence: createEvidence(() => now),
    inventory: createInventory(operations),
    expected: createExpected(declarations),
  }
  const reporter = createReporter({ ledger, operations, describe })
  const count: ReadCount = { entries: 0, skipped: 0 }
  for (const path of await oldestFirst(paths)) {
    for await (const entry of readEntries(path, count)) if (restore(entry, ledger)) reporter.add(entry)
  }
  return reporter.report({ target, now, skipped: count.skipped })
}

/** Matches record files, also those that were renamed when they were full. */
const RECORDS = /\.ndjson(?:\.\d+)?$/

async function filesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = await readdir(path)
  return names.filter((name) => RECORDS.test(name)).map((name) => join(path, name))
}

/** Sorts the files so that entries come in the order of their times. The files of one proxy follow each other. */
async function oldestFirst(paths: readonly string[]): Promise<readonly string[]> {
  const files = [...new Set((await Promise.all(paths.map(filesAt))).flat())]
  const dated = await Promise.all(files.map(async (file) => ({ file, at: await firstTime(file) })))
  return dated.sort((a, b) => a.at - b.at).map(({ file }) => file)
}

async function firstTime(file: string): Promise<number> {
  for await (const { at } of readEntries(file, { entries: 0, skipped: 0 })) return Date.parse(at) || 0
  return 0
}
