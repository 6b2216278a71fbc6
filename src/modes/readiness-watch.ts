import { judgeCutover, TARGET } from '../diff/cutover/cutover.ts'
import { createReadinessMemory } from '../diff/cutover/readiness.ts'
import type { Entry } from '../diff/records/record.ts'
import type { Operation } from '../tables/operations/operation.ts'
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

interface ReadinessParts {
  readonly journal: Pick<Journal, 'evidence' | 'inventory' | 'note'>
  readonly openCircuits: MigrationReport['openCircuits']
  readonly rollouts: Modes['rollouts']
  readonly operations: readonly Operation[]
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Milliseconds between two looks. Judging 200 operations takes a few of them. */
export const LOOK_EVERY = 5000

export function createReadinessWatch({ journal, openCircuits, rollouts, operations, now }: ReadinessParts): ReadinessWatch {
  const memory = createReadinessMemory()
  let isStarted = false
  let timer: NodeJS.Timeout | undefined
  // Clients appear only in reasons that no note quotes, and there may be thousands.
  const judge = () => {
    const { evidence, inventory } = journal
    const counted = { evidence: evidence.all(), traffic: inventory.traffic(), openCircuits: new Map(Object.entries(openCircuits())) }
    return judgeCutover({ target: TARGET, withoutV1: false, ...counted, clients: [], rollouts: rollouts(), operations })
  }
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
