import type { ServerResponse } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { bearer, startProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'

type Handler = Parameters<typeof startUpstream>[0]

const NOWHERE = 'http://127.0.0.1:1'
const REFUSED = /^the v2 service does not answer its ping: nothing listens/

async function upstream(handle: Handler) {
  const service = await startUpstream(handle, 'seen')
  onTestFinished(service.close)
  return service
}

/** Returns a proxy and the answers of its `/readyz`. */
async function proxyOf(values: Partial<Config>) {
  const proxy = await startProxy(values)
  onTestFinished(proxy.close)
  const ready = async () => {
    const answer = await fetch(`${proxy.adminUrl}/readyz`)
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return { ...proxy, ready }
}

it('is ready when v1 is well, whatever v2 says', async () => {
  const v1 = await upstream(answering({ response: 'pong' }))
  const { ready } = await proxyOf({ 'upstream.v2': NOWHERE, 'upstream.v1': v1.url })
  expect(await ready()).toEqual({ status: 200, body: { status: 'ok', v2: expect.stringMatching(REFUSED), v1: 'ok' } })
  expect(v1.seen.map(({ url }) => url)).toEqual(['/ping/v1/ping'])
})

it('is not ready before any service was well, and says why', async () => {
  const alone = await proxyOf({ 'upstream.v2': NOWHERE })
  expect(await alone.ready()).toEqual({ status: 503, body: { code: 14, message: expect.stringMatching(REFUSED), details: [] } })
  const both = await proxyOf({ 'upstream.v2': NOWHERE, 'upstream.v1': NOWHERE })
  expect((await both.ready()).body.message).toMatch(/; the v1 service does not answer its ping: nothing listens/)
})

it('stays ready when v2 dies: an answer of v1 is better than a refused connection', async () => {
  const v2 = await startUpstream(answering({ response: 'pong' }))
  const { url, ready } = await proxyOf({ 'upstream.v2': v2.url })
  expect(await ready()).toEqual({ status: 200, body: { status: 'ok', v2: 'ok' } })
  await v2.close()
  const said = await until(async () => {
    const answer = await ready()
    return answer.body.v2 !== 'ok' && answer
  })
  expect(said).toEqual({ status: 200, body: { status: 'ok', v2: expect.stringMatching(REFUSED) } })
  const answer = await fetch(`${url}/iam/v1/groups`, { headers: bearer('x') })
  expect([answer.status, await answer.json()]).toEqual([503, { code: 14, message: 'the v2 service cannot be reached', details: [] }])
})

const html: Handler = (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>')
const broken: Handler = (_, response: ServerResponse) => void response.destroy()

it.each([
  ['the 500 of a broken service', answering({ response: 'pong' }, 500), /answers its ping with HTTP 500$/],
  ['the 404 of a wrong base address', answering({ code: 5, message: 'Not Found', details: [] }, 404), /answers its ping with HTTP 404$/],
  ['the 401 of a gateway', answering({}, 401), /answers its ping with HTTP 401$/],
  ['the page of a load balancer', html, /with HTTP 200 is not that service/],
  ['the JSON of another service', answering({ status: 'ok' }), /with HTTP 200 is not that service/],
  ['the list of another service', answering([{ response: 'pong' }]), /with HTTP 200 is not that service/],
  ['an answer that does not end', answering({ response: 'x'.repeat(10_000) }), /does not answer its ping: .*more than/],
  ['a connection that breaks', broken, /does not answer its ping: other side closed$/],
  ['silence', () => {}, /does not answer its ping: nothing came within 800 ms$/],
])('does not take %s for a ping', async (_, handle, said) => {
  const service = await upstream(handle)
  const { ready } = await proxyOf({ 'upstream.v2': service.url })
  expect(await ready()).toEqual({ status: 503, body: { code: 14, message: expect.stringMatching(said), details: [] } })
})

it('tells monitoring the state of v2 and v1', async () => {
  const v1 = await upstream(answering({ response: 'pong' }))
  const { adminUrl } = await proxyOf({ 'upstream.v2': NOWHERE, 'upstream.v1': v1.url })
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  expect(text.match(/^crosswalk_upstream_up.*$/gm)).toEqual([
    'crosswalk_upstream_up{service="v2"} 0',
    'crosswalk_upstream_up{service="v1"} 1',
  ])
})
