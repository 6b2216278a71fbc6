import type { Logger } from 'pino'
import type { Agent } from 'undici'
import { compatSettings, migrationSettings } from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import { TARGET } from '../diff/cutover/cutover.ts'
import { createMigration, type Migration, type MigrationSettings } from '../modes/assemble.ts'
import { isRead } from '../modes/serve/backend.ts'
import { describeWith } from '../report/describe-difference.ts'
import type { Report } from '../report/report.ts'
import { createReporter } from '../report/reporter.ts'
import type { Mapping } from '../tables/operations/operation.ts'
import { createAskV1 } from '../upstream/ask-v1.ts'
import { createUnsharedReads } from '../upstream/v2/unshared-reads.ts'
import type { DescribedDeclaration } from './declarations.ts'
import { logNotes } from './note-log.ts'

interface AskCarriers {
  readonly pool: Agent
  /** Connections for comparison only: a side that hangs must not block those that clients wait for. */
  readonly askPool: Agent
  readonly log: Logger
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  readonly clocks: Clocks
}

/** The times that migrations go by. */
export type Clocks = Pick<MigrationSettings, 'now' | 'ticks' | 'repeat'>

export const CLOCKS: Clocks = {
  now: Date.now,
  ticks: () => performance.now(),
  repeat(run, ms) {
    const timer = setInterval(run, ms).unref()
    return () => clearInterval(timer)
  },
}

/** Builds the modes and everything that compares. */
export function assembleMigration(
  config: Config,
  v2: string,
  mappings: readonly Mapping[],
  declarations: readonly DescribedDeclaration[],
  { pool, askPool, log, file, clocks }: AskCarriers,
): Migration {
  const base = config['upstream.v1']
  const settings = migrationSettings(config)
  const migration = createMigration({
    ...settings,
    configFile: file,
    operations: mappings.flatMap(({ operations }) => operations),
    declarations,
    v1:
      base === undefined
        ? undefined
        : {
            ask: createAskV1({ pool, base, answerMs: config['limits.deadlineMs'] }),
            askForDiff: createAskV1({ pool: askPool, base, answerMs: settings.answerMs }),
          },
    unsharedReads: createUnsharedReads({ pool: askPool, base: v2, answerBytes: config['limits.answerBytes'] }),
    translate: compatSettings(config),
    ...clocks,
    random: Math.random,
    warn: (text) => log.warn(text),
  })
  migration.onNote(logNotes(log))
  return migration
}

/** Collects the data of the report page from every recorded entry, and says what is in force. */
export function reportOf(
  { ledger, follow, report, modes }: Migration,
  mappings: readonly Mapping[],
  declarations: readonly DescribedDeclaration[],
  { emulated, 'upstream.v1': v1 }: Pick<Config, 'emulated' | 'upstream.v1'>,
): () => Report {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const v1First = emulated === 'v1-first' ? operations.filter((one) => one.kind === 'emulated' && isRead(one)).map(({ id }) => id) : []
  const reporter = createReporter({ ledger, operations, describe: describeWith(declarations) })
  follow(reporter.add)
  const startedAt = Date.now()
  return () => {
    const inForce = {
      ...modes.state(),
      startedAt,
      rollouts: modes.rollouts(),
      circuits: report.openCircuits(),
      v1First,
      hasV1: v1 !== undefined,
    }
    return reporter.report({ target: TARGET, now: Date.now(), inForce })
  }
}
