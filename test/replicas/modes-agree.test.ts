import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createFleet } from '../../src/fleet/fleet.ts'
import { conflictNote, createModesPart, createPutModes, type ModesConflict } from '../../src/fleet/modes.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import type { SharedModes } from '../../src/migrate/modes/modes.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { MODES as MODE_NAMES, type Mode } from '../../src/serve/sides.ts'
import { type Broken, breakableStore } from '../stage/breakable-store.ts'
import { type ManualClocks, manualClocks, quiet } from '../stage/manual-clocks.ts'

const rulesOf = (mode: Mode): ModeRules => ({ default: mode, rules: [], testers: [] })

/** A replica that has modes and nothing else. */
function replicaOf(id: string, store: Store, clocks: ManualClocks, file: Mode = 'v2') {
  const by = { source: 'start' } as const
  let state: SharedModes = { rules: rulesOf(file), version: 0, tag: '', by, at: clocks.now() }
  const versions: number[] = []
  const differed: ModesConflict[] = []
  const own: boolean[] = []
  const modes = {
    state: () => state,
    adopt(next: SharedModes, isOwn: boolean) {
      state = next
      versions.push(next.version)
      own.push(isOwn)
    },
  }
  const fleet = createFleet({
    store,
    id,
    name: id,
    clocks,
    modes: modes.state,
    ended: () => {},
    failed: (error) => expect.unreachable(String(error)),
  })
  const told = {
    adopted: () => {},
    unreadable: () => {},
    proposed: () => {},
    differed: (conflict: ModesConflict) => void differed.push(conflict),
  }
  const part = createModesPart({ modes, first: { rules: state.rules, by }, now: clocks.now, wake: fleet.now, told })
  fleet.add(part)
  const put = createPutModes({ fleet, part, modes, clocks })
  return { id, fleet, part, put, state: modes.state, versions, differed, own }
}

async function three(files: readonly Mode[] = ['v2', 'v2', 'v2']) {
  const clocks = manualClocks()
  let memory = createMemory(clocks.now)
  const replicas = files.map((file, at) => {
    const breakable = breakableStore(memory.open())
    return { ...replicaOf(`r${at}`, breakable.store, clocks, file), breakable }
  })
  for (const { fleet } of replicas) {
    const started = fleet.start()
    await clocks.pass(5)
    await started
  }
  await clocks.pass(1200)
  /** Gives all replicas another store, which has nothing and sends no news. */
  const replaceStore = async () => {
    // The stamps of a store are times: two stores of one millisecond could have the same ones.
    await clocks.pass(5)
    memory = createMemory(clocks.now)
    for (const { breakable } of replicas) breakable.inner = memory.open()
  }
  const [a, b, c] = replicas as [(typeof replicas)[0], (typeof replicas)[0], (typeof replicas)[0]]
  return { clocks, a, b, c, replicas, replaceStore }
}

const ADMIN = { source: 'admin' } as const

it('takes the modes of one file, if the files of the replicas differ', async () => {
  const { a, b, c } = await three(['v1', 'diff-v1', 'v2'])
  expect([a, b, c].map(({ state }) => state().rules.default)).toEqual(['v1', 'v1', 'v1'])
  expect(new Set([a, b, c].map(({ state }) => state().tag)).size).toBe(1)
})

it('gives the newest modes back to a store that lost all', async () => {
  const { clocks, a, b, replaceStore } = await three()
  const putting = a.put.put(rulesOf('v1'), ADMIN, () => true)
  await clocks.pass(200)
  await putting
  await replaceStore()
  await clocks.pass(1500)
  const [found] = await b.fleet.store.read([{ kind: 'document', name: 'modes' }])
  expect(found?.value).toMatchObject({ version: 2, text: expect.stringContaining('"v1"') })
  expect([a, b].map(({ versions }) => versions.at(-1))).toEqual([2, 2])
})

it('lets the same modes win everywhere, if a store comes back with others of the same version', async () => {
  const { clocks, a, b, c } = await three()
  for (const one of [a, b, c]) one.breakable.broken = 'refuses'
  await clocks.pass(300)
  await a.put.putHere(rulesOf('v1'), ADMIN)
  await b.put.putHere(rulesOf('diff-v1'), ADMIN)
  const [lost, won] = a.state().tag > b.state().tag ? ['diff-v1', 'v1'] : ['v1', 'diff-v1']
  const winner = (a.state().tag > b.state().tag ? a : b).state().rules.default
  for (const one of [b, a, c]) {
    one.breakable.broken = undefined
    await clocks.pass(2000)
  }
  expect([a, b, c].map(({ state }) => state().rules.default)).toEqual([winner, winner, winner])
  const conflicts = [a, b, c].flatMap(({ differed }) => differed)
  expect(conflicts.map((one) => conflictNote(one, false))).toEqual([
    {
      ...{ what: 'conflict', from: `everything else ${lost}`, to: `everything else ${won}`, version: 2 },
      text: expect.stringMatching(/^the store and this replica had different modes of version 2, .*: what was put by admin port is lost$/),
    },
  ])
})

it('notes a change only where it was put', async () => {
  const { clocks, a, b } = await three()
  const putting = a.put.put(rulesOf('v1'), ADMIN, () => true)
  await clocks.pass(200)
  expect(await putting).toMatchObject({ end: 'put', missing: [] })
  expect([a.own, b.own]).toEqual([
    [false, true],
    [false, false],
  ])
})

type Step =
  | { readonly do: 'put' | 'here' | 'file'; readonly at: number; readonly mode: Mode }
  | { readonly do: 'break'; readonly at: number; readonly broken: Broken | undefined }
  | { readonly do: 'pass'; readonly ms: number }
  | { readonly do: 'empty' }

const at = fc.integer({ min: 0, max: 2 })
const mode = fc.constantFrom(...MODE_NAMES)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('put' as const, 'here' as const, 'file' as const), at, mode }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('break' as const),
      at,
      broken: fc.constantFrom<Broken | undefined>('refuses', 'loses answers', 'is silent', undefined),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 5, 50, 300, 1100) }) },
  { weight: 1, arbitrary: fc.constant({ do: 'empty' as const }) },
)

it('ends in one version everywhere, and no version goes down', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { clocks, replicas, replaceStore } = await three()
      for (const one of steps) {
        if (one.do === 'pass') await clocks.pass(one.ms)
        else if (one.do === 'empty') await replaceStore()
        else {
          const replica = replicas[one.at]
          if (!replica) continue
          if (one.do === 'break') replica.breakable.broken = one.broken
          else if (one.do === 'file') replica.part.propose(rulesOf(one.mode), { source: 'file', path: 'crosswalk.json' })
          else if (one.do === 'here') void replica.put.putHere(rulesOf(one.mode), ADMIN)
          else void replica.put.put(rulesOf(one.mode), ADMIN, () => true)
        }
        await quiet()
      }
      for (const { breakable } of replicas) breakable.broken = undefined
      await clocks.pass(4000)
      expect(new Set(replicas.map(({ state }) => state().tag)).size).toBe(1)
      const found = await Promise.all(replicas.map(({ fleet }) => fleet.store.read([{ kind: 'document', name: 'modes' }])))
      expect(found.map(([document]) => document?.value)).toEqual(replicas.map(({ part }) => part.known()))
      for (const { versions } of replicas) expect(versions).toEqual(versions.toSorted((x, y) => x - y))
    }),
    { numRuns: 60 },
  )
})

it('replaces modes that another version of Crosswalk wrote, if it is told to replace whatever is there', async () => {
  const { clocks, a, b } = await three()
  const { document } = await a.breakable.store.replace('modes', 1, '{"rules":{"default":"of tomorrow"},"by":{},"at":0}')
  await clocks.pass(2000)
  expect(a.state()).toMatchObject({ version: 1 })
  const refused = a.put.put(rulesOf('v1'), ADMIN, (tag) => tag === a.state().tag)
  await clocks.pass(500)
  expect(await refused).toEqual({ end: 'overtaken' })
  const put = a.put.put(rulesOf('v1'), ADMIN, () => true)
  await clocks.pass(1500)
  expect(await put).toMatchObject({ end: 'put', missing: [] })
  expect([a, b].map(({ state }) => [state().version, state().rules.default])).toEqual([
    [document.version + 1, 'v1'],
    [document.version + 1, 'v1'],
  ])
})
