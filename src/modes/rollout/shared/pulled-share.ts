import { type Actor, describeActor } from '../../../diff/records/actor.ts'
import type { Journal } from '../../journal.ts'
import type { RolloutPlan } from '../rollout-plan.ts'
import { type RolloutState, shareOf } from '../rollout-state.ts'
import type { RunPlace } from '../run-place.ts'
import { openOf } from '../view-of.ts'

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
  let pulled: Pulled | undefined = pulledTo('unknown', 'turned-back', UNKNOWN)
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
