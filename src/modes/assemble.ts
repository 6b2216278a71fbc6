import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createKindOf } from '../diff/clients/request-kind.ts'
import { isDifference } from '../diff/evidence/observation.ts'
import type { Declaration } from '../diff/judge/expected.ts'
import { mergedEntries, nothingRead } from '../diff/records/merged-entries.ts'
import type { Entry } from '../diff/records/record.ts'
import { checkRecordFile, createRecordFile, RECORD_FILE, type RecordFileSettings } from '../diff/records/record-file.ts'
import { createRecorder, type Recorder } from '../diff/records/recorder.ts'
import { type Ledger, restore } from '../diff/records/restore.ts'
import { createRedactor } from '../diff/redact/redact.ts'
import type { TranslateSettings } from '../translate/translated.ts'
import type { AskV1 } from '../upstream/ask-v1.ts'
import type { UnsharedReads } from '../upstream/v2/unshared-reads.ts'
import { createPositions, type ProbeSettings } from './choose/circuit-position.ts'
import type { ModeRules } from './choose/rules.ts'
import { createJournal, type JournalSettings } from './journal.ts'
import { createReport, type MigrationReport } from './migration-report.ts'
import { createModes, type Emulated, type Modes } from './modes.ts'
import type { Notes } from './notes.ts'
import { createAsk } from './observe/ask.ts'
import { createObserver, type ObserverSettings } from './observe/observer.ts'
import { createQueue, type QueueSettings } from './observe/queue.ts'
import { createReadinessWatch } from './readiness-watch.ts'
import { createRollouts } from './rollout/rollouts.ts'
import { createBudget } from './serve/budget.ts'
import { createReadingsOf } from './verify/reader.ts'

export interface MigrationSettings
  extends Omit<JournalSettings, 'recorder'>,
    Pick<ObserverSettings, 'learnEvery' | 'verifyWrites' | 'limit' | 'perSecond'>,
    Pick<ProbeSettings, 'random'> {
  readonly rules: ModeRules
  readonly emulated: Emulated
  /** The path of the configuration file, if there is one. */
  readonly configFile: string | undefined
  /** The v1 side. Without it, v2 answers everything. */
  readonly v1?: { readonly ask: AskV1; readonly askForDiff: AskV1 } | undefined
  /** Reads of v2 that are not shared with those of clients. */
  readonly unsharedReads: UnsharedReads
  /** Reports a defect of Crosswalk. */
  readonly warn: (text: string) => void
  readonly translate: TranslateSettings
  readonly declarations: readonly Declaration[]
  readonly queue: QueueSettings
  /** Milliseconds in which an asked side must answer. */
  readonly answerMs: number
  readonly fallbacksPerMinute: number
  readonly records: { readonly memory: number; readonly file?: Omit<RecordFileSettings, 'waiting'> | undefined }
}

type Listener = (entry: Entry) => void

/** The modes, and everything that is learnt in them. */
export interface Migration extends Notes {
  readonly modes: Modes
  readonly report: MigrationReport
  readonly ledger: Ledger
  /** Passes every entry on to a listener too: those recorded from now on, and those that `restore` reads back. */
  follow(listener: Listener): void
  /** Counts earlier records again. Call it before the first request. */
  restore(): Promise<void>
  /** Resolves when no comparison waits or runs. */
  idle(): Promise<void>
  /** Gives up comparisons. Resolves when the records are written. */
  close(): Promise<void>
}

/** Milliseconds between two records of traffic. */
const FLUSH_EVERY = 60_000

export function createMigration(settings: MigrationSettings): Migration {
  const { rules, v1, operations, records } = settings
  const file = records.file && createRecordFile({ ...records.file, waiting: RECORD_FILE.waiting })
  const listeners: Listener[] = []
  const tell: Listener = (entry) => {
    for (const listener of listeners) listener(entry)
  }
  const recorder = followed(createRecorder({ memory: records.memory, ...(file && { file }) }), tell, () => modes.flush())
  const journal = createJournal({ ...settings, recorder })
  const queue = createQueue(settings.queue, (error) => settings.warn(`a comparison failed: ${(error as Error).stack ?? error}`))
  const budget = createBudget(settings.fallbacksPerMinute, settings.now)
  const side = v1 && { ask: v1.ask, observer: observerOf(settings, v1.askForDiff), budget }
  const { subjects, emulated, configFile, random, now } = settings
  const positions = createPositions({ isOpen: journal.circuit.isOpen, percent: settings.probePercent, random })
  const kindOf = createKindOf(createRedactor({ values: settings.values, key: randomBytes(32).toString('hex') }))
  const rollouts = createRollouts(rules, { journal, now })
  const modes = createModes(rules, { journal, v1: side, positions, rollouts, subjects, emulated, configFile, kindOf, now })
  const flush = () => {
    modes.flush()
    journal.tallies.flush()
  }
  const timer = setInterval(flush, FLUSH_EVERY).unref()
  const report = createReport({ journal, queue, skipped: side?.observer.skipped, budget })
  const readiness = createReadinessWatch({ journal, openCircuits: report.openCircuits, operations, now })
  listeners.push(readiness.entry)

  function observerOf({ unsharedReads, translate, answerMs, limit, ...rest }: MigrationSettings, askV1: AskV1) {
    const ask = createAsk({ askV1, unsharedReads, translate, deadlineMs: answerMs, limit })
    const readingsOf = createReadingsOf(operations, translate.dialect)
    const chance = { ...rest, now: () => performance.now() }
    return createObserver({ ask, unsharedReads, env: translate, readingsOf, limit, ...chance }, queue, journal)
  }

  return {
    modes,
    report,
    ledger: journal,
    follow: (listener) => void listeners.push(listener),
    note: journal.note,
    onNote: journal.onNote,
    async restore() {
      if (records.file) await checkRecordFile(records.file.path)
      const count = nothingRead()
      for await (const entry of mergedEntries(filesOf(records.file), count)) if (restore(entry, journal)) tell(entry)
      readiness.start()
      if (count.entries > 0) journal.note({ what: 'restart', text: `${count.entries} records were read back`, by: { source: 'start' } })
    },
    idle: queue.idle,
    async close() {
      clearInterval(timer)
      await queue.close()
      flush()
      readiness.close()
      await recorder.close()
    },
  }
}

/**
 * Returns the same recorder, which also passes its entries on. The calls so far come before a mismatch, so that its client is known when it
 * is counted.
 */
function followed(recorder: Recorder, tell: Listener, flush: () => void): Recorder {
  return {
    ...recorder,
    record(entry) {
      if (entry.kind === 'comparison' && isDifference(entry.outcome)) flush()
      recorder.record(entry)
      tell(entry)
    },
  }
}

/** The record file and the files set aside, as far as they exist. */
function filesOf(file: MigrationSettings['records']['file']): readonly string[] {
  if (!file) return []
  return [file.path, ...Array.from({ length: file.files }, (_, nth) => `${file.path}.${nth + 1}`)].filter((path) => existsSync(path))
}
