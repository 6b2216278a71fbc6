import type { Identity } from '../../request/caller.ts'
import { covers } from '../../tables/operations/operation-pattern.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { createSampleRatio, type RatioState, type SampleRatio } from './sample-ratio.ts'

/** A finished request that a service answered. */
export interface SharedRequest extends Identity {
  /** Operation id. */
  readonly operation: string
  /** True if v2 answered it. */
  readonly byV2: boolean
  /** The turn in which its mode was chosen. */
  readonly turn: number
}

/** Tests for each rollout which share of the callers v2 really answers. */
export interface RolloutShares {
  /** The number of changes so far. A request that one of them overtook says nothing about the share. */
  turn(): number
  /** Follows other plans, or other shares of them. A rollout whose share is another one, or that `anew` names, counts its callers anew. */
  follow(shares: readonly WatchedShare[], anew?: string): void
  /** Counts a request for every rollout of its operation and its caller, whichever rule decided. */
  used(request: SharedRequest): void
  /** Returns what is known of a rollout; undefined while its share is 0. */
  ratioOf(name: string): RatioState | undefined
}

export interface WatchedShare {
  readonly plan: RolloutPlan
  /** 0–100. */
  readonly percent: number
}

interface Watched extends WatchedShare {
  readonly ratio: SampleRatio
}

/** At most one rollout in so many is paused although its share is right, if it counts its callers no more than `COUNTS` times. */
const ODDS = 10_000
const COUNTS = 10

export function createRolloutShares(): RolloutShares {
  let turn = 0
  let watched: readonly Watched[] = []
  let byOperation = new Map<string, readonly Watched[]>()

  const watchedFor = (operation: string) => {
    const found = byOperation.get(operation) ?? watched.filter(({ plan }) => fits(plan.operations, operation))
    byOperation.set(operation, found)
    return found
  }
  return {
    turn: () => turn,
    follow(shares, anew) {
      turn += 1
      const known = new Map(watched.map((one) => [one.plan.digest, one]))
      watched = shares
        .filter(({ percent }) => percent > 0)
        .map(({ plan, percent }) => {
          const kept = plan.name === anew ? undefined : known.get(plan.digest)
          return kept?.percent === percent
            ? kept
            : { plan, percent, ratio: createSampleRatio({ share: percent / 100, odds: ODDS * COUNTS }) }
        })
      byOperation = new Map()
    },
    used({ operation, caller, subject, byV2, turn: chosen }) {
      if (chosen !== turn) return
      for (const { plan, ratio } of watchedFor(operation)) {
        if (fits(plan.clients, caller) || (subject !== undefined && fits(plan.clients, subject))) ratio.see(caller, byV2)
      }
    },
    ratioOf: (name) => watched.find(({ plan }) => plan.name === name)?.ratio.state(),
  }
}

function fits(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => covers(pattern, text))
}
