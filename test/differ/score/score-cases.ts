import pLimit from 'p-limit'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { verdictOf } from '../judge/verdict.ts'
import { type Bench, startBench } from '../reads/bench.ts'
import { describeSpoiled, type SpoiledRead, trySpoiled } from '../reads/trial.ts'
import { COMPARING } from '../stage/each-mode.ts'
import { count, createTally, type Tally } from './tally.ts'

/** Reads that are sent before their records are read. */
const BATCH = 300

/** Reads at the same time. */
const PARALLEL = 12

/** How cases are tried and what they must reach. */
export interface Way {
  readonly name: string
  /** Only the first answer to the call is spoiled. */
  readonly once: boolean
  readonly bound: number
  /** Milliseconds after which no further batch begins. */
  readonly ms: number | undefined
}

/** Uses a bench of each dialect in turn, and returns what `use` counted. */
export async function onBenches(use: (bench: Bench) => Promise<readonly Tally[]>): Promise<readonly Tally[]> {
  const tallies: Tally[] = []
  for (const dialect of DIALECTS) {
    const bench = await startBench(dialect)
    try {
      tallies.push(...(await use(bench)))
    } finally {
      await bench.close()
    }
  }
  return tallies
}

/** Tries cases in both comparing modes; one tally for each. */
export async function scoreCases(bench: Bench, cases: readonly SpoiledRead[], way: Way): Promise<readonly Tally[]> {
  const { name, once, bound, ms = Number.POSITIVE_INFINITY } = way
  const tallies = COMPARING.map((mode) => ({ mode, tally: createTally(`${name}, ${mode}, ${bench.dialect}`, bound, cases.length) }))
  const limit = pLimit(PARALLEL)
  const end = performance.now() + ms
  for (let from = 0; from < cases.length && performance.now() < end; from += BATCH) {
    const tried = await Promise.all(cases.slice(from, from + BATCH).map((spoiled) => limit(() => trySpoiled(bench, spoiled, once))))
    for (const { mode, tally } of tallies) {
      const records = await bench.comparing[mode].records()
      for (const one of tried) {
        const { operation } = one.prepared.read
        const verdict = verdictOf(operation, one.places, records.get(one.callers[mode]) ?? [])
        if (one.mutation.respells) tally.respelled += 1
        else count(tally, verdict, describeSpoiled(one))
      }
    }
  }
  return tallies.map(({ tally }) => tally)
}
