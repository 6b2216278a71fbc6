import { seeded } from '../../stage/seeded.ts'
import { createTally, type Tally } from '../score/tally.ts'
import { KINDS, OPERATIONS, runWhole, shareOf, type WholeRun } from './whole-run.ts'

const TARGET = 0.02
const RUNS = 60
const REQUESTS = 3_000

/** A little more than the target, so that READY is wrong. */
const SHARE = 1.05 * TARGET

/** At most 5 % of the runs and two standard errors of the simulation itself. */
const RIGHT = 0.95 - 2 * Math.sqrt((0.05 * 0.95) / RUNS)

/** The rarest operation that can hold the share by itself. */
const RAREST = Array.from({ length: OPERATIONS }, (_, nth) => nth).findLast((nth) => shareOf(nth) >= SHARE) ?? 0

/** Where the wrong answers are. */
const PLACES: Readonly<Record<string, (replicas: number) => Pick<WholeRun, 'chanceOf' | 'isShifting'>>> = {
  everywhere: () => ({ chanceOf: () => SHARE }),
  'in the rarest operation that can have them': () => ({
    chanceOf: ({ operation }) => (operation === RAREST ? SHARE / shareOf(RAREST) : 0),
  }),
  'in the busiest operation, whose observations stand for the most requests': () => ({
    chanceOf: ({ operation }) => (operation === 0 ? SHARE / shareOf(0) : 0),
  }),
  'in all rare operations': () => {
    const rare = Array.from({ length: OPERATIONS }, (_, nth) => nth).slice(15)
    const share = rare.reduce((sum, nth) => sum + shareOf(nth), 0)
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

/** Counts the runs that were never called READY while more than the target was wrong, and those whose bound was never too low. */
function wrongReady(place: string, replicas: number, seed: number, deadline: number, isSampled = false): readonly Tally[] {
  const name = `${100 * SHARE} % of the requests wrong, ${place}, ${replicas} replicas${isSampled ? ', chosen by the sampler' : ''}:`
  const ready = createTally(`${name} not READY at ${100 * TARGET} % of all together`, RIGHT, RUNS)
  const covered = createTally(`${name} the bound of all together covers it`, RIGHT, RUNS)
  for (let run = 0; run < RUNS && performance.now() < deadline; run++) {
    let [wrong, low] = ['', '']
    runWhole({
      ...{ seed: seed + run, replicas, target: TARGET, requests: REQUESTS },
      ...(isSampled && sampledBy(replicas)),
      ...PLACES[place]?.(replicas),
      chanceOf: PLACES[place]?.(replicas).chanceOf ?? (() => 0),
      look(verdict, share, nth) {
        const bound = verdict.whole?.bound ?? 1
        if (verdict.ready && share > TARGET) wrong = `run ${run}: READY after ${nth} requests, ${share} wrong`
        if (bound < share) low = `run ${run}: ${bound} after ${nth} requests, ${share} wrong`
        return false
      },
    })
    for (const [tally, missed] of [[ready, wrong] as const, [covered, low] as const]) {
      if (missed === '') tally.found += 1
      else tally.missed.push(missed)
    }
  }
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
  for (let run = 0; run < RUNS && performance.now() < deadline; run++) {
    let found: number | undefined
    runWhole({
      ...{ seed: seed + run, replicas, target: TARGET, ...sampledBy(replicas), chanceOf: () => 0 },
      look({ ready }, _, nth) {
        if (ready) found = nth
        return ready
      },
    })
    if (found === undefined) tally.missed.push(`run ${run}: not READY`)
    else tally.found += 1
  }
  return tally
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
  for (let run = 0; run < FREE_RUNS && performance.now() < deadline; run++) {
    const random = seeded(seed + run)
    const one = <T>(all: readonly T[]) => all[Math.floor(all.length * random())] as T
    const [place, time] = [one(places)?.(replicas).chanceOf ?? (() => 0), one(TIMES)]
    let wrong = ''
    runWhole({
      ...{ seed: seed + run, replicas, target: TARGET, requests: REQUESTS, isStrict: true, isAlone: true, wayOf: () => one(WAYS) },
      chanceOf: (request) => ((2 * TARGET) / SHARE) * place(request) * time(request.nth),
      look({ ready }, share, nth) {
        if (ready && share > TARGET) wrong = `run ${run}: READY after ${nth} requests, ${share} wrong`
        return wrong !== ''
      },
    })
    if (wrong === '') tally.found += 1
    else tally.missed.push(wrong)
  }
  return tally
}

/** The same operation with a v2 that is right must be READY, or the adversary has nothing to overcome. */
function aloneAndRight(replicas: number, seed: number): Tally {
  const tally = createTally(`a v2 that is right, ${replicas} replicas: READY`, 1)
  let found: number | undefined
  runWhole({
    ...{ seed, replicas, target: TARGET, requests: REQUESTS, isStrict: true, isAlone: true, chanceOf: () => 0 },
    look({ ready }, _, nth) {
      if (ready) found = nth
      return ready
    },
  })
  if (found === undefined) tally.missed.push(`not after ${REQUESTS} requests`)
  else tally.found += 1
  return tally
}

/** A job calls an operation rarely, and v2 always fails it. */
function failingJob(seed: number, deadline: number): Tally {
  const tally = createTally('a rare job that v2 always fails: never READY after its first call', 1)
  for (let run = 0; run < RUNS / 6 && performance.now() < deadline; run++) {
    let wrong = ''
    runWhole({
      ...{ seed: seed + run, replicas: 4, target: TARGET, requests: REQUESTS, jobEvery: 400 },
      chanceOf: ({ operation }) => (operation === OPERATIONS ? 1 : 0),
      look({ ready }, _, nth) {
        if (ready) wrong = `run ${run}: READY after ${nth} requests`
        return ready
      },
    })
    if (wrong === '') tally.found += 1
    else tally.missed.push(wrong)
  }
  return tally
}

/** Requests until READY of a right v2, by the two verdicts. */
function timeToReady(seed: number): Tally {
  const tally = createTally('a v2 that is right: READY of all together five times sooner than of each', 1)
  const until = (isStrict: boolean, requests: number) => {
    let found: number | undefined
    runWhole({
      ...{ seed, replicas: 1, target: TARGET, requests, isStrict, chanceOf: () => 0, jobEvery: 400 },
      look({ ready }, _, nth) {
        if (ready) found = nth
        return ready
      },
    })
    return found
  }
  const together = until(false, REQUESTS * 2)
  const alone = until(true, REQUESTS * 10)
  tally.notes.push(`READY of all together after ${together ?? 'more than 6000'} requests, of each after ${alone ?? 'more than 30000'}`)
  if (together !== undefined && 5 * together < (alone ?? REQUESTS * 10)) tally.found += 1
  else tally.missed.push('not five times sooner')
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
      if (seconds >= left / 2 && seconds <= left * 2) tally.found += 1
      else tally.missed.push(`run ${run}: ${Math.round(seconds)} s said after ${nth} requests, ${left} s came`)
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
