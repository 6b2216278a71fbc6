/** What was observed: `n` observations, of which `bad` were wrong. Samples of several proxies are merged by adding their counts. */
export interface Sample {
  readonly n: number
  readonly bad: number
}

/** Maximum share of migrations in which the bound may ever be too low: 95 % confidence. */
const ALPHA = 0.05
const ENOUGH = Math.log(1 / ALPHA)

/**
 * The mixture: bets that v2 is this many times better than the rate that is tested. Half is on "never wrong", which is quick to confirm.
 * Any fixed mixture keeps the guarantee, and this one needs few observations (docs/reference/evidence.md).
 */
const BETS: readonly { readonly weight: number; readonly part: number }[] = [
  { weight: 0.5, part: 0 },
  { weight: 0.2, part: 0.1 },
  { weight: 0.2, part: 0.25 },
  { weight: 0.1, part: 0.5 },
]

/**
 * Returns the smallest number of wrong observations that the sample excludes, at 95 %, as the expected one.
 * Let A be the sum of the chances that each observation had to be wrong, given all before it. For each part c,
 * `c^bad · exp((1 − c) · A)` is a supermartingale, because `(1 − (1 − c)·p) · exp((1 − c)·p) ≤ 1` for every chance p.
 * By Ville's inequality their mixture ever reaches 20 with a probability of 5 % at most. It rises with A, so this A is where it reaches 20.
 * (H. Robbins, Ann. Math. Stat. 41 (1970) 1397–1409; S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon, Probab. Surv. 17 (2020) 257–317.)
 */
function findExcluded(bad: number): number {
  const bets = BETS.filter(({ part }) => bad === 0 || part > 0).map(({ weight, part }) => ({
    stake: Math.log(weight) + (bad === 0 ? 0 : bad * Math.log(part)),
    growth: 1 - part,
  }))
  // One bet alone reaches 20 no earlier than all together.
  let high = Math.min(...bets.map(({ stake, growth }) => (ENOUGH - stake) / growth))
  let low = 0
  while (high - low > 1e-12 * high) {
    const middle = (low + high) / 2
    if (middle <= low || middle >= high) break
    if (logSum(bets.map(({ stake, growth }) => stake + growth * middle)) >= ENOUGH) high = middle
    else low = middle
  }
  return high
}

/** What was excluded, by the number of wrong observations. A report asks for few numbers thousands of times, and each takes 20 µs. */
const found = new Map<number, number>()

/** Maximum numbers that are remembered. */
const REMEMBERED = 10_000

function excluded(bad: number): number {
  const known = found.get(bad) ?? findExcluded(bad)
  if (found.size < REMEMBERED) found.set(bad, known)
  return known
}

/** Returns ln of the sum of the exponentials. */
function logSum(all: readonly number[]): number {
  const highest = Math.max(...all)
  return highest + Math.log(all.reduce((sum, one) => sum + Math.exp(one - highest), 0))
}

/**
 * Returns the upper end of the 95 % confidence sequence for the average rate of wrong observations so far, 0–1. 1 without observations.
 * It holds at all times at once: it stays valid if it is read after every request, and if one stops when it looks good.
 * It also holds if the rate changes, and if what is observed is chosen by what was seen before.
 */
export function upperBound({ n, bad }: Sample): number {
  return n === 0 ? 1 : Math.min(1, excluded(bad) / n)
}

/** True if the observations exclude, at 95 %, a rate above `target`. */
export function isWithin(seen: Sample, target: number): boolean {
  return upperBound(seen) <= target
}

/** Returns how many more observations, all clean, bring the bound down to `target` (0 < target < 1); 0 if it is there already. */
export function cleanNeeded({ n, bad }: Sample, target: number): number {
  let enough = Math.max(0, Math.ceil(excluded(bad) / target) - n)
  // The division may have rounded down.
  while (!isWithin({ n: n + enough, bad }, target)) enough += 1
  return enough
}
