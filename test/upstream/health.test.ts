import { expect, it } from 'vitest'
import { createHealth, type Service } from '../../src/serve/upstream/health.ts'

/** Services that say what the test wants, and a clock that it sets. */
function setUp(v1?: string) {
  const pings: string[] = []
  const said: Record<Service, string | undefined> = { v2: undefined, v1: undefined }
  const clock = { now: 0 }
  const ping = async (service: Service, base: string) => {
    pings.push(base)
    return said[service]
  }
  return { ask: createHealth({ v2: 'two', v1 }, ping, () => clock.now), pings, said, clock }
}

it('pings every configured service once a second, however many ask', async () => {
  const { ask, pings, clock } = setUp('one')
  await Promise.all(Array.from({ length: 50 }, ask))
  for (clock.now = 0; clock.now < 1000; clock.now += 10) await ask()
  expect(pings).toEqual(['two', 'one'])
  await Promise.all(Array.from({ length: 50 }, ask))
  expect(pings).toEqual(['two', 'one', 'two', 'one'])
})

it('counts the second from the answer', async () => {
  const { ask, pings, clock } = setUp()
  const first = ask()
  clock.now = 700
  await first
  clock.now = 1600
  await ask()
  expect(pings).toEqual(['two'])
})

it('is proven for good once a service was well', async () => {
  const { ask, said, clock } = setUp('one')
  said.v2 = 'dead'
  said.v1 = 'dead'
  expect((await ask()).proven).toBe(false)
  said.v1 = undefined
  clock.now = 1000
  expect((await ask()).proven).toBe(true)
  said.v1 = 'dead'
  clock.now = 2000
  expect(await ask()).toEqual({
    pulses: [
      { service: 'v2', problem: 'dead' },
      { service: 'v1', problem: 'dead' },
    ],
    proven: true,
  })
})
