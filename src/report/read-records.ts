import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInventory } from '../migrate/clients.ts'
import { createExpected, type Declaration } from '../migrate/compare/expected.ts'
import { createEvidence } from '../migrate/evidence/evidence.ts'
import { type Ledger, mergedEntries, nothingRead, restore } from '../migrate/records/record-file.ts'
import type { Operation } from '../tables/operation.ts'
import type { Report } from './report.ts'
import { createReporter, type Describe } from './reporter.ts'

export interface ReadSources {
  readonly operations: readonly Operation[]
  readonly declarations: readonly Declaration[]
  readonly describe: Describe
  readonly target: number
  /** True asks whether v1 can be switched off. Default: v1 stays. */
  readonly withoutV1?: boolean
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Builds the report of record files. A folder stands for the record files in it. How entries are spread over the files, and how the files
 * overlap, makes no difference. Rejects if a file cannot be read.
 */
export async function readReport(
  paths: readonly string[],
  { operations, declarations, describe, now, ...question }: ReadSources,
): Promise<Report> {
  const ledger: Ledger = {
    evidence: createEvidence(() => now),
    inventory: createInventory(operations),
    expected: createExpected(declarations, () => now),
  }
  const reporter = createReporter({ ledger, operations, describe })
  const count = nothingRead()
  for await (const entry of mergedEntries(await filesIn(paths), count)) if (restore(entry, ledger)) reporter.add(entry)
  return reporter.report({ ...question, now, read: count })
}

/** Matches record files, also those that were renamed when they were full. */
const RECORDS = /\.ndjson(?:\.\d+)?$/

async function filesIn(paths: readonly string[]): Promise<readonly string[]> {
  return [...new Set((await Promise.all(paths.map(filesAt))).flat())]
}

async function filesAt(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => RECORDS.test(name))
  if (names.length === 0) throw new Error(`The folder ${path} holds no record file (*.ndjson).`)
  return names.map((name) => join(path, name))
}
