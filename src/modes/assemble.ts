import { createKindOf } from '../diff/clients/request-kind.ts'
import type { CutoverQuestion, CutoverVerdict } from '../diff/cutover/cutover.ts'
import type { Declaration } from '../diff/judge/expected.ts'
import { nothingRead } from '../diff/records/merged-entries.ts'
import { earlierEntries, openRecords, type RecordsSettings } from '../diff/records/open-records.ts'
import type { Entry } from '../diff/records/record.ts'
import { createRecorder } from '../diff/records/recorder.ts'
import { type Ledger, restore } from '../diff/records/restore.ts'
import { createRedactor } from '../diff/redact/redact.ts'
import type { Clocks } from '../serve/bounds.ts'
import { createPositions } from './choose/circuit-position.ts'
import type { ModeRules } from './choose/rules.ts'
import { type Counting, createListeners, type EntryListener, followed } from './entry-listeners.ts'
import { createJournal, type Journal, type JournalSettings } from './journal.ts'
import { createReport, type MigrationReport } from './migration-report.ts'
import { createModes, type Emulated, type Modes } from './modes.ts'
import type { Notes } from './notes.ts'
import { createQueue, type Queue, type QueueSettings } from './observe/queue.ts'
import { observeServices, type ServiceObserverSettings, type ServiceSides } from './observe/service-sides.ts'
import { createReadinessWatch, judgeReadiness, NO_WATCH } from './readiness-watch.ts'
import { createRollouts, type Rollouts } from './rollout/rollouts.ts'
import { type Budget, createBudget } from './serve/budget.ts'
import { verifiable } from './verify/verifiable.ts'

export interface MigrationSettings
  extends Omit<JournalSettings, 'recorder' | 'onComparison' | 'isProbed'>,
    ServiceObserverSettings,
    Clocks {
  readonly rules: ModeRules
  readonly emulated: Emulated
  /** The path of the configuration file, if there is one. */
  readonly configFile: string | undefined
  /** The v1 side. Without it, v2 answers everything. */
  readonly v1?: ServiceSides | undefined
  /** Reports a defect of Crosswalk. */
  readonly warn: (text: string) => void
  readonly declarations: readonly Declaration[]
  readonly queue: QueueSettings
  readonly fallbacksPerMinute: number
  readonly records: RecordsSettings
}

/** The modes, and everything that is learnt in them. */
export interface Migration extends Notes {
  readonly modes: Modes
  readonly report: MigrationReport
  readonly ledger: Ledger
  /** What was learnt, of which a fleet shares some with other replicas. */
  readonly journal: Journal
  /** The comparisons that wait and run. */
  readonly queue: Queue
  readonly budget: Budget
  /** Passes every entry on to a listener too: those recorded from now on, and those that `restore` reads back. */
  follow(listener: EntryListener): void
  /** Passes an entry of another replica on to the listeners of `follow`. It is not recorded here. */
  hear(entry: Entry): void
  readonly counting: Counting
  readonly rollouts: Rollouts
  /** Returns the verdict on what all replicas have counted. */
  readonly judge: (counted: Pick<CutoverQuestion, 'evidence' | 'traffic'>) => CutoverVerdict
  /** Counts earlier records again. Call it before the first request. */
  restore(): Promise<void>
  /** Resolves when no comparison waits or runs. */
  idle(): Promise<void>
  /** Gives up comparisons. Resolves when the records are written. */
  close(): Promise<void>
}

/** Milliseconds between two records of traffic. */
const FLUSH_EVERY = 60_000

/** Milliseconds between two looks at rollouts. They measure the time themselves. */
export const LOOK_EVERY = 1000

export function createMigration(settings: MigrationSettings): Migration {
  const { rules, v1, operations, records, subjects, emulated, configFile, random, now } = settings
  const file = openRecords(records)
  const all = createListeners()
  const own = createListeners()
  const recorder = followed(createRecorder({ memory: records.memory, ...(file && { file }) }), own.tell, () => modes.flush())
  const isProbed = () => settings.probePercent > 0
  const journal = createJournal({ ...settings, isProbed, recorder, onComparison: (client, one) => rollouts.compared(client, one) })
  const queue = createQueue(settings.queue, (error) => settings.warn(`a comparison failed: ${(error as Error).stack ?? error}`))
  const budget = createBudget(settings.fallbacksPerMinute, settings.now)
  const side = v1 && { ask: v1.ask, observer: observeServices(v1, settings, queue, journal), budget }
  const positions = createPositions({ isOpen: journal.circuit.isOpen, percent: () => settings.probePercent, random })
  const kindOf = createKindOf(createRedactor({ values: settings.values, key: journal.redaction.key.text }))
  const isShared = settings.replica !== undefined
  const rollouts = createRollouts(rules, { journal, ...verifiable(settings), now, ticks: settings.ticks, isShared })
  const modes = createModes(rules, { journal, v1: side, positions, rollouts, subjects, emulated, configFile, kindOf, now })
  const flush = () => {
    modes.flush()
    journal.tallies.flush()
    rollouts.flush()
  }
  const ends = [settings.repeat(flush, FLUSH_EVERY), settings.repeat(rollouts.look, LOOK_EVERY)]
  const report = createReport({ journal, queue, skipped: side?.observer.skipped, budget })
  const judged = { openCircuits: report.openCircuits, rollouts: rollouts.all, operations }
  const readiness = isShared ? NO_WATCH : createReadinessWatch({ ...judged, journal, now })
  for (const listener of [readiness.entry, rollouts.entry]) all.follow(listener)
  own.follow(all.tell)

  return {
    modes,
    report,
    ledger: journal,
    journal,
    queue,
    budget,
    follow: all.follow,
    hear: all.tell,
    counting: { followOwn: own.follow, followTallies: journal.tallies.follow, oldestMs: queue.oldestMs },
    rollouts,
    judge: (counted) => judgeReadiness(judged, counted),
    note: journal.note,
    onNote: journal.onNote,
    async restore() {
      const count = nothingRead()
      for await (const entry of earlierEntries(records, count)) if (restore(entry, journal)) all.tell(entry)
      readiness.start()
      if (count.entries > 0) journal.note({ what: 'restart', text: `${count.entries} records were read back`, by: { source: 'start' } })
      rollouts.start()
    },
    idle: queue.idle,
    async close() {
      for (const end of ends) end()
      await queue.close()
      flush()
      readiness.close()
      await recorder.close()
    },
  }
}
