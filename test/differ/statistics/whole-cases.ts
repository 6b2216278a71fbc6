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

/** Counts the runs that were never called READY while more than the target was wrong, and those whose bound was never too low. */
function wrongReady(place: string, replicas: number, seed: number, deadline: number): readonly Tally[] {
  const name = `${100 * SHARE} % of the requests wrong, ${place}, ${replicas} replicas:`
  const ready = createTally(`${name} not READY at ${100 * TARGET} % of all together`, RIGHT, RUNS)
  const covered = createTally(`${name} the bound of all together covers it`, RIGHT, RUNS)
  for (let run = 0; run < RUNS && performance.now() < deadline; run++) {
    let [wrong, low] = ['', '']
    runWhole({
      ...{ seed: seed + run, replicas, target: TARGET, requests: REQUESTS },
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

/** Checks the verdict of all requests together on a mixture of 45 operations (evidence §6). */
export function wholeCases(seed: number, ms: number): readonly Tally[] {
  const cases = Object.keys(PLACES).flatMap((place) => [1, 4, 16].map((replicas) => ({ place, replicas })))
  const began = performance.now()
  const deadline = (nth: number) => began + (ms * (nth + 1)) / (cases.length + 1)
  return [
    ...cases.flatMap(({ place, replicas }, nth) => wrongReady(place, replicas, seed + 1000 * nth, deadline(nth))),
    failingJob(seed + 1000 * cases.length, deadline(cases.length)),
    timeToReady(seed),
  ]
}
