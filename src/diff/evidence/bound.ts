import { logBeta } from './log-beta.ts'

/** What was observed of an operation: `n` observations, of which `bad` were wrong. */
export interface Sample {
  readonly n: number
  readonly bad: number
}

/** Maximum share of migrations in which the bound may ever be wrong: 95 % confidence. */
const ALPHA = 0.05

/**
 * The mixture of the betting strategy. Half is on "never wrong", which is quick to confirm when nothing is wrong.
 * The other half is on a Beta(1/2, 500) distribution, whose mean is the usual target of 0.1 %.
 * Any fixed mixture keeps the guarantee; this one needs few observations.
 */
const NEVER = 0.5
const SLAB = { a: 0.5, b: 500 }
const SLAB_NORM = logBeta(SLAB.a, SLAB.b)

/**
 * Returns ln of the mixture martingale against the hypothesis "the rate is `rate`".
 * It is the likelihood of the observations under the mixture, divided by their likelihood under the hypothesis.
 * It has mean 1 at all times if the hypothesis is true. By Ville's inequality it therefore ever reaches 1/α with probability α at most.
 * (H. Robbins, Ann. Math. Stat. 41 (1970) 1397–1409; S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Ann. Stat. 49 (2021) 1055–1080; as a
 * bet: I. Waudby-Smith, A. Ramdas, J. R. Stat. Soc. B 86 (2024) 1–27.)
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

/** True if the observations exclude, at 95 %, a rate of `target` or more. */
export function isWithin(seen: Sample, target: number): boolean {
  return seen.n > 0 && seen.bad < target * seen.n && logMartingale(seen, target) >= Math.log(1 / ALPHA)
}

/**
 * Returns the upper end of the 95 % confidence sequence for the rate of wrong observations, 0–1. 1 without observations.
 * It holds at all times at once: it stays valid if it is read after every request, and if one stops when it looks good.
 */
export function upperBound(seen: Sample): number {
  let low = seen.n === 0 ? 1 : seen.bad / seen.n
  let high = 1
  // The martingale falls up to bad/n and rises beyond it. Every rate above the crossing is excluded.
  for (let step = 0; step < 60 && high - low > 1e-12; step++) {
    const middle = (low + high) / 2
    if (isWithin(seen, middle)) high = middle
    else low = middle
  }
  return high
}

/** Returns how many more observations, all clean, bring the bound down to `target` (0 < target < 1); 0 if it is there already. */
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
