import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { connect } from '../client.ts'
import { type V1Client, v1Client } from './v1-client.ts'

const PAGE = 'https://console.example.com'

let sandbox: Sandbox
let proxy: TestProxy
let client: V1Client
let root: string

beforeAll(async () => {
  sandbox = await startQuietSandbox({})
  proxy = await startProxy({ 'upstream.v2': sandbox.url, 'v1.deprecation': 1_700_000_000, 'grpc.corsOrigins': PAGE })
  client = v1Client(proxy.url, sandbox.tokens.owner)
  root = (await client.call('iam.Groups/List', { uidp: { in_root: true } })).message.items[0].id
})

afterAll(async () => {
  client.close()
  await proxy.close()
  await sandbox.close()
})

const metrics = async () => (await fetch(`${proxy.adminUrl}/metrics`)).text()

it('serves the cycle of a group, as REST does', async () => {
  const { message: created } = await client.call('iam.Groups/Create', { parent: root, group: { name: 'by-grpc', description: 'one' } })
  expect(created).toMatchObject({ name: 'by-grpc', description: 'one' })
  const listed = await client.call('iam.Groups/List', { name: 'by-grpc' })
  expect(listed.message.items).toEqual([created])
  const { message: updated } = await client.call('iam.Groups/Update', { id: created.id, name: 'renamed' })
  expect(updated).toMatchObject({ id: created.id, name: 'renamed' })
  expect(updated).not.toHaveProperty('description')
  expect((await client.call('iam.Groups/Delete', { id: created.id })).code).toBe(status.OK)
  expect((await client.call('iam.Groups/List', { name: 'renamed' })).message).toEqual({})
})

describe('an error', () => {
  it('has the code, the words and the details of REST', async () => {
    const { code, text, trailers } = await client.call('iam.Groups/Create', { parent: root, group: {} })
    expect(code).toBe(status.INVALID_ARGUMENT)
    expect(text).toContain('Invalid argument: name')
    expect(String(trailers.get('grpc-status-details-bin')[0])).toContain('google.rpc.BadRequest')
  })

  it('is UNAUTHENTICATED without a token', async () => {
    const stranger = v1Client(proxy.url, 'nobody')
    expect((await stranger.call('iam.Groups/List')).code).toBe(status.UNAUTHENTICATED)
    stranger.close()
  })

  it('is UNIMPLEMENTED for what only v1 has, with the sentence of REST', async () => {
    const answer = await client.call('registry.Registry/GetDeployment', { id: 'a' })
    expect(answer).toMatchObject({ code: status.UNIMPLEMENTED, text: expect.stringContaining('needs a v1 service') })
  })

  it.each([
    ['UNIMPLEMENTED', 'iam.Groups/Fly', Buffer.alloc(0), 'unknown method Fly for service chainguard.platform.iam.Groups'],
    ['INTERNAL', 'iam.Groups/List', Buffer.from([0xff]), 'grpc: error unmarshalling request'],
  ] as const)('is %s for %s with odd bytes', async (name, method, bytes, text) => {
    const plain = connect(proxy.url)
    const path = `/chainguard.platform.${method}`
    const answer = new Promise((resolve) => {
      const same = (value: Buffer) => value
      plain.makeUnaryRequest(path, same, same, bytes, (error) => resolve(error))
    })
    expect(await answer).toMatchObject({ code: status[name], details: text })
    plain.close()
  })

  it('is UNIMPLEMENTED before a stream to an unknown method ends', async () => {
    const plain = connect(proxy.url)
    const same = (value: Buffer) => value
    const stream = plain.makeBidiStreamRequest('/chainguard.platform.iam.Groups/Follow', same, same)
    stream.resume().on('error', () => {})
    const ended = new Promise((resolve) => stream.once('status', resolve))
    expect(await ended).toMatchObject({ code: status.UNIMPLEMENTED, details: expect.stringContaining('Follow') })
    expect(await proxy.logged(({ path }) => String(path).endsWith('/Follow'))).toMatchObject({ grpcStatus: 'UNIMPLEMENTED' })
    plain.close()
  })

  it('names the part of a message that would lead to another method', async () => {
    expect((await client.call('iam.Groups/Update', { name: 'x' })).code).toBe(status.INVALID_ARGUMENT)
  })
})

it('answers with the request id and what v1 announces', async () => {
  const { headers } = await client.call('ping.PingService/Ping', {}, { metadata: { 'x-request-id': 'mine' } })
  expect([headers?.get('x-request-id'), headers?.get('deprecation')]).toEqual([['mine'], ['@1700000000']])
})

it('logs and counts a call as its operation', async () => {
  await client.call('iam.Roles/List', { name: 'none' }, { metadata: { 'x-request-id': 'roles' } })
  expect(await proxy.logged(({ reqId }) => reqId === 'roles')).toMatchObject({
    path: '/chainguard.platform.iam.Roles/List',
    operation: 'iam.roles.list',
    mode: 'v2',
    calls: 1,
    status: 200,
    protocol: 'grpc',
    grpcStatus: 'OK',
  })
  expect(await metrics()).toMatch(/crosswalk_requests_total\{operation="iam.roles.list",mode="v2",outcome="ok"\} 1/)
})

it('counts one client, whichever protocol it speaks', async () => {
  await client.call('iam.Identities/List', { name: 'none' })
  const headers = { authorization: `Bearer ${sandbox.tokens.owner}` }
  await fetch(`${proxy.url}/iam/v1/identities?name=none`, { headers })
  const clients = (await (await fetch(`${proxy.adminUrl}/clients`)).json()) as { operations: { operation: string; calls: number }[] }[]
  expect(clients).toHaveLength(1)
  expect(clients[0]?.operations).toContainEqual(
    expect.objectContaining({ operation: 'iam.identities.list', calls: 2, protocols: ['grpc', 'rest'] }),
  )
})

describe('over HTTP', () => {
  const post = (method: string, type: string, body: string | Buffer, id: string) =>
    fetch(`${proxy.url}/chainguard.platform.${method}`, {
      method: 'POST',
      headers: { 'content-type': type, authorization: `Bearer ${sandbox.tokens.owner}`, 'x-request-id': id },
      body: typeof body === 'string' ? body : new Uint8Array(body),
    })

  it('serves a call of Connect in JSON, and its errors', async () => {
    const found = await post('iam.Groups/List', 'application/json', '{"uidp":{"inRoot":true}}', 'connect')
    expect([found.status, found.headers.get('x-request-id')]).toEqual([200, 'connect'])
    expect(await found.json()).toMatchObject({ items: [{ id: root }] })
    const refused = await post('iam.Groups/Create', 'application/json', `{"parent":"${root}","group":{}}`, 'refused')
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_argument', details: [{}, {}] }])
    const line = { operation: 'iam.groups.create', protocol: 'connect', grpcStatus: 'INVALID_ARGUMENT', status: 400 }
    expect(await proxy.logged(({ reqId }) => reqId === 'refused')).toMatchObject(line)
  })

  it('serves a call of gRPC-Web', async () => {
    const answer = await post('iam.Groups/List', 'application/grpc-web+proto', Buffer.alloc(5), 'web')
    expect(Buffer.from(await answer.arrayBuffer()).toString()).toContain('grpc-status: 0')
    expect(await proxy.logged(({ reqId }) => reqId === 'web')).toMatchObject({
      operation: 'iam.groups.list',
      protocol: 'grpc-web',
      grpcStatus: 'OK',
    })
  })

  it('logs the status of a call whose bytes are no message', async () => {
    await post('iam.Groups/List', 'application/proto', Buffer.from([0xff]), 'odd')
    expect(await proxy.logged(({ reqId }) => reqId === 'odd')).toMatchObject({
      operation: 'iam.groups.list',
      grpcStatus: 'INVALID_ARGUMENT',
    })
  })

  it('passes a foreign service on as it came', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${proxy.url}/other.Service/Method`, { method: 'POST', headers, body: '{}' })
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 5 }])
  })
})

it('lets a page of an allowed origin call by Connect', async () => {
  const target = `${proxy.url}/chainguard.platform.iam.Groups/List`
  const headers = { origin: PAGE, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  const preflight = await fetch(target, { method: 'OPTIONS', headers })
  expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'authorization'])
  const asked = { origin: PAGE, authorization: `Bearer ${sandbox.tokens.owner}`, 'content-type': 'application/json' }
  const answer = await fetch(target, { method: 'POST', headers: asked, body: '{"name":"nothing"}' })
  expect([answer.status, answer.headers.get('access-control-allow-origin'), await answer.json()]).toEqual([200, PAGE, {}])
})
