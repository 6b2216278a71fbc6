import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createReceiver, type NotifyCounts } from '../../src/admin/notify.ts'
import { bearer, startProxy } from '../stage/proxy.ts'
import { startStage } from '../stage/stage.ts'
import { problemsOf } from './event-schema.ts'
import { notifierFor, SECRET, startWebhook } from './webhook.ts'

it('tells a receiver, in order, of changed modes and of a circuit that opens', async () => {
  const webhook = await startWebhook()
  const notify = { 'notify.url': `${webhook.url}/hook?token=hidden`, 'notify.secret': SECRET, 'notify.source': 'urn:crosswalk:test' }
  const page = { 'admin.publicUrl': 'https://crosswalk.internal' }
  const stage = await startStage({ ...notify, ...page, 'admin.token': 'the-token-that-changes', 'fallback.perMinute': 0 })
  const admin = (method: string, path: string, body?: object) =>
    fetch(stage.server.adminUrl + path, {
      method,
      headers: { authorization: 'Bearer the-token-that-changes', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const seen = async () => ((await (await admin('GET', '/evidence')).json()) as { notifications: NotifyCounts }).notifications
  const canary = { operations: 'iam.*', mode: 'diff-v1', canary: { percent: 100, mode: 'diff-v2' } }

  const test = (await (await admin('POST', '/notify/test')).json()) as { id: string }
  expect((await fetch(`${stage.server.adminUrl}/notify/test`, { method: 'POST' })).status).toBe(401)
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
  expect(JSON.stringify([stage.server.log, events])).not.toMatch(/hidden|the-token-that/)
  await webhook.close()
}, 30_000)

it('does not send the events of earlier records again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-notify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const webhook = await startWebhook()
  onTestFinished(webhook.close)
  const settings = { 'notify.url': webhook.url, 'notify.secret': SECRET, 'records.file': join(folder, 'records.ndjson') }
  const first = await startStage(settings)
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

  const second = await startStage(settings)
  await second.close()
  expect(webhook.events().map(({ type }) => type)).toEqual(['crosswalk.modes.changed', 'crosswalk.proxy.restarted'])
})

it('tells after a restart that an operation has stopped being ready', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-notify-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const webhook = await startWebhook()
  onTestFinished(webhook.close)
  const at = new Date().toISOString()
  const records = [
    { kind: 'note', id: 'n', at, what: 'ready', operation: 'iam.groups.list', text: '', from: 'inconclusive', to: 'inside' },
    { kind: 'note', id: 'm', at, what: 'ready', operation: 'iam.roles.list', text: '', from: 'inconclusive', to: 'inside' },
    { ...entry('iam.groups.list'), id: 'c', at, outcome: 'mismatch' },
    ...Array.from({ length: 3300 }, (_, nth) => ({ ...entry('iam.roles.list'), id: `r${nth}`, at, outcome: 'match', shape: `s${nth}` })),
  ]
  const file = join(folder, 'records.ndjson')
  writeFileSync(file, records.map((one) => `${JSON.stringify(one)}\n`).join(''))
  const stage = await startStage({ 'notify.url': webhook.url, 'notify.secret': SECRET, 'records.file': file })
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
  const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1', ...tokens })
  onTestFinished(proxy.close)
  const test = async (token: string) => {
    const answer = await fetch(`${proxy.adminUrl}/notify/test`, { method: 'POST', headers: bearer(token) })
    return [answer.status, ((await answer.json()) as { message: string }).message]
  }
  expect(await test(tokens['admin.readToken'])).toEqual([403, expect.stringContaining('admin.readToken only reads')])
  expect(await test(tokens['admin.token'])).toEqual([400, expect.stringContaining('no receiver is set: give notify.url')])
})

it('takes no test event that another Crosswalk sends to an admin port', async () => {
  const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
  onTestFinished(proxy.close)
  const notifier = notifierFor({ url: proxy.adminUrl }, { receiver: createReceiver(`${proxy.adminUrl}/notify/test`, 30_000) })
  notifier.ping()
  await notifier.idle()
  await notifier.close()
  expect(notifier.warned[0]).toContain('answers HTTP 403')
})
