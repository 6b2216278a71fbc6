import type { Journal } from '../modes/journal.ts'
import { type Actor, describeActor } from '../records/record.ts'
import { next, type RolloutView, timed } from './machine.ts'
import { type RolloutPlan, type RolloutState, shareOf, stepBegins } from './plan.ts'
import {
  openOf,
  type Plight,
  plightOf,
  type RolloutCommand,
  type RunBook,
  type RunPlace,
  type SavedRun,
  type SharedStep,
  steered,
  viewOfAll,
} from './run.ts'

/** The share of a rollout is 0 at one replica, which took it there by itself. Safety waits for no other replica. */
export interface Pulled {
  /** Nothing was heard of the rollout yet; a circuit is open; or a person wanted it while the store did not answer. */
  readonly why: 'unknown' | 'circuit' | Actor
  readonly state: RolloutState
}

export interface PulledShare {
  now(): Pulled | undefined
  /** Takes the share to 0 if a circuit is open. */
  guard(): void
  /** Takes the share to 0 because a person wants it while the store does not answer. */
  abort(by: Actor): void
  /** Follows the fleet again. */
  release(): void
  /** True if circuits took it to 0, and what closes them would have arrived. */
  isProven(): boolean
}

interface PulledSources {
  readonly journal: Pick<Journal, 'circuit'>
  readonly now: () => number
  readonly ticks: () => number
  /** The share may be another one. */
  readonly moved: () => void
}

/** Milliseconds in which a circuit may turn out to be closed: what closed it may arrive after the rollout that was resumed. */
const PROVISIONAL_MS = 3000

const UNKNOWN = 'Its share is 0 here, because the store has not told yet where it stands.'

export function createPulledShare(plan: RolloutPlan, place: RunPlace, { journal, now, ticks, moved }: PulledSources): PulledShare {
  const pulledTo = (why: Pulled['why'], phase: RolloutState['phase'], reason: string, opened = {}): Pulled => {
    return { why, state: { ...place.state(), phase, signal: undefined, reason, since: now(), opened, backMs: 0 } }
  }
  let pulled: Pulled | undefined = pulledTo('unknown', 'waiting', UNKNOWN)
  /** Since when a circuit is open, by the monotonic clock. */
  let openSince = Number.POSITIVE_INFINITY
  const isProven = () => ticks() - openSince >= PROVISIONAL_MS
  return {
    now: () => pulled,
    guard() {
      const open = openOf(place.reach, journal)
      const [first] = Object.entries(open)
      if (pulled?.why === 'circuit' && !first && !isProven()) {
        pulled = undefined
        moved()
      }
      if (first) openSince = Math.min(openSince, ticks())
      else if (!pulled) openSince = Number.POSITIVE_INFINITY
      if (!first || pulled || shareOf(plan, place.state()) === 0 || place.state().phase === 'done') return
      pulled = pulledTo('circuit', 'turned-back', `The circuit of ${first[0]} opened (${first[1]}).`, open)
      moved()
    },
    abort(by) {
      pulled = pulledTo(by, 'aborted', `Aborted by ${describeActor(by)} on this replica alone, because the store does not answer.`)
      moved()
    },
    release() {
      pulled = undefined
    },
    isProven: () => pulled?.why === 'circuit' && isProven(),
  }
}

/** A move that is in force once the fleet has it. */
export interface Proposal {
  readonly saved: SavedRun
  readonly by: Actor
  /** Callers of the next share may get v2 by it, so that what every replica has seen must be known. */
  readonly isAdvance: boolean
}

/** One rollout at one replica of a fleet. One replica decides, and the others take the share over. By itself, each only takes it to 0. */
export interface SharedRun {
  /** Where it stands here: where the fleet is, unless this replica took the share to 0 by itself. */
  state(): RolloutState
  /** Why this replica took the share to 0 by itself, if it did. */
  pulled(): Pulled | undefined
  /** Takes the share to 0 if a circuit is open. */
  guard(): void
  /** Takes the share to 0 because a person wants it while the store does not answer. */
  abort(by: Actor): void
  /** Goes where the fleet is. `isOther` says that the fleet began it anew. */
  follow(saved: SavedRun, isOther: boolean): void
  /** Looks, as the replica that decides. Returns a move that is due. */
  look(plights: readonly Plight[]): Proposal | undefined
  /** Looks once more, because more is known. No time has passed. */
  lookAgain(plights: readonly Plight[]): Proposal | undefined
  /** Returns what a command of a person makes of it. */
  command(command: RolloutCommand, by: Actor): Proposal | { readonly problem: string } | 'same'
  /** The fleet has taken a move that was proposed here: it is in force, and noted. */
  accepted(proposal: Proposal): void
  step(): SharedStep | undefined
  plight(): Plight | undefined
  /** What is to be noted if the fleet does not know it yet: how it began at the start of this process. '' if that is noted already. */
  opening: string
  /** Why a move that is due waits, at the replica that decides; '' if nothing waits. */
  waits: string
  saved(): SavedRun
}

interface SharedSources {
  readonly journal: Pick<Journal, 'circuit' | 'recorder'>
  readonly now: () => number
  readonly ticks: () => number
  /** Is called at every move, before it is noted: the share may be another one. */
  readonly moved: () => void
  readonly book: RunBook
}

/** A later look says that another replica decided meanwhile, or that the process stood still. */
const LATEST_MS = 5000

export function createSharedRun(plan: RolloutPlan, place: RunPlace, { journal, now, ticks, moved, book }: SharedSources): SharedRun {
  const pull = createPulledShare(plan, place, { journal, now, ticks, moved })
  let lookedAt = ticks()
  const closeAll = () => journal.circuit.close((operation) => place.reach.has(operation))
  const propose = (state: RolloutState, by: Actor): Proposal => {
    const isAdvance = state.at > place.state().at || state.phase === 'done'
    return { saved: place.savedAt(state), by, isAdvance }
  }
  const follow = (saved: SavedRun, isOther: boolean) => {
    const from = place.state()
    const isKnown = pull.now()?.why !== 'unknown'
    const isMove = isOther || isOtherMove(from, saved.state)
    if (isKnown && saved.state.runsBegun > from.runsBegun && saved.state.phase !== 'turned-back') closeAll()
    place.take(saved, isOther || saved.state.stepsBegun !== from.stepsBegun)
    if (!isMove && isKnown) return
    book.save(saved)
    place.evidence().forgive()
    if (typeof pull.now()?.why !== 'object') pull.release()
    moved()
    pull.guard()
  }
  const decided = (view: RolloutView): Proposal | undefined => {
    const state = place.state()
    const to = next(plan, state, { view, elapsedMs: 0, now: now() })
    const isLost = place.shared()?.evidence.isLost() && to.by !== 'circuit'
    if (isLost) return propose({ ...state, ...stepBegins(plan, state.at, state), ...LOST, phase: state.phase, since: now() }, BY)
    if (to.by) return propose(to.state, { source: to.by })
    place.pass(to.state)
    return undefined
  }
  return {
    state: () => pull.now()?.state ?? place.state(),
    pulled: pull.now,
    guard: pull.guard,
    abort: pull.abort,
    follow,
    look(plights) {
      const elapsedMs = Math.min(LATEST_MS, ticks() - lookedAt)
      lookedAt = ticks()
      const view = viewOfAll(place, plights, place.shared()?.evidence.requestsSinceLook() ?? 0)
      place.pass(timed(place.state(), view, elapsedMs))
      return decided(view)
    },
    lookAgain: (plights) => decided(viewOfAll(place, plights, 0)),
    command(command, by) {
      const steering = { by: describeActor(by), open: Object.keys(openOf(place.reach, journal)), now: now() }
      const result = steered(plan, place.state(), command, steering)
      return result === 'same' || 'problem' in result ? result : { ...propose(result.state, by), isAdvance: false }
    },
    accepted({ saved, by }) {
      const from = place.state()
      const closed = saved.state.runsBegun > from.runsBegun ? closeAll() : []
      pull.release()
      follow(saved, false)
      book.moved(from, by, saved)
      book.closed(closed, by)
    },
    step: place.shared,
    plight() {
      const { unjudged } = place.evidence().sinceLook()
      return plightOf({ unjudged, unwritten: journal.recorder.problem(), opened: pull.isProven() ? pull.now()?.state.opened : undefined })
    },
    opening: '',
    waits: '',
    saved: place.saved,
  }
}

const BY: Actor = { source: 'rollout' }

const LOST = { reason: 'The store has lost what this step had shown: the step begins again.', signal: undefined } as const

/** Two states of one move differ in the time that passed alone. */
function isOtherMove(a: RolloutState, b: RolloutState): boolean {
  return a.phase !== b.phase || a.since !== b.since || a.stepsBegun !== b.stepsBegun
}
