import { mappings } from '../../../mappings/index.ts'
import { isRead } from '../../../src/serve/sides.ts'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { shuffled } from '../../mutants/shuffle.ts'
import { seeded } from '../../stage/seeded.ts'
import { onBenches, scoreCases, type Way } from '../score/score-cases.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import type { Tally } from '../score/tally.ts'
import { type PreparedRead, prepareRead } from './bench.ts'
import { readsOf } from './reads.ts'
import { spoiledReads } from './trial.ts'
import { uidsOf } from './uids.ts'

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

function score({ seed, ms }: SliceOptions, way: Omit<Way, 'ms'>): Promise<readonly Tally[]> {
  return onBenches(async (bench) => {
    const random = seeded(seed)
    const reads: PreparedRead[] = []
    for (const read of readsOf(bench.sandbox, await uidsOf(bench.sandbox))) reads.push(await prepareRead(bench, read, random))
    const unread = unreadIn(reads)
    if (unread.length > 0) throw new Error(`no request of test/differ/reads/reads.ts asks ${unread.join(', ')}`)
    const all = spoiledReads(reads)
    const cases = ms === undefined ? all : shuffled(all, seed)
    return scoreCases(bench, cases, { ...way, ms: ms && ms / DIALECTS.length })
  })
}

/** Served reads that none of these requests asks. */
function unreadIn(reads: readonly PreparedRead[]): readonly string[] {
  const served = mappings.flatMap(({ operations }) => operations).filter((operation) => operation.begin && isRead(operation))
  const asked = new Set(reads.map(({ read }) => read.operation))
  return served.map(({ id }) => id).filter((id) => !asked.has(id))
}
