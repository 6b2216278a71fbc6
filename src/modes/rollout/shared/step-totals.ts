import { createSampleRatio, type RatioState } from '../sample-ratio.ts'
import { RATIO_ODDS, type RecordedCounts, type StepEvidence } from '../step-evidence.ts'

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
