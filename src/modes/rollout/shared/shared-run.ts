import { type Actor, describeActor } from '../../../diff/records/actor.ts'
import type { Journal } from '../../journal.ts'
import { next, timed } from '../machine/next.ts'
import type { RolloutView } from '../machine/rollout-view.ts'
import type { RolloutPlan } from '../rollout-plan.ts'
import { type RolloutState, stepBegins } from '../rollout-state.ts'
import type { RunBook } from '../run-book.ts'
import type { RunPlace, SharedStep } from '../run-place.ts'
import type { SavedRun } from '../saved-run.ts'
import { type RolloutCommand, steered } from '../steer.ts'
import { openOf } from '../view-of.ts'
import { type Plight, plightOf, viewOfAll } from './plight.ts'
import { createPulledShare, type Pulled } from './pulled-share.ts'

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
