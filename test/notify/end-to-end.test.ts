import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { NotifyCounts } from '../../src/notify/notifier.ts'
import { startStage } from '../stage/stage.ts'
import { problemsOf } from './event-schema.ts'
import { SECRET, startWebhook } from './webhook.ts'

it('tells a receiver, in order, of changed modes and of a circuit that opens', async () => {
  const webhook = await startWebhook()
  const notify = { 'notify.url': `${webhook.url}/hook?token=hidden`, 'notify.secret': SECRET, 'notify.source': 'urn:crosswalk:test' }
  const stage = await startStage({ ...notify, 'admin.token': 'the-token-that-changes', 'fallback.perMinute': 0 })
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
  expect(events[2]).toMatchObject({
    data: { from: 'closed', to: 'open', text: expect.stringMatching(/^errors: \d of the last \d answers failed/) },
  })
  await stage.close()
  expect(JSON.stringify([stage.server.log, events])).not.toMatch(/hidden|the-token-that/)
  await webhook.close()
}, 30_000)
