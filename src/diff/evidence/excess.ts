import type { Sample } from './bound.ts'

/**
 * The mixture that bets against "at most this share is wrong": rates above it, up to "always wrong". Whatever the share, the first point
 * finds a v2 that fails always within a few answers, the last one a v2 that fails twice as often as allowed. A rate that is less than
 * half above the allowed one is not found.
 */
const POINTS: readonly { readonly weight: number; readonly rate: (allowed: number) => number }[] = [
  { weight: 0.4, rate: () => 1 },
  { weight: 0.2, rate: (allowed) => (1 + allowed) / 2 },
  { weight: 0.2, rate: Math.sqrt },
  { weight: 0.2, rate: (allowed) => (2 * allowed) / (1 + allowed) },
]

/**
 * Returns the odds of the mixture against the hypothesis "at most `allowed` is wrong": the likelihood of the observations under the
 * mixture, divided by that under the hypothesis. Under a rate of at most `allowed` each factor has a mean of 1 at most.
 * By Ville's inequality the odds of observations from a fixed start therefore ever reach k with probability 1/k at most.
 * It is the mirror image of the verdict's bound (`upperBound`).
 */
export function oddsOfExcess({ n, bad }: Sample, allowed: number): number {
  return POINTS.reduce((sum, { weight, rate }) => {
    const q = rate(allowed)
    const clean = n === bad ? 0 : (n - bad) * Math.log((1 - q) / (1 - allowed))
    return sum + weight * Math.exp(bad * Math.log(q / allowed) + clean)
  }, 0)
}

/** Returns the highest share that the odds exclude: at least this share is wrong. 0 if they exclude none. */
export function lowerBound(seen: Sample, odds: number): number {
  let low = 0
  let high = 1
  // The odds fall as the share rises, because every point of the mixture comes closer to it.
  for (let step = 0; step < 60 && high - low > 1e-9; step++) {
    const middle = (low + high) / 2
    if (oddsOfExcess(seen, middle) >= odds) low = middle
    else high = middle
  }
  return low
}

/** Returns how many more bad observations in a row bring the odds against `allowed` to `odds`. */
export function badNeeded({ n, bad }: Sample, allowed: number, odds: number): number {
  let more = 0
  while (oddsOfExcess({ n: n + more, bad: bad + more }, allowed) < odds) more += 1
  return more
}
