import { randomUUID } from 'node:crypto'
import { createInventory } from '../diff/clients/inventory.ts'
import { bodyOf, type CompareSettings } from '../diff/compare/compare.ts'
import { type Circuit, createCircuit } from '../diff/evidence/circuit.ts'
import { createEvidence } from '../diff/evidence/evidence.ts'
import { shapeOf } from '../diff/evidence/request-shape.ts'
import { createTallies, type Tallies } from '../diff/evidence/tallies.ts'
import { detailed } from '../diff/excerpt/detailed.ts'
import { createExpected, type Declaration } from '../diff/judge/expected.ts'
import { type Judgement, tally } from '../diff/judge/judge.ts'
import { exhibitOf } from '../diff/records/exhibit.ts'
import type { Caller, Comparison } from '../diff/records/record.ts'
import { comparisonOf, recordedCall } from '../diff/records/record-of.ts'
import type { Recorder } from '../diff/records/recorder.ts'
import type { Ledger } from '../diff/records/restore.ts'
import { createRedaction, type Redaction, type RedactionSettings } from '../diff/redact/redaction.ts'
import type { Identity } from '../serve/caller.ts'
import { isRead, type Mode } from '../serve/sides.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import type { Call } from '../tables/turn.ts'
import { type CircuitTeller, createCircuitTeller } from './circuit-teller.ts'
import { createNotes, type Notes } from './notes.ts'
import type { SideAnswer } from './observe/ask.ts'
import type { ComparedRead, Judging } from './observe/compare-read.ts'
import { createJudging } from './observe/judging.ts'
import { sideOf } from './observe/recorded-side.ts'
import { whyUncompared } from './observe/skipped.ts'
import { createSaveOrder, type SaveOrder } from './save-order.ts'

/** A client request that was compared. */
export interface ComparedRequest extends Identity {
  /** Requests that it stands for, if chance chose it: the inverse of its probability. */
  readonly weight?: number
  readonly operation: Operation
  readonly request: V1Request
  readonly mode: Mode
  /** Its kind, if it is known. Otherwise the tables tell it. */
  readonly shape?: string
}

/** What is learnt of a migration while it runs. The journal counts and records it, and the admin port shows it. */
export interface Journal extends Ledger, Notes {
  readonly circuit: Circuit
  /** What a fleet shares of the circuits. */
  readonly teller: Pick<CircuitTeller, 'follow' | 'heard'>
  readonly judging: Judging
  readonly recorder: Recorder
  readonly tallies: Tallies
  readonly redaction: Redaction
  readonly operations: readonly Operation[]
  /** Numbers notes and the records of rollouts. */
  readonly order: SaveOrder
  /** Counts one comparison, and records it if it is a new observation. `read` is the operation that was read. */
  compared(subject: ComparedRequest, check: 'read' | 'after-write', read: Operation, compared: ComparedRead): void
  /** Counts a write that v2 failed, so that nothing can be compared. */
  unwritten(subject: ComparedRequest, judgement: Judgement, v2: SideAnswer): void
  wouldSend(subject: ComparedRequest, call: Call): void
  /** Tells the circuit about an answer that v2 gave a client. */
  answered(operation: string, failed: boolean): void
}

export interface JournalSettings extends CompareSettings, RedactionSettings {
  readonly declarations: readonly Declaration[]
  /** Subjects of tokens may be shown and recorded. */
  readonly subjects: boolean
  readonly recorder: Recorder
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** True if requests of an open circuit are compared, so that comparisons may close it. */
  readonly isProbed: () => boolean
  /** The name of this process among those of its fleet; undefined without a store. */
  readonly replica?: string | undefined
  /** Is told of every comparison, with the client whose request was compared. */
  readonly onComparison?: (client: Identity, comparison: Comparison) => void
}

export function createJournal(settings: JournalSettings): Journal {
  const { operations, recorder, now } = settings
  const evidence = createEvidence(now)
  const tallies = createTallies(evidence, recorder, now)
  const inventory = createInventory(operations)
  const reads = new Set(operations.filter(isRead).map(({ id }) => id))
  // A probe of a write would have to reach v2, and v1 could not answer in its place.
  const circuit = createCircuit(now, (operation) => settings.isProbed() && reads.has(operation))
  const expected = createExpected(settings.declarations, now)
  const judging = createJudging(settings, expected, now)
  const redaction = createRedaction(settings)
  const { redacted, whole } = redaction
  const at = () => new Date(now()).toISOString()
  const head = ({ operation, request, mode, weight, shape = shapeOf(operation, request), ...identity }: ComparedRequest) => {
    const chosen = weight !== undefined && weight > 1 && { weight }
    const replica = settings.replica !== undefined && { replica: settings.replica }
    const who = callerOf(identity, settings.subjects)
    return { at: at(), operation: operation.id, ...replica, mode, shape, ...who, ...chosen }
  }
  const count = (subject: ComparedRequest, comparison: Comparison) => {
    settings.onComparison?.(subject, comparison)
    return tallies.count(comparison)
  }
  const order = createSaveOrder()
  const notes = createNotes({ recorder, now, order, replica: settings.replica })
  const teller = createCircuitTeller({ circuit, note: notes.note })
  return {
    evidence,
    inventory,
    circuit,
    expected,
    judging,
    recorder,
    tallies,
    redaction,
    operations,
    order,
    ...notes,
    compared(subject, check, read, compared) {
      const { asked, judgement, v1, v2, observed } = compared
      const sides = { v1: sideOf(v1), v2: sideOf(v2) }
      const entry = comparisonOf(judgement, { id: randomUUID(), ...head(subject), check, ...sides }, redacted(read))
      tally(expected, read.id, judgement)
      teller.compared(subject.mode, entry)
      inventory.compared(entry)
      const why = whyUncompared(compared)
      if (why) tallies.uncompared(entry.operation, why)
      const counted = count(subject, entry)
      if (!counted) return
      const exhibit = observed && entry.outcome === 'mismatch' ? exhibitOf(read.id, settings.dialect, observed, whole()) : undefined
      recorder.record({ ...detailed(counted, judgement, { asked, about: read, redacted }), ...(exhibit && { exhibit }) })
    },
    unwritten(subject, judgement, v2) {
      const circumstances = { id: randomUUID(), ...head(subject), check: 'write', v2: sideOf(v2) } as const
      const counted = count(subject, comparisonOf(judgement, circumstances, redacted(subject.operation)))
      const failed = { ...judgement, answers: { v1: undefined, v2: bodyOf(v2.seen) } }
      if (counted) recorder.record(detailed(counted, failed, { asked: subject, about: subject.operation, redacted }))
    },
    wouldSend(subject, call) {
      recorder.record({ kind: 'would-send', ...head(subject), call: recordedCall(call, redacted(subject.operation)) })
    },
    answered: teller.answered,
    teller,
  }
}

/** Returns the caller as records show it. */
export function callerOf({ caller, subject }: Identity, subjects: boolean): Caller {
  return subjects && subject !== undefined ? { caller, subject } : { caller }
}
