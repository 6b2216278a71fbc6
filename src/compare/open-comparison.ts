import { describeWith } from '../admin/report/difference.ts'
import { createReporter, type Report } from '../admin/report/report.ts'
import { migrationSettings } from '../config/parts.ts'
import { ignoredDifference } from '../migrate/compare/expected.ts'
import { TARGET } from '../migrate/evidence/cutover.ts'
import { createMigration } from '../migrate/migration.ts'
import { createSampler, everyNth } from '../migrate/observe/observe.ts'
import { CLOCKS } from '../serve/bounds.ts'
import type { Operation } from '../tables/operation.ts'
import { createStrays } from './call/ask-function.ts'
import type { ComparisonOptions } from './comparison-group.ts'
import type { ComparisonMeans } from './comparison-means.ts'
import { type ComparisonSettings, comparisonConfig } from './comparison-settings.ts'

/** What a group of functions stands on. */
export interface OpenComparison {
  readonly means: ComparisonMeans
  /** Grows with each pair of functions. */
  readonly operations: Operation[]
  report(): Report
  /** Why earlier records could not be read; undefined if they could. */
  unread(): string | undefined
  close(): Promise<void>
}

/** Puts together what judges calls: a migration without services. Throws an Error with a sentence for each setting that is wrong. */
export function openComparison(settings: ComparisonSettings, options: ComparisonOptions): OpenComparison {
  const { target = TARGET, clocks = CLOCKS, random = Math.random, isName = isCodeName } = options
  if (!(target > 0 && target < 1)) throw new Error(`target is ${target}, but it must be more than 0 and less than 1.`)
  const config = comparisonConfig(settings)
  const warn = guarded(options.warn ?? ((text) => process.emitWarning(text)), () => {})
  const own = migrationSettings(config)
  const operations: Operation[] = []
  const declarations = config['diff.ignore'].map((rule, nth) => ignoredDifference(rule, rule.name ?? String(nth + 1)))
  const migration = createMigration({
    ...own,
    queue: own.queue,
    operations,
    declarations,
    isName,
    configFile: undefined,
    warn,
    random,
    ...clocks,
  })
  const reporter = createReporter({ ledger: migration.ledger, operations, describe: describeWith(declarations) })
  migration.follow(reporter.add)
  if (options.onEntry) migration.counting.followOwn(guarded(options.onEntry, (error) => warn(`onEntry threw ${String(error)}`)))
  let unread: string | undefined
  const restored = migration.restore().catch((error: unknown) => {
    unread = `Earlier records could not be read: ${(error as Error).message}`
    warn(unread)
  })
  let closed: Promise<void> | undefined
  const startedAt = clocks.now()
  const means: ComparisonMeans = {
    migration,
    sampler: createSampler({ perSecond: () => own.perSecond, now: clocks.ticks, random }, migration.queue.places),
    strays: createStrays(config['diff.waiting']),
    learning: everyNth(() => own.learnEvery),
    clocks,
    shown: { limit: config['diff.answerBytes'], isName },
    deadlineMs: config['diff.deadlineMs'],
    showsValues: config['records.values'] === 'shown',
    restored,
    isClosed: () => closed !== undefined,
    onMismatch: guarded(options.onMismatch ?? (() => {}), (error) => warn(`onMismatch threw ${String(error)}`)),
    warn: onceEach(warn),
  }
  return {
    means,
    operations,
    report() {
      const circuits = migration.report.openCircuits()
      const inForce = { ...migration.modes.state(), startedAt, rollouts: [], circuits, v1First: [], hasV1: true }
      // What is in force speaks of a proxy: its commands would lead nowhere.
      const { now: _, ...report } = reporter.report({ target, now: clocks.now(), inForce })
      return report
    },
    unread: () => unread,
    close() {
      closed ??= restored.then(migration.close)
      return closed
    },
  }
}

/** A function of the user must not stop a comparison. */
function guarded<T>(tell: (value: T) => void, failed: (error: unknown) => void): (value: T) => void {
  return (value) => {
    try {
      tell(value)
    } catch (error) {
      failed(error)
    }
  }
}

/** Most different warnings. */
const WARNINGS = 100

function onceEach(warn: (text: string) => void): ComparisonMeans['warn'] {
  const told = new Set<string>()
  return (name, text) => {
    const said = `${name}: ${text}.`
    if (told.has(said) || told.size >= WARNINGS) return
    told.add(said)
    warn(said)
  }
}

const NAME = /^[A-Za-z_$][\w$]{0,39}$/
const NUMBER = /\d{4}/

/** True for what looks like a name that a programmer gave. */
function isCodeName(name: string): boolean {
  return NAME.test(name) && !NUMBER.test(name)
}
