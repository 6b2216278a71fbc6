import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { describeWith } from '../../src/admin/report/difference.ts'
import { type ReadSources, type Report, readReport } from '../../src/admin/report/report.ts'
import type { Config } from '../../src/app/config/settings.ts'
import type { Entry } from '../../src/migrate/records/record.ts'
import { startStage } from '../stage/stage.ts'
import { HOUR, lines, START } from './entries.ts'

export const sources: ReadSources = {
  operations: mappings.flatMap((mapping) => mapping.operations),
  declarations: differences,
  describe: describeWith(differences),
  target: 0.001,
  now: START + 8 * 24 * HOUR,
}

/** Creates a folder that is deleted after the test. */
export async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'report-'))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** Starts a proxy that compares everything, with the sandbox as v1 and v2. It is stopped after the test. */
export async function proxy(settings: Partial<Config> = {}) {
  const modes = { default: 'diff-v1' as const, rules: [], testers: [] }
  const stage = await startStage({ modes, 'log.level': 'silent', ...settings })
  onTestFinished(() => stage.close())
  return {
    adminUrl: stage.server.adminUrl,
    /** Sends a read, and waits until it is compared. */
    async ask(path: string) {
      await stage.request('GET', path)
      await stage.server.idle()
    },
  }
}

/** Returns the report of these entries. */
export async function reportOf(entries: readonly Entry[], members: Partial<ReadSources> = {}): Promise<Report> {
  const path = join(await folder(), 'records.ndjson')
  await writeFile(path, lines(entries))
  return readReport([path], { ...sources, ...members })
}
