import pLimit from 'p-limit'
import { DIALECTS } from '../../../src/tables/language/names.ts'
import { shuffled } from '../../mutants/shuffle.ts'
import { verdictOf } from '../judge/verdict.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import { count, createTally, type Tally } from '../score/tally.ts'
import { type Bench, COMPARING, type Comparing, startBench, unreadIn } from './bench.ts'
import { describeSpoiled, type SpoiledRead, spoiledReads, trySpoiled } from './trial.ts'

/** Reads that are sent before their records are read. */
const BATCH = 300

/** Reads at the same time. */
const PARALLEL = 12

/** v2 is wrong at each asking. */
export const readsSlice: Slice = {
  name: 'reads',
  tries: 'every served read, with each value and shape of each v2 answer spoiled whenever v2 is asked',
  run: (options) => score(options, { name: 'reads', once: false, bound: 0.999 }),
}

/** v2 is wrong at the first asking only. */
export const onceSlice: Slice = {
  name: 'once',
  tries: 'the same, spoiled the first time only',
  run: (options) => score(options, { name: 'once', once: true, bound: 0.99 }),
}

interface Way {
  readonly name: string
  readonly once: boolean
  readonly bound: number
}

async function score(options: SliceOptions, way: Way): Promise<readonly Tally[]> {
  const tallies: Tally[] = []
  for (const dialect of DIALECTS) {
    const bench = await startBench(dialect, options.seed)
    try {
      tallies.push(...(await scoreBench(bench, { ...options, ms: options.ms && options.ms / DIALECTS.length }, way)))
    } finally {
      await bench.close()
    }
  }
  return tallies
}

async function scoreBench(bench: Bench, { seed, ms }: SliceOptions, { name, once, bound }: Way): Promise<readonly Tally[]> {
  const unread = unreadIn(bench.reads)
  if (unread.length > 0) throw new Error(`no request of test/differ/reads/reads.ts asks ${unread.join(', ')}`)
  const all = spoiledReads(bench)
  const cases = ms === undefined ? all : shuffled(all, seed)
  const end = performance.now() + (ms ?? Number.POSITIVE_INFINITY)
  const tallies = COMPARING.map((mode) => [mode, createTally(`${name}, ${mode}, ${bench.dialect}`, bound)] as const)
  for (let from = 0; from < cases.length && performance.now() < end; from += BATCH) {
    await scoreBatch(bench, cases.slice(from, from + BATCH), once, tallies)
  }
  return tallies.map(([, tally]) => tally)
}

async function scoreBatch(
  bench: Bench,
  cases: readonly SpoiledRead[],
  once: boolean,
  tallies: readonly (readonly [Comparing, Tally])[],
): Promise<void> {
  const limit = pLimit(PARALLEL)
  const tried = await Promise.all(cases.map((spoiled) => limit(() => trySpoiled(bench, spoiled, once))))
  for (const [mode, tally] of tallies) {
    const records = await bench.comparing[mode].records()
    for (const one of tried) {
      const { operation } = one.prepared.read
      const verdict = verdictOf(operation, one.places, records.get(one.callers[mode]) ?? [])
      if (one.mutation.respells) tally.respelled += 1
      else count(tally, verdict, describeSpoiled(one))
    }
  }
}
