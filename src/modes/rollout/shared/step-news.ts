import type { Sample } from '../../../diff/evidence/bound.ts'
import type { Observation } from '../../../diff/evidence/observation.ts'

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
