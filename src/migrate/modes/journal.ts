import { randomUUID } from 'node:crypto'
import type { Identity } from '../../serve/request.ts'
import { hasFailed, isRead, type Mode, SERVED_BY } from '../../serve/sides.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import type { Call } from '../../tables/turn.ts'
import { createInventory, type NamesNow } from '../clients.ts'
import { bodyOf, type CompareSettings } from '../compare/compare.ts'
import { createExpected, type Declaration } from '../compare/expected.ts'
import type { Judgement } from '../compare/judge.ts'
import { createRedaction, type RedactionSettings } from '../compare/redact.ts'
import { type Circuit, type CircuitState, createCircuit, type Rate } from '../evidence/circuit.ts'
import { createEvidence, createTallies, isDifference, type Observation, type Sample, WEIGHTS } from '../evidence/evidence.ts'
import { shapeOf } from '../evidence/standing.ts'
import type { ComparedRead, SideAnswer } from '../observe/compare-read.ts'
import { createJudging, type LiveComparing, sideOf, whyUncompared } from '../observe/observe.ts'
import {
  type Caller,
  type Comparison,
  comparisonOf,
  detailed,
  type Entry,
  exhibitOf,
  type Note,
  type RecordedSide,
  type Rehearsal,
  recordedCall,
  totalsOf,
} from '../records/record.ts'
import type { Recorder } from '../records/record-file.ts'

export type SaveOrder = ReturnType<typeof createSaveOrder>

/** Numbers notes and the records of rollouts, so that their order is known even if the clock stepped back, and beyond restarts. */
export function createSaveOrder() {
  let last = 0
  return {
    /** Returns the number of a new record, which is above all others. */
    next: () => ++last,
    /** Notes the number of an earlier record. */
    saw(nth: number): void {
      last = Math.max(last, nth)
    },
    /** Returns the highest number so far. */
    last: () => last,
  }
}

type EntryListener = (entry: Entry) => void

/** Passes entries on. */
export function createListeners() {
  const listeners: EntryListener[] = []
  return {
    follow: (listener: EntryListener) => void listeners.push(listener),
    tell(entry: Entry): void {
      for (const listener of listeners) listener(entry)
    },
  }
}

/**
 * Returns the same recorder, which also passes its entries on. The calls so far come before a mismatch, so that its client is known when it
 * is counted.
 */
export function followed(recorder: Recorder, tell: EntryListener, flush: () => void): Recorder {
  return {
    ...recorder,
    record(entry) {
      if (entry.kind === 'comparison' && isDifference(entry.outcome)) flush()
      recorder.record(entry)
      tell(entry)
    },
  }
}

/** A comparison before it is recorded. */
type SeenComparison = Observation & Pick<Comparison, 'check' | 'mode'>

/** A note without what is added to all. */
type NewNote = Omit<Note, 'kind' | 'at' | 'id' | 'nth' | 'replica'>

/** A note with its id, which the record file and the notifications share. */
export type IdentifiedNote = Note & { readonly id: string }

export type Notes = ReturnType<typeof createNotes>

/** The one stream of events: the record file, log lines, metrics and notifications follow from it. */
export function createNotes(sources: {
  readonly recorder: Pick<Recorder, 'record'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly order: Pick<SaveOrder, 'next'>
  /** The name of this process among those of its fleet; undefined without a store. */
  readonly replica?: string | undefined
}) {
  const { recorder, now, order, replica } = sources
  const told = replica === undefined ? {} : { replica }
  const listeners: ((note: IdentifiedNote) => void)[] = []
  const waiting: IdentifiedNote[] = []
  let isTelling = false
  const tell = () => {
    isTelling = true
    try {
      for (let note = waiting.shift(); note; note = waiting.shift()) for (const listener of listeners) listener(note)
    } finally {
      isTelling = false
    }
  }
  return {
    /** Records that something happened, and tells the listeners. */
    note(made: NewNote): void {
      const note: IdentifiedNote = { kind: 'note', id: randomUUID(), at: new Date(now()).toISOString(), ...made, ...told }
      recorder.record({ ...note, nth: order.next() })
      waiting.push(note)
      // A listener may make a note of its own. The others must hear the cause first.
      if (!isTelling) tell()
    },
    /** Passes every note on to a listener when it is made, but none that `restore` reads back. */
    onNote: (listener: (note: IdentifiedNote) => void) => void listeners.push(listener),
  }
}

/** Shares with other replicas what happens to the circuits of this process. */
export interface CircuitFollower {
  /** Is told that observations opened or closed a circuit. It calls `note` if this replica is the one to note that. */
  turned(operation: string, note: () => void): void
  /** Is told of each bad observation. */
  bad(): void
}

/** What circuits are told of a comparison. */
type ToldComparison = Pick<Comparison, 'operation' | 'check' | 'outcome'> & { readonly v2: Pick<RecordedSide, 'status'> }

export type CircuitNotes = ReturnType<typeof createCircuitNotes>

/** Tells the circuits what is seen of v2, and notes every circuit that opens or closes. */
export function createCircuitNotes({ circuit, note }: { readonly circuit: Circuit; readonly note: Notes['note'] }) {
  let follower: CircuitFollower | undefined
  const turned = (operation: string, state: CircuitState) => {
    const isOpen = state.state === 'open'
    const [from, to] = isOpen ? ['closed', 'open'] : ['open', 'closed']
    const what = isOpen ? 'circuit' : 'circuit-closed'
    const made = { what, text: state.reason, operation, by: { source: 'circuit' }, from, to } as const
    if (follower) follower.turned(operation, () => note(made))
    else note(made)
  }
  const observe = (operation: string, rate: Rate, isBad: boolean) => {
    const state = circuit.observe(operation, rate, isBad)
    if (state) turned(operation, state)
    if (isBad) follower?.bad()
  }
  return {
    /** Tells of an answer that v2 gave a client. */
    answered: (operation: string, failed: boolean): void => observe(operation, 'errors', failed),
    /** Tells of a comparison. */
    compared(mode: Mode, { operation, check, outcome, v2 }: ToldComparison): void {
      if (WEIGHTS[outcome] === 'nothing') return
      const isError = outcome === 'error'
      // An answer that v2 gave a client was told when it was given, unless only v1's answer tells that it failed.
      const isTold = check !== 'after-write' && SERVED_BY[mode] === 'v2' && (!isError || hasFailed(v2.status))
      if (!isTold) observe(operation, 'errors', isError)
      if (!isError) observe(operation, 'mismatches', WEIGHTS[outcome] === 'bad')
    },
    /** Opens the circuit of an operation, because v2 is too slow there. */
    slow(operation: string, reason: string): void {
      if (circuit.isOpen(operation)) return
      circuit.slow(operation, reason)
      turned(operation, circuit.state(operation))
      follower?.bad()
    },
    /** Tells of what other replicas saw of one rate. */
    heard(operation: string, rate: Rate, others: Sample): void {
      const state = circuit.observe(operation, rate, others)
      if (state) turned(operation, state)
    },
    /** Tells a follower of what happens here. There is one at most. */
    follow(one: CircuitFollower): void {
      follower = one
    },
  }
}

/** The epoch and the modes under which an answer is given, as numbers that grow. Each change makes another object. */
export interface Term {
  readonly epoch: number
  readonly modes: number
}

export type Terms = ReturnType<typeof createTerms>

/** Tells under which epoch and modes this process answers. */
export function createTerms() {
  const terms = {
    now: { epoch: 0, modes: 0 } as Term,
    /** Another epoch, or other modes, begin here and now. */
    begin(what: keyof Term): void {
      terms.now = { ...terms.now, [what]: terms.now[what] + 1 }
    },
  }
  return terms
}

/** A client request that was compared. */
export interface ComparedRequest extends Identity {
  /** When it was answered. What a later term finds out about an answer of an earlier one is dropped. */
  readonly term?: Term
  /** Requests that it stands for, if chance chose it: the inverse of its probability. */
  readonly weight?: number
  readonly operation: Operation
  readonly request: V1Request
  readonly mode: Mode
  /** Its kind, if it is known. Otherwise the tables tell it. */
  readonly shape?: string
}

export interface JournalSettings extends CompareSettings, RedactionSettings {
  readonly declarations: readonly Declaration[]
  /** Subjects of tokens may be shown and recorded. */
  readonly subjects: boolean
  /** The names that persons gave to clients. */
  readonly names?: NamesNow
  readonly recorder: Recorder
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Requests of an open circuit may be compared, so that comparisons may close it. */
  readonly live: Pick<LiveComparing, 'probePercent'>
  /** Names what gives v2 an operation: `rollout iam`. */
  readonly ownerOf?: (operation: string) => string | undefined
  /** The name of this process among those of its fleet; undefined without a store. */
  readonly replica?: string | undefined
}

export type Journal = ReturnType<typeof createJournal>

/** What is learnt of a migration while it runs. The journal counts and records it, and the admin port shows it. */
export function createJournal(settings: JournalSettings) {
  const { operations, recorder, now } = settings
  const evidence = createEvidence(now)
  const tallies = createTallies(evidence, recorder, now)
  const inventory = createInventory(operations, settings.names)
  const reads = new Set(operations.filter(isRead).map(({ id }) => id))
  // A probe of a write would have to reach v2, and v1 could not answer in its place.
  const circuit = createCircuit(now, (operation) => settings.live.probePercent > 0 && reads.has(operation), settings.ownerOf)
  const expected = createExpected(settings.declarations, now)
  const judging = createJudging(settings, expected, now)
  const redaction = createRedaction(settings)
  const { redacted, whole } = redaction
  const terms = createTerms()
  const isEarlier = ({ term }: Pick<ComparedRequest, 'term'>) => term !== undefined && term !== terms.now
  /** True for an answer of an earlier term. In another epoch its use is not counted either. */
  const isDropped = (answered: Pick<ComparedRequest, 'operation' | 'term'>) => {
    if (!isEarlier(answered)) return false
    if (answered.term?.epoch === terms.now.epoch) tallies.uncompared(answered.operation.id, 'earlier')
    return true
  }
  const replica = settings.replica === undefined ? {} : { replica: settings.replica }
  const head = ({ operation, request, mode, weight = 1, shape = shapeOf(operation, request), caller, subject }: ComparedRequest) => {
    const who = callerOf({ caller, subject }, settings.subjects)
    return { operation: operation.id, ...replica, mode, shape, ...who, ...(weight > 1 && { weight }) }
  }
  const at = () => new Date(now()).toISOString()
  let onComparison: ((client: Identity, seen: SeenComparison) => void) | undefined
  const count = <Seen extends SeenComparison>(subject: ComparedRequest, seen: Seen) => {
    if (seen.check !== 'read') {
      if (SERVED_BY[subject.mode] === 'v1') tallies.uncompared(seen.operation, 'untried')
      else if (WEIGHTS[seen.outcome] === 'nothing') tallies.uncompared(seen.operation, 'undecided')
    }
    if (subject.mode === 'diff-v2') onComparison?.(subject, seen)
    return tallies.count(seen)
  }
  const order = createSaveOrder()
  const notes = createNotes({ recorder, now, order, replica: settings.replica })
  const circuitNotes = createCircuitNotes({ circuit, note: notes.note })
  return {
    ...{ evidence, inventory, circuit, expected, judging, recorder, tallies, redaction, terms, operations, order, isDropped },
    ...notes,
    /** Tells of every comparison of an answer that v2 gave a client, with that client. There is one listener at most. */
    onComparison(listener: typeof onComparison): void {
      onComparison = listener
    },
    /** Counts one comparison, and records it if it is a new observation. `read` is the operation that was read. */
    compared(subject: ComparedRequest, check: 'read' | 'after-write', read: Operation, compared: ComparedRead): void {
      if (isDropped(subject)) return
      const { asked, judgement, v1, v2, observed } = compared
      const { outcome, findings } = judgement
      const { caller, mode, weight = 1, shape = shapeOf(subject.operation, subject.request) } = subject
      const operation = subject.operation.id
      const codes = findings.flatMap(({ code }) => code ?? [])
      expected.count(read.id, outcome, codes)
      circuitNotes.compared(mode, { operation, check, outcome, v2: v2.seen })
      if (outcome !== 'match') inventory.compared({ caller, operation, outcome, totals: totalsOf(judgement) })
      if (outcome === 'inconclusive') tallies.uncompared(operation, whyUncompared(compared))
      const counted = count(subject, { operation, caller, shape, mode, weight, check, outcome })
      // Most comparisons repeat others, and only count.
      if (!counted) return
      const circumstances = { id: randomUUID(), at: at(), ...head({ ...subject, shape }), check, v1: sideOf(v1), v2: sideOf(v2) }
      const entry = comparisonOf(judgement, circumstances, redacted(read))
      const exhibit = observed && outcome === 'mismatch' ? exhibitOf(read.id, settings.dialect, observed, whole()) : undefined
      recorder.record({
        ...detailed(entry, judgement, asked, read, redacted),
        ...(counted.repeat && { repeat: true }),
        ...(exhibit && { exhibit }),
      })
    },
    /** Counts and records a read that a person had rehearsed. Undefined if another epoch began meanwhile. */
    rehearsed(subject: ComparedRequest, { judgement, v1, v2 }: ComparedRead): Rehearsal | undefined {
      const { operation, term } = subject
      if (term !== undefined && term.epoch !== terms.now.epoch) return undefined
      const { mode: _, ...known } = head(subject)
      const sides = { mode: subject.mode, check: 'read', v1: sideOf(v1), v2: sideOf(v2) } as const
      const compared = comparisonOf(judgement, { id: randomUUID(), at: at(), ...known, ...sides }, redacted(operation))
      const { id, at: when, outcome, reason, totals } = compared
      const entry: Rehearsal = { kind: 'rehearsal', id, at: when, ...known, outcome, ...(reason !== undefined && { reason }), totals }
      evidence.observe({ ...entry, rehearsed: true })
      recorder.record(entry)
      return entry
    },
    /**
     * Counts a write that v2 failed or refused, or of which the tables make no call, so that nothing can be compared. Whoever calls it books the
     * inconclusive ones.
     */
    unwritten(subject: ComparedRequest, judgement: Judgement, v2: SideAnswer): void {
      if (judgement.outcome === 'inconclusive' ? isEarlier(subject) : isDropped(subject)) return
      const circumstances = { id: randomUUID(), at: at(), ...head(subject), check: 'write', v2: sideOf(v2) } as const
      const entry = comparisonOf(judgement, circumstances, redacted(subject.operation))
      if (isDifference(entry.outcome)) {
        circuitNotes.compared(subject.mode, entry)
        inventory.compared(entry)
      }
      const counted = count(subject, entry)
      const failed = { ...judgement, answers: { v1: undefined, v2: bodyOf(v2.seen) } }
      if (counted) recorder.record(detailed(counted, failed, subject, subject.operation, redacted))
    },
    wouldSend(subject: ComparedRequest, call: Call): void {
      recorder.record({ kind: 'would-send', at: at(), ...head(subject), call: recordedCall(call, redacted(subject.operation)) })
    },
    /** Tells the circuit about an answer that v2 gave a client in a term. */
    answered(operation: string, failed: boolean, term: Term): void {
      if (term === terms.now) circuitNotes.answered(operation, failed)
    },
    /** What a fleet shares of the circuits. */
    circuitNotes,
  }
}

/** Returns the caller as records show it. */
export function callerOf({ caller, subject }: Identity, subjects: boolean): Caller {
  return subjects && subject !== undefined ? { caller, subject } : { caller }
}
