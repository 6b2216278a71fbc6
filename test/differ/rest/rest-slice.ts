import { DIALECTS } from '../../../src/tables/uid.ts'
import { shuffled } from '../../mutants/shuffle.ts'
import type { Bench } from '../reads/bench.ts'
import { onBenches } from '../score/score-cases.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import { createTally, type Tally } from '../score/tally.ts'
import { COMPARING } from '../stage/each-mode.ts'
import { KNOWN, readAsKnown } from './known.ts'
import { oddLists } from './odd-lists.ts'
import { readAsStrangers } from './strangers.ts'

/** Lists in each dialect. Three known callers read each of them in two modes: 5,040 reads. */
const LISTS = 420

/** Lists that are read before their records are. */
const BATCH = 100

/** Nothing is spoiled and nobody writes: nothing may be flagged, and nothing may differ that is not declared. */
export const restSlice: Slice = {
  name: 'rest',
  tries: 'every served list with right and wrong windows and orders, of five callers, with nothing spoiled',
  run: ({ seed, ms }) => onBenches((bench) => scoreBench(bench, { seed, ms: ms && ms / DIALECTS.length })),
}

async function scoreBench(bench: Bench, { seed, ms }: SliceOptions): Promise<readonly Tally[]> {
  const all = shuffled(await oddLists(bench.sandbox), seed)
  const lists = ms === undefined ? all.slice(0, LISTS) : all
  const end = performance.now() + (ms ?? Number.POSITIVE_INFINITY)
  const tallyOf = (what: string, cases?: number) => createTally(`rest, ${what}, ${bench.dialect}`, 1, cases)
  const known = COMPARING.map((mode) => ({ mode, tally: tallyOf(mode, all.length * KNOWN.length) }))
  const strangers = tallyOf('strangers')
  for (let from = 0; from < lists.length && performance.now() < end; from += BATCH) {
    const batch = lists.slice(from, from + BATCH)
    for (const { mode, tally } of known) await readAsKnown(bench, mode, batch, tally)
    await readAsStrangers(bench, batch, strangers)
  }
  return [...known.map(({ tally }) => tally), strangers]
}
