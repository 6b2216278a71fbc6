import { type CutoverVerdict, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence, type OperationEvidence, upperBound } from '../../../src/migrate/evidence/evidence.ts'
import { joinReplicas } from '../../../src/migrate/evidence/replicas.ts'
import { standingOf } from '../../../src/migrate/evidence/standing.ts'
import { createSampler } from '../../../src/migrate/observe/observe.ts'
import { seeded, zipf } from '../../stage/clocks.ts'
import { answered, dayCases, ROOM, samplerBy } from './days.ts'
import { createTally, type Slice, score, type Tally } from './judge.ts'

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

/** Sends traffic of one operation through the sampler and the evidence, with a clock and chances of its own. */
export function runMigration({ requests, seed, next, chanceOf, look }: RunSettings): OperationEvidence | undefined {
  const [traffic, choices] = [seeded(seed), seeded(seed + 1_000_003)]
  let now = 0
  const evidence = createEvidence(() => now)
  const sampler = createSampler({ perSecond: PER_SECOND }, { now: () => now, random: choices }, ROOM)
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

const IDS = answered.map(({ id }) => id)

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

const mixture = zipf(OPERATIONS)

/** Sends a mixture of requests through proxies, each of which counts by itself, and judges them together. */
export function runWhole(settings: WholeRun): void {
  const { seed, replicas, target, requests, isShifting = false, jobEvery, chanceOf, look } = settings
  const { wayOf = () => 'transient' as const, isAlone = false, perSecond } = settings
  const [every, lookEvery] = perSecond === undefined ? [1000, LOOK] : [1000 / 60, SAMPLED_LOOK]
  const random = seeded(seed)
  let now = 0
  const proxies = Array.from({ length: replicas }, (_, nth) => {
    const [evidence, traffic] = [createEvidence(() => now), new Map<string, number>()]
    const sampler =
      perSecond === undefined
        ? undefined
        : samplerBy(
            perSecond,
            evidence,
            () => traffic,
            () => now,
            seeded(seed + 7919 * (nth + 1)),
          )
    return { evidence, traffic, sampler, clients: new Map<number, Map<string, number>>() }
  })
  let [chances, burst] = [0, { left: 0, operation: 0 }]
  for (let nth = 0; nth < requests; nth++) {
    now -= Math.log1p(-random()) * every
    if (burst.left === 0 && random() < 0.02) burst = { left: 10, operation: mixture.draw(random) }
    const isJob = jobEvery !== undefined && nth % jobEvery === 20
    const place = burst.left > 0 ? burst.operation : mixture.draw(random)
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
const known = answered.slice(0, OPERATIONS + 1)

const TARGET = 0.02
const RUNS = 60
const REQUESTS = 3_000

/** A little more than the target, so that READY is wrong. */
const SHARE = 1.05 * TARGET

/** At most 5 % of the runs and two standard errors of the simulation itself. */
const RIGHT = 0.95 - 2 * Math.sqrt((0.05 * 0.95) / RUNS)

/** The rarest operation that can hold the share by itself. */
const RAREST = Array.from({ length: OPERATIONS }, (_, nth) => nth).findLast((nth) => mixture.shareOf(nth) >= SHARE) ?? 0

/** Where the wrong answers are. */
const PLACES: Readonly<Record<string, (replicas: number) => Pick<WholeRun, 'chanceOf' | 'isShifting'>>> = {
  everywhere: () => ({ chanceOf: () => SHARE }),
  'in the rarest operation that can have them': () => ({
    chanceOf: ({ operation }) => (operation === RAREST ? SHARE / mixture.shareOf(RAREST) : 0),
  }),
  'in the busiest operation, whose observations stand for the most requests': () => ({
    chanceOf: ({ operation }) => (operation === 0 ? SHARE / mixture.shareOf(0) : 0),
  }),
  'in all rare operations': () => {
    const rare = Array.from({ length: OPERATIONS }, (_, nth) => nth).slice(15)
    const share = rare.reduce((sum, nth) => sum + mixture.shareOf(nth), 0)
    return { chanceOf: ({ operation }) => (operation >= 15 ? SHARE / share : 0) }
  },
  'in the answers to one client': () => ({ chanceOf: ({ caller }) => (caller === 5 ? 12 * SHARE : 0) }),
  'in one kind of request': () => ({ chanceOf: ({ kind }) => (kind === 1 ? KINDS * SHARE : 0) }),
  'at one replica': (replicas) => ({
    chanceOf: ({ replica }) => (replica === 0 ? (SHARE * 12) / Math.ceil(12 / Math.min(12, replicas)) : 0),
  }),
  'everywhere, while rare operations become busy': () => ({ isShifting: true, chanceOf: () => SHARE }),
}

/** Requests, so that a right v2 is READY, and the comparisons a second of each proxy: enough for a fifth of the requests, or for two fifths through 16. */
const sampledBy = (replicas: number) => ({ requests: 12_000, perSecond: Math.max(2, 12 / replicas) })

/** Counts runs until a deadline, each by what went wrong in it. */
function tryRuns(tally: Tally, runs: number, deadline: number, run: (nth: number) => string | undefined): Tally {
  for (let nth = 0; nth < runs && performance.now() < deadline; nth++) score(tally, run(nth))
  return tally
}

/** Returns the requests after which a run is READY; undefined if it never is. */
function readyAfter(settings: Omit<WholeRun, 'look'>): number | undefined {
  let found: number | undefined
  runWhole({
    ...settings,
    look({ ready }, _, nth) {
      if (ready) found = nth
      return ready
    },
  })
  return found
}

/** Counts the runs that were never called READY while more than the target was wrong, and those whose bound was never too low. */
function wrongReady(place: string, replicas: number, seed: number, deadline: number, isSampled = false): readonly Tally[] {
  const name = `${100 * SHARE} % of the requests wrong, ${place}, ${replicas} replicas${isSampled ? ', chosen by the sampler' : ''}:`
  const ready = createTally(`${name} not READY at ${100 * TARGET} % of all together`, RIGHT, RUNS)
  const covered = createTally(`${name} the bound of all together covers it`, RIGHT, RUNS)
  const where = PLACES[place]?.(replicas) ?? { chanceOf: () => 0 }
  tryRuns(ready, RUNS, deadline, (run) => {
    let [wrong, low]: [wrong?: string, low?: string] = []
    runWhole({
      ...{ seed: seed + run, replicas, target: TARGET, requests: REQUESTS },
      ...(isSampled && sampledBy(replicas)),
      ...where,
      look(verdict, share, nth) {
        const bound = verdict.whole?.bound ?? 1
        if (verdict.ready && share > TARGET) wrong = `run ${run}: READY after ${nth} requests, ${share} wrong`
        if (bound < share) low = `run ${run}: ${bound} after ${nth} requests, ${share} wrong`
        return false
      },
    })
    score(covered, low)
    return wrong
  })
  return [ready, covered]
}

/** All places, if the sampler chooses what is compared, and the sum of them. */
function sampledRuns(replicas: number, seed: number, deadline: number): readonly Tally[] {
  const began = performance.now()
  const places = Object.keys(PLACES)
  const until = (nth: number) => began + ((deadline - began) * (nth + 1)) / (places.length + 1)
  const tallies = places.map((place, nth) => wrongReady(place, replicas, seed + 1000 * nth, until(nth), true))
  const runs = RUNS * places.length
  const right = 0.95 - 2 * Math.sqrt((0.05 * 0.95) / runs)
  const all = createTally(`${places.length} places of wrong answers, ${replicas} replicas, chosen by the sampler: not READY`, right, runs)
  for (const [ready] of tallies) {
    all.found += ready?.found ?? 0
    all.missed.push(...(ready?.missed ?? []))
  }
  return [...tallies.flat(), all, sampledAndRight(replicas, seed + 1000 * places.length, deadline)]
}

/** A right v2 is READY when the sampler chooses, so that a v2 that is wrong could be. */
function sampledAndRight(replicas: number, seed: number, deadline: number): Tally {
  const tally = createTally(`a v2 that is right, ${replicas} replicas, chosen by the sampler: READY`, 0.95, RUNS)
  return tryRuns(tally, RUNS, deadline, (run) => {
    const ready = readyAfter({ seed: seed + run, replicas, target: TARGET, ...sampledBy(replicas), chanceOf: () => 0 })
    return ready === undefined ? `run ${run}: not READY` : undefined
  })
}

/** When an adversary lets v2 be wrong. It keeps its rate on average, and knows how many requests came before. */
const TIMES: readonly ((nth: number) => number)[] = [
  () => 1,
  // A burst in every hundred requests.
  (nth) => (nth % 100 < 10 ? 10 : 0),
  // After a clean beginning, as long as would be enough for READY.
  (nth) => (nth < 300 ? 0 : 10 / 9),
  // Less and less.
  (nth) => 2 * (1 - nth / REQUESTS),
]

const WAYS = ['mismatch', 'transient', 'error', 'refused'] as const

/** They are quick, because each ends at the first wrong READY, and one operation is judged alone. */
const FREE_RUNS = 10 * RUNS
const FREE_RIGHT = 0.95 - 2 * Math.sqrt((0.05 * 0.95) / FREE_RUNS)

/** An adversary chooses in each run where, when and how v2 is wrong, at twice the target. The strict verdict judges the operation alone. */
function chosenFreely(replicas: number, seed: number, deadline: number): Tally {
  const name = `${200 * TARGET} % of the requests wrong, chosen freely among all places, times and ways, ${replicas} replicas: not READY`
  const tally = createTally(name, FREE_RIGHT, FREE_RUNS)
  // Callers, kinds, replicas and times are chosen. Places by operation need several of them.
  const places = ['everywhere', 'in the answers to one client', 'in one kind of request', 'at one replica'].map((place) => PLACES[place])
  return tryRuns(tally, FREE_RUNS, deadline, (run) => {
    const random = seeded(seed + run)
    const one = <T>(all: readonly T[]) => all[Math.floor(all.length * random())] as T
    const [place, time] = [one(places)?.(replicas).chanceOf ?? (() => 0), one(TIMES)]
    let wrong: string | undefined
    runWhole({
      ...{ seed: seed + run, replicas, target: TARGET, requests: REQUESTS, isStrict: true, isAlone: true, wayOf: () => one(WAYS) },
      chanceOf: (request) => ((2 * TARGET) / SHARE) * place(request) * time(request.nth),
      look({ ready }, share, nth) {
        if (ready && share > TARGET) wrong = `run ${run}: READY after ${nth} requests, ${share} wrong`
        return wrong !== undefined
      },
    })
    return wrong
  })
}

/** The same operation with a v2 that is right must be READY, or the adversary has nothing to overcome. */
function aloneAndRight(replicas: number, seed: number): Tally {
  const tally = createTally(`a v2 that is right, ${replicas} replicas: READY`, 1)
  const settings = { seed, replicas, target: TARGET, requests: REQUESTS, isStrict: true, isAlone: true }
  score(tally, readyAfter({ ...settings, chanceOf: () => 0 }) === undefined ? `not after ${REQUESTS} requests` : undefined)
  return tally
}

/** A job calls an operation rarely, and v2 always fails it. */
function failingJob(seed: number, deadline: number): Tally {
  const tally = createTally('a rare job that v2 always fails: never READY after its first call', 1)
  const chanceOf = ({ operation }: MixedRequest) => (operation === OPERATIONS ? 1 : 0)
  return tryRuns(tally, RUNS / 6, deadline, (run) => {
    const ready = readyAfter({ seed: seed + run, replicas: 4, target: TARGET, requests: REQUESTS, jobEvery: 400, chanceOf })
    return ready === undefined ? undefined : `run ${run}: READY after ${ready} requests`
  })
}

/** Requests until READY of a right v2, by the two verdicts. */
function timeToReady(seed: number): Tally {
  const tally = createTally('a v2 that is right: READY of all together five times sooner than of each', 1)
  const until = (isStrict: boolean, requests: number) =>
    readyAfter({ seed, replicas: 1, target: TARGET, requests, isStrict, chanceOf: () => 0, jobEvery: 400 })
  const together = until(false, REQUESTS * 2)
  const alone = until(true, REQUESTS * 10)
  tally.notes.push(`READY of all together after ${together ?? 'more than 6000'} requests, of each after ${alone ?? 'more than 30000'}`)
  score(tally, together !== undefined && 5 * together < (alone ?? REQUESTS * 10) ? undefined : 'not five times sooner')
  return tally
}

const DAY_SECONDS = 86_400

/** Requests before READY at which an estimate no longer matters. */
const SOON = 900

/** How long it takes, as the verdict says it while a right v2 is on its way. Requests come once a second. */
function estimates(seed: number, deadline: number): Tally {
  const tally = createTally('a v2 that is right: the time until READY is said within a factor of two', 0.9)
  for (let run = 0; run < 4 && performance.now() < deadline; run++) {
    const said: (readonly [nth: number, seconds: number])[] = []
    let end: number | undefined
    runWhole({
      ...{ seed: seed + run, replicas: [1, 4][run % 2] ?? 1, target: 0.001, requests: 30_000, chanceOf: () => 0 },
      look({ ready, whole }, _, nth) {
        if (whole?.days !== undefined) said.push([nth, whole.days * DAY_SECONDS])
        if (ready) end = nth
        return ready
      },
    })
    if (end === undefined) tally.missed.push(`run ${run}: not READY`)
    for (const [nth, seconds] of said) {
      const left = (end ?? nth) - nth
      if (left < SOON) continue
      const isNear = seconds >= left / 2 && seconds <= left * 2
      score(tally, isNear ? undefined : `run ${run}: ${Math.round(seconds)} s said after ${nth} requests, ${left} s came`)
    }
  }
  return tally
}

/** A simulation that runs by itself, until a deadline. */
export interface Simulation {
  readonly name: string
  readonly run: (deadline: number) => readonly Tally[]
}

const REPLICAS = [1, 4, 16]

/** Check the verdict of one operation, and that of all requests together on a mixture of 45 operations (evidence §6). */
export function wholeCases(seed: number): readonly Simulation[] {
  const cases = Object.keys(PLACES).flatMap((place) => REPLICAS.map((replicas) => ({ place, replicas })))
  const free = seed + 1000 * (cases.length + 1)
  const sampled = free + 1000 * (cases.length + 1)
  return [
    ...REPLICAS.map((replicas, nth) => ({
      name: `chosen freely, ${replicas} replicas`,
      run: (deadline: number) => [aloneAndRight(replicas, free), chosenFreely(replicas, free + 1000 * (nth + 1), deadline)],
    })),
    ...cases.map(({ place, replicas }, nth) => ({
      name: `${place}, ${replicas} replicas`,
      run: (deadline: number) => wrongReady(place, replicas, seed + 1000 * nth, deadline),
    })),
    ...REPLICAS.map((replicas, nth) => ({
      name: `sampled, ${replicas} replicas`,
      run: (deadline: number) => sampledRuns(replicas, sampled + 100_000 * nth, deadline),
    })),
    { name: 'a failing job', run: (deadline) => [failingJob(seed + 1000 * cases.length, deadline)] },
    { name: 'time to READY', run: () => [timeToReady(seed)] },
    { name: 'estimates', run: (deadline) => [estimates(seed + 1000 * (cases.length + 1), deadline)] },
  ]
}

const COVERAGE_RUNS = 600
const COVERAGE_REQUESTS = 20_000
const RATES = [0.02, 0.005, 0.001, 0.0005]
const COVERAGE_TARGET = 0.001

/** 95 %, less three standard errors of the simulation itself. */
const COVERED = 0.95 - 3 * Math.sqrt((0.05 * 0.95) / COVERAGE_RUNS)

/** Most callers and kinds of requests are rare, and a few make most of the traffic. */
const skewed = (count: number, random: () => number) => Math.floor(count * random() ** 3)
const next: RunSettings['next'] = (random) => ({ caller: `c${skewed(50, random)}`, shape: `s${skewed(40, random)}` })

/** Ways in which answers become wrong at a rate. */
const RATE_WAYS: Readonly<Record<string, (rate: number) => RunSettings['chanceOf']>> = {
  /** Each answer by itself, so that the next one is right. */
  'each by itself': (rate) => () => rate,
  /** For a part of the time, one answer in four. */
  'in bursts': (rate) => {
    let [isBad, left] = [false, 0]
    return (_, random) => {
      if (left <= 0) {
        isBad = random() < 4 * rate
        left = 400 * random()
      }
      left -= 1
      return isBad ? 0.25 : 0
    }
  },
}

/** Counts the runs in which a bound was too low at any look. A bound that covers the rate never says READY below it. */
function coverage(way: string, rate: number, seed: number, deadline: number): readonly Tally[] {
  const name = (stratum: string) => `${100 * rate} % of the answers wrong, ${way}: the bound of the ${stratum} covers it`
  const tallies = {
    observations: createTally(name('observations'), COVERED, COVERAGE_RUNS),
    repeats: createTally(name('repeats'), COVERED, COVERAGE_RUNS),
  }
  for (let run = 0; run < COVERAGE_RUNS && performance.now() < deadline; run++) {
    const low = new Map<string, string>()
    runMigration({
      ...{ requests: COVERAGE_REQUESTS, seed: seed + run, next, chanceOf: RATE_WAYS[way]?.(rate) ?? (() => 0) },
      look(seen) {
        for (const stratum of ['observations', 'repeats'] as const) {
          const { n, bad } = seen[stratum]
          if (isTooLow(seen[stratum])) low.set(stratum, `run ${run}: ${bad} wrong of ${n}`)
        }
      },
    })
    for (const stratum of ['observations', 'repeats'] as const) score(tallies[stratum], low.get(stratum))
  }
  return Object.values(tallies)
}

/** One busy caller sends 5 % of the requests and always gets a wrong answer; all others are right. */
function busyCaller(seed: number, deadline: number): Tally {
  const tally = createTally('5 % of the requests wrong, all of one caller: the share shows it, and nothing is READY', 1)
  return tryRuns(tally, COVERAGE_RUNS / 10, deadline, (run) => {
    const evidence = runMigration({
      ...{ requests: COVERAGE_REQUESTS, seed: seed + run },
      next: (random) => (random() < 0.05 ? { caller: 'busy', shape: 'poll' } : { caller: `c${Math.floor(1e6 * random())}`, shape: 's' }),
      chanceOf: ({ caller }) => (caller === 'busy' ? 1 : 0),
      look: () => {},
    })
    const isSeen = evidence && standingOf(evidence, COVERAGE_TARGET) !== 'inside' && Math.abs(evidence.share - 0.05) < 0.02
    return isSeen ? undefined : `run ${run}: a share of ${evidence?.share}`
  })
}

/** Checks the claims of docs/facts/evidence.md on traffic that goes through the sampler and the evidence. */
export const statisticsSlice: Slice = {
  name: 'statistics',
  tries: 'the bound and the share of requests on simulated traffic, chosen and counted as a proxy does',
  only: 'chosen freely',
  async run({ seed, ms = Number.POSITIVE_INFINITY, only }) {
    const cases = RATES.flatMap((rate) => Object.keys(RATE_WAYS).map((way) => ({ rate, way })))
    // No two cases share their traffic.
    const seedOf = (nth: number) => 1_000_000 * seed + 10_000 * nth
    const all: readonly Simulation[] = [
      ...cases.map(({ rate, way }, nth) => ({
        name: `${100 * rate} % ${way}`,
        run: (deadline: number) => coverage(way, rate, seedOf(nth), deadline),
      })),
      { name: 'a busy caller', run: (deadline) => [busyCaller(seedOf(cases.length), deadline)] },
      ...wholeCases(seedOf(cases.length + 1)),
      ...dayCases(seedOf(cases.length + 20)),
    ]
    const chosen = all.filter(({ name }) => only?.test(name) ?? true)
    const began = performance.now()
    return chosen.flatMap(({ run }, nth) => run(began + (ms * (nth + 1)) / chosen.length))
  },
}
