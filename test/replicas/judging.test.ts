import { expect, it } from 'vitest'
import { createSharedNoise, createSharedRedactionKey, createSharedRefusals } from '../../src/fleet/judging.ts'
import { createNoise } from '../../src/migrate/compare/judge.ts'
import { createRedactionKey } from '../../src/migrate/compare/redact.ts'
import { createV1Refusals } from '../../src/migrate/observe/observe.ts'
import { child, findings } from '../diff/given.ts'
import { sharedStage } from './shared-stage.ts'

const LIST = 'registry.repos.list'
const repos = (downloads: number) => ({ items: [{ id: child(1), updated_at: null, downloads }] })
const DOWNLOADS = findings(LIST, repos(1), repos(2))[0]!

function stage() {
  const shared = sharedStage()
  const join = (id: string) =>
    shared.join(id, (fleet) => {
      const noise = createNoise()
      const key = createRedactionKey()
      const refusals = createV1Refusals()
      fleet.add(createSharedNoise(noise, fleet))
      fleet.add(createSharedRedactionKey(key))
      fleet.add(createSharedRefusals(refusals, fleet))
      return { noise, key, refusals }
    })
  return { ...shared, join }
}

it('learns on all replicas what changes by itself, however the double reads are spread', async () => {
  const { clocks, join } = stage()
  const replicas = await Promise.all(['a', 'b', 'c'].map(join))
  for (const { noise } of replicas) noise.learn(LIST, [DOWNLOADS])
  await clocks.pass(1500)
  const late = await join('d')
  for (const { noise } of [...replicas, late]) {
    expect(noise.isNoise(LIST, DOWNLOADS)).toBe(true)
    expect(noise.members()).toEqual([{ operation: LIST, where: '/items/*/downloads', kind: 'value', changes: 3, asks: 3 }])
  }
})

it('forgets on all replicas what has stopped to change', async () => {
  const { clocks, join } = stage()
  const replicas = await Promise.all(['a', 'b'].map(join))
  for (let at = 0; at < 3; at += 1) replicas[0]?.noise.learn(LIST, [DOWNLOADS])
  for (let at = 0; at < 50; at += 1) replicas[1]?.noise.learn(LIST, [])
  await clocks.pass(1500)
  for (const { noise } of [...replicas, await join('c')]) expect(noise.isNoise(LIST, DOWNLOADS)).toBe(false)
})

it('hashes texts on all replicas with the key of the first, and tells it again to a store that lost it', async () => {
  const { clocks, lose, join } = stage()
  const [first, second] = [await join('a'), await join('b')]
  const key = first.key.text()
  expect(second.key.text()).toBe(key)
  lose()
  await clocks.pass(3000)
  const third = await join('c')
  expect([first, second, third].map((one) => one.key.text())).toEqual([key, key, key])
})

it('knows on all replicas which writes v1 always refuses, and forgets that where one of them saw v1 accept', async () => {
  const { clocks, join } = stage()
  const replicas = await Promise.all(['a', 'b'].map(join))
  const [always, sometimes] = ['s', 't'].map((shape) => ({ operation: 'registry.repos.update', caller: 'c', shape }))
  replicas[0]?.refusals.heard(always!, 403)
  replicas[1]?.refusals.heard(sometimes!, 200)
  replicas[0]?.refusals.heard(sometimes!, 400)
  await clocks.pass(3000)
  for (const { refusals } of [...replicas, await join('c')]) {
    expect(refusals.has(always!, 403)).toBe(true)
    expect(refusals.has(always!, 400)).toBe(false)
    expect(refusals.has(sometimes!, 400)).toBe(false)
  }
})
