import type { ServerResponse } from 'node:http'
import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { startUpstream, type Upstream } from '../../stage/upstream.ts'
import { type V1Client, v1Client } from './v1-client.ts'

const ROOT = 'a'.repeat(40)
const GROUP = { parent: ROOT, group: { name: 'g' } }
const REPO = { parent_id: ROOT, repo: { name: 'r', readme: 'text' } }

type Handle = (response: ServerResponse, nth: number) => void

let handle: Handle
let requests: number
let upstream: Upstream
let proxy: TestProxy
let client: V1Client

/** Has v2, and v1, answer so from now on. */
function answering(next: Handle): void {
  handle = next
  requests = 0
}

/** Calls a proxy with settings of its own. */
async function callWith<T>(values: Partial<Config>, use: (client: V1Client) => Promise<T>): Promise<T> {
  const own = await startProxy({ 'upstream.v2': upstream.url, ...values })
  const ownClient = v1Client(own.url, 'token')
  try {
    return await use(ownClient)
  } finally {
    ownClient.close()
    await own.close()
  }
}

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    requests += 1
    handle(response, requests)
  })
  proxy = await startProxy({ 'upstream.v2': upstream.url })
  client = v1Client(proxy.url, 'token')
})

afterAll(async () => {
  client.close()
  await proxy.close()
  await upstream.close()
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
    const values: Partial<Config> = { 'upstream.v1': upstream.url, 'upstream.v1Grpc': 'rest', modes: { ...ALL_V2, default: 'v1' } }
    const { code } = await callWith(values, (own) => own.call('iam.Groups/Create', GROUP))
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
    const values = { 'upstream.v2': 'http://127.0.0.1:1' }
    expect((await callWith(values, (own) => own.call('iam.Groups/Create', GROUP))).code).toBe(status.UNAVAILABLE)
  })

  it('if a limit of the proxy refuses it', async () => {
    answering((response) => answer(response, 200, made))
    const called = await callWith({ 'limits.callerPerSecond': 1 }, async (own) => {
      await own.call('iam.Groups/Create', GROUP)
      return own.call('iam.Groups/Create', GROUP)
    })
    expect([called.code, details(called)]).toEqual([status.RESOURCE_EXHAUSTED, expect.stringContaining('google.rpc.RetryInfo')])
  })
})

it('repeats a read that v2 broke off, and says UNAVAILABLE if that fails too', async () => {
  answering((response) => response.destroy())
  expect((await client.call('iam.Groups/List')).code).toBe(status.UNAVAILABLE)
  expect(requests).toBe(2)
})

describe('a call that waits', () => {
  const hanging = () => {
    let tell = (_: ServerResponse) => {}
    const arrived = new Promise<ServerResponse>((resolve) => {
      tell = resolve
    })
    answering((response) => tell(response))
    return arrived
  }

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
    const { code } = await callWith({ 'limits.deadlineMs': 50 }, (own) => own.call('iam.Groups/List'))
    expect(code).toBe(status.DEADLINE_EXCEEDED)
  })
})

describe('a shutdown', () => {
  it.each([
    ['UNKNOWN', 'iam.Groups/Create', GROUP],
    ['UNAVAILABLE', 'iam.Groups/List', {}],
  ] as const)('answers %s to %s if v2 takes too long', async (name, method, message) => {
    const arrived = new Promise((resolve) => answering(resolve))
    const own = await startProxy({ 'upstream.v2': upstream.url, 'limits.shutdownMs': 20 })
    const ownClient = v1Client(own.url, 'token')
    const { called } = ownClient.begin(method, message)
    await arrived
    await own.close()
    expect((await called).text).toContain('Crosswalk stopped')
    expect((await called).code).toBe(status[name])
    ownClient.close()
  })

  it('lets a call finish', async () => {
    const arrived = new Promise<ServerResponse>((resolve) => answering(resolve))
    const own = await startProxy({ 'upstream.v2': upstream.url })
    const ownClient = v1Client(own.url, 'token')
    const { called } = ownClient.begin('iam.Groups/Create', GROUP)
    const response = await arrived
    const closed = own.close()
    answer(response, 200, { ...made, uid: ROOT })
    expect((await called).code).toBe(status.OK)
    ownClient.close()
    await closed
  })
})
