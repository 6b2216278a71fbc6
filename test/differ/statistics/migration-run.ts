import { createEvidence, type OperationEvidence, upperBound } from '../../../src/migrate/evidence/evidence.ts'
import { createSampler } from '../../../src/migrate/observe/observe.ts'
import { seeded } from '../../stage/seeded.ts'

/** One request of simulated traffic. */
interface SimulatedRequest {
  readonly caller: string
  readonly shape: string
}

export interface RunSettings {
  readonly requests: number
  readonly seed: number
  /** Draws the next request. */
  readonly next: (random: () => number) => SimulatedRequest
  /** The chance that its answer is wrong, given all that came before. */
  readonly chanceOf: (request: SimulatedRequest, random: () => number) => number
  /** Looks at the counts before every wrong comparison, and at the end. In between they only become better. */
  readonly look: (seen: { readonly observations: Stratum; readonly repeats: Stratum }) => void
}

/** What was compared of a stratum. */
export interface Stratum {
  readonly n: number
  readonly bad: number
  /** The sum of the chances. */
  readonly chances: number
}

const OPERATION = 'registry.repos.list'

/** Two requests a second on average, of which half can be compared. */
const EVERY_MS = 500
const PER_SECOND = 1

/** Comparisons are made at once. */
const ROOM = { most: 1, left: () => 1, usedBy: () => 0 }

/** Sends traffic of one operation through the sampler and the evidence, with a clock and chances of its own. */
export function runMigration({ requests, seed, next, chanceOf, look }: RunSettings): OperationEvidence | undefined {
  const [traffic, choices] = [seeded(seed), seeded(seed + 1_000_003)]
  let now = 0
  const evidence = createEvidence(() => now)
  const sampler = createSampler({ perSecond: () => PER_SECOND, now: () => now, random: choices }, ROOM)
  const seen = { observations: { n: 0, bad: 0, chances: 0 }, repeats: { n: 0, bad: 0, chances: 0 } }
  for (let nth = 0; nth < requests; nth++) {
    now -= Math.log1p(-traffic()) * EVERY_MS
    const request = next(traffic)
    const chance = chanceOf(request, traffic)
    const isWrong = traffic() < chance
    const chosen = sampler.choose({ user: OPERATION, caller: request.caller, shape: () => request.shape })
    if (typeof chosen === 'string') continue
    if (isWrong) look(seen)
    const outcome = isWrong ? ('transient' as const) : ('match' as const)
    const place = evidence.observe({ operation: OPERATION, ...request, outcome, ...chosen })
    const { weight } = chosen
    if (!place) evidence.add(OPERATION, { repeats: { n: 1, bad: +isWrong, requests: weight, wrong: +isWrong * weight } })
    const stratum = seen[place?.isFirst ? 'observations' : 'repeats']
    stratum.n += 1
    stratum.chances += chance
    if (isWrong) stratum.bad += 1
  }
  look(seen)
  return evidence.of(OPERATION)
}

const MANY = 1e9
const excluded: number[] = []

/** Tells whether the bound of a stratum is below the average of its chances. */
export function isTooLow({ n, bad, chances }: Stratum): boolean {
  // The bound depends on n by its product alone, so one solution serves every n.
  excluded[bad] ??= upperBound({ n: MANY, bad }) * MANY
  return n > 0 && (excluded[bad] ?? 0) < chances
}
