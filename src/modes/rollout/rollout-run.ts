import type { Sample } from '../../diff/evidence/bound.ts'
import type { Observation } from '../../diff/evidence/observation.ts'
import { type Actor, describeActor } from '../../diff/records/actor.ts'
import type { Mode, Side } from '../choose/mode.ts'
import { isWithinShare } from '../choose/share.ts'
import type { Journal } from '../journal.ts'
import type { SaveOrder } from '../save-order.ts'
import { next } from './machine/next.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { describeState, firstState, judgedShareOf, type RolloutState, stepOf } from './rollout-state.ts'
import { type RolloutStatus, statusOf } from './rollout-status.ts'
import { createRunBook } from './run-book.ts'
import type { SavedRun } from './saved-run.ts'
import { type RolloutCommand, steered } from './steer.ts'
import { createStepEvidence } from './step-evidence.ts'
import { type FigureSources, keptSince, knownOf, openOf, seenSince, viewOf } from './view-of.ts'

export interface RunSources extends FigureSources {
  readonly journal: Pick<Journal, 'circuit' | 'evidence' | 'recorder' | 'note'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  readonly order: Pick<SaveOrder, 'next'>
  /** Is called at every move, before it is noted: the share may be another one. */
  readonly moved: () => void
}

/** One rollout of the rules in force. */
export interface RolloutRun {
  readonly plan: RolloutPlan
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
  const { journal, now, ticks, canBeJudged } = sources
  const evidenceOf = (of: RolloutState) => createStepEvidence({ percent: stepOf(plan, of).percent, ticks })
  const book = createRunBook(plan, sources)
  const begun = () => firstState('It begins at its first step.', now())
  let state = begun()
  let evidence = evidenceOf(state)
  let before: Readonly<Record<string, Sample>> = {}
  let reach: ReadonlySet<string> = new Set()
  let lookedAt = ticks()
  const viewSince = (since: Parameters<typeof viewOf>[1]) => viewOf({ reach, evidence, before }, since, sources)
  const saved = (): SavedRun => ({ state, counts: evidence.counts(), before, seen: seenSince(before, journal) })
  const move = (to: RolloutState, by: Actor) => {
    const from = state
    state = to
    if (to.runsBegun !== from.runsBegun) before = knownOf(reach, journal)
    if (to.stepsBegun !== from.stepsBegun) evidence = evidenceOf(to)
    evidence.forgive()
    sources.moved()
    book.moved(from, by, saved())
  }
  return {
    plan,
    state: () => state,
    status: () => statusOf(plan, state, viewSince(NOTHING_NEW), reach),
    look() {
      const { isWorse, ...since } = evidence.sinceLook()
      const elapsedMs = Math.min(LATEST_MS, ticks() - lookedAt)
      lookedAt = ticks()
      const to = next(plan, state, { view: viewSince(since), elapsedMs, now: now() })
      if (to.by) return move(to.state, { source: to.by })
      state = to.state
      // Nothing bad may be forgotten if the process dies now.
      if (isWorse) book.save(saved())
    },
    steer(command, by) {
      const result = steered(plan, state, command, { by: describeActor(by), open: Object.keys(openOf(reach, journal)), now: now() })
      if (result === 'same') return undefined
      if ('problem' in result) return result.problem
      const closed = command === 'resume' ? journal.circuit.close((operation) => reach.has(operation)) : []
      move(result.state, by)
      book.closed(closed, by)
      return undefined
    },
    used(operation, caller, { mode, by }) {
      const share = judgedShareOf(plan, state)
      if (share > 0) evidence.sided(caller, by === 'v2')
      if (mode === 'diff-v2' && isWithinShare(caller, share)) evidence.used(operation, canBeJudged(operation))
    },
    compared(observation) {
      if (isWithinShare(observation.caller, judgedShareOf(plan, state))) evidence.compared(observation)
    },
    remember: (observation, agoMs) => evidence.remember(observation, agoMs),
    restore(known = { state: begun(), counts: {}, before: {} }) {
      if (known.state.stepsBegun !== state.stepsBegun) evidence = evidenceOf(known.state)
      state = known.state
      before = known.before
      evidence.restore(known.counts)
    },
    reaches: (operation) => reach.has(operation),
    save: () => book.save(saved()),
    settle: (seen) => {
      before = keptSince(before, seen, journal)
    },
    begin: (text, by, old) => book.begun(text, by, saved(), old && describeState(old.plan, old.state())),
    end: (text, by) => book.ended(text, by, state),
    reach: (operations) => {
      reach = new Set(operations)
    },
  }
}

/** A later look says that the process itself stood still: nobody was served in that time. */
const LATEST_MS = 60_000

const NOTHING_NEW = { requests: 0, unjudged: { requests: 0, ms: 0 } } as const
