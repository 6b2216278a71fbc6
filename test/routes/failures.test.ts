import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Config } from '../../src/app/config/settings.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

async function setUp(
  handle: Parameters<typeof startUpstream>[0],
  values: Partial<Config> = {},
): Promise<{ v2: Upstream; proxy: TestProxy }> {
  const v2 = await startUpstream(handle)
  const proxy = await startProxy({ 'upstream.v2': v2.url, ...values })
  open.push(proxy, v2)
  return { v2, proxy }
}

const statusOf = async (url: string, init?: RequestInit) => {
  const answer = await fetch(url, init)
  return { status: answer.status, body: await answer.json() }
}

const GROUPS = '/iam/v1/groups'
const POST = { method: 'POST', body: '{"name":"x"}' }

describe('v2', () => {
  it('causes 503 when it is down', async () => {
    const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
    open.push(proxy)
    const refused = { status: 503, body: { code: 14, message: 'the v2 service cannot be reached', details: [] } }
    expect(await statusOf(proxy.url + GROUPS)).toEqual(refused)
    expect(await statusOf(proxy.url + GROUPS, POST)).toEqual(refused)
  })

  it.each([
    ['GET', undefined],
    ['POST', '{"name":"x"}'],
  ])('causes 429 with its Retry-After for a %s, and is asked once', async (method, body) => {
    const { v2, proxy } = await setUp((_, response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
      response.end('{"code":8,"message":"slow down","details":[]}')
    })
    const answer = await fetch(proxy.url + GROUPS, { method, ...(body !== undefined && { body }) })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
    expect(await answer.json()).toEqual({ code: 8, message: 'slow down', details: [] })
    expect(v2.seen).toHaveLength(1)
  })

  it('causes 504 when it is slow, by the limit of one call', async () => {
    const { proxy } = await setUp(() => {}, { 'limits.callTimeoutMs': 100 })
    expect(await statusOf(proxy.url + GROUPS)).toMatchObject({ status: 504, body: { code: 4, details: [] } })
  })

  it('causes 504 when it is slow, by the named limit of the request', async () => {
    const { proxy } = await setUp(() => {}, { 'limits.deadlineMs': 100 })
    expect(await statusOf(proxy.url + GROUPS)).toEqual({
      status: 504,
      body: { code: 4, message: 'the request took longer than limits.deadlineMs (100) allows', details: [] },
    })
  })

  it('causes 500 when its answer is nonsense', async () => {
    const { proxy } = await setUp((_, response) => response.end('<html>'))
    expect(await statusOf(proxy.url + GROUPS)).toMatchObject({ status: 500, body: { code: 13, details: [] } })
  })

  it('is to blame for an answer that is nested too deeply to be written', async () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const claims = `{"groups":[{"uid":"a","name":"b","resourceLimits":{"deep":${deep}}}]}`
    const { proxy } = await setUp((_, response) => void response.end(claims))
    expect(await statusOf(proxy.url + GROUPS)).toEqual({
      status: 500,
      body: { code: 13, message: 'the v2 service sent a wrong answer: resourceLimits[] must be a 32-bit integer', details: [] },
    })
  })

  it('is asked once more after it broke off a read', async () => {
    let asked = 0
    const { proxy } = await setUp((request, response) => {
      asked += 1
      if (asked === 1) request.socket.destroy()
      else answering({ groups: [] })(request, response, '')
    })
    expect(await statusOf(proxy.url + GROUPS)).toEqual({ status: 200, body: { items: [] } })
    expect(asked).toBe(2)
  })

  it('is never asked again after it broke off a write', async () => {
    const { v2, proxy } = await setUp((request) => void request.socket.destroy())
    expect((await statusOf(proxy.url + GROUPS, POST)).status).toBe(503)
    expect(v2.seen).toHaveLength(1)
  })

  it('is not asked again after a 503', async () => {
    const { v2, proxy } = await setUp(answering({ code: 14, message: 'busy', details: [] }, 503))
    expect(await statusOf(proxy.url + GROUPS)).toMatchObject({ status: 503, body: { code: 14, message: 'busy' } })
    expect(v2.seen).toHaveLength(1)
  })
})

it('is cut off at the deadline when its body is slow', async () => {
  const { proxy } = await setUp(answering({}), { 'limits.deadlineMs': 100 })
  const { hostname, port } = new URL(proxy.url)
  const answer = await new Promise<string>((resolve) => {
    const socket = net.connect(Number(port), hostname, () =>
      socket.write(`POST ${GROUPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{`),
    )
    socket.once('data', (chunk) => {
      socket.destroy()
      resolve(chunk.toString())
    })
  })
  expect(answer).toMatch(/^HTTP\/1\.1 504 /)
})

describe('a client that goes away', () => {
  it.each(['GET', 'POST'])('cancels the %s at v2, and is logged as 499', async (method) => {
    let arrived = () => {}
    let cancelled = () => {}
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const ended = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    const { proxy } = await setUp((request) => {
      request.socket.once('close', cancelled)
      arrived()
    })
    const request = http.request(proxy.url + GROUPS, { method })
    request.on('error', () => {})
    request.end(method === 'POST' ? POST.body : undefined)
    await waiting
    request.destroy()
    await ended
    expect(await proxy.logged(({ status }) => status === 499)).toMatchObject({ method, calls: 1 })
  })
})

describe('a streamed list', () => {
  const rows = (page: number) =>
    Array.from({ length: 200 }, (_, at) => ({ uid: `${String(page).padStart(3, '0')}${String(at).padStart(37, '0')}` }))
  const pageOf = (url = '') => Number(new URL(url, 'http://x').searchParams.get('page_token') ?? '0')
  const page = (at: number) => ({ groups: rows(at), nextPageToken: String(at + 1) })

  it('breaks the connection if it fails after its first byte', async () => {
    const { proxy } = await setUp(
      (request, response) => {
        const at = pageOf(request.url)
        if (at < 3) answering(page(at))(request, response, '')
        else answering({ code: 13, message: 'boom', details: [] }, 500)(request, response, '')
      },
      { 'limits.bufferedRows': 250 },
    )
    const answer = await fetch(proxy.url + GROUPS)
    expect(answer.status).toBe(200)
    await expect(answer.text()).rejects.toThrow()
    expect(await proxy.logged(({ status }) => status === 500)).toMatchObject({ calls: 4, error: { code: 'INTERNAL', message: 'boom' } })
  })

  it('keeps its status if it fails within the first rows', async () => {
    const { proxy } = await setUp((request, response) => {
      if (pageOf(request.url) === 0) answering(page(0))(request, response, '')
      else answering({ code: 13, message: 'boom', details: [] }, 500)(request, response, '')
    })
    expect((await fetch(proxy.url + GROUPS)).status).toBe(500)
  })

  it('waits for a client that does not read until the deadline', async () => {
    const { v2, proxy } = await setUp((request, response) => answering(page(pageOf(request.url)))(request, response, ''), {
      'limits.bufferedRows': 0,
      'limits.deadlineMs': 2000,
    })
    const { hostname, port } = new URL(proxy.url)
    const socket = net.connect(Number(port), hostname, () => socket.write(`GET ${GROUPS} HTTP/1.1\r\nhost: x\r\n\r\n`))
    socket.on('error', () => {})
    expect(await proxy.logged(() => true)).toMatchObject({ status: 504, error: { code: 'DEADLINE_EXCEEDED' } })
    // The amount that fits into the sockets' buffers. Without back-pressure it would be as much as 2 seconds allow.
    expect(v2.seen.length).toBeLessThan(300)
    socket.destroy()
  })
})
