import { expect, it, onTestFinished } from 'vitest'
import { createClockWatch, createHealth, type Service } from '../../src/serve/upstream/health.ts'
import { startProxy } from '../stage/proxy.ts'
import { startUpstream } from '../stage/upstream.ts'

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

it('tells once that the clock of a service differs by more than a minute, and once that it no longer does', () => {
  const said: string[] = []
  const watch = createClockWatch(
    () => Date.UTC(2026, 0, 1, 12),
    (text) => void said.push(text),
  )
  const hear = (time: string) => watch.hear('v2', `Thu, 01 Jan 2026 ${time} GMT`)
  for (const time of ['12:00:59', '11:59:01', 'never']) hear(time)
  expect([said, watch.standing()]).toEqual([[], undefined])
  for (const time of ['12:05:00', '12:05:01', '12:06:00']) hear(time)
  watch.hear('v1', 'Thu, 01 Jan 2026 09:00:00 GMT')
  expect(said).toEqual([
    'the clock of v2 is some 5 min ahead of that of this machine: look at the time service of both machines',
    'the clock of v1 is some 3 h behind that of this machine: look at the time service of both machines',
  ])
  expect(watch.standing()).toBe(
    'the clock of v2 is some 6 min ahead of that of this machine; the clock of v1 is some 3 h behind that of this machine',
  )
  for (const time of ['12:00:59', '12:01:01', '12:00:31']) hear(time)
  expect(said).toHaveLength(2)
  hear('12:00:30')
  expect(said.at(-1)).toBe('the clocks of v2 and of this machine agree again')
  expect([...watch.ahead()]).toEqual([
    ['v2', 30_000],
    ['v1', -10_800_000],
  ])
})

it('tells the clock of v2 in /readyz, in a note and in a metric, unless a cache kept the answer', async () => {
  const kept: Record<string, string> = {}
  const v2 = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', date: new Date(Date.now() - 600_000).toUTCString(), ...kept })
    response.end('{"response":"pong"}')
  }, 'seen')
  const proxies = [await startProxy({ 'upstream.v2': v2.url }), await startProxy({ 'upstream.v2': v2.url })]
  onTestFinished(() => Promise.all([...proxies.map((one) => one.close()), v2.close()]).then(() => {}))
  const ready = async (nth: number) => (await fetch(`${proxies[nth]?.adminUrl}/readyz`)).json()
  const clock = 'the clock of v2 is some 10 min behind that of this machine'
  expect(await ready(0)).toEqual({ status: 'ok', v2: 'ok', clock })
  const note = { level: 40, what: 'clock', to: 'differs', msg: expect.stringContaining(clock) }
  expect(proxies[0]?.log).toContainEqual(expect.objectContaining(note))
  const metrics = await (await fetch(`${proxies[0]?.adminUrl}/metrics`)).text()
  expect(metrics).toMatch(/^crosswalk_clock_ahead_seconds\{of="v2"\} -(?:599|60[01])(?:\.\d+)?$/m)
  expect(metrics).toMatch(/^crosswalk_notes_total\{what="clock"\} 1$/m)
  kept.age = '600'
  expect(await ready(1)).toEqual({ status: 'ok', v2: 'ok' })
})

it('says in one line of the log why v2 cannot be reached', async () => {
  const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:9' })
  onTestFinished(() => proxy.close())
  expect((await fetch(`${proxy.url}/iam/v1/groups`)).status).toBe(503)
  expect(await proxy.logged(({ msg }) => msg === 'request')).toMatchObject({ error: { cause: 'nothing listens (127.0.0.1:9)' } })
})
