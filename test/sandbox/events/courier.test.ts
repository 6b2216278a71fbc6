import { expect, test } from 'vitest'
import { emptyDataset } from '../../../src/sandbox/data/demo.ts'
import { createCourier, createLedger, type Occurrence, type Outcome, type Post } from '../../../src/sandbox/events/events.ts'
import { createWorld } from '../../../src/sandbox/start.ts'
import { createClock, createRandom } from '../../../src/sandbox/world/store.ts'
import { START } from '../running.ts'

const OPTIONS = { v1Dialect: 'specification', serviceDomain: 'chainguard.dev' } as const

/** A courier over one organization with one subscription. `play` acts as the sink. */
const bench = (sink: string, play: Post, anySink = false) => {
  const dataset = emptyDataset()
  const clock = createClock(START)
  const world = createWorld(dataset, clock, 1, OPTIONS, () => 'http://sandbox.test')
  const subscription = { uid: `${dataset.organization}/00000000000000aa`, sink }
  world.store.subscriptions.put(subscription)
  const ledger = createLedger()
  const courier = createCourier({ world, post: play, ledger, random: createRandom(1), anySink })
  const occurrence: Occurrence = {
    type: 'dev.chainguard.api.iam.roles.created.v1',
    subject: `${dataset.organization}/00000000000000bb`,
    group: dataset.organization,
    sourcePath: '/iam/v2/roles',
    bodyType: 'chainguard.platform.iam.v2.Role',
    body: {},
    actor: '',
    extensions: {},
  }
  return { world, clock, ledger, courier, occurrence, subscription }
}

const LOCAL = 'https://localhost:1/'
const down: Outcome = { verdict: 'again', detail: 'down' }

test('repeats after 1 s, 5 s, 30 s, 2 min and 10 min, then drops (semantics §7.4)', async () => {
  const ids: (string | undefined)[] = []
  const { clock, courier, ledger, occurrence } = bench(LOCAL, async (_url, headers) => {
    ids.push(headers['ce-id'])
    return down
  })
  courier.publish(occurrence)
  await courier.settled()
  for (const ms of [1_000, 5_000, 30_000, 120_000, 600_000]) {
    clock.advance(ms - 1)
    await courier.settled()
    const before = ids.length
    clock.advance(1)
    await courier.settled()
    expect(ids.length).toBe(before + 1)
  }
  clock.advance(3_600_000)
  await courier.settled()
  expect(ids.length).toBe(6)
  expect(new Set(ids).size).toBe(1)
  expect(ledger.entries()[0]).toMatchObject({ state: 'dropped', attempts: 6, detail: 'down' })
})

test('contacts a sink off this machine only if allowed', async () => {
  const asked: string[] = []
  const play: Post = async (url) => {
    asked.push(url.href)
    return { verdict: 'delivered', detail: 'HTTP 200' }
  }
  for (const [sink, anySink] of [
    ['https://example.com/a', false],
    ['https://0.0.0.0/b', false],
    ['https://[::ffff:127.0.0.1]/c', false],
    ['https://example.com/d', true],
    ['https://127.1/e', false],
  ] as const) {
    const { courier, occurrence } = bench(sink, play, anySink)
    courier.publish(occurrence)
    await courier.settled()
  }
  expect(asked).toEqual(['https://example.com/d', 'https://127.0.0.1/e'])
})

test('keeps at most a thousand waiting events', async () => {
  const { courier, ledger, occurrence } = bench(LOCAL, async () => down)
  for (let count = 0; count < 1_002; count += 1) courier.publish(occurrence)
  await courier.settled()
  const states = ledger.entries().map(({ state }) => state)
  expect(states.filter((state) => state === 'dropped')).toHaveLength(2)
  expect(ledger.entries().at(-1)?.detail).toContain('wait already')
  await courier.close()
})

test('stops repeating for a deleted subscription', async () => {
  const { world, clock, courier, ledger, occurrence, subscription } = bench(LOCAL, async () => down)
  courier.publish(occurrence)
  await courier.settled()
  world.store.subscriptions.delete(subscription.uid)
  clock.advance(1_000)
  await courier.settled()
  expect(ledger.entries()[0]).toMatchObject({ state: 'dropped', detail: 'the subscription is gone' })
})

test('aborts attempts in progress on close and accepts no more events', async () => {
  let asked = (): void => {}
  const underWay = new Promise<void>((resolve) => {
    asked = resolve
  })
  const { courier, ledger, occurrence } = bench(LOCAL, (_url, _headers, _content, closing) => {
    asked()
    return new Promise((resolve) => closing.addEventListener('abort', () => resolve(down), { once: true }))
  })
  courier.publish(occurrence)
  await underWay
  await courier.close()
  courier.publish(occurrence)
  expect(ledger.entries()).toMatchObject([{ state: 'dropped', attempts: 1 }])
})

test('sends nothing if it closes during the signing', async () => {
  const { courier, ledger, occurrence } = bench(LOCAL, async () => ({ verdict: 'delivered', detail: '' }))
  courier.publish(occurrence)
  await courier.close()
  expect(ledger.entries()).toMatchObject([{ state: 'dropped', detail: 'the sandbox closes' }])
})

test('ignores events of other groups', async () => {
  const { courier, ledger, occurrence } = bench(LOCAL, async () => down)
  courier.publish({ ...occurrence, group: '/' })
  courier.publish({ ...occurrence, group: '0'.repeat(40) })
  expect(ledger.entries()).toEqual([])
})
