/**
 * The migration: who answers, what is compared, what that proves, and when it moves on. It implements `serve/sides.ts`.
 *
 * 1. `modes/select.ts` chooses a mode by the rules; `modes/serve.ts` serves in it, with fallback and budget.
 * 2. `observe/` asks the other side as well: a read twice if need be, a write by reading back.
 * 3. `compare/` is pure: it aligns two answers, judges each difference, and redacts what is kept.
 * 4. `evidence/` counts observations, bounds the share of wrong answers, opens circuits, and gives the verdict of `cutover`.
 * 5. `rollout/` moves a share step by step by that evidence; `records/` writes everything down and reads it back.
 *
 * A comparison never delays or changes what a client gets. Nobody who serves v1 from v2 alone has to read this room.
 */
import type { Clocks } from '../serve/bounds.ts'
import type { Operation } from '../tables/operation.ts'
import { createKindOf } from './clients.ts'
import type { Declaration } from './compare/expected.ts'
import type { NoisyMember } from './compare/judge.ts'
import { createRedactor } from './compare/redact.ts'
import type { CircuitState } from './evidence/circuit.ts'
import {
  type Counted,
  type CutoverQuestion,
  type CutoverVerdict,
  countedIn,
  createReadinessMemory,
  type FleetView,
  judgeCutover,
  TARGET,
} from './evidence/cutover.ts'
import { cleanNeeded, many, type OperationEvidence } from './evidence/evidence.ts'
import { daysNeeded, uncomparedSentences } from './evidence/standing.ts'
import { type CutoverTerms, createAcceptanceMemory, termsOf, USUAL_TERMS } from './evidence/terms.ts'
import { createJournal, createListeners, followed, type Journal, type JournalSettings } from './modes/journal.ts'
import { createModes, type Emulated, type Modes } from './modes/modes.ts'
import type { ModeRules } from './modes/rules.ts'
import { createPositions, ownerOf } from './modes/select.ts'
import { type Budget, createBudget } from './modes/serve.ts'
import { createQueue, nothingSkipped, type Queue, type QueueCounts, type QueueSettings, type Skipped } from './observe/observe.ts'
import { observeServices, type ServiceObserverSettings, type ServiceSides } from './observe/observer.ts'
import { verifiable } from './observe/verify-write.ts'
import type { Actor, Entry } from './records/record.ts'
import {
  createRecorder,
  earlierEntries,
  nothingRead,
  openRecords,
  othersText,
  type Recorder,
  type RecordsSettings,
  restore,
} from './records/record-file.ts'
import { createRollouts } from './rollout/rollouts.ts'

interface JudgedParts {
  readonly terms: () => CutoverTerms
  readonly isStrict?: boolean | undefined
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly openCircuits: MigrationReport['openCircuits']
  readonly rollouts: Modes['rollouts']
  readonly operations: readonly Operation[]
}

/** Milliseconds between two looks. Judging 200 operations takes a few of them. */
export const LOOK_EVERY = 5000

/** Returns the verdict on what was counted, for the usual target and while v1 stays. What clients ask can only keep it from being ready. */
export function judgeReadiness(
  { terms, isStrict, now, openCircuits, rollouts, operations }: JudgedParts,
  counted: CountedQuestion,
): CutoverVerdict {
  return judgeCutover({
    ...{ target: TARGET, withoutV1: false, isStrict, terms: { ...terms(), now: now() } },
    ...counted,
    openCircuits: new Map(Object.entries(openCircuits())),
    // Clients appear only in reasons that no note quotes, and there may be thousands.
    clients: [],
    rollouts: rollouts(),
    operations,
  })
}

/** What is judged. */
type CountedQuestion = Pick<CutoverQuestion, 'evidence' | 'traffic' | 'asked'>

/** Notes every operation that becomes ready to move or stops being so, and the same of all of them together. */
export function createReadinessWatch(
  journal: Pick<Journal, 'evidence' | 'inventory' | 'note'>,
  now: () => number,
  judge: (counted: CountedQuestion) => CutoverVerdict,
) {
  const memory = createReadinessMemory()
  let isStarted = false
  let timer: NodeJS.Timeout | undefined
  const judged = () => {
    const counted = { evidence: journal.evidence.all(), traffic: journal.inventory.traffic() }
    const verdict = judge(counted)
    return verdict.ready ? judge({ ...counted, asked: journal.inventory.asked() }) : verdict
  }
  const look = () => {
    timer = undefined
    for (const note of memory.news(judged(), now())) journal.note(note)
    if (memory.isWaiting()) plan()
  }
  const plan = () => {
    timer ??= setTimeout(look, LOOK_EVERY).unref()
  }
  return {
    /** Takes every entry, those read back and new ones. */
    entry(entry: Entry) {
      const isOwn = entry.kind === 'note' && (entry.what === 'ready' || entry.what === 'not-ready')
      if (isStarted && !isOwn) plan()
      if (!isStarted && isOwn) memory.recall(entry)
    },
    /** Begins, when the earlier records are read back: what they know is not told again. */
    start() {
      memory.assume(judged())
      isStarted = true
    },
    /** Looks a last time. */
    close() {
      if (!isStarted) return
      clearTimeout(timer)
      look()
      clearTimeout(timer)
    },
  }
}

/** Notes what persons accept without proof, when that begins and when it is over. */
function createAcceptanceWatch(terms: () => CutoverTerms, { now, repeat }: Pick<Clocks, 'now' | 'repeat'>, note: Journal['note']) {
  const memory = createAcceptanceMemory()
  let end: (() => void) | undefined
  const look = (by?: Actor) => {
    for (const news of memory.news(terms(), now())) note({ ...news, ...(by && { by }) })
  }
  return {
    /** Takes an entry that is read back. */
    recall(entry: Entry) {
      if (entry.kind === 'note') memory.recall(entry)
    },
    /** Notes what is new, done by somebody. From now on what ends by itself is noted, too. */
    look(by: Actor) {
      look(by)
      end ??= repeat(() => look(), FLUSH_EVERY)
    },
    close: () => end?.(),
  }
}

/** What is known of one operation, and how far it is from its target. */
interface OperationProgress extends OperationEvidence {
  /** Clean observations that are still needed. */
  readonly needed: number
  /** Days that they take at today's pace; absent while it is unknown. */
  readonly days?: number
  /** What was not compared, why, and what to change, in sentences. */
  readonly hints: readonly string[]
  readonly circuit: CircuitState
}

/** All evidence so far; the admin port's `GET /evidence`. */
export interface EvidenceReport extends Pick<Counted, 'uncounted' | 'declarations'> {
  readonly target: number
  /** What persons decided about the verdict. */
  readonly terms: CutoverTerms
  readonly operations: readonly OperationProgress[]
  /** By operation id, also of operations that were not compared. */
  readonly circuits: Readonly<Record<string, CircuitState>>
  readonly traffic: Readonly<Record<string, number>>
  readonly strangers: Readonly<Record<string, number>>
  readonly noise: readonly NoisyMember[]
  readonly queue: QueueCounts
  readonly skipped: Skipped
  readonly fallbacks: Budget['counts']
  readonly records: { readonly dropped: number; readonly problem?: string }
  /** Present if replicas share a store. All counts are then theirs, except `queue`, `skipped`, `fallbacks` and `records` of the one that answers. */
  readonly fleet?: FleetView
}

export type MigrationReport = ReturnType<typeof createReport>

function createReport(
  journal: Journal,
  queue: Queue,
  skipped: Skipped | undefined,
  budget: Budget,
  terms: () => CutoverTerms,
  now: () => number,
  judge: (counted: CountedQuestion) => CutoverVerdict,
) {
  const { inventory, circuit, judging, recorder } = journal
  const counted = () => countedIn(journal)
  return {
    /** What this process has counted. */
    counted,
    /** Shows what this process has counted, or what is given. */
    evidence({ evidence, traffic, strangers, uncounted, declarations, fleet }: Counted = counted()): EvidenceReport {
      const problem = recorder.problem()
      const decided = terms()
      const operations = evidence.map((one): OperationProgress => {
        const { target = TARGET } = termsOf(one.operation, decided, now())
        const days = daysNeeded(one, target)
        return {
          ...one,
          needed: cleanNeeded(one, target),
          ...(days !== undefined && { days }),
          hints: uncomparedSentences(one.uncompared),
          circuit: circuit.state(one.operation),
        }
      })
      return {
        target: TARGET,
        terms: decided,
        operations,
        traffic: Object.fromEntries(traffic),
        strangers: Object.fromEntries(strangers),
        uncounted,
        circuits: Object.fromEntries(circuit.all()),
        declarations,
        noise: judging.noise.members(),
        queue: queue.counts(),
        skipped: skipped ?? nothingSkipped(),
        fallbacks: budget.counts,
        records: { dropped: recorder.dropped(), ...(problem !== undefined && { problem }) },
        ...(fleet && { fleet }),
      }
    },
    /** The verdict on all requests together, likewise, at the usual target. Kinds that nobody saw may be missing besides. */
    whole: ({ evidence, traffic }: Pick<Counted, 'evidence' | 'traffic'> = counted()) => judge({ evidence, traffic }).whole,
    /** Why each open circuit opened, by operation id. */
    openCircuits(): Readonly<Record<string, string>> {
      const open = [...circuit.all()].filter(([, { state }]) => state === 'open')
      return Object.fromEntries(open.map(([operation, { reason }]) => [operation, reason]))
    },
    clients: inventory.clients,
    comparisons: recorder.comparisons,
  }
}

export interface MigrationSettings extends Omit<JournalSettings, 'recorder' | 'live' | 'ownerOf'>, ServiceObserverSettings, Clocks {
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
  /** What persons decided about the verdict, as it is now. Default: nothing. */
  readonly terms?: () => CutoverTerms
  /** True judges each operation by itself. Default: all requests together. */
  readonly isStrict?: boolean
}

/** Milliseconds between two records of traffic. */
const FLUSH_EVERY = 60_000

/** Milliseconds between two looks at rollouts. They measure the time themselves. */
export const ROLLOUTS_LOOK_MS = 1000

/** Notes what the file has lost once it can be written again. The sum since the start is told, because a note may be lost too. */
function createLossWatch({ dropped, problem }: Pick<Recorder, 'dropped' | 'problem'>, note: Journal['note']) {
  let told = 0
  return () => {
    const lost = dropped()
    if (lost === told || problem() !== undefined) return
    told = lost
    const text = `records.file lost ${many(lost, 'record')} since this process started, wrong answers perhaps among them: a restart misses them`
    note({ what: 'records-lost', text })
  }
}

export type Migration = ReturnType<typeof createMigration>

/** The modes, and everything that is learnt in them. */
export function createMigration(settings: MigrationSettings) {
  const { rules, v1, operations, records, subjects, emulated, configFile, random, now, terms = () => USUAL_TERMS } = settings
  const file = openRecords(records)
  const all = createListeners()
  const own = createListeners()
  const recorder = followed(createRecorder({ memory: records.memory, epoch: records.epoch, ...(file && { file }) }), own.tell, () =>
    modes.flush(),
  )
  const journal = createJournal({
    ...settings,
    live: settings,
    ownerOf: (operation) => ownerOf(modes.state().rules, operation),
    recorder,
  })
  const queue = createQueue(settings.queue, (error) => settings.warn(`a comparison failed: ${(error as Error).stack ?? error}`))
  const budget = createBudget(settings.fallbacksPerMinute, settings.now)
  const side = v1 && { ask: v1.ask, observer: observeServices(v1, settings, queue, journal), budget }
  const positions = createPositions({ isOpen: journal.circuit.isOpen, percent: () => settings.probePercent, random })
  const kindOf = createKindOf(createRedactor({ values: settings.values, key: journal.redaction.key.text }))
  const isShared = settings.replica !== undefined
  const rollouts = createRollouts(rules, {
    journal,
    ...verifiable(operations, settings),
    now,
    ticks: settings.ticks,
    isShared,
    epoch: records.epoch,
  })
  journal.onComparison(rollouts.compared)
  const modes = createModes(rules, { journal, v1: side, positions, rollouts, subjects, emulated, configFile, kindOf, now })
  const noteLost = createLossWatch(recorder, journal.note)
  const flush = () => {
    modes.flush()
    journal.tallies.flush()
    rollouts.flush()
    noteLost()
  }
  const judge = (counted: CountedQuestion): CutoverVerdict => judgeReadiness(judged, counted)
  const report = createReport(journal, queue, side?.observer.skipped, budget, terms, now, judge)
  const judged = { terms, isStrict: settings.isStrict, now, openCircuits: report.openCircuits, rollouts: rollouts.all, operations }
  // The replicas of a fleet note it together.
  const readiness = isShared ? undefined : createReadinessWatch(journal, now, judge)
  const acceptances = createAcceptanceWatch(terms, settings, journal.note)
  const ends = [settings.repeat(flush, FLUSH_EVERY), settings.repeat(rollouts.look, ROLLOUTS_LOOK_MS), acceptances.close]
  if (readiness) all.follow(readiness.entry)
  all.follow(rollouts.entry)
  own.follow(all.tell)

  return {
    ...{ modes, report, budget, terms, rollouts },
    /** What was learnt, of which a fleet shares some with other replicas. */
    journal,
    /** The comparisons that wait and run. */
    queue,
    /** Passes every entry on to a listener too: those recorded from now on, and those that `restore` reads back. */
    follow: all.follow,
    /** Passes an entry of another replica on to the listeners of `follow`. It is not recorded here. */
    hear: all.tell,
    /** What is being counted here and now. Nothing of it is read back or comes from elsewhere. */
    counting: {
      /** Passes every entry on that is recorded from now on. */
      followOwn: own.follow,
      /** Passes on what is counted without a record of its own. */
      followTallies: journal.tallies.follow,
      oldestMs: queue.oldestMs,
    },
    /** Returns the verdict on what all replicas have counted. Without `asked`, it may say ready too early. */
    judge,
    /** Notes the acceptances that hold and are not noted yet, and those that hold no more. From now on it notes what ends by itself, too. */
    noteAcceptances: acceptances.look,
    /** Asks both sides for a read that no client waits for. Undefined without a v1 service. */
    rehearse: side?.observer.rehearse.bind(side.observer),
    note: journal.note,
    onNote: journal.onNote,
    /** Another epoch begins: what was seen before proves nothing any more, and makes nothing a repeat. */
    beginEpoch() {
      journal.evidence.reset()
      // They would be recorded after the note that begins the epoch.
      journal.tallies.reset()
      journal.terms.begin('epoch')
    },
    /** Counts earlier records again. Call it before the first request. */
    async restore() {
      const count = nothingRead()
      const take = [acceptances.recall, all.tell]
      for await (const entry of earlierEntries(records, count)) {
        const counted = restore(entry, journal)
        if (counted) for (const one of take) one(counted)
      }
      readiness?.start()
      if (count.entries + count.others > 0) {
        const left = count.others > 0 ? `; ${othersText(count)}` : ''
        const text = `${many(count.entries, 'record')} ${count.entries === 1 ? 'was' : 'were'} read back${left}`
        journal.note({ what: 'restart', text, by: { source: 'start' } })
      }
      rollouts.start()
    },
    /** Resolves when no comparison waits or runs. */
    idle: queue.idle,
    /** Gives up comparisons. Resolves when the records are written. */
    async close() {
      for (const end of ends) end()
      await queue.close()
      flush()
      readiness?.close()
      await recorder.close()
    },
  }
}
