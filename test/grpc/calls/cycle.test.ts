import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import http2, { constants, type OutgoingHttpHeaders } from 'node:http2'
import { status } from '@grpc/grpc-js'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import type { RpcCalls } from '../../../src/grpc/calls/calls.ts'
import { createPairs, type LazyRpc } from '../../../src/grpc/calls/carrier.ts'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { newRequestRecord } from '../../../src/serve/core.ts'
import type { Forwarded } from '../../../src/serve/http/forwarded.ts'
import { NOWHERE, type Stage, startStage, type TestProxy } from '../../stage/stage.ts'
import type { Handler } from '../../stage/upstream.ts'
import { callPath, connect, framed } from '../client.ts'
import { type V1Client, v1Client } from '../v1-client.ts'

describe('cycle', () => {
  const PAGE = 'https://console.example.com'

  let proxy: Stage<null>
  let client: V1Client
  let root: string

  beforeAll(async () => {
    proxy = await startStage({ v1: null, proxy: { 'v1.deprecation': 1_700_000_000, 'grpc.corsOrigins': PAGE } })
    client = v1Client(proxy.url, proxy.sandbox.tokens.owner)
    root = (await client.call('iam.Groups/List', { uidp: { in_root: true } })).message.items[0].id
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
      expect((await v1Client(proxy.url, 'nobody').call('iam.Groups/List')).code).toBe(status.UNAUTHENTICATED)
    })

    it.each([
      ['UNIMPLEMENTED', 'iam.Groups/Fly', Buffer.alloc(0), 'unknown method Fly for service chainguard.platform.iam.Groups'],
      ['INTERNAL', 'iam.Groups/List', Buffer.from([0xff]), 'grpc: error unmarshalling request'],
    ] as const)('is %s for %s with odd bytes', async (name, method, bytes, text) => {
      const { answer } = callPath(connect(proxy.url), `/chainguard.platform.${method}`, bytes)
      expect((await answer).status).toMatchObject({ code: status[name], details: text })
    })

    it('is UNIMPLEMENTED before a stream to an unknown method ends', async () => {
      const same = (value: Buffer) => value
      const stream = connect(proxy.url).makeBidiStreamRequest('/chainguard.platform.iam.Groups/Follow', same, same)
      stream.resume().on('error', () => {})
      const ended = new Promise((resolve) => stream.once('status', resolve))
      expect(await ended).toMatchObject({ code: status.UNIMPLEMENTED, details: expect.stringContaining('Follow') })
      expect(await proxy.logged(({ path }) => String(path).endsWith('/Follow'))).toMatchObject({ grpcStatus: 'UNIMPLEMENTED' })
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
    const headers = { authorization: `Bearer ${proxy.sandbox.tokens.owner}` }
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
        headers: { 'content-type': type, authorization: `Bearer ${proxy.sandbox.tokens.owner}`, 'x-request-id': id },
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
    const asked = { origin: PAGE, authorization: `Bearer ${proxy.sandbox.tokens.owner}`, 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers: asked, body: '{"name":"nothing"}' })
    expect([answer.status, answer.headers.get('access-control-allow-origin'), await answer.json()]).toEqual([200, PAGE, {}])
  })
})

describe('writes', () => {
  const ROOT = 'a'.repeat(40)
  const GROUP = { parent: ROOT, group: { name: 'g' } }
  const REPO = { parent_id: ROOT, repo: { name: 'r', readme: 'text' } }

  type Handle = (response: ServerResponse, nth: number) => void

  let handle: Handle
  let requests: number
  let proxy: Stage<null, Handler>
  let client: V1Client

  /** Has v2, and v1, answer so from now on. */
  function answering(next: Handle): void {
    handle = next
    requests = 0
  }

  const clientWith = async (values: Partial<Config>) =>
    v1Client((await startStage({ v1: null, v2: proxy.v2.url, proxy: values })).url, 'token')

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: (_, response) => {
        requests += 1
        handle(response, requests)
      },
    })
    client = v1Client(proxy.url, 'token')
  })

  const answer = (response: ServerResponse, code: number, body: object, headers = {}) =>
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

  const service = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'R', domain: 'd' }
  const made = { uid: `${ROOT}/${'b'.repeat(16)}`, name: 'r' }
  const details = ({ trailers }: { trailers: { get(name: string): unknown[] } }) => String(trailers.get('grpc-status-details-bin')[0] ?? '')

  describe('a write that may have been done is UNKNOWN', () => {
    it.each<[string, (response: ServerResponse) => void]>([
      ['the connection breaks', (response) => response.destroy()],
      ['a gateway answers 503', (response) => response.writeHead(503).end('<html>')],
      ['a gateway answers 502', (response) => response.writeHead(502).end('<html>')],
      [
        'v2 itself answers 503',
        (response) => answer(response, 503, { code: 14, message: 'busy', details: [service] }, { 'retry-after': '3' }),
      ],
    ])('if %s', async (_, next) => {
      answering(next)
      const called = await client.call('iam.Groups/Create', GROUP)
      expect(called).toMatchObject({ code: status.UNKNOWN, text: expect.stringContaining('may have been done') })
      expect(details(called)).not.toContain('RetryInfo')
    })

    it.each<[string, number, object]>([
      ['a limit', 429, { code: 8, message: 'slow', details: [service] }],
      ['an outage', 503, { code: 14, message: 'busy', details: [service] }],
    ])('if its first call was done and %s refuses the second', async (_, code, body) => {
      answering((response, nth) => (nth === 1 ? answer(response, 200, made) : answer(response, code, body)))
      expect((await client.call('registry.Registry/CreateRepo', REPO)).code).toBe(status.UNKNOWN)
      expect(requests).toBeGreaterThan(1)
    })

    it('if v1 answers it and breaks off', async () => {
      answering((response) => response.destroy())
      const values: Partial<Config> = { 'upstream.v1': proxy.v2.url, 'upstream.v1Grpc': 'rest', modes: { ...ALL_V2, default: 'v1' } }
      const { code } = await (await clientWith(values)).call('iam.Groups/Create', GROUP)
      expect(code).toBe(status.UNKNOWN)
    })
  })

  describe('a write that was not done may be repeated', () => {
    it('after the refusal of a rate, whose wait is told', async () => {
      answering((response) => answer(response, 429, { code: 8, message: 'slow' }, { 'retry-after': '7' }))
      const called = await client.call('iam.Groups/Create', GROUP)
      expect([called.code, details(called)]).toEqual([status.RESOURCE_EXHAUSTED, expect.stringContaining('google.rpc.RetryInfo')])
    })

    it('if v2 cannot be reached', async () => {
      const own = await clientWith({ 'upstream.v2': NOWHERE })
      expect((await own.call('iam.Groups/Create', GROUP)).code).toBe(status.UNAVAILABLE)
    })

    it('if a limit of the proxy refuses it', async () => {
      answering((response) => answer(response, 200, made))
      const own = await clientWith({ 'limits.callerPerSecond': 1 })
      await own.call('iam.Groups/Create', GROUP)
      const called = await own.call('iam.Groups/Create', GROUP)
      expect([called.code, details(called)]).toEqual([status.RESOURCE_EXHAUSTED, expect.stringContaining('google.rpc.RetryInfo')])
    })
  })

  it('repeats a read that v2 broke off, and says UNAVAILABLE if that fails too', async () => {
    answering((response) => response.destroy())
    expect((await client.call('iam.Groups/List')).code).toBe(status.UNAVAILABLE)
    expect(requests).toBe(2)
  })

  describe('a call that waits', () => {
    const hanging = () => new Promise<ServerResponse>((resolve) => answering(resolve))

    it('ends at v2 if its client cancels it', async () => {
      const arrived = hanging()
      const { cancel, called } = client.begin('iam.Groups/Create', GROUP, { metadata: { 'x-request-id': 'left' } })
      const response = await arrived
      const closed = new Promise((resolve) => response.once('close', resolve))
      cancel()
      expect((await called).code).toBe(status.CANCELLED)
      await closed
      expect(await proxy.logged(({ reqId }) => reqId === 'left')).toMatchObject({ grpcStatus: 'CANCELLED', status: 499 })
    })

    it('ends at v2 at the deadline of its client', async () => {
      const arrived = hanging()
      const { called } = client.begin('iam.Groups/List', {}, { timeout: 100 })
      const response = await arrived
      await new Promise((resolve) => response.once('close', resolve))
      expect((await called).code).toBe(status.DEADLINE_EXCEEDED)
    })

    it('is DEADLINE_EXCEEDED beyond limits.deadlineMs', async () => {
      answering(() => {})
      const { code } = await (await clientWith({ 'limits.deadlineMs': 50 })).call('iam.Groups/List')
      expect(code).toBe(status.DEADLINE_EXCEEDED)
    })
  })

  describe('a shutdown', () => {
    it.each([
      ['UNKNOWN', 'iam.Groups/Create', GROUP],
      ['UNAVAILABLE', 'iam.Groups/List', {}],
    ] as const)('answers %s to %s if v2 takes too long', async (name, method, message) => {
      const arrived = new Promise((resolve) => answering(resolve))
      const own = await startStage({ v1: null, v2: proxy.v2.url, proxy: { 'limits.shutdownMs': 20 } })
      const { called } = v1Client(own.url, 'token').begin(method, message)
      await arrived
      await own.close()
      expect((await called).text).toContain('Crosswalk stopped')
      expect((await called).code).toBe(status[name])
    })

    it('lets a call finish', async () => {
      const arrived = new Promise<ServerResponse>((resolve) => answering(resolve))
      const own = await startStage({ v1: null, v2: proxy.v2.url })
      const { called } = v1Client(own.url, 'token').begin('iam.Groups/Create', GROUP)
      const response = await arrived
      const closed = own.close()
      answer(response, 200, { ...made, uid: ROOT })
      expect((await called).code).toBe(status.OK)
      await closed
    })
  })
})

describe('what its client causes', () => {
  const LIST = '/chainguard.platform.iam.Groups/List'
  const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
  const CANCELLED = { level: 30, status: 499, grpcStatus: 'CANCELLED' }

  let arrived: () => void
  let proxy: Stage<null, Handler>
  let last = 0

  beforeAll(async () => {
    proxy = await startStage({ v1: null, v2: () => arrived?.(), proxy: { 'limits.bodyTimeoutMs': 200, 'limits.writeTimeoutMs': 200 } })
  })

  /** Begins a call, whose body ends if it is given. */
  const begin = (headers: OutgoingHttpHeaders, body: Uint8Array | undefined, path = LIST, settings = {}, through: TestProxy = proxy) => {
    const session = http2.connect(through.url, { settings })
    onTestFinished(() => session.destroy())
    const id = `by-client-${++last}`
    const given = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', 'x-request-id': id, ...headers }
    const stream = session.request(given)
    stream.on('error', () => {}).resume()
    if (body) stream.end(body)
    return { stream, line: through.logged(({ reqId }) => reqId === id) }
  }

  it.each<[string, OutgoingHttpHeaders, Uint8Array | undefined, object, string?]>([
    ['a malformed timeout', { 'grpc-timeout': 'soon' }, framed(''), { status: 400, grpcStatus: 'INTERNAL' }],
    ['its own deadline', { 'grpc-timeout': '30m' }, framed(''), { status: 499, grpcStatus: 'DEADLINE_EXCEEDED' }],
    ['a deadline that has passed', { 'grpc-timeout': '0m' }, framed(''), { status: 499, grpcStatus: 'DEADLINE_EXCEEDED' }],
    ['half a message', {}, framed('abc').subarray(0, 6), { status: 400, grpcStatus: 'INTERNAL' }],
    ['unknown flags', {}, framed('', 7), { status: 400, grpcStatus: 'INTERNAL' }],
    ['broken gzip', { 'grpc-encoding': 'gzip' }, framed('abc', 1), { status: 400, grpcStatus: 'INTERNAL' }],
    ['bytes that are no message', {}, framed(Buffer.from([0xff])), { status: 400, grpcStatus: 'INTERNAL' }],
    ['an unknown codec', { 'content-type': 'application/grpc+xml' }, framed(''), { status: 415, grpcStatus: 'INVALID_ARGUMENT' }],
    ['a body that does not come', {}, undefined, { status: 408, grpcStatus: 'DEADLINE_EXCEEDED' }],
    ['a question that is none', {}, framed(Buffer.from([0xff])), { status: 400, grpcStatus: 'INTERNAL' }, REFLECTION],
  ])('is logged as that: %s', async (_, headers, body, logged, path) => {
    const line = await begin(headers, body, path).line
    expect(line).toMatchObject({ level: 30, ...logged, error: {} })
    expect(JSON.stringify(line.error)).not.toContain('    at ')
  })

  // Envoy says NO_ERROR for every client that leaves.
  it.each(['NO_ERROR', 'CANCEL', 'INTERNAL_ERROR', 'REFUSED_STREAM', 'PROTOCOL_ERROR'] as const)(
    'is a cancelled call after a reset with %s',
    async (name) => {
      const asked = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const { stream, line } = begin({}, framed(''))
      await asked
      stream.close(constants[`NGHTTP2_${name}`])
      expect(await line).toMatchObject(CANCELLED)
    },
  )

  it('is logged as that: a body that does not come within limits.deadlineMs', async () => {
    const brief = await startStage({ v1: null, v2: proxy.v2.url, proxy: { 'limits.deadlineMs': 100 } })
    expect(await begin({}, undefined, LIST, {}, brief).line).toMatchObject({ level: 30, status: 408, grpcStatus: 'DEADLINE_EXCEEDED' })
    expect(await begin({}, framed(''), LIST, {}, brief).line).toMatchObject({ level: 50, status: 504, grpcStatus: 'DEADLINE_EXCEEDED' })
  })

  it('is no call if it leaves before the first one has loaded what serves it', () => {
    const served: string[] = []
    let load = (_: RpcCalls) => {}
    const use: LazyRpc['use'] = (then) => {
      load = then
    }
    const calls = { find: () => ({}), isForwarded: () => false, servePair: () => served.push('call') }
    const pairs = createPairs({ concerns: () => true, use, stop() {} }, {} as Forwarded, { serve: () => served.push('passed') })
    const raw = Object.assign(new EventEmitter(), { writableFinished: false })
    const request = { raw: { url: '/chainguard.platform.iam.Groups/Create' }, headers: {} } as FastifyRequest
    pairs(request, { raw, hijack() {} } as unknown as FastifyReply, newRequestRecord('1'))
    raw.emit('close')
    load(calls as unknown as RpcCalls)
    expect(served).toEqual([])
  })

  it('is a cancelled call if it does not take its answer', async () => {
    const listServices = framed(Buffer.from([0x3a, 0]))
    expect(await begin({}, listServices, REFLECTION, { initialWindowSize: 0 }).line).toMatchObject(CANCELLED)
  })

  it.each([
    ['application/grpc-web', { 'grpc-timeout': 'soon' }, 200, { status: 400, grpcStatus: 'INTERNAL' }],
    ['application/proto', { 'connect-timeout-ms': '30' }, 504, { status: 499, grpcStatus: 'DEADLINE_EXCEEDED' }],
  ])('is logged as that over %s', async (type, given, code, logged) => {
    const headers = { 'content-type': type, 'x-request-id': type, ...given }
    const answer = await fetch(proxy.url + LIST, { method: 'POST', headers, body: new Uint8Array(type.endsWith('web') ? 5 : 0) })
    expect(answer.status).toBe(code)
    expect(await proxy.logged(({ reqId }) => reqId === type)).toMatchObject({ level: 30, ...logged, error: {} })
  })

  it('is never counted as failed', async () => {
    const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    expect(text).toContain('crosswalk_requests_total{operation="iam.groups.list",mode="v2",outcome="cancelled"}')
    expect(text).not.toContain('outcome="failed"')
  })
})
