import { z } from 'zod'
import type { Observation, OperationEvidence, Sample } from '../evidence/evidence.ts'
import { aloneOf } from '../evidence/standing.ts'
import type { Journal, SaveOrder } from '../modes/journal.ts'
import type { Actor } from '../records/record.ts'
import { createSampleRatio, createStepEvidence, RATIO_ODDS, type RatioState, type RecordedCounts, type StepEvidence } from './evidence.ts'
import { isUnjudged, type OperationView, type RolloutView } from './machine.ts'
import {
  describeState,
  firstState,
  goingAt,
  ROLLOUT_PHASES,
  type RolloutPhase,
  type RolloutPlan,
  type RolloutState,
  runBegins,
  SIGNAL_NAMES,
  type SignalName,
  stepBegins,
  stepOf,
} from './plan.ts'

/** Writes down what happens to one rollout: each move is one note. */
export interface RunBook {
  /** It begins, or goes on after a restart. `from` says where one of the same name was. */
  begun(text: string, by: Actor, saved: SavedRun, from?: string): void
  moved(from: RolloutState, by: Actor, saved: SavedRun): void
  /** The modes have it no more. */
  ended(text: string, by: Actor, from: RolloutState): void
  /** A person closed circuits by resuming it. */
  closed(operations: readonly string[], by: Actor): void
  /** Records where it stands, without a note, unless the last record says the same and is not old. */
  save(saved: SavedRun): void
}

interface BookSources {
  readonly journal: Pick<Journal, 'recorder' | 'note'>
  readonly order: Pick<SaveOrder, 'next'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Old record files are removed. What stands in the newest one outlives them. */
const STALE_MS = 3_600_000

export function createRunBook(plan: RolloutPlan, { journal, order, now }: BookSources): RunBook {
  const { name, digest } = plan
  const note = (text: string, by: Actor, to: string, from?: string) =>
    journal.note({
      what: 'rollout',
      rollout: name,
      text: `rollout ${name}: ${text}`,
      by,
      ...(from !== undefined && { from }),
      to,
    })
  let last = { text: '', at: 0 }
  const save = (saved?: SavedRun) => {
    const text = JSON.stringify(saved ?? null)
    if (text === last.text && Math.abs(now() - last.at) < STALE_MS) return
    last = { text, at: now() }
    const head = { kind: 'rollout', at: new Date(now()).toISOString(), name, digest, nth: order.next() } as const
    journal.recorder.record({ ...head, ...(saved && { saved }) })
  }
  return {
    begun(text, by, saved, from) {
      note(text, by, describeState(plan, saved.state), from)
      save(saved)
    },
    moved(from, by, saved) {
      note(saved.state.reason, by, describeState(plan, saved.state), describeState(plan, from))
      save(saved)
    },
    ended(text, by, from) {
      note(text, by, 'ended', describeState(plan, from))
      save()
    },
    closed(operations, by) {
      const text = `the rollout ${name} was resumed`
      for (const operation of operations) journal.note({ what: 'circuit-closed', text, operation, by, from: 'open', to: 'closed' })
    },
    save,
  }
}

/** What a restart needs of a rollout. */
export interface SavedRun {
  readonly state: RolloutState
  readonly counts: RecordedCounts
  /** What was known of each operation when the run began. */
  readonly before: Readonly<Record<string, Sample>>
  /** What became known since then of these operations. Records of older versions lack it. */
  readonly seen?: Readonly<Record<string, Sample>> | undefined
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

/** What is known of v2's answers to an operation. What v2 did alone is among the wrong ones. */
export interface KnownFigure extends Sample {
  /** Requests that v2 alone refused, or of which its answer left nothing to compare. */
  readonly alone: number
}

/** What is known of v2's answers. */
export interface KnownFigures {
  readonly evidence: { readonly of: (operation: string) => KnownFigure | undefined }
}

/** Counts what v2 did alone as wrong. Undefined if nothing is known. */
export function knownFigure(evidence: (Sample & Pick<OperationEvidence, 'uncompared'>) | undefined): KnownFigure | undefined {
  if (!evidence) return undefined
  const alone = aloneOf(evidence)
  return { n: evidence.n + alone, bad: evidence.bad + alone, alone }
}

/** Where the figures about v2 come from. */
export interface FigureSources {
  readonly journal: Pick<Journal, 'circuit' | 'recorder'> & KnownFigures
  /** False for a write that no read can show. */
  readonly canBeJudged: (operation: string) => boolean
}

/** What a rollout has seen. */
export interface Seen {
  /** Operations of its rule that v2 has, as far as no earlier rule takes them. */
  readonly reach: ReadonlySet<string>
  readonly evidence: Pick<StepEvidence, 'counts' | 'ratio'>
  /** What was known of each operation when the run began. */
  readonly before: Readonly<Record<string, Sample>>
}

/** Puts together all that decisions look at. */
export function viewOf(
  seen: Seen,
  since: Pick<RolloutView, 'requests' | 'unjudged'>,
  { journal, canBeJudged }: FigureSources,
): RolloutView {
  const { reach, evidence, before } = seen
  const used = Object.entries(evidence.counts()).filter(([operation, { requests }]) => requests > 0 && reach.has(operation))
  const operations = used.map(([operation, step]): OperationView => {
    const known = journal.evidence.of(operation)
    const run = sinceThen(known, before[operation])
    const alone = Math.min(known?.alone ?? 0, run.bad)
    return { operation, canBeJudged: canBeJudged(operation), step, run, alone, failures: journal.circuit.failures(operation) }
  })
  const open = openOf(reach, journal)
  return {
    ...since,
    open,
    stuck: Object.keys(open).filter((operation) => !journal.circuit.canClose(operation)),
    operations,
    unused: reach.size - used.length,
    ratio: evidence.ratio.state(),
    unwritten: journal.recorder.problem(),
  }
}

/** Returns why each open circuit of these operations opened. */
export function openOf(reach: ReadonlySet<string>, { circuit }: Pick<Journal, 'circuit'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...reach].flatMap((operation) => {
      const why = circuit.whyOpen(operation)
      return why === undefined ? [] : [[operation, why]]
    }),
  )
}

/** Returns what is known of each operation now. */
export function knownOf(reach: ReadonlySet<string>, { evidence }: KnownFigures): Readonly<Record<string, Sample>> {
  return Object.fromEntries(
    [...reach].flatMap((operation) => {
      const known = evidence.of(operation)
      return known ? [[operation, { n: known.n, bad: known.bad }]] : []
    }),
  )
}

/** Returns what became known since then. If records are gone, what is left counts whole: nothing bad may hide. */
function sinceThen({ n, bad }: Sample = NOTHING, then: Sample = NOTHING): Sample {
  return n < then.n || bad < then.bad ? { n, bad } : { n: n - then.n, bad: bad - then.bad }
}

/** Returns what became known of each operation since then. */
export function seenSince(before: Seen['before'], { evidence }: KnownFigures): Readonly<Record<string, Sample>> {
  return Object.fromEntries(Object.entries(before).map(([operation, then]) => [operation, sinceThen(evidence.of(operation), then)]))
}

/**
 * Returns what was known then, as the records that are left would have it: what was seen since then must not shrink, nor what was before
 * dilute it, because old record files were removed.
 */
export function keptSince(before: Seen['before'], seen: Seen['before'], { evidence }: KnownFigures): Seen['before'] {
  const kept = Object.entries(before).map(([operation, then]) => {
    const [known, since] = [evidence.of(operation) ?? NOTHING, seen[operation] ?? NOTHING]
    const isWhole = known.n - then.n >= since.n && known.bad - then.bad >= since.bad
    return [operation, isWhole ? then : { n: known.n - since.n, bad: known.bad - since.bad }] as const
  })
  return Object.fromEntries(kept)
}

const NOTHING: Sample = { n: 0, bad: 0 }

/** What a person may ask of a rollout. */
export const ROLLOUT_COMMANDS = ['pause', 'resume', 'promote', 'abort'] as const

export type RolloutCommand = (typeof ROLLOUT_COMMANDS)[number]

/** What the command meets. */
export interface Steering {
  /** Who gave the command: `admin port, token ops`. */
  readonly by: string
  /** Operations of the rollout with an open circuit. */
  readonly open: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The state after the command; why it makes no sense; or `same` if the rollout is in that state already. */
export type Steered = { readonly state: RolloutState } | { readonly problem: string } | 'same'

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

const UNHEARD = 'waits for the store, which has not told yet where it stands'

/** What each command means in each phase: a move, `same`, or why it makes no sense. */
const MEANINGS: Readonly<Record<RolloutCommand, Readonly<Record<RolloutPhase, Move | string>>>> = {
  pause: {
    waiting: UNHEARD,
    running: pause,
    held: pause,
    watching: pause,
    paused: pause,
    'turned-back': 'is turned back, and its share is 0: abort it if it must not try again',
    done: 'is done: abort it to set its share to 0',
    aborted: OVER,
  },
  resume: {
    waiting: UNHEARD,
    running: 'same',
    held: 'same',
    watching: 'same',
    paused: resume,
    'turned-back': restart,
    done: 'is done: nothing is left to resume',
    aborted: OVER,
  },
  promote: {
    waiting: UNHEARD,
    running: promote,
    held: promote,
    watching: promote,
    paused: promote,
    'turned-back': 'is turned back: resume it first',
    done: 'is done: nothing is left to promote',
    aborted: OVER,
  },
  abort: {
    waiting: UNHEARD,
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
export interface Plight {
  /** Too many requests since the last comparison that said something, and the milliseconds since then. */
  readonly unjudged?: RolloutView['unjudged']
  /** Why its records cannot be written. */
  readonly unwritten?: string | undefined
  /** Why each circuit opened for which it took the share to 0 by itself, by operation id. */
  readonly opened?: Readonly<Record<string, string>> | undefined
}

/** Returns what is wrong; undefined if nothing is. */
export function plightOf({ unjudged, unwritten, opened }: Plight): Plight | undefined {
  const found: Plight = {
    ...(unjudged && isUnjudged(unjudged) && { unjudged }),
    ...(unwritten !== undefined && { unwritten }),
    ...(opened && { opened }),
  }
  return Object.keys(found).length > 0 ? found : undefined
}

/** Returns what the replica that decides looks at: what is wrong at one replica is wrong. `requests` came since the last look. */
export function viewOfAll(place: RunPlace, plights: readonly Plight[], requests: number): RolloutView {
  const view = place.view({ requests, unjudged: { requests: 0, ms: 0 } })
  const unjudged = plights.flatMap((one) => one.unjudged ?? []).sort((a, b) => b.requests - a.requests)[0] ?? view.unjudged
  const unwritten = view.unwritten ?? plights.find((one) => one.unwritten !== undefined)?.unwritten
  // A replica that took the share to 0 has been heard once the rollout is turned back.
  const heard = place.state().phase === 'turned-back' ? [] : plights
  return { ...view, unjudged, unwritten, open: { ...Object.assign({}, ...heard.map(({ opened }) => opened)), ...view.open } }
}

/** An observation that this replica saw first. Another one may have seen it before. */
export interface NewObservation extends Observation {
  /** Milliseconds since 1970. */
  readonly at: number
}

export interface NewCaller {
  readonly caller: string
  /** The canary's side answered its first request. */
  readonly got: boolean
  readonly at: number
}

/** What one replica has counted in a step since it last told the others. */
export interface StepNews {
  readonly requests: ReadonlyMap<string, number>
  readonly comparisons: ReadonlyMap<string, Sample>
  /** Requests by the side that answered them. */
  readonly sides: { readonly got: number; readonly other: number }
  readonly observations: readonly NewObservation[]
  readonly callers: readonly NewCaller[]
}

/** Gathers what the other replicas must know of a step. */
export interface NewsOfStep {
  used(operation: string): void
  sided(caller: string, got: boolean, isFirst: boolean): void
  compared(observation: Observation, isBad: boolean, isFirst: boolean): void
  /** Hands over what is new, with at most `MOST_CLAIMS` observations and callers. */
  take(): StepNews
  /** Observations and callers that wait. */
  waiting(): number
}

/** Observations and callers of one exchange. */
export const MOST_CLAIMS = 1000

/** Observations of one rollout that wait while the store does not answer. A bad one that finds no room still counts as a comparison. */
export const MOST_WAITING = 10_000

export function createNewsOfStep(now: () => number): NewsOfStep {
  let requests = new Map<string, number>()
  let comparisons = new Map<string, Sample>()
  let sides = { got: 0, other: 0 }
  const bad: NewObservation[] = []
  const clean: NewObservation[] = []
  const callers: NewCaller[] = []
  const observe = (observation: Observation, isBad: boolean) => {
    const { operation, caller, shape, outcome } = observation
    const list = isBad ? bad : clean
    list.push({ operation, caller, shape, outcome, at: now() })
    if (bad.length + clean.length > MOST_WAITING) (clean.length > 0 ? clean : bad).pop()
  }
  return {
    used: (operation) => void requests.set(operation, (requests.get(operation) ?? 0) + 1),
    sided(caller, got, isFirst) {
      sides[got ? 'got' : 'other'] += 1
      if (isFirst) callers.push({ caller, got, at: now() })
    },
    compared(observation, isBad, isFirst) {
      const { n, bad: wrong } = comparisons.get(observation.operation) ?? { n: 0, bad: 0 }
      comparisons.set(observation.operation, { n: n + 1, bad: wrong + (isBad ? 1 : 0) })
      if (isFirst) observe(observation, isBad)
    },
    take() {
      const observations = [...bad.splice(0, MOST_CLAIMS)]
      observations.push(...clean.splice(0, MOST_CLAIMS - observations.length))
      const news = { requests, comparisons, sides, observations, callers: callers.splice(0, MOST_CLAIMS - observations.length) }
      requests = new Map()
      comparisons = new Map()
      sides = { got: 0, other: 0 }
      return news
    },
    waiting: () => bad.length + clean.length + callers.length,
  }
}

/** What all replicas together have counted in a step. */
export interface StepTotals extends Pick<RatioState, 'callers' | 'got'> {
  readonly counts: RecordedCounts
  /** Requests by the side that answered them. */
  readonly sides: RatioState['requests']
}

/** The evidence of a step as the fleet has it. */
export interface SharedEvidence extends Pick<StepEvidence, 'counts' | 'ratio'> {
  /** Takes what the store has. It only grows. */
  hear(totals: StepTotals): void
  /** True once the store has told it. */
  isKnown(): boolean
  /** True if the store has less than was known of the step: it has lost something. */
  isLost(): boolean
  /** Returns the requests since the last call. */
  requestsSinceLook(): number
}

/** `known` is what was published of the step before. */
export function createSharedEvidence(percent: number, known: RecordedCounts): SharedEvidence {
  const ratio = createSampleRatio({ share: percent / 100, odds: RATIO_ODDS })
  let counts: RecordedCounts | undefined
  let seen = requestsIn(known)
  let isLost = false
  return {
    ratio,
    hear(totals) {
      isLost ||= isLess(totals.counts, counts ?? known)
      counts = totals.counts
      ratio.learn({ ...totals, requests: totals.sides })
    },
    isKnown: () => counts !== undefined,
    isLost: () => isLost,
    counts: () => counts ?? known,
    requestsSinceLook() {
      const now = requestsIn(counts ?? known)
      const since = Math.max(0, now - seen)
      seen = now
      return since
    },
  }
}

function requestsIn(counts: RecordedCounts): number {
  return Object.values(counts).reduce((sum, { requests }) => sum + requests, 0)
}

function isLess(counts: RecordedCounts, known: RecordedCounts): boolean {
  return Object.entries(known).some(([operation, { requests, observations, comparisons }]) => {
    const now = counts[operation]
    return !now || now.requests < requests || now.observations.n < observations.n || now.comparisons.n < comparisons.n
  })
}

/** Where a rollout stands, and what its step has shown. */
export interface RunPlace {
  state(): RolloutState
  /** What this process has seen of the step. */
  evidence(): StepEvidence
  /** What the replicas of a fleet tell each other of the step; undefined without a store. */
  shared(): SharedStep | undefined
  view(since: Pick<RolloutView, 'requests' | 'unjudged'>): RolloutView
  saved(): SavedRun
  /** Returns what would be saved there: a new run begins with what is known now, and a new step without counts. */
  savedAt(to: RolloutState): SavedRun
  /** Goes there. Another step than the present one begins without what was seen of the present one. */
  take(saved: SavedRun, isOther?: boolean): void
  /** Lets time pass in the same step. */
  pass(state: RolloutState): void
  /** Takes over what was seen since the run began. */
  settle(seen: Readonly<Record<string, Sample>>): void
  reach: ReadonlySet<string>
}

export interface SharedStep {
  readonly news: NewsOfStep
  readonly evidence: SharedEvidence
}

export interface PlaceSources extends FigureSources {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Replicas decide together. */
  readonly isShared: boolean
}

export const BEGINS = 'It starts at its first step.'

interface Step {
  readonly evidence: StepEvidence
  readonly shared: SharedStep | undefined
}

export function createRunPlace(plan: RolloutPlan, sources: PlaceSources): RunPlace {
  const { journal, now, ticks, isShared } = sources
  const stepAt = (of: RolloutState, counts: RecordedCounts = {}): Step => {
    const { percent } = stepOf(plan, of)
    if (!isShared) return { evidence: createStepEvidence({ percent, ticks }), shared: undefined }
    const news = createNewsOfStep(now)
    return { evidence: createStepEvidence({ percent, ticks, news }), shared: { news, evidence: createSharedEvidence(percent, counts) } }
  }
  let state = firstState(BEGINS, now())
  let step = stepAt(state)
  let before: Readonly<Record<string, Sample>> = {}
  const counted = () => step.shared?.evidence ?? step.evidence
  const place: RunPlace = {
    reach: new Set(),
    state: () => state,
    evidence: () => step.evidence,
    shared: () => step.shared,
    view: (since) => viewOf({ reach: place.reach, evidence: counted(), before }, since, sources),
    saved: () => ({ state, counts: counted().counts(), before, seen: seenSince(before, journal) }),
    savedAt(to) {
      const then = to.runsBegun === state.runsBegun ? before : knownOf(place.reach, journal)
      const counts = to.stepsBegun === state.stepsBegun ? counted().counts() : {}
      return { state: to, counts, before: then, seen: seenSince(then, journal) }
    },
    take(saved, isOther = saved.state.stepsBegun !== state.stepsBegun) {
      if (isOther) step = stepAt(saved.state, saved.counts)
      state = saved.state
      before = saved.before
      if (!isShared) step.evidence.restore(saved.counts)
    },
    pass(to) {
      state = to
    },
    settle(seen) {
      before = keptSince(before, seen, journal)
    },
  }
  return place
}
