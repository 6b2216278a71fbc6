import { type Observation, type OperationEvidence, WEIGHTS } from '../../../src/migrate/evidence/evidence.ts'

/** One comparison of any replica, in the order of their times. */
export interface Compared extends Observation {
  readonly at: number
  /** It repeated what its replica had recorded, so that only a tally tells of it. */
  readonly isTally: boolean
}

type Counted = Pick<OperationEvidence, 'comparisons' | 'n' | 'bad' | 'matches' | 'mismatches' | 'races' | 'callers' | 'shapes'>

const WINDOW = 600_000

/** Counts the comparisons of one operation as the page of evidence defines the words, in the slowest way. */
export function countSlowly(all: readonly Compared[]): Counted & { readonly repeats: Readonly<Record<string, number>> } {
  const observed: Compared[] = []
  const outcomes: Compared[] = []
  const repeats: Compared[] = []
  const isNear = (known: readonly Compared[], one: Compared, isAlike: (other: Compared) => boolean) =>
    known.some((other) => samePair(one, other) && isAlike(other) && Math.abs(one.at - other.at) < WINDOW)
  for (const one of all) {
    const counts = WEIGHTS[one.outcome] !== 'nothing'
    if (!one.isTally && counts && !isNear(observed, one, () => true)) observed.push(one)
    else if (counts) repeats.push(one)
    if (!one.isTally && !isNear(outcomes, one, ({ outcome }) => outcome === one.outcome)) outcomes.push(one)
  }
  const isBad = ({ outcome }: Compared) => WEIGHTS[outcome] === 'bad'
  const count = (outcome: Compared['outcome']) => outcomes.filter((one) => one.outcome === outcome).length
  const weigh = (some: readonly Compared[]) => some.reduce((sum, { weight = 1 }) => sum + weight, 0)
  const seen = all.filter(({ outcome, isTally }) => !isTally && WEIGHTS[outcome] !== 'nothing')
  const bad = repeats.filter(isBad)
  return {
    ...{ comparisons: all.length, n: observed.length, bad: observed.filter(isBad).length },
    repeats: { n: repeats.length, bad: bad.length, requests: weigh(repeats), wrong: weigh(bad) },
    ...{ matches: count('match'), mismatches: count('mismatch'), races: count('race') },
    ...{ callers: new Set(seen.map(({ caller }) => caller)).size, shapes: new Set(seen.map(({ shape }) => shape)).size },
  }
}

function samePair(a: Compared, b: Compared): boolean {
  return a.caller === b.caller && a.shape === b.shape
}
