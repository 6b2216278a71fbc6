import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/sandbox/start.ts'
import { metric } from '../faults/process/child.ts'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'
import { until } from '../stage/until.ts'
import { startUpstream } from '../stage/upstream.ts'

const GROUPS = '/iam/v1/groups'

/** A sandbox and a way to it that holds the answer to the first read, as it was when the read arrived, until it is released. */
async function slowWay() {
  const sandbox = await startSandbox({ port: 0, data: 'demo' })
  onTestFinished(sandbox.close)
  const gate = new EventEmitter()
  const held = once(gate, 'held')
  const free = once(gate, 'free')
  let reads = 0
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const isFirst = ++reads === 1
    const answer = await fetch(sandbox.url + request.url, { headers: { authorization: request.headers.authorization ?? '' } })
    const text = await answer.text()
    gate.emit('held')
    if (isFirst) await free
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  }
  const way = await startUpstream((request, response) => void pass(request, response))
  onTestFinished(way.close)
  return { sandbox, way, held, letGo: () => gate.emit('free') }
}

async function replica(v2: string): Promise<TestProxy> {
  const proxy = await startProxy({ 'upstream.v2': v2 })
  onTestFinished(proxy.close)
  return proxy
}

it('shows a caller its write through another replica, despite an older read', async () => {
  const { sandbox, way, held, letGo } = await slowWay()
  const [one, other] = [await replica(way.url), await replica(sandbox.url)]
  const headers = { ...bearer(sandbox.tokens.owner), 'content-type': 'application/json' }
  const names = async () => {
    const { items } = (await (await fetch(one.url + GROUPS, { headers })).json()) as { items: { name: string }[] }
    return items.map(({ name }) => name)
  }
  const before = names()
  await held
  const body = JSON.stringify({ name: 'written-elsewhere' })
  expect((await fetch(`${other.url}${GROUPS}/${sandbox.organization}`, { method: 'POST', headers, body })).status).toBe(200)
  let isAnswered = false
  const after = names().finally(() => {
    isAnswered = true
  })
  await until(async () => isAnswered || (await metric(one, 'crosswalk_requests_in_flight')) === 2)
  letGo()
  expect(await after).toContain('written-elsewhere')
  expect(await before).not.toContain('written-elsewhere')
})
