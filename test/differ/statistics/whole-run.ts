import { mappings } from '../../../mappings/index.ts'
import { createUseOf } from '../../../src/migrate/clients.ts'
import { type CutoverVerdict, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence, type Evidence } from '../../../src/migrate/evidence/evidence.ts'
import { joinReplicas } from '../../../src/migrate/evidence/replicas.ts'
import { createSampler, reservesOf, type Sampler } from '../../../src/migrate/observe/observe.ts'
import { isReadBack } from '../../../src/tables/operations.ts'
import { seeded } from '../../stage/seeded.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const useOf = createUseOf(operations)

/** Operations that v2 can answer and whose effect can be read, busiest first. */
const IDS = operations.flatMap(({ id }) => {
  const use = useOf(id)
  return use?.kind === 'v1-only' || (use?.readBack && !isReadBack(use.readBack)) ? [] : [id]
})

export const OPERATIONS = 45
const CALLERS = 12
export const KINDS = 4

/** Operations whose requests are of several kinds that are told apart. */
const BUSY = 15

/** A request of the mixture. */
export interface MixedRequest {
  readonly operation: number
  readonly caller: number
  readonly kind: number
  readonly replica: number
  /** How many came before. */
  readonly nth: number
}

/** `refused`: v2 alone refuses a write. */
export type WrongWay = 'mismatch' | 'transient' | 'error' | 'refused'

export interface WholeRun {
  readonly seed: number
  readonly replicas: number
  readonly target: number
  readonly requests: number
  /** Operations change their places in the mixture after half of the requests. */
  readonly isShifting?: boolean
  /** Requests between two calls of a job, whose operation nobody else calls. */
  readonly jobEvery?: number
  readonly chanceOf: (request: MixedRequest) => number
  /** How a wrong answer shows itself. Default: another one follows that is right. */
  readonly wayOf?: () => WrongWay
  /** All requests are of the busiest operation. */
  readonly isAlone?: boolean
  /** Looks after every `LOOK` requests. `share` is the mean chance of all requests so far. Ends the run by returning true. */
  readonly look: (verdict: CutoverVerdict, share: number, nth: number) => boolean
  /** Judges each operation by itself, as the strict verdict does. */
  readonly isStrict?: boolean
  /** The sampler of each proxy chooses so many comparisons a second, of 60 requests a second altogether. Default: all, one a second. */
  readonly perSecond?: number
}

/** Requests between two looks, and between those at sampled requests. */
const LOOK = 150
const SAMPLED_LOOK = 2_000

/** The share of each operation, by Zipf's law. */
const weights = Array.from({ length: OPERATIONS }, (_, nth) => 1 / (nth + 1))
const all = weights.reduce((sum, one) => sum + one, 0)
export const shareOf = (operation: number) => (weights[operation] ?? 0) / all

function drawn(random: () => number): number {
  let left = random() * all
  const found = weights.findIndex((weight) => {
    left -= weight
    return left < 0
  })
  return found < 0 ? OPERATIONS - 1 : found
}

/** Sends a mixture of requests through proxies, each of which counts by itself, and judges them together. */
export function runWhole(settings: WholeRun): void {
  const { seed, replicas, target, requests, isShifting = false, jobEvery, chanceOf, look } = settings
  const { wayOf = () => 'transient' as const, isAlone = false, perSecond } = settings
  const [every, lookEvery] = perSecond === undefined ? [1000, LOOK] : [1000 / 60, SAMPLED_LOOK]
  const random = seeded(seed)
  let now = 0
  const proxies = Array.from({ length: replicas }, (_, nth) => {
    const [evidence, traffic] = [createEvidence(() => now), new Map<string, number>()]
    const sampler = perSecond === undefined ? undefined : sampling(perSecond, evidence, traffic, () => now, seeded(seed + 7919 * (nth + 1)))
    return { evidence, traffic, sampler, clients: new Map<number, Map<string, number>>() }
  })
  let [chances, burst] = [0, { left: 0, operation: 0 }]
  for (let nth = 0; nth < requests; nth++) {
    now -= Math.log1p(-random()) * every
    if (burst.left === 0 && random() < 0.02) burst = { left: 10, operation: drawn(random) }
    const isJob = jobEvery !== undefined && nth % jobEvery === 20
    const place = burst.left > 0 ? burst.operation : drawn(random)
    if (burst.left > 0) burst = { left: burst.left - 1, operation: place }
    const operation = isAlone ? 0 : isJob ? OPERATIONS : isShifting && nth > requests / 2 ? OPERATIONS - 1 - place : place
    const caller = isJob ? CALLERS : Math.floor(CALLERS * random())
    const request = { operation, caller, kind: Math.floor(KINDS * random()), replica: caller % replicas, nth }
    const chance = Math.min(1, chanceOf(request))
    chances += chance
    const proxy = proxies[request.replica] as (typeof proxies)[number]
    const id = IDS[operation] as string
    const calls = proxy.clients.get(caller) ?? new Map<string, number>()
    proxy.clients.set(caller, calls.set(id, (calls.get(id) ?? 0) + 1))
    proxy.traffic.set(id, (proxy.traffic.get(id) ?? 0) + 1)
    const isWrong = random() < chance
    const way = isWrong ? wayOf() : ('match' as const)
    const outcome = way === 'refused' ? 'inconclusive' : way
    if (way === 'refused') proxy.evidence.add(id, { uncompared: { writeRefused: 1 } })
    // Rare operations are asked in one way.
    const shape = `k${operation < BUSY ? request.kind : 0}`
    const chosen = proxy.sampler?.choose({ user: id, caller: `c${caller}`, shape: () => shape }) ?? { weight: 1 }
    if (typeof chosen === 'string') proxy.evidence.add(id, { uncompared: { [chosen]: 1 } })
    else {
      const { weight } = chosen
      const placed = proxy.evidence.observe({ operation: id, caller: `c${caller}`, shape, outcome, weight })
      if (!placed && way === 'refused') proxy.evidence.add(id, { comparisons: 1 })
      else if (!placed)
        proxy.evidence.add(id, { comparisons: 1, repeats: { n: 1, bad: +isWrong, requests: weight, wrong: +isWrong * weight } })
    }
    if ((nth + 1) % lookEvery > 0) continue
    if (look(judged(proxies, target, settings.isStrict), chances / (nth + 1), nth + 1)) return
  }
}

/** The sampler of one proxy, which goes by its own evidence and traffic. */
function sampling(
  perSecond: number,
  { observed }: Pick<Evidence, 'observed'>,
  traffic: ReadonlyMap<string, number>,
  now: () => number,
  random: () => number,
): Sampler {
  let [readAt, reserves] = [Number.NEGATIVE_INFINITY, reservesOf(observed, traffic)]
  const reserve = (operation: string) => {
    if (now() - readAt >= 1_000) [readAt, reserves] = [now(), reservesOf(observed, traffic)]
    return reserves.get(operation) ?? 0
  }
  return createSampler({ perSecond: () => perSecond, now, random, reserve }, { most: 1, left: () => 1, usedBy: () => 0 })
}

type Proxies = readonly {
  readonly evidence: ReturnType<typeof createEvidence>
  readonly clients: ReadonlyMap<number, ReadonlyMap<string, number>>
}[]

function judged(proxies: Proxies, target: number, isStrict = false): CutoverVerdict {
  const seen = joinReplicas(
    proxies.map(({ evidence, clients }) => {
      const traffic: Record<string, number> = {}
      for (const [id, calls] of [...clients.values()].flatMap((one) => [...one])) traffic[id] = (traffic[id] ?? 0) + calls
      return {
        ...{ evidence: evidence.all(), traffic, strangers: {}, uncounted: 0, openCircuits: {}, rollouts: [] },
        clients: Array.from(clients, ([caller, calls]) => ({
          caller: `c${caller}`,
          operations: Array.from(calls, ([operation, its]) => ({ operation, calls: its })),
        })),
      }
    }),
  )
  return judgeCutover({ target, withoutV1: false, isStrict, ...seen, operations: known })
}

/** Only those that the mixture has, so that a look is quick. */
const known = operations.filter(({ id }) => IDS.slice(0, OPERATIONS + 1).includes(id))
