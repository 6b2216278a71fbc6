import type { Sample } from '../../diff/evidence/bound.ts'
import type { Observation } from '../../diff/evidence/observation.ts'
import { type Actor, describeActor } from '../../diff/records/actor.ts'
import type { Mode, Side } from '../../serve/sides.ts'
import { isWithinShare } from '../choose/share.ts'
import type { Journal } from '../journal.ts'
import type { SaveOrder } from '../save-order.ts'
import { next } from './machine/next.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { describeState, firstState, judgedShareOf, type RolloutState } from './rollout-state.ts'
import { type RolloutStatus, statusOf } from './rollout-status.ts'
import { createRunBook } from './run-book.ts'
import { BEGINS, createRunPlace, type PlaceSources } from './run-place.ts'
import type { SavedRun } from './saved-run.ts'
import { createSharedRun, type SharedRun } from './shared/shared-run.ts'
import { type RolloutCommand, steered } from './steer.ts'
import { openOf } from './view-of.ts'

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
