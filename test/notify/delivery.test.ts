import type { ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createReceiver } from '../../src/admin/notify.ts'
import { selfSigned } from '../upstream/self-signed.ts'
import { notifierFor, SECRET, startWebhook, WRONG } from './webhook.ts'

/** Starts a receiver with these turns and a notifier for it. */
async function setUp(turns: Parameters<typeof startWebhook>[0] = [], settings: Parameters<typeof notifierFor>[1] = {}) {
  const webhook = await startWebhook(turns)
  const notifier = notifierFor(webhook, settings)
  onTestFinished(async () => {
    await notifier.close()
    await webhook.close()
  })
  const names = () => webhook.events().map(({ subject }) => subject)
  return { webhook, notifier, names }
}

it('posts a signed CloudEvent to the whole address', async () => {
  const { webhook, notifier } = await setUp()
  notifier.send('a.list')
  await notifier.idle()
  expect(webhook.seen).toMatchObject([
    { method: 'POST', url: '/hook?token=hidden', headers: { 'content-type': 'application/cloudevents+json', 'webhook-id': 'id-a.list' } },
  ])
  expect(webhook.events(SECRET)).toEqual([
    {
      specversion: '1.0',
      id: 'id-a.list',
      source: 'urn:crosswalk:test',
      type: 'crosswalk.circuit.opened',
      subject: 'a.list',
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      data: { what: 'circuit', operation: 'a.list', text: 'a reason' },
    },
  ])
  expect(() => webhook.events(WRONG)).toThrow('No matching signature')
  expect(notifier.counts()).toEqual({ sent: 1, failed: 0, dropped: 0, waiting: 0 })
})

it('tries again with growing pauses, and keeps order and id', async () => {
  const { webhook, notifier, names } = await setUp([503, 503])
  notifier.send('a', 'b')
  await notifier.idle()
  expect(names()).toEqual(['a', 'a', 'a', 'b'])
  expect(new Set(webhook.seen.slice(0, 3).map(({ body }) => body)).size).toBe(1)
  expect(notifier.pauses).toEqual([1000, 2000])
  expect(notifier.counts()).toEqual({ sent: 2, failed: 0, dropped: 0, waiting: 0 })
  expect(notifier.warned).toEqual([`${webhook.url} answers HTTP 503: the notification is sent again, 5 times in all`])
})

it('waits as long as the receiver asks, and an hour at most', async () => {
  const { notifier } = await setUp(
    [
      [429, { 'retry-after': '7' }],
      [503, { 'retry-after': new Date(60_000).toUTCString() }],
      [429, { 'retry-after': '1000000' }],
      [429, { 'retry-after': 'soon' }],
    ],
    { now: () => 0 },
  )
  notifier.send('a')
  await notifier.idle()
  expect(notifier.pauses).toEqual([7000, 60_000, 3_600_000, 8000])
})

it.each<[string, Parameters<typeof startWebhook>[0]]>([
  ['resets the connection', [({ socket }) => void socket.resetAndDestroy()]],
  ['answers something else than HTTP', [({ socket }) => void socket.end('hello\r\n\r\n')]],
])('tries again if the receiver %s', async (_, turns = []) => {
  const { webhook, notifier, names } = await setUp(turns)
  notifier.send('a', 'b')
  await notifier.idle()
  expect(names()).toEqual(['a', 'a', 'b'])
  expect(notifier.warned[0]).toContain(`${webhook.url} cannot be reached: `)
  expect(notifier.counts()).toEqual({ sent: 2, failed: 0, dropped: 0, waiting: 0 })
})

it.each<[string, (response: ServerResponse) => void, string]>([
  ['hangs', () => {}, 'does not answer within notify.timeoutMs .15000'],
  ['hangs in its body', (response) => void response.writeHead(500).write('x'), '(answers HTTP 500|does not answer within)'],
])('tries again if the receiver %s', async (_, answer, problem) => {
  const timers: AbortController[] = []
  const webhook = await startWebhook([
    (_, response) => {
      answer(response)
      isHeld = true
    },
  ])
  let isHeld = false
  onTestFinished(webhook.close)
  const expire = () => {
    const timer = new AbortController()
    timers.push(timer)
    return timer.signal
  }
  const notifier = notifierFor(webhook, { receiver: createReceiver(webhook.url, 15_000, expire) })
  onTestFinished(notifier.close)
  notifier.send('a', 'b')
  while (!isHeld) await setImmediate()
  timers[0]?.abort()
  await notifier.idle()
  expect(webhook.events().map(({ subject }) => subject)).toEqual(['a', 'a', 'b'])
  expect(notifier.warned[0]).toMatch(new RegExp(`^${webhook.url} ${problem}`))
  expect(notifier.counts()).toEqual({ sent: 2, failed: 0, dropped: 0, waiting: 0 })
})

it('gives an event up after its attempts, and goes on with the next after a pause', async () => {
  const { webhook, notifier, names } = await setUp([500, 500, 500, 500])
  const three = notifierFor(webhook, { attempts: 3 })
  three.send('a', 'b')
  await three.idle()
  await three.close()
  expect(names()).toEqual(['a', 'a', 'a', 'b', 'b'])
  expect(three.pauses).toEqual([1000, 2000, 4000, 8000])
  expect(three.counts()).toEqual({ sent: 1, failed: 1, dropped: 0, waiting: 0 })
  expect(three.warned[1]).toBe(`${webhook.url} answers HTTP 500: the notification crosswalk.circuit.opened id-a is lost after 3 attempts`)
  expect(notifier.counts().sent).toBe(0)
})

it.each([400, 404, 415, 301, 307])('does not repeat an event that is answered %i, and follows no redirect', async (status) => {
  const elsewhere = await startWebhook()
  onTestFinished(elsewhere.close)
  const { webhook, notifier, names } = await setUp([[status, { location: elsewhere.url }]])
  notifier.send('a', 'b')
  await notifier.idle()
  expect(names()).toEqual(['a', 'b'])
  expect(elsewhere.seen).toEqual([])
  expect(notifier.pauses).toEqual([])
  expect(notifier.warned).toEqual([`${webhook.url} answers HTTP ${status}: the notification crosswalk.circuit.opened id-a is lost`])
  expect(notifier.counts()).toEqual({ sent: 1, failed: 1, dropped: 0, waiting: 0 })
})

it('stops for good when the receiver is gone', async () => {
  const { webhook, notifier, names } = await setUp([204, 410])
  notifier.send('a', 'b', 'c')
  await notifier.idle()
  notifier.send('d')
  expect(names()).toEqual(['a', 'b'])
  const problem = `${webhook.url} answers HTTP 410`
  expect(notifier.warned).toEqual([`${problem}: no notification is sent any more until the next start`])
  expect(notifier.counts()).toEqual({ sent: 1, failed: 1, dropped: 2, waiting: 0, problem })
})

it('reads a large answer to a bound alone', async () => {
  const { notifier } = await setUp([(_, response) => void response.writeHead(200).end('x'.repeat(2 ** 22))])
  notifier.send('a', 'b')
  await notifier.idle()
  expect(notifier.counts()).toMatchObject({ sent: 2, failed: 0 })
})

it('never tells the path and the query of the address', async () => {
  const turns = [404, 503, ({ socket }: { socket: { resetAndDestroy(): unknown } }) => void socket.resetAndDestroy()]
  const { webhook, notifier } = await setUp(turns as Parameters<typeof startWebhook>[0])
  notifier.send('a', 'b')
  await notifier.idle()
  await webhook.close()
  notifier.send('c')
  await notifier.idle()
  expect(notifier.warned.length).toBeGreaterThan(2)
  expect(JSON.stringify([notifier.warned, notifier.counts()])).not.toMatch(/hook\?|token|hidden/)
})

it('sends nothing to a receiver whose certificate nobody vouches for', async () => {
  let asked = 0
  const server = https.createServer(selfSigned, (_, response) => {
    asked += 1
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const notifier = notifierFor({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }, { attempts: 1 })
  notifier.send('a')
  await notifier.idle()
  await notifier.close()
  expect(notifier.warned[0]).toMatch(/^https:\/\/127\.0\.0\.1:\d+ cannot be reached: self-signed certificate/)
  expect([asked, notifier.counts().failed]).toEqual([0, 1])
})
