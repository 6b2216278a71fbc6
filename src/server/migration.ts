import type { Logger } from 'pino'
import type { Agent } from 'undici'
import type { FleetAnswers } from '../admin/fleet-routes.ts'
import { describeWith } from '../admin/report/difference.ts'
import { createReporter, type FleetCounted, type Report } from '../admin/report/report.ts'
import { callTimes, compatSettings, migrationSettings } from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import type { DescribedDeclaration } from '../migrate/compare/expected.ts'
import { TARGET } from '../migrate/evidence/cutover.ts'
import { createMigration, type Migration, type MigrationSettings } from '../migrate/migration.ts'
import type { Comparison } from '../migrate/records/record.ts'
import type { RecordFile } from '../migrate/records/record-file.ts'
import type { Clocks } from '../serve/bounds.ts'
import { isRead } from '../serve/sides.ts'
import { createUnsharedReads } from '../serve/upstream/send.ts'
import { createAskV1, createReadV1 } from '../serve/upstream/v1.ts'
import type { Mapping } from '../tables/operation.ts'
import { operationsOf, type Tables } from '../tables/tables.ts'
import { logNotes } from './note-log.ts'

interface AskCarriers {
  readonly pool: Agent
  /** Connections for comparison only: a side that hangs must not block those that clients wait for. */
  readonly askPool: Agent
  readonly log: Logger
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  readonly clocks: Clocks
  /** The name of this process among those of its fleet; undefined without a store. */
  readonly replica?: string | undefined
  /** Writes the record file in place of this process, if it does not do it itself. */
  readonly records: RecordFile | undefined
}

/** Builds the modes and everything that compares. */
export function assembleMigration(
  config: Config,
  v2: string,
  tables: Tables,
  declarations: readonly DescribedDeclaration[],
  { pool, askPool, log, file, clocks, records, replica }: AskCarriers,
): Migration {
  const base = config['upstream.v1']
  const settings = migrationSettings(config)
  // A copy of the settings would not change with them.
  const given: Omit<MigrationSettings, keyof typeof settings> & Pick<MigrationSettings, 'records'> = {
    records: { ...settings.records, writer: records },
    configFile: file,
    replica,
    operations: operationsOf(tables),
    declarations,
    v1:
      base === undefined
        ? undefined
        : {
            ask: createAskV1({ pool, base, answerMs: config['limits.deadlineMs'] }),
            readForDiff: createReadV1({ pool: askPool, base, answerMs: settings.answerMs }),
            unsharedReads: createUnsharedReads({
              pool: askPool,
              base: v2,
              times: callTimes(config),
              answerBytes: config['limits.answerBytes'],
              errors: tables.errors,
            }),
            translate: compatSettings(config, tables),
          },
    ...clocks,
    random: Math.random,
    warn: (text) => log.warn(text),
  }
  const migration = createMigration(Object.assign(settings, given))
  migration.onNote(logNotes(log))
  return migration
}

/** Makes the report: of what this process has counted, or of what is given. */
export interface ReportOf {
  report(counted?: FleetCounted): Report
  /** Takes a comparison of another replica. */
  readonly hear: (comparison: Comparison) => void
}

/** Collects the data of the report page from every recorded entry, and says what is in force. */
export function reportOf(
  { ledger, follow, report: known, modes }: Migration,
  mappings: readonly Mapping[],
  declarations: readonly DescribedDeclaration[],
  { emulated, 'upstream.v1': v1 }: Pick<Config, 'emulated' | 'upstream.v1'>,
): ReportOf {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const v1First = emulated === 'v1-first' ? operations.filter((one) => one.kind === 'emulated' && isRead(one)).map(({ id }) => id) : []
  const reporter = createReporter({ ledger, operations, describe: describeWith(declarations) })
  follow(reporter.add)
  const startedAt = Date.now()
  const report = (counted?: FleetCounted) => {
    const inForce = {
      ...modes.state(),
      startedAt,
      rollouts: modes.rollouts(),
      circuits: known.openCircuits(),
      v1First,
      hasV1: v1 !== undefined,
    }
    return reporter.report({ target: TARGET, now: Date.now(), inForce, counted })
  }
  return { report, hear: reporter.add }
}

/** Returns what makes the report: of all replicas, if they share a store. */
export function reportNowOf(
  { report, hear }: ReportOf,
  answers: Pick<FleetAnswers, 'counted' | 'onComparison'> | undefined,
): () => Report | Promise<Report> {
  if (!answers) return () => report()
  answers.onComparison(hear)
  return async () => report(await answers.counted())
}
