import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { openStore } from '../../../src/fleet/store/open.ts'
import { iamRules } from '../../modes/rollout/simulated.ts'
import { type ManualClocks, manualClocks } from '../../stage/manual-clocks.ts'
import { type SimulatedReplica, simulateReplica } from './simulated-replica.ts'

const STEPS = [
  { percent: 1, observations: 60 },
  { percent: 50, hold: '5m' },
]

async function three(rollout: object = { steps: STEPS }) {
  const clocks = manualClocks()
  const memory = createMemory(clocks.now)
  const rules = iamRules(rollout)
  const start = (id: string) => simulateReplica(id, memory.open(), clocks, { rules, version: 1 })
  const [a, b, c] = [await start('a'), await start('b'), await start('c')]
  const all = [a, b, c]
  await clocks.pass(3000)
  return { clocks, memory, rules, start, a, b, c, all }
}

const places = (replicas: readonly SimulatedReplica[]) => replicas.map((one) => one.place())
const moves = (replicas: readonly SimulatedReplica[]) => replicas.map((one) => one.moves())

it('begins once, and all replicas follow', async () => {
  const { all, b } = await three()
  expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'running 1 1'])
  expect(moves(all)).toEqual([['running at step 1 of 2 (1 %)'], [], []])
  expect([b.ask(5), b.ask(50)]).toEqual(['diff-v2', 'diff-v1'])
})

it('waits, and was not turned back, until the store has told where it stands', async () => {
  const { a, all, clocks } = await three()
  a.change(iamRules({ steps: [{ percent: 2, hold: '1h' }] }), true)
  expect(a.place()).toBe('waiting 1 0')
  for (const one of all.slice(1)) one.change(iamRules({ steps: [{ percent: 2, hold: '1h' }] }), false)
  await clocks.pass(3000)
  expect(places(all)).toEqual(['running 1 2', 'running 1 2', 'running 1 2'])
  expect(
    moves(all)
      .flat()
      .filter((to) => /waiting|turned/.test(to ?? '')),
  ).toEqual([])
})

it('judges what all replicas have seen, and counts once what two of them saw', async () => {
  const { clocks, all, a } = await three()
  const ask = async (from: number, to: number) => {
    for (let nth = from; nth < to; nth += 1) for (const one of all) one.ask(5, { shape: `shape ${nth}` })
    await clocks.pass(3000)
  }
  await ask(0, 59)
  expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'running 1 1'])
  expect(a.rollouts.all()[0]).toMatchObject({ observed: 59, wanted: 60 })
  await ask(59, 60)
  expect(places(all)).toEqual(['running 2 50', 'running 2 50', 'running 2 50'])
  expect(moves(all)).toEqual([['running at step 1 of 2 (1 %)', 'running at step 2 of 2 (50 %)'], [], []])
})

it('judges by what all replicas know of v2, not by what one of them does', async () => {
  const { clocks, all, a, b, c } = await three({ steps: [{ percent: 50, hold: '1m' }] })
  for (let nth = 0; nth < 70; nth += 1) for (const one of [b, c]) one.ask(5)
  for (let second = 0; second < 63; second += 1) {
    a.ask(5, { shape: 'the same' })
    await clocks.pass(1000)
  }
  expect(places(all)).toEqual(['watching 1 50', 'watching 1 50', 'watching 1 50'])
})

it('does not go on while v2 alone refuses a part, wherever that was', async () => {
  const { clocks, all, a, b, c } = await three({ steps: [{ percent: 50, hold: '1m' }] })
  c.refuse(10)
  for (let nth = 0; nth < 70; nth += 1) for (const one of [a, b]) one.ask(5)
  for (let second = 0; second < 63; second += 1) {
    a.ask(5, { shape: 'the same' })
    await clocks.pass(1000)
  }
  expect(places(all)).toEqual(['running 1 50', 'running 1 50', 'running 1 50'])
  expect(a.reason()).toContain('as v2 alone left 10 requests of it without a comparison')
})

it('does not go on while a replica has not told what it saw', async () => {
  const { clocks, all, a, b } = await three()
  b.cut.cut = 'requests'
  for (let nth = 0; nth < 60; nth += 1) a.ask(5)
  await clocks.pass(10_000)
  expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'running 1 1'])
  expect(a.reason()).toMatch(/It waits: Replica b has not handed over/)
  b.cut.cut = 'no'
  await clocks.pass(3000)
  expect(places(all)).toEqual(['running 2 50', 'running 2 50', 'running 2 50'])
  expect(all.map(({ failures }) => failures)).toEqual([[], [], []])
})

it('takes the share to 0 at once where a circuit opens, and soon everywhere', async () => {
  const { clocks, all, c } = await three()
  for (let nth = 0; nth < 12; nth += 1) c.ask(5, { isWrong: true })
  expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'turned-back 1 0'])
  await clocks.pass(10_000)
  expect(places(all)).toEqual(['turned-back 1 0', 'turned-back 1 0', 'turned-back 1 0'])
  expect(moves(all).map((each) => each.filter((to) => to?.startsWith('turned-back')).length)).toEqual([1, 0, 0])
})

it('obeys a command at every replica, wherever it was given', async () => {
  const { all, c, clocks } = await three()
  const paused = c.steer('pause')
  await clocks.pass(100)
  expect(await paused).toBeUndefined()
  expect(places(all)).toEqual(['paused 1 1', 'paused 1 1', 'paused 1 1'])
  expect(c.moves()).toEqual(['paused at step 1 of 2 (1 %)'])
  expect(await c.steer('pause')).toBeUndefined()
  const promoted = all.map((one) => one.steer('promote'))
  await clocks.pass(3000)
  const ends = await Promise.all(promoted)
  expect(ends.filter((end) => end === undefined).length).toBe(1)
  expect(ends.filter((end) => end?.kind === 'moved').length).toBe(2)
  expect(places(all)).toEqual(['running 2 50', 'running 2 50', 'running 2 50'])
})

it('refuses a command while the store is away, but aborts here, and elsewhere when it is back', async () => {
  const { all, b, clocks } = await three()
  b.cut.cut = 'requests'
  expect(await b.steer('pause')).toMatchObject({ kind: 'down' })
  expect(await b.steer('promote')).toMatchObject({ kind: 'down' })
  expect(b.place()).toBe('running 1 1')
  expect(await b.steer('abort')).toBeUndefined()
  expect(places(all)).toEqual(['running 1 1', 'aborted 1 0', 'running 1 1'])
  await clocks.pass(20_000)
  b.cut.cut = 'no'
  await clocks.pass(3000)
  expect(places(all)).toEqual(['aborted 1 0', 'aborted 1 0', 'aborted 1 0'])
  expect(b.moves()).toEqual(['aborted at step 1 of 2 (0 %)'])
})

it('goes on within five seconds of the death of the replica that decides', async () => {
  const { clocks, b, c, a } = await three()
  a.kill()
  await clocks.pass(5000)
  for (let nth = 0; nth < 12; nth += 1) c.ask(5, { isWrong: true })
  await clocks.pass(6000)
  expect(places([b, c])).toEqual(['turned-back 1 0', 'turned-back 1 0'])
  expect(b.moves().at(-1)).toBe('turned-back at step 1 of 2 (0 %)')
})

it('lets a replica that decided follow when it comes back', async () => {
  const { clocks, all, a, b } = await three()
  a.cut.cut = 'answers'
  await clocks.pass(5000)
  const paused = b.steer('pause')
  await clocks.pass(1500)
  expect(await paused).toBeUndefined()
  expect(a.place()).toBe('running 1 1')
  a.cut.cut = 'no'
  await clocks.pass(1000)
  expect(places(all)).toEqual(['paused 1 1', 'paused 1 1', 'paused 1 1'])
})

it('goes on where the document ends after all replicas have started again', async () => {
  const { clocks, all, start } = await three({ steps: STEPS, watch: '1h' })
  for (let nth = 0; nth < 60; nth += 1) for (const one of all) one.ask(5)
  await clocks.pass(3000)
  for (let second = 0; second < 60; second += 1) {
    for (const one of all) one.ask(5)
    await clocks.pass(1000)
  }
  for (const one of all) one.kill()
  const [{ heldMs = 0, observed = 0 } = {}] = all[0]?.rollouts.all() ?? []
  expect(heldMs).toBeGreaterThan(50_000)
  await clocks.pass(60_000)
  const again = [await start('d'), await start('e')]
  expect(again.map((one) => one.share())).toEqual([50, 50])
  await clocks.pass(3000)
  expect(places(again)).toEqual(['running 2 50', 'running 2 50'])
  const [{ heldMs: after = 0, observed: seen = 0 } = {}] = again[0]?.rollouts.all() ?? []
  expect(after).toBeGreaterThan(heldMs - 11_000)
  expect(seen).toBeGreaterThanOrEqual(observed)
  expect(moves(again)).toEqual([[], []])
})

it('goes on where the file ends after its only process has started again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-rollouts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const url = `file:${join(folder, 'store.json')}`
  const clocks = manualClocks()
  const given = { rules: iamRules({ steps: STEPS }), version: 1 }
  const first = await simulateReplica('a', await openStore(url, 'crosswalk'), clocks, given)
  await settle(clocks, () => first.place() === 'running 1 1')
  const promoted = first.steer('promote')
  await settle(clocks, () => first.place() === 'running 2 50')
  await promoted
  await first.fleet.close()
  first.kill()
  const again = await simulateReplica('b', await openStore(url, 'crosswalk'), clocks, given)
  await settle(clocks, () => again.place() === 'running 2 50')
  expect(again.moves()).toEqual([])
  await again.fleet.close()
  again.kill()
})

/** Lets time pass until something is so. A file takes real time. */
async function settle(clocks: ManualClocks, isSo: () => boolean): Promise<void> {
  for (let nth = 0; nth < 2000 && !isSo(); nth += 1) await clocks.pass(20)
  expect(isSo()).toBe(true)
}
