import { type CutoverQuestion, type CutoverVerdict, judgeCutover, TARGET } from '../diff/cutover/cutover.ts'
import { createReadinessMemory } from '../diff/cutover/readiness.ts'
import type { Entry } from '../diff/records/record.ts'
import type { Operation } from '../tables/operation.ts'
import type { Journal } from './journal.ts'
import type { MigrationReport } from './migration-report.ts'
import type { Modes } from './modes.ts'

/** Notes every operation that becomes ready to move or stops being so, and the same of all of them together. */
export interface ReadinessWatch {
  /** Takes every entry, those read back and new ones. */
  entry(entry: Entry): void
  /** Begins, when the earlier records are read back: what they know is not told again. */
  start(): void
  /** Looks a last time. */
  close(): void
}

interface ReadinessParts extends JudgedParts {
  readonly journal: Pick<Journal, 'evidence' | 'inventory' | 'note'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface JudgedParts {
  readonly openCircuits: MigrationReport['openCircuits']
  readonly rollouts: Modes['rollouts']
  readonly operations: readonly Operation[]
}

/** Milliseconds between two looks. Judging 200 operations takes a few of them. */
export const LOOK_EVERY = 5000

/** Returns the verdict on what was counted, for the usual target and while v1 stays. */
export function judgeReadiness(
  { openCircuits, rollouts, operations }: JudgedParts,
  counted: Pick<CutoverQuestion, 'evidence' | 'traffic'>,
): CutoverVerdict {
  const open = new Map(Object.entries(openCircuits()))
  // Clients appear only in reasons that no note quotes, and there may be thousands.
  return judgeCutover({ target: TARGET, withoutV1: false, ...counted, openCircuits: open, clients: [], rollouts: rollouts(), operations })
}

/** Where the replicas of a fleet note it together. */
export const NO_WATCH: ReadinessWatch = { entry() {}, start() {}, close() {} }

export function createReadinessWatch(parts: ReadinessParts): ReadinessWatch {
  const { journal, now } = parts
  const memory = createReadinessMemory()
  let isStarted = false
  let timer: NodeJS.Timeout | undefined
  const judge = () => judgeReadiness(parts, { evidence: journal.evidence.all(), traffic: journal.inventory.traffic() })
  const look = () => {
    timer = undefined
    for (const note of memory.news(judge(), now())) journal.note(note)
    if (memory.isWaiting()) plan()
  }
  const plan = () => {
    timer ??= setTimeout(look, LOOK_EVERY).unref()
  }
  return {
    entry(entry) {
      const isOwn = entry.kind === 'note' && (entry.what === 'ready' || entry.what === 'not-ready')
      if (isStarted && !isOwn) plan()
      if (!isStarted && isOwn) memory.recall(entry)
    },
    start() {
      memory.assume(judge())
      isStarted = true
    },
    close() {
      if (!isStarted) return
      clearTimeout(timer)
      look()
      clearTimeout(timer)
    },
  }
}
