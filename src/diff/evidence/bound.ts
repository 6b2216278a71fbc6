import { logBeta } from './log-beta.ts'

/** What was seen of an operation: `n` observations, `bad` of them wrong. */
export interface Sample {
  readonly n: number
  readonly bad: number
}

/** Share of migrations in which the bound may ever be wrong: 95 % confidence. */
const ALPHA = 0.05

/**
 * The mixture of the betting strategy: half on "never wrong", which soon shows when nothing is; half on a Beta(1/2, 500) distribution,
 * whose mean is the usual target of one in a thousand. Any fixed mixture keeps the guarantee; this one keeps the bound short.
 */
const NEVER = 0.5
const SLAB = { a: 0.5, b: 500 }
const SLAB_NORM = logBeta(SLAB.a, SLAB.b)

/**
 * ln of the mixture martingale against the hypothesis "the rate is `rate`": the likelihood of what was seen under the mixture, over its
 * likelihood under the hypothesis. It has mean 1 at all times if the hypothesis is true, so by Ville's inequality it ever reaches 1/α with
 * probability α at most. (H. Robbins, Ann. Math. Stat. 41 (1970) 1397–1409; S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Ann. Stat. 49
 * (2021) 1055–1080; as a bet: I. Waudby-Smith, A. Ramdas, J. R. Stat. Soc. B 86 (2024) 1–27.)
 */
function logMartingale({ n, bad }: Sample, rate: number): number {
  const slab = Math.log(1 - NEVER) + logBeta(SLAB.a + bad, SLAB.b + n - bad) - SLAB_NORM
  const mixture = bad > 0 ? slab : logSum(Math.log(NEVER), slab)
  return mixture - bad * Math.log(rate) - (n - bad) * Math.log1p(-rate)
}

function logSum(a: number, b: number): number {
  const [high, low] = a > b ? [a, b] : [b, a]
  return high + Math.log1p(Math.exp(low - high))
}

/** Whether what was seen excludes, at 95 %, that the rate is `target` or more. */
export function isWithin(seen: Sample, target: number): boolean {
  return seen.n > 0 && seen.bad < target * seen.n && logMartingale(seen, target) >= Math.log(1 / ALPHA)
}

/**
 * Upper end of the 95 % confidence sequence for the rate of wrong observations, 0–1. It holds at all times at once: looking at it after
 * every request, and stopping when it looks good, does not break it. 1 when nothing was seen.
 */
export function upperBound(seen: Sample): number {
  let low = seen.n === 0 ? 1 : seen.bad / seen.n
  let high = 1
  // The martingale falls up to bad/n and rises behind it: everything above the crossing is excluded.
  for (let step = 0; step < 60 && high - low > 1e-12; step++) {
    const middle = (low + high) / 2
    if (isWithin(seen, middle)) high = middle
    else low = middle
  }
  return high
}

/** How many further observations, all of them clean, bring the bound down to `target` (0 < target < 1); 0 when it is there. */
export function cleanNeeded({ n, bad }: Sample, target: number): number {
  const suffices = (more: number) => isWithin({ n: n + more, bad }, target)
  if (suffices(0)) return 0
  let enough = 1
  while (!suffices(enough)) enough *= 2
  let tooFew = Math.floor(enough / 2)
  while (enough - tooFew > 1) {
    const middle = Math.floor((enough + tooFew) / 2)
    if (suffices(middle)) enough = middle
    else tooFew = middle
  }
  return enough
}
