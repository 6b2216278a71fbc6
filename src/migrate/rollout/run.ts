import { z } from 'zod'
import type { Mode, Side } from '../../serve/sides.ts'
import type { Observation } from '../evidence/evidence.ts'
import type { Journal, SaveOrder } from '../modes/journal.ts'
import { isWithinShare } from '../modes/select.ts'
import { type Actor, describeActor } from '../records/record.ts'
import {
  createNewsOfStep,
  createSharedEvidence,
  createStepEvidence,
  type Figures,
  type KnownFigures,
  keptSince,
  knownOf,
  type NewsOfStep,
  type RecordedCounts,
  type SharedEvidence,
  type StepEvidence,
  seenSince,
  sinceThen,
} from './evidence.ts'
import { isUnjudged, next, type OperationView, type RolloutStatus, type RolloutView, statusOf, timed } from './machine.ts'
import {
  describeState,
  firstState,
  goingAt,
  judgedShareOf,
  ROLLOUT_PHASES,
  type RolloutPhase,
  type RolloutPlan,
  type RolloutState,
  runBegins,
  SIGNAL_NAMES,
  type SignalName,
  shareOf,
  stepBegins,
  stepOf,
} from './plan.ts'

/** What a restart needs of a rollout. */
export interface SavedRun {
  readonly state: RolloutState
  readonly counts: RecordedCounts
  /** What was known of each operation when the run began. */
  readonly before: Figures
  /** What became known since then of these operations. Records of older versions lack it. */
  readonly seen?: Figures | undefined
}

const count = z.number().min(0)
const sample = z.object({ n: count, bad: count })

const state = z.object({
  phase: z.enum(ROLLOUT_PHASES),
  at: count,
  reason: z.string(),
  since: z.number(),
  signal: z.enum(SIGNAL_NAMES).optional(),
  retried: count,
  rounds: count,
  heldMs: count,
  quietMs: count,
  backMs: count,
  opened: z.record(z.string(), z.string()),
  stepsBegun: count,
  runsBegun: count,
})

const savedRun = z.object({
  state,
  counts: z.record(z.string(), z.object({ requests: count, observations: sample, comparisons: sample })),
  // Below 0 once record files are gone: see `keptSince`.
  before: z.record(z.string(), z.object({ n: z.number(), bad: z.number() })),
  seen: z.record(z.string(), sample).optional(),
})

/** Reads what was saved. Undefined if it has another form: another version of Crosswalk wrote it. */
export function readSavedRun(value: unknown): SavedRun | undefined {
  return savedRun.safeParse(value).data
}

/** Returns why each open circuit of these operations opened. */
function openOf(reach: ReadonlySet<string>, { circuit }: Pick<Journal, 'circuit'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...reach].flatMap((operation) => {
      const why = circuit.whyOpen(operation)
      return why === undefined ? [] : [[operation, why]]
    }),
  )
}

/** What a person may ask of a rollout. */
export const ROLLOUT_COMMANDS = ['pause', 'resume', 'promote', 'abort'] as const

export type RolloutCommand = (typeof ROLLOUT_COMMANDS)[number]

/** What the command meets. */
interface Steering {
  /** Who gave the command: `admin port, token ops`. */
  readonly by: string
  /** Operations of the rollout with an open circuit. */
  readonly open: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The state after the command; why it makes no sense; or `same` if the rollout is in that state already. */
type Steered = { readonly state: RolloutState } | { readonly problem: string } | 'same'

type Move = (plan: RolloutPlan, state: RolloutState, steering: Steering) => Partial<RolloutState> & Pick<RolloutState, 'phase' | 'reason'>

const pause: Move = (_, __, { by }) => ({ phase: 'paused', signal: undefined, reason: `Paused by ${by}.` })

/** What a person who resumes says of the signal that paused it. Without this, it would pause at the next look again. */
const SETTLED: Partial<Record<SignalName, (plan: RolloutPlan, state: RolloutState) => Partial<RolloutState>>> = {
  outside: (plan, state) => ({ ...stepBegins(plan, state.at, state), runsBegun: state.runsBegun + 1 }),
  share: (plan, state) => stepBegins(plan, state.at, state),
  inconclusive: (_, { rounds }) => ({ rounds: rounds + 1 }),
}

const resume: Move = (plan, state, { by }) => ({
  ...(state.signal && SETTLED[state.signal]?.(plan, state)),
  phase: goingAt(plan, state.at),
  signal: undefined,
  quietMs: 0,
  retried: 0,
  reason: `Resumed by ${by}.`,
})

const restart: Move = (plan, state, { by }) => ({
  ...runBegins(plan, state),
  retried: 0,
  reason: `Resumed by ${by} from the first step, with closed circuits.`,
})

const promote: Move = (plan, state, { by }) => {
  const reason = `Promoted by ${by}, whatever the evidence says.`
  return state.at < plan.steps.length ? { ...stepBegins(plan, state.at + 1, state), reason } : { phase: 'done', signal: undefined, reason }
}

const abort: Move = (_, __, { by }) => ({ phase: 'aborted', signal: undefined, reason: `Aborted by ${by}.` })

const OVER = 'is aborted: only other steps, or another name, start it again'

const NOT_REPORTED = 'waits for the store, which has not told yet where it stands'

/** What each command means in each phase: a move, `same`, or why it makes no sense. */
const MEANINGS: Readonly<Record<RolloutCommand, Readonly<Record<RolloutPhase, Move | string>>>> = {
  pause: {
    waiting: NOT_REPORTED,
    running: pause,
    held: pause,
    watching: pause,
    paused: pause,
    'turned-back': 'is turned back, and its share is 0: abort it if it must not try again',
    done: 'is done: abort it to set its share to 0',
    aborted: OVER,
  },
  resume: {
    waiting: NOT_REPORTED,
    running: 'same',
    held: 'same',
    watching: 'same',
    paused: resume,
    'turned-back': restart,
    done: 'is done: nothing is left to resume',
    aborted: OVER,
  },
  promote: {
    waiting: NOT_REPORTED,
    running: promote,
    held: promote,
    watching: promote,
    paused: promote,
    'turned-back': 'is turned back: resume it first',
    done: 'is done: nothing is left to promote',
    aborted: OVER,
  },
  abort: {
    waiting: NOT_REPORTED,
    running: abort,
    held: abort,
    watching: abort,
    paused: abort,
    'turned-back': abort,
    done: abort,
    aborted: 'same',
  },
}

/** Returns what a command makes of a rollout. */
export function steered(plan: RolloutPlan, state: RolloutState, command: RolloutCommand, steering: Steering): Steered {
  const meaning = MEANINGS[command][state.phase]
  if (meaning === 'same' || (command === 'pause' && state.phase === 'paused' && !state.signal)) return 'same'
  if (typeof meaning === 'string') return { problem: `The rollout ${plan.name} ${meaning}.` }
  if (command === 'promote' && steering.open.length > 0) {
    return { problem: `The rollout ${plan.name} cannot be promoted: the circuit of ${steering.open.join(', ')} is open.` }
  }
  const moved = meaning(plan, state, steering)
  return { state: { ...state, since: steering.now, ...moved } }
}

/** What is wrong at one replica, so that the one that decides must know it. */
export interface ReplicaState {
  /** Too many requests since the last comparison that said something, and the milliseconds since then. */
  readonly unjudged?: RolloutView['unjudged']
  /** Why its records cannot be written. */
  readonly unwritten?: string | undefined
  /** Why each circuit opened for which it took the share to 0 by itself, by operation id. */
  readonly opened?: Readonly<Record<string, string>> | undefined
}

/** A move that is due. Alone it is in force at once; in a fleet it is once the store has it. */
export interface Proposal {
  readonly saved: SavedRun
  readonly by: Actor
  /** Callers of the next share may get v2 by it, so that what every replica has seen must be known. */
  readonly isAdvance: boolean
}

/** The share of a rollout is 0 at one replica, which took it there by itself. Safety waits for no other replica. */
interface Pulled {
  /** Nothing was heard of the rollout yet; a circuit is open; or a person wanted it while the store did not answer. */
  readonly why: 'unknown' | 'circuit' | Actor
  readonly state: RolloutState
}

export interface RunSources {
  readonly journal: Pick<Journal, 'circuit' | 'recorder' | 'note'> & KnownFigures
  readonly order: Pick<SaveOrder, 'next'>
  /** False for a write that no read can show. */
  readonly canBeJudged: (operation: string) => boolean
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Replicas decide together. */
  readonly isShared: boolean
  /** Is called at every move, before it is noted: the share may be another one. */
  readonly moved: () => void
}

interface Step {
  /** What this process has seen of the step. */
  readonly evidence: StepEvidence
  /** What the replicas of a fleet tell each other of the step; undefined without a store. */
  readonly shared: { readonly news: NewsOfStep; readonly evidence: SharedEvidence } | undefined
}

/** A later look says that the process stood still and served nobody, or, in a fleet, that another replica decided meanwhile. */
const LATEST_MS = { alone: 60_000, shared: 5000 } as const

/** Milliseconds in which a circuit may turn out to be closed: what closed it may arrive after the rollout that was resumed. */
const PROVISIONAL_MS = 3000

/** Old record files are removed. What stands in the newest one outlives them. */
const STALE_MS = 3_600_000

const BEGINS = 'It starts at its first step.'

const UNKNOWN = 'Its share is 0 here, because the store has not told yet where it stands.'

const LOST = { reason: 'The store has lost what this step had shown: the step begins again.', signal: undefined } as const

/**
 * One rollout of the rules in force, at one process. A move is proposed, then accepted. A process alone accepts its own moves at once. In a fleet
 * one replica proposes, and each follows what the store has; by itself, a replica only takes its share to 0.
 */
export class RolloutRun {
  readonly plan: RolloutPlan
  /** Ids of the operations of its rule that v2 has, as far as no earlier rule takes them. */
  reach: ReadonlySet<string> = new Set()
  /** What is to be noted if the fleet does not know it yet: how it began at the start of this process. '' if that is noted already. */
  opening = ''
  /** Why a move that is due waits, at the replica that decides; '' if nothing waits. */
  waits = ''
  readonly #sources: RunSources
  #state: RolloutState
  #step: Step
  /** What was known of each operation when the run began. */
  #before: Figures = {}
  #pulled: Pulled | undefined
  /** Since when a circuit is open, by the monotonic clock. */
  #openSince = Number.POSITIVE_INFINITY
  #lookedAt: number
  #recorded = { text: '', at: 0 }

  constructor(plan: RolloutPlan, sources: RunSources) {
    this.plan = plan
    this.#sources = sources
    this.#state = firstState(BEGINS, sources.now())
    this.#step = this.#stepAt(this.#state)
    this.#lookedAt = sources.ticks()
    if (sources.isShared) this.#pull('unknown', 'waiting', UNKNOWN)
  }

  /** Where it stands here: where the fleet is, unless this replica took the share to 0 by itself. */
  state(): RolloutState {
    return this.#pulled?.state ?? this.#state
  }

  /** Why this replica took the share to 0 by itself, if it did. */
  pulledBy() {
    return this.#pulled?.why
  }

  /** What the replicas of a fleet tell each other of the step; undefined without a store. */
  shared() {
    return this.#step.shared
  }

  status(): RolloutStatus {
    const status = statusOf(this.plan, this.state(), this.#view(NOTHING_NEW), this.reach)
    if (this.#pulled) return { ...status, reason: this.#pulled.state.reason }
    return this.waits ? { ...status, reason: `${status.reason} It waits: ${this.waits}` } : status
  }

  /** Counts a request of a client of its rule, and whether v2 answered it. Nothing is missing if a tester asked v2 alone: nobody compares that. */
  used(operation: string, caller: string, mode: Mode, by: Side): void {
    const share = judgedShareOf(this.plan, this.state())
    if (share > 0) this.#step.evidence.sided(caller, by === 'v2')
    if (mode === 'diff-v2' && isWithinShare(caller, share)) this.#step.evidence.used(operation, this.#sources.canBeJudged(operation))
  }

  /** Counts a comparison of an answer that v2 gave a client of its rule. */
  compared(observation: Observation): void {
    if (isWithinShare(observation.caller, judgedShareOf(this.plan, this.state()))) this.#step.evidence.compared(observation)
  }

  /** Looks at what was seen since the last look. Alone it moves if that is due; in a fleet it only takes the share to 0 if a circuit is open. */
  look(): void {
    if (this.#sources.isShared) {
      this.#guard()
      return
    }
    const { isWorse, ...since } = this.#step.evidence.sinceLook()
    const proposal = this.#due(this.#view(since), this.#elapsedMs())
    if (proposal) this.accept(proposal)
    // Nothing bad may be forgotten if the process dies now.
    else if (isWorse) this.save()
  }

  /** Looks, as the replica that decides. Returns a move that is due. */
  propose(states: readonly ReplicaState[]): Proposal | undefined {
    const elapsedMs = this.#elapsedMs()
    return this.#due(this.#viewOfAll(states, this.#step.shared?.evidence.requestsSinceLook() ?? 0), elapsedMs)
  }

  /** Looks once more, because more is known. No time has passed. */
  proposeAgain(states: readonly ReplicaState[]): Proposal | undefined {
    return this.#due(this.#viewOfAll(states, 0), 0)
  }

  /** Returns what a command of a person makes of it. */
  command(command: RolloutCommand, by: Actor): Proposal | { readonly problem: string } | 'same' {
    const open = Object.keys(openOf(this.reach, this.#sources.journal))
    const result = steered(this.plan, this.#state, command, { by: describeActor(by), open, now: this.#sources.now() })
    return result === 'same' || 'problem' in result ? result : { ...this.#proposal(result.state, by), isAdvance: false }
  }

  /** A move that was proposed here is in force, and noted. */
  accept({ saved, by }: Proposal): void {
    const from = this.#state
    const closed = saved.state.runsBegun > from.runsBegun ? this.#closeAll() : []
    this.#pulled = undefined
    this.#take(saved)
    this.#arrived()
    this.#note(saved.state.reason, by, describeState(this.plan, saved.state), describeState(this.plan, from))
    this.#record(saved)
    const text = `the rollout ${this.plan.name} was resumed`
    for (const operation of closed) {
      this.#sources.journal.note({ what: 'circuit-closed', text, operation, by, from: 'open', to: 'closed' })
    }
  }

  /** Goes where the fleet is. `isOther` says that the fleet began it anew. */
  follow(saved: SavedRun, isOther: boolean): void {
    const from = this.#state
    const isKnown = this.#pulled?.why !== 'unknown'
    if (isKnown && saved.state.runsBegun > from.runsBegun && saved.state.phase !== 'turned-back') this.#closeAll()
    this.#take(saved, isOther)
    if (isKnown && !isOther && !isOtherMove(from, saved.state)) return
    this.#record(saved)
    this.#arrived()
  }

  /** Takes the share to 0 here because a person wants it while the store does not answer. */
  abortHere(by: Actor): void {
    this.#pull(by, 'aborted', `Aborted by ${describeActor(by)} on this replica alone, because the store does not answer.`)
    this.#sources.moved()
  }

  /** Says what is wrong at this replica, since the last call; undefined if nothing is. */
  replicaState(): ReplicaState | undefined {
    const { unjudged } = this.#step.evidence.sinceLook()
    const unwritten = this.#sources.journal.recorder.problem()
    const found: ReplicaState = {
      ...(isUnjudged(unjudged) && { unjudged }),
      ...(unwritten !== undefined && { unwritten }),
      ...(this.#isProven() && { opened: this.#pulled?.state.opened }),
    }
    return Object.keys(found).length > 0 ? found : undefined
  }

  saved(): SavedRun {
    return this.#savedAt(this.#state)
  }

  /** Remembers a comparison from before a restart. */
  remember(observation: Observation, agoMs: number): void {
    this.#step.evidence.remember(observation, agoMs)
  }

  /** Goes on where it was before a restart, or begins at its first step. */
  restore(saved: SavedRun | undefined): void {
    this.#take(saved ?? { state: firstState(BEGINS, this.#sources.now()), counts: {}, before: {} })
  }

  /** Takes over what was seen since the run began, when all records were read: some may be gone. */
  settle(seen: Figures): void {
    this.#before = keptSince(this.#before, seen, this.#sources.journal)
  }

  /** Notes why it begins, or goes on after a restart. `old` had the same name. */
  begin(text: string, by: Actor, old?: RolloutRun): void {
    this.#note(text, by, describeState(this.plan, this.#state), old && describeState(old.plan, old.state()))
    this.save()
  }

  /** Notes why it ends: the modes have it no more. */
  end(text: string, by: Actor): void {
    this.#note(text, by, 'ended', describeState(this.plan, this.state()))
    this.#record()
  }

  /** Records where it stands. */
  save(): void {
    this.#record(this.saved())
  }

  #stepAt(state: RolloutState, counts: RecordedCounts = {}): Step {
    const { now, ticks, isShared } = this.#sources
    const { percent } = stepOf(this.plan, state)
    const news = isShared ? createNewsOfStep(now) : undefined
    const evidence = createStepEvidence({ percent, ticks, news })
    return { evidence, shared: news && { news, evidence: createSharedEvidence(percent, counts) } }
  }

  #counted() {
    return this.#step.shared?.evidence ?? this.#step.evidence
  }

  /** Puts together all that decisions look at. */
  #view(since: Pick<RolloutView, 'requests' | 'unjudged'>): RolloutView {
    const { journal, canBeJudged } = this.#sources
    const used = Object.entries(this.#counted().counts()).filter(([operation, { requests }]) => requests > 0 && this.reach.has(operation))
    const operations = used.map(([operation, step]): OperationView => {
      const known = journal.evidence.of(operation)
      const run = sinceThen(known, this.#before[operation])
      const alone = Math.min(known?.alone ?? 0, run.bad)
      return { operation, canBeJudged: canBeJudged(operation), step, run, alone, failures: journal.circuit.failures(operation) }
    })
    const open = openOf(this.reach, journal)
    return {
      ...since,
      open,
      stuck: Object.keys(open).filter((operation) => !journal.circuit.canClose(operation)),
      operations,
      unused: this.reach.size - used.length,
      ratio: this.#counted().ratio.state(),
      unwritten: journal.recorder.problem(),
    }
  }

  /** Returns what the replica that decides looks at: what is wrong at one replica is wrong. `requests` came since the last look. */
  #viewOfAll(states: readonly ReplicaState[], requests: number): RolloutView {
    const view = this.#view({ ...NOTHING_NEW, requests })
    const unjudged = states.flatMap((one) => one.unjudged ?? []).sort((a, b) => b.requests - a.requests)[0] ?? view.unjudged
    const unwritten = view.unwritten ?? states.find((one) => one.unwritten !== undefined)?.unwritten
    // A replica that took the share to 0 has been heard once the rollout is turned back.
    const heard = this.#state.phase === 'turned-back' ? [] : states
    return { ...view, unjudged, unwritten, open: { ...Object.assign({}, ...heard.map(({ opened }) => opened)), ...view.open } }
  }

  /** Milliseconds since the last look that may count. */
  #elapsedMs(): number {
    const { isShared, ticks } = this.#sources
    const since = ticks() - this.#lookedAt
    this.#lookedAt += since
    return Math.min(isShared ? LATEST_MS.shared : LATEST_MS.alone, since)
  }

  /** Lets time pass, and returns a move that is due then. */
  #due(view: RolloutView, elapsedMs: number): Proposal | undefined {
    const { plan } = this
    const now = this.#sources.now()
    const state = timed(this.#state, view, elapsedMs)
    this.#state = state
    const to = next(plan, state, view, now)
    if (this.#step.shared?.evidence.isLost() && to.by !== 'circuit') {
      const again = { ...state, ...stepBegins(plan, state.at, state), ...LOST, phase: state.phase, since: now }
      return this.#proposal(again, { source: 'rollout' })
    }
    return to.by && this.#proposal(to.state, { source: to.by })
  }

  #proposal(to: RolloutState, by: Actor): Proposal {
    return { saved: this.#savedAt(to), by, isAdvance: to.at > this.#state.at || to.phase === 'done' }
  }

  /** Returns what would be saved there: a new run begins with what is known now, and a new step without counts. */
  #savedAt(to: RolloutState): SavedRun {
    const { journal } = this.#sources
    const before = to.runsBegun === this.#state.runsBegun ? this.#before : knownOf(this.reach, journal)
    const counts = to.stepsBegun === this.#state.stepsBegun ? this.#counted().counts() : {}
    return { state: to, counts, before, seen: seenSince(before, journal) }
  }

  /** Goes there. Another step than the present one begins without what was seen of the present one. */
  #take(saved: SavedRun, isOther = false): void {
    if (isOther || saved.state.stepsBegun !== this.#state.stepsBegun) this.#step = this.#stepAt(saved.state, saved.counts)
    this.#state = saved.state
    this.#before = saved.before
    if (!this.#sources.isShared) this.#step.evidence.restore(saved.counts)
  }

  /** It is somewhere else. What a person wanted of this replica alone still holds. */
  #arrived(): void {
    this.#step.evidence.forgive()
    if (typeof this.#pulled?.why !== 'object') this.#pulled = undefined
    this.#sources.moved()
    if (this.#sources.isShared) this.#guard()
  }

  #pull(why: Pulled['why'], phase: RolloutState['phase'], reason: string, opened = {}): void {
    const state = { ...this.#state, phase, signal: undefined, reason, since: this.#sources.now(), opened, backMs: 0 }
    this.#pulled = { why, state }
  }

  /** Takes the share to 0 here if a circuit is open, and back if that soon turns out to be wrong. */
  #guard(): void {
    const { journal, ticks, moved } = this.#sources
    const open = openOf(this.reach, journal)
    const [first] = Object.entries(open)
    if (this.#pulled?.why === 'circuit' && !first && !this.#isProven()) {
      this.#pulled = undefined
      moved()
    }
    if (first) this.#openSince = Math.min(this.#openSince, ticks())
    else if (!this.#pulled) this.#openSince = Number.POSITIVE_INFINITY
    if (!first || this.#pulled || shareOf(this.plan, this.#state) === 0 || this.#state.phase === 'done') return
    this.#pull('circuit', 'turned-back', `The circuit of ${first[0]} opened (${first[1]}).`, open)
    moved()
  }

  /** True if circuits took it to 0, and what closes them would have arrived. */
  #isProven(): boolean {
    return this.#pulled?.why === 'circuit' && this.#sources.ticks() - this.#openSince >= PROVISIONAL_MS
  }

  #closeAll(): readonly string[] {
    return this.#sources.journal.circuit.close((operation) => this.reach.has(operation))
  }

  #note(text: string, by: Actor, to: string, from?: string): void {
    const { name } = this.plan
    const moved = { by, ...(from !== undefined && { from }), to }
    this.#sources.journal.note({ what: 'rollout', rollout: name, text: `rollout ${name}: ${text}`, ...moved })
  }

  /** Records where it stands, or that it ended, unless the last record says the same and is not old. */
  #record(saved?: SavedRun): void {
    const { journal, order, now } = this.#sources
    const text = JSON.stringify(saved ?? null)
    if (text === this.#recorded.text && Math.abs(now() - this.#recorded.at) < STALE_MS) return
    this.#recorded = { text, at: now() }
    const { name, digest } = this.plan
    const head = { kind: 'rollout', at: new Date(now()).toISOString(), name, digest, nth: order.next() } as const
    journal.recorder.record({ ...head, ...(saved && { saved }) })
  }
}

const NOTHING_NEW = { requests: 0, unjudged: { requests: 0, ms: 0 } } as const

/** Two states of one move differ in the time that passed alone. */
function isOtherMove(a: RolloutState, b: RolloutState): boolean {
  return a.phase !== b.phase || a.since !== b.since || a.stepsBegun !== b.stepsBegun
}
