import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2, { type ClientHttp2Session, constants } from 'node:http2'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { type Crosswalk, createCrosswalk, crosswalk } from '../../src/index.ts'
import { until } from '../stage/until.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'

const ROLE = { uid: 'a'.repeat(40), name: 'one', capabilities: [] }
const LIST = answering({ roles: [ROLE], totalCount: '1' })

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const PORT = { host: '127.0.0.1', port: 0 }
const pem = (name: string) => readFileSync(`test/certificates/localhost.${name}`, 'utf8')

async function startPlain(v1: Crosswalk) {
  const app = Fastify({ http2: true })
  app.get('/own', async () => 'mine')
  await app.register(crosswalk, { crosswalk: v1 })
  return { url: await app.listen(PORT), close: () => app.close() }
}

async function startSecure(v1: Crosswalk) {
  const app = Fastify({ http2: true, https: { key: pem('key'), cert: pem('crt'), allowHTTP1: true } })
  app.get('/own', async () => 'mine')
  await app.register(crosswalk, { crosswalk: v1 })
  return { url: await app.listen(PORT), close: () => app.close() }
}

/** An HTTP/2 server of somebody else with the plugin in it, in plain text or over TLS with HTTP/1.1 beside it, and a client of it. */
async function hosted(
  v2: Upstream,
  isSecure = false,
): Promise<{ readonly v1: Crosswalk; readonly client: ClientHttp2Session; readonly url: string }> {
  const v1 = await createCrosswalk({ upstream: { v2: v2.url }, limits: { requestsInFlight: 1 } })
  const { url, close } = await (isSecure ? startSecure(v1) : startPlain(v1))
  const client = http2.connect(url, { rejectUnauthorized: false }).on('error', () => {})
  closing.push(v2.close, close, async () => client.destroy())
  return { v1, client, url }
}

async function ask(client: ClientHttp2Session, headers: http2.OutgoingHttpHeaders, body?: string) {
  const stream = client.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  return { status: Number(head[':status']), body: await text(stream) }
}

const inFlight = (v1: Crosswalk, count: number) =>
  until(async () => (await v1.metrics()).includes(`crosswalk_requests_in_flight ${count}\n`), `${count} in flight`)

it.each([false, true])('serves v1 beside own routes over HTTP/2 (TLS: %s)', async (isSecure) => {
  const v2 = await startUpstream((request, response, body) => (request.method === 'GET' ? LIST : answering(ROLE))(request, response, body))
  const { client } = await hosted(v2, isSecure)
  const list = await ask(client, { ':path': '/iam/v1/roles' })
  expect([list.status, JSON.parse(list.body).items[0].id]).toEqual([200, ROLE.uid])
  const made = await ask(client, { ':path': '/iam/v1/roles/x', ':method': 'POST', 'content-type': 'odd' }, '{"name":"a"}')
  expect([made.status, JSON.parse(v2.seen.at(-1)?.body ?? '')]).toEqual([200, { name: 'a' }])
  expect((await ask(client, { ':path': '/iam/v1/roles', ':method': 'HEAD' })).status).toBe(501)
  expect(await ask(client, { ':path': '/own' })).toEqual({ status: 200, body: 'mine' })
  expect((await ask(client, { ':path': '/iam/v2/roles' })).status).toBe(404)
})

it('serves HTTP/1.1 beside HTTP/2', async () => {
  const { url } = await hosted(await startUpstream(LIST), true)
  const { default: https } = await import('node:https')
  const request = https.get(`${url}/iam/v1/roles`, { rejectUnauthorized: false, agent: false })
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
  expect(JSON.parse(await text(response)).items).toHaveLength(1)
})

it.each([
  ['resets its stream', (_: ClientHttp2Session, stream: http2.ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL)],
  ['leaves', (client: ClientHttp2Session) => client.destroy()],
])('frees the place of a client that %s', async (_, leave) => {
  let isWaiting = true
  const v2 = await startUpstream((request, response, body) => {
    if (!isWaiting) LIST(request, response, body)
  })
  const { v1, client, url } = await hosted(v2)
  const stream = client.request({ ':path': '/iam/v1/roles' }).on('error', () => {})
  await inFlight(v1, 1)
  leave(client, stream)
  await inFlight(v1, 0)
  isWaiting = false
  const other = http2.connect(url)
  expect((await ask(other, { ':path': '/iam/v1/roles' })).status).toBe(200)
  other.destroy()
})

it('does not serve gRPC, which stays a 404 of the owner', async () => {
  const { client } = await hosted(await startUpstream(LIST))
  const call = { ':path': '/chainguard.platform.iam.Roles/List', ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }
  expect((await ask(client, call, '\0\0\0\0\0')).status).toBe(404)
})
