import { describe, expect, it } from 'vitest'
import { createMemory, createShelf } from '../../src/fleet/store/memory.ts'
import { keepsTheContract, replicaOf } from './contract.ts'

describe('a store in memory', () => {
  let now = 1_790_000_000_000
  const memory = createMemory(() => now)
  keepsTheContract({
    open: async () => memory.open(),
    async pass(ms) {
      now += ms
    },
  })
})

it('forgets what nobody changes or reads for 30 days, but no document', async () => {
  let now = 1_790_000_000_000
  const one = replicaOf(createMemory(() => now).open(), 'one')
  await one.send({ kind: 'mark', name: 'read', field: 'f', text: 'x' }, { kind: 'mark', name: 'left', field: 'f', text: 'x' })
  await one.store.replace('modes', 0, 'x')
  for (let day = 0; day < 40; day += 10) {
    now += 10 * 24 * 3_600_000
    await one.ask('texts', 'read')
  }
  expect(await one.value('texts', 'read')).toEqual({ f: 'x' })
  expect(await one.value('texts', 'left')).toEqual({})
  expect(await one.value('document', 'modes')).toEqual({ version: 1, text: 'x' })
})

describe('a shelf', () => {
  it('holds no more than twice of what is not forgotten', () => {
    let now = 0
    const shelf = createShelf<number>(() => now)
    let most = 0
    for (let at = 0; at < 50_000; at += 1) {
      now = at
      shelf.set(`thing ${at}`, at, at + 1000)
      most = Math.max(most, shelf.size())
    }
    expect(most).toBeLessThanOrEqual(2001)
    expect(shelf.entries()).toHaveLength(1000)
  })
})
