import type { Identity } from '../../serve/caller.ts'
import type { Mode, Side } from '../../serve/sides.ts'
import { type Opening, readOpening } from '../evidence/circuit.ts'
import type { Observation, Sample } from '../evidence/evidence.ts'
import type { Journal, SaveOrder } from '../modes/journal.ts'
import type { ModeRules } from '../modes/rules.ts'
import { createRuleOf, isWithinShare, operationsOf, type RuleOf } from '../modes/select.ts'
import { type Actor, type Comparison, describeActor, type Entry, type Note, type RolloutEntry } from '../records/record.ts'
import { next, type RolloutStatus, statusOf } from './machine.ts'
import { describeState, firstState, judgedShareOf, planOf, type RolloutPlan, type RolloutState, shareOf } from './plan.ts'
import {
  BEGINS,
  createRunBook,
  createRunPlace,
  type KnownFigures,
  knownFigure,
  openOf,
  type PlaceSources,
  type RolloutCommand,
  readSavedRun,
  type SavedRun,
  steered,
} from './run.ts'
import { createSharedRun, type SharedRun } from './shared-run.ts'

export interface RunSources extends PlaceSources {
  readonly journal: PlaceSources['journal'] & Pick<Journal, 'note'>
  readonly order: Pick<SaveOrder, 'next'>
  /** Is called at every move, before it is noted: the share may be another one. */
  readonly moved: () => void
}

/** One rollout of the rules in force. */
export interface RolloutRun {
  readonly plan: RolloutPlan
  /** How it follows what the replicas of a fleet decide together; undefined without a store. */
  readonly shared: SharedRun | undefined
  state(): RolloutState
  status(): RolloutStatus
  /** Looks at what was seen since the last look, and moves if that is due. */
  look(): void
  /** Gives a command of a person. Returns a sentence if it makes no sense. */
  steer(command: RolloutCommand, by: Actor): string | undefined
  /** Counts a request of a client of its rule, and whether v2 answered it. Nothing is missing if a tester asked v2 alone: nobody compares that. */
  used(operation: string, caller: string, sides: { readonly mode: Mode; readonly by: Side }): void
  /** Counts a comparison of an answer that v2 gave a client of its rule. */
  compared(observation: Observation): void
  /** Remembers such a comparison from before a restart. */
  remember(observation: Observation, agoMs: number): void
  /** Goes on where it was before a restart, or begins at its first step. */
  restore(saved: SavedRun | undefined): void
  /** Takes over what was seen since the run began, when all records were read: some may be gone. */
  settle(seen: Readonly<Record<string, Sample>>): void
  /** Records where it stands. */
  save(): void
  /** Notes why it begins, or goes on after a restart. `before` had the same name. */
  begin(text: string, by: Actor, before?: RolloutRun): void
  /** Notes why it ends: the modes have it no more. */
  end(text: string, by: Actor): void
  /** True if its rule decides about this operation. */
  reaches(operation: string): boolean
  /** Learns which operations its rule decides about. */
  reach(operations: readonly string[]): void
}

export function createRun(plan: RolloutPlan, sources: RunSources): RolloutRun {
  const { journal, now, ticks, canBeJudged, isShared } = sources
  const book = createRunBook(plan, sources)
  const place = createRunPlace(plan, sources)
  const shared = isShared ? createSharedRun(plan, place, { ...sources, book }) : undefined
  const state = shared?.state ?? place.state
  let lookedAt = ticks()
  const move = (to: RolloutState, by: Actor) => {
    const from = place.state()
    place.take(place.savedAt(to))
    place.evidence().forgive()
    sources.moved()
    book.moved(from, by, place.saved())
  }
  return {
    plan,
    shared,
    state,
    status() {
      const status = statusOf(plan, state(), place.view(NOTHING_NEW), place.reach)
      if (shared?.pulled()) return { ...status, reason: state().reason }
      return shared?.waits ? { ...status, reason: `${status.reason} It waits: ${shared.waits}` } : status
    },
    look() {
      if (shared) return shared.guard()
      const { isWorse, ...since } = place.evidence().sinceLook()
      const elapsedMs = Math.min(LATEST_MS, ticks() - lookedAt)
      lookedAt = ticks()
      const to = next(plan, place.state(), { view: place.view(since), elapsedMs, now: now() })
      if (to.by) return move(to.state, { source: to.by })
      place.pass(to.state)
      // Nothing bad may be forgotten if the process dies now.
      if (isWorse) book.save(place.saved())
    },
    steer(command, by) {
      const open = Object.keys(openOf(place.reach, journal))
      const result = steered(plan, place.state(), command, { by: describeActor(by), open, now: now() })
      if (result === 'same') return undefined
      if ('problem' in result) return result.problem
      const closed = command === 'resume' ? journal.circuit.close((operation) => place.reach.has(operation)) : []
      move(result.state, by)
      book.closed(closed, by)
      return undefined
    },
    used(operation, caller, { mode, by }) {
      const share = judgedShareOf(plan, state())
      if (share > 0) place.evidence().sided(caller, by === 'v2')
      if (mode === 'diff-v2' && isWithinShare(caller, share)) place.evidence().used(operation, canBeJudged(operation))
    },
    compared(observation) {
      if (isWithinShare(observation.caller, judgedShareOf(plan, state()))) place.evidence().compared(observation)
    },
    remember: (observation, agoMs) => place.evidence().remember(observation, agoMs),
    restore: (known = { state: firstState(BEGINS, now()), counts: {}, before: {} }) => place.take(known),
    reaches: (operation) => place.reach.has(operation),
    save: () => book.save(place.saved()),
    settle: place.settle,
    begin: (text, by, old) => book.begun(text, by, place.saved(), old && describeState(old.plan, old.state())),
    end: (text, by) => book.ended(text, by, state()),
    reach(operations) {
      place.reach = new Set(operations)
    },
  }
}

/** A later look says that the process itself stood still: nobody was served in that time. */
const LATEST_MS = 60_000

const NOTHING_NEW = { requests: 0, unjudged: { requests: 0, ms: 0 } } as const

/** Lets rollouts go on where earlier records ended. */
export interface EarlierRuns {
  /** Takes an entry of earlier records, in the order of their times, until `end` is called. */
  entry(entry: Entry): void
  /** Begins what the records do not know, and ends what the rules have no more. Circuits that had turned a rollout back are open again. */
  end(): void
}

interface EarlierSources {
  readonly runs: () => Runs
  readonly journal: Pick<Journal, 'circuit' | 'note' | 'recorder'>
  readonly order: SaveOrder
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The fleet knows where they stand, and which circuits are open. What the records say holds only if it does not. */
  readonly isShared: boolean
}

/** What the records say last of one rollout. */
interface Known extends Pick<RolloutEntry, 'digest'> {
  readonly nth: number
  /** Absent once the modes had it no more. */
  readonly saved: SavedRun | undefined
}

/** The last turn of a circuit, by its note. */
interface CircuitTurn {
  readonly nth: number
  /** Undefined if it closed. */
  readonly opened: Opening | undefined
}

export function createEarlierRuns({ runs, journal, order, now, isShared }: EarlierSources): EarlierRuns {
  const known = new Map<string, Known>()
  const turns = new Map<string, CircuitTurn>()
  /** The number of the last change of modes, which closes circuits. */
  let changed = 0
  let isOver = false
  /** The openings of which no record of the rollout tells: the process may have died before it wrote one. */
  const openedOf = (run: RolloutRun, told: number) =>
    [...turns].flatMap(([operation, { nth, opened }]): readonly (readonly [string, Opening])[] =>
      opened !== undefined && nth >= told && nth >= changed && run.reaches(operation) ? [[operation, opened]] : [],
    )
  const noted = ({ what, operation = '', at, text, nth: numbered }: Note) => {
    const nth = numbered ?? order.last()
    order.saw(nth)
    if (what === 'modes') changed = Math.max(changed, nth)
    if (what === 'modes' && numbered === undefined) turns.clear()
    if (what !== 'circuit' && what !== 'circuit-closed') return
    if (nth >= (turns.get(operation)?.nth ?? 0))
      turns.set(operation, { nth, opened: what === 'circuit' ? readOpening(text, Date.parse(at)) : undefined })
  }
  const take = ({ name, digest, saved: written, nth = 0 }: RolloutEntry) => {
    order.saw(nth)
    if (nth < (known.get(name)?.nth ?? 0)) return
    const saved = readSavedRun(written)
    known.set(name, { digest, nth, saved })
    const run = runs().get(name)
    run?.restore(run.plan.digest === digest ? saved : undefined)
  }
  const begin = (run: RolloutRun, text: string) => {
    if (run.shared) run.shared.opening = text
    else run.begin(text, BY)
  }
  const goOn = (name: string, run: RolloutRun) => {
    const { digest, nth = 0, saved } = known.get(name) ?? {}
    if (!saved) return begin(run, 'It starts at its first step: no record mentions it.')
    if (digest !== run.plan.digest) return begin(run, 'It starts at its first step: its steps, operations or clients have changed.')
    if (saved.seen) run.settle(saved.seen)
    if (isShared) return begin(run, GOES_ON)
    const state = run.state()
    const told = state.phase === 'turned-back' ? Object.entries(state.opened) : []
    const back = told.map(([operation, text]) => [operation, readOpening(text, state.since)] as const)
    const open = [...back.filter(([operation]) => run.reaches(operation)), ...openedOf(run, nth)]
    for (const [operation, opening] of open) journal.circuit.reopen(operation, opening)
    begin(run, GOES_ON)
  }
  const endLost = (name: string, { digest, saved }: Known) => {
    if (!saved || isShared) return
    journal.note({ what: 'rollout', rollout: name, text: `rollout ${name}: ${LOST}`, by: BY, from: saved.state.phase, to: 'ended' })
    journal.recorder.record({ kind: 'rollout', at: new Date(now()).toISOString(), name, digest, nth: order.next() })
  }
  return {
    entry(entry) {
      if (isOver) return
      if (entry.kind === 'rollout') take(entry)
      if (entry.kind === 'note') noted(entry)
      if (entry.kind !== 'comparison' || entry.mode !== 'diff-v2') return
      const agoMs = now() - Date.parse(entry.at)
      for (const run of runs().values()) {
        if (run.reaches(entry.operation)) run.remember(entry, agoMs)
      }
    },
    end() {
      isOver = true
      for (const [name, run] of runs()) goOn(name, run)
      for (const [name, one] of known) if (!runs().has(name)) endLost(name, one)
    },
  }
}

const BY: Actor = { source: 'start' }

const GOES_ON = 'It goes on where the records ended.'

const LOST = 'It ends: the modes at this start have it no more. Modes that were put by a request end with the process.'

/** The rollouts of the rules in force, by name. */
export type Runs = ReadonlyMap<string, RolloutRun>

interface FollowSources extends RunSources {
  /** Ids of all operations that v2 has. */
  readonly operations: readonly string[]
}

/** Returns the rollouts of the rules. One with the same steps and operations is the one that was there before. */
export function runsOf({ rules }: ModeRules, before: Runs, sources: FollowSources): Runs {
  const runs = rules.flatMap((rule, at) => {
    if (!rule.canary?.rollout) return []
    const plan = planOf(rule.canary.rollout, rule)
    const known = before.get(plan.name)
    const run = known?.plan.digest === plan.digest ? known : createRun(plan, sources)
    run.reach(operationsOf(rules, at, sources.operations))
    return [[plan.name, run] as const]
  })
  return new Map(runs)
}

/** Notes every rollout that a change of modes began, began anew or ended. */
export function tellChange(before: Runs, after: Runs, by: Actor): void {
  for (const [name, run] of before) if (!after.has(name)) run.end('It ends: the modes have it no more.', by)
  for (const [name, run] of after) {
    const known = before.get(name)
    if (known === run) continue
    run.begin(known ? 'It starts again: its steps, operations or clients have changed.' : 'It starts at its first step.', by, known)
  }
}

/** Returns the rules with the shares in force in place of rollouts. */
export function withShares(rules: ModeRules, runs: Runs): ModeRules {
  const inForce = rules.rules.map((rule) => {
    const run = rule.canary?.rollout && runs.get(rule.canary.rollout.name)
    if (!run || !rule.canary) return rule
    const { rollout: _, ...canary } = rule.canary
    return { ...rule, canary: { ...canary, percent: shareOf(run.plan, run.state()) } }
  })
  return { ...rules, rules: inForce }
}

/** A request of a client, as far as rollouts look at it. */
export interface SidedRequest extends Identity {
  readonly mode: Mode
  /** The round in which its mode was chosen. */
  readonly round?: number | undefined
}

/** Runs the rollouts of the rules in force. */
export interface Rollouts {
  all(): readonly RolloutStatus[]
  /** Gives a command. Returns a sentence if it makes no sense. */
  steer(name: string, command: RolloutCommand, by: Actor): string | undefined
  /** Follows other rules. A rollout with the same steps goes on where it is. */
  change(rules: ModeRules, by: Actor): void
  /** Follows rules that another replica put in force: it has noted what begins and what ends. */
  adopt(rules: ModeRules): void
  /** The rollout that the circuit of this operation turned back and that still waits for it; undefined if there is none. */
  keptOpenBy(operation: string): string | undefined
  /** Returns the rules with the shares in force in place of rollouts. */
  inForce(rules: ModeRules): ModeRules
  /** Calls a listener whenever a share may have changed. */
  onMove(listener: () => void): void
  /** Grows whenever a share may have changed. */
  round(): number
  /** Looks at all of them. Call it every second; nothing depends on the exact time. */
  look(): void
  /** Counts a finished request of an accepted client. */
  used(request: SidedRequest, operation: string, by: Side): void
  /** Counts a comparison of an answer to a client. */
  compared(client: Identity, comparison: Pick<Comparison, 'mode'> & Observation): void
  readonly entry: EarlierRuns['entry']
  /** Begins, or goes on where the records ended. */
  start(): void
  /** Records where they stand. */
  flush(): void
  /** The rollouts themselves, by name. */
  runs(): Runs
  /** From now on, what is known of v2's answers is what all replicas have seen. */
  know(of: KnownFigures['evidence']['of']): void
}

interface RolloutSources extends Omit<RunSources, 'journal' | 'moved' | 'order'> {
  readonly journal: Omit<RunSources['journal'], 'evidence'> & Pick<Journal, 'evidence' | 'onNote' | 'order'>
  /** Ids of all operations that v2 has. */
  readonly operations: readonly string[]
}

export function createRollouts(initial: ModeRules, sources: RolloutSources): Rollouts {
  const { now } = sources
  const { order } = sources.journal
  let known: KnownFigures['evidence']['of'] = (operation) => knownFigure(sources.journal.evidence.of(operation))
  const journal = { ...sources.journal, evidence: { of: (operation: string) => known(operation) } }
  const listeners: (() => void)[] = []
  let runs: Runs = new Map()
  let ruleOf: RuleOf = () => undefined
  let round = 0
  const moved = () => {
    round += 1
    for (const listener of listeners) listener()
  }
  const runOf = (operation: string, client: Identity) => {
    const name = runs.size > 0 ? ruleOf(operation, client)?.canary?.rollout?.name : undefined
    return name === undefined ? undefined : runs.get(name)
  }
  const follow = (rules: ModeRules) => {
    runs = runsOf(rules, runs, { ...sources, journal, moved, order })
    ruleOf = createRuleOf(rules.rules)
    round += 1
  }
  const look = () => {
    for (const run of runs.values()) run.look()
  }
  const earlier = createEarlierRuns({ runs: () => runs, journal, order, now, isShared: sources.isShared })
  journal.onNote(({ what }) => what === 'circuit' && look())
  follow(initial)

  return {
    all: () => Array.from(runs.values(), (run) => run.status()),
    steer(name, command, by) {
      const run = runs.get(name)
      return run ? run.steer(command, by) : `There is no rollout ${JSON.stringify(name)}.`
    },
    change(rules, by) {
      const before = runs
      follow(rules)
      tellChange(before, runs, by)
    },
    adopt: follow,
    keptOpenBy: (operation) => [...runs].find(([, run]) => run.state().phase === 'turned-back' && run.reaches(operation))?.[0],
    inForce: (rules) => withShares(rules, runs),
    onMove: (listener) => void listeners.push(listener),
    round: () => round,
    look,
    used(request, operation, by) {
      if (request.round === round) runOf(operation, request)?.used(operation, request.caller, { mode: request.mode, by })
    },
    compared(client, comparison) {
      if (comparison.mode === 'diff-v2') runOf(comparison.operation, client)?.compared(comparison)
    },
    entry: earlier.entry,
    start() {
      earlier.end()
      // A circuit that is open again turns a rollout back before the first request.
      look()
      moved()
    },
    flush() {
      for (const run of runs.values()) run.save()
    },
    runs: () => runs,
    know(of) {
      known = of
    },
  }
}
