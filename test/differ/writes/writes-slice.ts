import pLimit from 'p-limit'
import { mappings } from '../../../mappings/index.ts'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { shuffled } from '../../mutants/shuffle.ts'
import { seeded } from '../../stage/seeded.ts'
import type { Slice, SliceOptions } from '../score/slice.ts'
import { count, createTally, type Tally } from '../score/tally.ts'
import type { Comparing } from '../stage/each-mode.ts'
import { losing } from './lost.ts'
import { staleAfter } from './stale.ts'
import { HONEST, liesAbout, type ToldWrite } from './told.ts'
import { startWriteBench, unwritten, type WriteBench } from './write-bench.ts'
import { WRITES } from './write-cases.ts'
import { type TriedWrite, tryLie, tryWrite, writeVerdict } from './write-trial.ts'

/** Writes at the same time. */
const PARALLEL = 8

export const writesSlice: Slice = {
  name: 'writes',
  tries: 'every served write: honest, lost, half of a batch lost, and its answer telling something else than was done',
  async run({ seed, ms }) {
    if (unwritten().length > 0) throw new Error(`no case of test/differ/writes/write-cases.ts sends ${unwritten()}`)
    const tallies: Tally[] = []
    for (const dialect of DIALECTS) {
      const bench = await startWriteBench(dialect)
      try {
        tallies.push(...(await scoreBench(bench, { seed, ms: ms && ms / DIALECTS.length })))
      } finally {
        await bench.close()
      }
    }
    return tallies
  },
}

/** Why no read can show the effect of a write, by operation. */
const UNVERIFIABLE = new Map(
  mappings
    .flatMap(({ operations }) => operations)
    .flatMap(({ id, readBack }) => (readBack && 'unverifiable' in readBack ? [[id, readBack.unverifiable] as const] : [])),
)

/** Members of an answer that no read shows. */
const UNREAD: readonly (readonly [operations: RegExp, members: RegExp, because: string])[] = [
  [/group_invites\.create$/, /^\/code$/, 'the code of an invite is shown once'],
  [/batch_delete$/, /^\/(parent_?[iI]d|items)(\/.*)?$/, 'a mapping that was deleted is not shown any more'],
  [/terms\.accept$/, /^\/document_?[iI]ds$/, 'the order of accepted documents is not shown'],
  [/scim_token$/, /^\/(token|requested_?[oO]verlap|revoke_?[tT]ime)$/, 'a SCIM token is shown once, its overlap and revocation not at all'],
]

const REFUSED = 'v2 refused what the case sent'

type Trial = () => Promise<TriedWrite>

async function scoreBench(bench: WriteBench, { seed, ms }: SliceOptions): Promise<readonly Tally[]> {
  const verified = Object.keys(WRITES).filter((operation) => !UNVERIFIABLE.has(operation))
  const batches = verified.filter((operation) => operation.includes('batch'))
  const lose = (operation: string, kept: number) => () =>
    tryWrite(bench, 'diff-v2', operation, `lost but ${kept}`, async () => losing(kept))
  const stale = (operation: string, kept: number) => () =>
    tryWrite(bench, 'diff-v1', operation, `not read but ${kept}`, (request) => staleAfter(bench, request, kept))
  const honest = (mode: Comparing) =>
    verified.map((operation) => async () => ({
      ...(await tryWrite(bench, mode, operation, 'as it is', async () => undefined)),
      places: [],
    }))
  const lies = await liesOf(bench, verified, seed)
  const sets: readonly (readonly [name: string, trials: readonly Trial[]])[] = [
    ['honest', [...honest('diff-v1'), ...honest('diff-v2')]],
    ['lost, diff-v2', [...verified.map((operation) => lose(operation, 0)), ...batches.map((operation) => lose(operation, 1))]],
    ['lost, diff-v1', [...verified.map((operation) => stale(operation, 0)), ...batches.map((operation) => stale(operation, 1))]],
    ['told otherwise, diff-v2', lies],
  ]
  const tallies: Tally[] = []
  for (const [name, trials] of sets) tallies.push(await scoreSet(bench, `writes ${name}, ${bench.dialect}`, trials, { seed, ms }))
  tallies.at(-1)?.notes.push(...[...UNVERIFIABLE].map(([operation, because]) => `${operation} cannot be verified: ${because}`))
  return tallies
}

/** Every lie about every write, as an honest run of it shows them. */
async function liesOf(bench: WriteBench, operations: readonly string[], seed: number): Promise<readonly Trial[]> {
  const lies: Trial[] = []
  for (const operation of operations) {
    const seen: ToldWrite[] = []
    await tryWrite(bench, 'diff-v2', operation, 'shown', async () => HONEST.spoil(seen))
    const [first] = seen
    if (!first || first.call.method === 'DELETE') continue
    for (const lie of liesAbout(first, () => seeded(seed))) if (!lie.respells) lies.push(() => tryLie(bench, operation, lie))
  }
  return lies
}

async function scoreSet(bench: WriteBench, name: string, all: readonly Trial[], { seed, ms }: SliceOptions): Promise<Tally> {
  const end = performance.now() + (ms === undefined ? Number.POSITIVE_INFINITY : ms / 4)
  const limit = pLimit(PARALLEL)
  const trials = ms === undefined ? all : shuffled(all, seed)
  const tried = await Promise.all(trials.map((trial) => limit(async () => (performance.now() < end ? trial() : undefined))))
  const records = { 'diff-v1': await bench.comparing['diff-v1'].records(), 'diff-v2': await bench.comparing['diff-v2'].records() }
  const tally = createTally(name, 1)
  const unread = new Map<string, number>()
  for (const one of tried) {
    if (!one) continue
    const { operation, mode, received, places, hash } = one
    const recorded = records[mode].get(hash) ?? []
    if (received.status !== 200 && !(places && received.status >= 500)) {
      if (one.name === 'as it is') tally.missed.push(`${operation} ${mode}: HTTP ${received.status} ${received.text}`)
      else unread.set(REFUSED, (unread.get(REFUSED) ?? 0) + 1)
      continue
    }
    const verdict = writeVerdict(one, recorded)
    const because = unreadReason(one)
    if (verdict.is === 'missed' && because !== undefined) unread.set(because, (unread.get(because) ?? 0) + 1)
    else if (one.name === 'as it is' && !recorded.some(({ outcome }) => outcome === 'match' || outcome === 'expected')) {
      tally.missed.push(`${operation} ${mode}, honest: not verified, ${recorded.map(({ outcome, reason }) => `${outcome} ${reason}`)}`)
    } else count(tally, verdict, `${operation} ${one.name}${places ? ` (${places.map(({ at }) => at)})` : ''}`)
  }
  tally.notes.push(...[...unread].map(([because, times]) => `${times} not scored: ${because}`))
  return tally
}

function unreadReason({ operation, places = [] }: TriedWrite): string | undefined {
  const found = UNREAD.find(([operations, members]) => operations.test(operation) && places.every(({ at }) => members.test(at)))
  return places.length > 0 ? found?.[2] : undefined
}
