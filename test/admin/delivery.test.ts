import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createReceiver, type NotifyCounts } from '../../src/admin/notify.ts'
import { selfSigned } from '../stage/authority.ts'
import { listening } from '../stage/programs.ts'
import { bearer, startStage } from '../stage/stage.ts'
import { notifierFor, problemsOf, SECRET, startWebhook, WRONG } from './notes.ts'

describe('delivery', () => {
  /** Starts a receiver with these turns and a notifier for it. */
  async function setUp(turns: Parameters<typeof startWebhook>[0] = [], settings: Parameters<typeof notifierFor>[1] = {}) {
    const webhook = await startWebhook(turns)
    const notifier = notifierFor(webhook, settings)
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

  it('does not wait again for an event that comes when the pause is over', async () => {
    let clock = Date.now()
    const { webhook, notifier } = await setUp([500, [429, { 'retry-after': '60' }], 429], { attempts: 1, now: () => clock })
    for (const [name, later] of [
      ['a', 400],
      ['b', 3_600_000],
      ['c', -3_600_000],
      ['d', 0],
    ] as const) {
      notifier.send(name)
      await notifier.idle()
      clock += later
    }
    expect(webhook.seen).toHaveLength(4)
    // The third event comes an hour later. After it, the clock steps back.
    expect(notifier.pauses).toEqual([600, 4000])
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
    const expire = () => {
      const timer = new AbortController()
      timers.push(timer)
      return timer.signal
    }
    const notifier = notifierFor(webhook, { receiver: createReceiver(webhook.url, 15_000, expire) })
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
    expect(names()).toEqual(['a', 'a', 'a', 'b', 'b'])
    expect(three.pauses).toEqual([1000, 2000, 4000, 8000])
    expect(three.counts()).toEqual({ sent: 1, failed: 1, dropped: 0, waiting: 0 })
    expect(three.warned[1]).toBe(`${webhook.url} answers HTTP 500: the notification crosswalk.circuit.opened id-a is lost after 3 attempts`)
    expect(notifier.counts().sent).toBe(0)
  })

  it('does not promise an attempt that it does not make', async () => {
    const { webhook, notifier } = await setUp([500], { attempts: 1 })
    notifier.send('a')
    await notifier.idle()
    expect(notifier.warned).toEqual([
      `${webhook.url} answers HTTP 500: the notification crosswalk.circuit.opened id-a is lost after 1 attempt`,
    ])
  })

  it.each([400, 404, 415, 301, 307])('does not repeat an event that is answered %i, and follows no redirect', async (status) => {
    const elsewhere = await startWebhook()
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
    onTestFinished(() => void server.close())
    const { port } = await listening(server)
    const notifier = notifierFor({ url: `https://127.0.0.1:${port}` }, { attempts: 1 })
    notifier.send('a')
    await notifier.idle()
    expect(notifier.warned[0]).toMatch(/^https:\/\/127\.0\.0\.1:\d+ cannot be reached: self-signed certificate/)
    expect([asked, notifier.counts().failed]).toEqual([0, 1])
  })
})

describe('end to end', () => {
  it('tells a receiver, in order, of changed modes and of a circuit that opens', async () => {
    const webhook = await startWebhook()
    const notify = { 'notify.url': `${webhook.url}/hook?token=hidden`, 'notify.secret': SECRET, 'notify.source': 'urn:crosswalk:test' }
    const page = { 'admin.publicUrl': 'https://crosswalk.internal' }
    const stage = await startStage({ proxy: { ...notify, ...page, 'admin.token': 'the-token-that-changes', 'fallback.perMinute': 0 } })
    const admin = (method: string, path: string, body?: object) =>
      fetch(stage.adminUrl + path, {
        method,
        headers: { authorization: 'Bearer the-token-that-changes', ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      })
    const seen = async () => ((await (await admin('GET', '/evidence')).json()) as { notifications: NotifyCounts }).notifications
    const canary = { operations: 'iam.*', mode: 'diff-v1', canary: { percent: 100, mode: 'diff-v2' } }

    const test = (await (await admin('POST', '/notify/test')).json()) as { id: string }
    expect((await fetch(`${stage.adminUrl}/notify/test`, { method: 'POST' })).status).toBe(401)
    await admin('PUT', '/modes', { default: 'v1', rules: [canary] })
    await stage.request('GET', '/iam/v1/groups')
    await stage.fault({ match: 'GET /iam/v2/groups', times: 100, status: 500 })
    for (let nth = 0; nth < 6; nth += 1) await stage.request('GET', '/iam/v1/groups')
    await stage.settled()
    while ((await seen()).waiting > 0) await setImmediate()
    expect(await seen()).toEqual({ sent: 3, failed: 0, dropped: 0, waiting: 0 })

    const events = webhook.events(SECRET)
    expect(events.map(({ type, subject }) => [type, subject])).toEqual([
      ['crosswalk.ping', undefined],
      ['crosswalk.modes.changed', undefined],
      ['crosswalk.circuit.opened', 'iam.groups.list'],
    ])
    expect(events.flatMap(problemsOf)).toEqual([])
    expect(events[0]).toMatchObject({ id: test.id, source: 'urn:crosswalk:test' })
    expect(events[1]).toMatchObject({ data: { by: { source: 'admin', token: 'admin.token', address: '127.0.0.1' }, version: 2 } })
    expect(events.map(({ data }) => (data as { readonly page?: string }).page)).toEqual([
      undefined,
      'https://crosswalk.internal/report',
      'https://crosswalk.internal/report#/operation/iam.groups.list',
    ])
    expect(events[2]).toMatchObject({
      data: { from: 'closed', to: 'open', text: expect.stringMatching(/^errors: \d of the last \d answers failed/) },
    })
    await stage.close()
    expect(JSON.stringify([stage.log, events])).not.toMatch(/hidden|the-token-that/)
  }, 30_000)

  it('does not send the events of earlier records again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-notify-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const webhook = await startWebhook()
    const settings = { 'notify.url': webhook.url, 'notify.secret': SECRET, 'records.file': join(folder, 'records.ndjson') }
    const first = await startStage({ proxy: settings })
    await first.setModes({ default: 'diff-v1' })
    await first.request('GET', '/iam/v1/groups')
    await first.settled()
    await first.close()
    expect(webhook.events().map(({ type }) => type)).toEqual(['crosswalk.modes.changed'])
    const [written] = readFileSync(settings['records.file'], 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(webhook.seen[0]?.headers['webhook-id']).toBe(written.id)

    const second = await startStage({ proxy: settings })
    await second.close()
    expect(webhook.events().map(({ type }) => type)).toEqual(['crosswalk.modes.changed', 'crosswalk.proxy.restarted'])
  })

  it('tells after a restart that an operation has stopped being ready', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-notify-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const webhook = await startWebhook()
    const at = new Date().toISOString()
    const records = [
      { kind: 'note', id: 'n', at, what: 'ready', operation: 'iam.groups.list', text: '', from: 'inconclusive', to: 'inside' },
      { kind: 'note', id: 'm', at, what: 'ready', operation: 'iam.roles.list', text: '', from: 'inconclusive', to: 'inside' },
      { ...entry('iam.groups.list'), id: 'c', at, outcome: 'mismatch' },
      ...Array.from({ length: 3300 }, (_, nth) => ({ ...entry('iam.roles.list'), id: `r${nth}`, at, outcome: 'match', shape: `s${nth}` })),
    ]
    const file = join(folder, 'records.ndjson')
    writeFileSync(file, records.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const stage = await startStage({ proxy: { 'notify.url': webhook.url, 'notify.secret': SECRET, 'records.file': file } })
    await stage.close()
    expect(webhook.events().map(({ type, subject }) => [type, subject])).toEqual([
      ['crosswalk.proxy.restarted', undefined],
      ['crosswalk.operation.unready', 'iam.groups.list'],
    ])
    expect(webhook.events()[1]).toMatchObject({ data: { from: 'inside', to: 'outside', text: expect.stringContaining('1 mismatch') } })
  })

  const entry = (operation: string) => ({
    ...{ kind: 'comparison', operation, mode: 'diff-v1', shape: 's', caller: 'c', check: 'read', totals: [], examples: [] },
    ...{ v1: { status: 200 }, v2: { status: 200 } },
  })

  it('sends a test only for the token that changes, and only to a receiver that is set', async () => {
    const tokens = { 'admin.token': 'the-token-that-changes', 'admin.readToken': 'the-token-that-reads' }
    const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:1', proxy: tokens })
    const test = async (token: string) => {
      const answer = await fetch(`${proxy.adminUrl}/notify/test`, { method: 'POST', headers: bearer(token) })
      return [answer.status, ((await answer.json()) as { message: string }).message]
    }
    expect(await test(tokens['admin.readToken'])).toEqual([403, expect.stringContaining('admin.readToken only reads')])
    expect(await test(tokens['admin.token'])).toEqual([400, expect.stringContaining('no receiver is set: give notify.url')])
  })

  it('takes no test event that another Crosswalk sends to an admin port', async () => {
    const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:1' })
    const notifier = notifierFor({ url: proxy.adminUrl }, { receiver: createReceiver(`${proxy.adminUrl}/notify/test`, 30_000) })
    notifier.ping()
    await notifier.idle()
    expect(notifier.warned[0]).toContain('answers HTTP 403')
  })
})
