import { once } from 'node:events'
import http from 'node:http'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { action, type ErrorForm, nothing } from '../../../src/tables/language.ts'
import { dial, talk } from '../../programs/faults/wire.ts'
import { NOWHERE, type Stage, startStage } from '../../stage/stage.ts'
import { answering, type Handler, rawExchange } from '../../stage/upstream.ts'

describe('compat', () => {
  const GROUP = 'a'.repeat(40)
  let proxy: Stage<null, Handler>

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: (request, response) => {
        response.setHeader('content-type', 'application/json')
        const list = request.method === 'GET' && /\/(groups|repos|tags)(\?|$)/.test(request.url ?? '')
        if (request.method === 'DELETE') return void response.end()
        response.end(JSON.stringify(list ? { groups: [{ uid: GROUP }], repos: [], tags: [] } : { uid: GROUP, name: 'x' }))
      },
      proxy: { 'limits.requestBytes': 1000 },
    })
  })

  beforeEach(() => {
    proxy.v2.seen.length = 0
  })

  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(proxy.url + path, init)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  const create = (body: string | Buffer | null, headers: Record<string, string> = {}) =>
    call(`/iam/v1/groups/${GROUP}`, { method: 'POST', body, headers })

  describe('bodies', () => {
    it.each(['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'application/merge-patch+json', 'no type at all;;;'])(
      'are JSON under the content type %s',
      async (type) => {
        const { status } = await create('{"name":"x"}', { 'content-type': type })
        expect(status).toBe(200)
        expect(proxy.v2.seen[0]).toMatchObject({ method: 'POST', url: `/iam/v2/groups/${GROUP}`, body: '{"name":"x"}' })
      },
    )

    it('are JSON without a content type', async () => {
      const body = '{"name":"x"}'
      const head = `POST /iam/v1/groups/${GROUP} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`
      expect(await rawExchange(proxy.url, head + body)).toContain('HTTP/1.1 200 OK')
      expect(proxy.v2.seen[0]?.body).toBe(body)
    })

    it('are an empty message when empty', async () => {
      expect((await create(null)).status).toBe(200)
      expect(proxy.v2.seen[0]?.body).toBe('{}')
    })

    it('are code 3 if they are not JSON', async () => {
      const { status, body } = await create('{"name":')
      expect(status).toBe(400)
      expect(body).toMatchObject({ code: 3, details: [] })
      expect(body.message).toMatch(/^the request body is not JSON/)
      expect(proxy.v2.seen).toEqual([])
    })

    it('are code 3 if they are not UTF-8', async () => {
      expect((await create(Buffer.from([0x22, 0xff, 0x22]))).body).toEqual({
        code: 3,
        message: 'the request body is not UTF-8',
        details: [],
      })
    })

    it('are refused beyond the limit, which is named, with and without a length', async () => {
      const long = JSON.stringify({ name: 'x'.repeat(2000) })
      const chunked = new Blob([long]).stream()
      for (const body of [long, chunked]) {
        const { status, body: answer } = await call(`/iam/v1/groups/${GROUP}`, { method: 'POST', body, duplex: 'half' } as RequestInit)
        expect(status).toBe(400)
        expect(answer.message).toBe('the request body is larger than limits.requestBytes (1000) allows')
      }
      expect(proxy.v2.seen).toEqual([])
    })

    it('are joined from pieces of any size', async () => {
      const body = JSON.stringify({ name: 'é'.repeat(200) })
      const pieces = [...Buffer.from(body)].map((byte) => `1\r\n${String.fromCharCode(byte)}\r\n`)
      const head = `POST /iam/v1/groups/${GROUP} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`
      const { answers } = await talk(proxy.url, `${head}${pieces.join('')}0\r\n\r\n`)
      expect(answers[0]?.status).toBe(200)
      expect(proxy.v2.seen[0]?.body).toBe(body)
    })
  })

  describe('a GET written as a POST', () => {
    it('is a form on a path that only has a GET', async () => {
      const body = new URLSearchParams({ name: 'x y', page_size: '3' })
      expect((await call('/registry/v1/eoltags?exclude_dates=true', { method: 'POST', body })).status).toBe(200)
      expect(proxy.v2.seen[0]?.url).toBe(
        '/registry/v2/tags?name=x%20y&include_dates=false&include_epochs=true&include_referrers=false&page_size=3',
      )
    })

    const FORM = 'application/x-www-form-urlencoded'
    const overriding = (method: string, type: string, body: string) =>
      call('/iam/v1/groups', { method: 'POST', body, headers: { 'X-HTTP-Method-Override': method, 'content-type': type } })

    it('is possible with X-HTTP-Method-Override', async () => {
      expect((await overriding('get', FORM, 'name=x')).status).toBe(200)
      expect(proxy.v2.seen[0]).toMatchObject({ method: 'GET', url: '/iam/v2/groups?name=x&page_size=200' })
    })

    it.each(['application/json', `${FORM}; charset=utf-8`])('is a POST where v1 ignores that header: %s', async (type) => {
      await overriding('GET', type, '{"name":"x"}')
      expect(proxy.v2.seen[0]).toMatchObject({ method: 'POST', url: '/iam/v2/groups', body: '{"name":"x"}' })
    })

    it('cannot become another method by that header', async () => {
      const answer = await overriding('DELETE', FORM, '')
      expect([answer.status, proxy.v2.seen]).toEqual([400, []])
    })
  })

  describe('paths', () => {
    it('mean the same with %2F', async () => {
      await call(`/iam/v1/groups/${GROUP}%2F${'b'.repeat(16)}`, { method: 'DELETE' })
      expect(proxy.v2.seen[0]).toMatchObject({ method: 'DELETE', url: `/iam/v2/groups/${GROUP}/${'b'.repeat(16)}` })
    })

    it('may be long', async () => {
      const uid = Array.from({ length: 60 }, () => 'c'.repeat(16)).join('/')
      expect((await call(`/iam/v1/groups/${uid}`, { method: 'DELETE', headers: { 'content-type': 'application/json' } })).status).toBe(200)
      expect(proxy.v2.seen[0]?.url).toBe(`/iam/v2/groups/${uid}`)
    })

    it('are code 3 with broken percent-encoding', async () => {
      const { status, headers, body } = await call('/iam/v1/groups/%zz')
      expect(status).toBe(400)
      expect(body).toEqual({ code: 3, message: 'the request target is not a well-formed path', details: [] })
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{12}-\d+$/)
    })

    it('are 404 in v1’s form if they are unknown', async () => {
      for (const path of ['/iam/v1/nothing', '/iam/v1', '/libraries/v1/nothing']) {
        expect(await call(path)).toMatchObject({ status: 404, body: { code: 5, message: 'Not Found', details: [] } })
      }
    })

    it.each(['PATCH', 'OPTIONS', 'PROPFIND'])('are 501 in v1’s form with the method %s', async (method) => {
      expect(await call('/iam/v1/groups', { method })).toMatchObject({
        status: 501,
        body: { code: 12, message: 'Method Not Allowed', details: [] },
      })
    })

    it('are 501 with HEAD and TRACE too', async () => {
      expect((await call('/iam/v1/groups', { method: 'HEAD' })).status).toBe(501)
      expect(await rawExchange(proxy.url, 'TRACE /iam/v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toMatch(
        /^HTTP\/1\.1 501 .*Method Not Allowed","details":\[\]\}$/s,
      )
    })
  })

  describe('queries', () => {
    it('are code 3 with broken percent-encoding', async () => {
      expect((await call('/iam/v1/groups?name=%zz')).body).toMatchObject({ code: 3, details: [] })
    })

    it('lose parameters that v1 does not know', async () => {
      await call('/iam/v1/groups?colour=red&name=a+b')
      expect(proxy.v2.seen[0]?.url).toBe('/iam/v2/groups?name=a%20b&page_size=200')
    })
  })

  it('answers plain application/json and the given request id', async () => {
    const { headers } = await call('/iam/v1/groups', { headers: { 'x-request-id': 'mine-1' } })
    expect([headers.get('content-type'), headers.get('x-request-id')]).toEqual(['application/json', 'mine-1'])
    expect(proxy.v2.seen[0]?.headers['x-request-id']).toBe('mine-1')
  })

  it('can refuse unknown parameters', async () => {
    const strict = await startStage({ v1: null, v2: proxy.v2.url, proxy: { unknownParameters: 'refuse' } })
    const answer = await fetch(`${strict.url}/iam/v1/groups?colour=red`)
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { message: 'Invalid argument: colour: is not a parameter of this operation' },
    ])
  })
})

describe('failures', () => {
  const setUp = (v2: Handler, proxy: Partial<Config> = {}) => startStage({ v1: null, v2, proxy })

  const statusOf = async (url: string, init?: RequestInit) => {
    const answer = await fetch(url, init)
    return { status: answer.status, body: await answer.json() }
  }

  const GROUPS = '/iam/v1/groups'
  const POST = { method: 'POST', body: '{"name":"x"}' }

  describe('v2', () => {
    it('causes 503 when it is down', async () => {
      const proxy = await startStage({ v1: null, v2: NOWHERE })
      const refused = { status: 503, body: { code: 14, message: 'the v2 service cannot be reached', details: [] } }
      expect(await statusOf(proxy.url + GROUPS)).toEqual(refused)
      expect(await statusOf(proxy.url + GROUPS, POST)).toEqual(refused)
    })

    it.each([
      ['GET', undefined],
      ['POST', '{"name":"x"}'],
    ])('causes 429 with its Retry-After for a %s, and is asked once', async (method, body) => {
      const proxy = await setUp((_, response) => {
        response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
        response.end('{"code":8,"message":"slow down","details":[]}')
      })
      const answer = await fetch(proxy.url + GROUPS, { method, ...(body !== undefined && { body }) })
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7'])
      expect(await answer.json()).toEqual({ code: 8, message: 'slow down', details: [] })
      expect(proxy.v2.seen).toHaveLength(1)
    })

    it('causes 504 when it is slow, by the limit of one call', async () => {
      const proxy = await setUp(() => {}, { 'limits.callTimeoutMs': 100 })
      expect(await statusOf(proxy.url + GROUPS)).toMatchObject({ status: 504, body: { code: 4, details: [] } })
    })

    it('causes 504 when it is slow, by the named limit of the request', async () => {
      const proxy = await setUp(() => {}, { 'limits.deadlineMs': 100 })
      expect(await statusOf(proxy.url + GROUPS)).toEqual({
        status: 504,
        body: { code: 4, message: 'the request took longer than limits.deadlineMs (100) allows', details: [] },
      })
    })

    it('is to blame for an answer that is nested too deeply to be written', async () => {
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      const claims = `{"groups":[{"uid":"a","name":"b","resourceLimits":{"deep":${deep}}}]}`
      const proxy = await setUp((_, response) => void response.end(claims))
      expect(await statusOf(proxy.url + GROUPS)).toEqual({
        status: 500,
        body: { code: 13, message: 'the v2 service sent a wrong answer: resourceLimits[] must be a 32-bit integer', details: [] },
      })
    })

    it('is asked once more after it broke off a read', async () => {
      let asked = 0
      const proxy = await setUp((request, response) => {
        asked += 1
        if (asked === 1) request.socket.destroy()
        else answering({ groups: [] })(request, response, '')
      })
      expect(await statusOf(proxy.url + GROUPS)).toEqual({ status: 200, body: { items: [] } })
      expect(asked).toBe(2)
    })

    it('is never asked again after it broke off a write', async () => {
      const proxy = await setUp((request) => void request.socket.destroy())
      expect((await statusOf(proxy.url + GROUPS, POST)).status).toBe(503)
      expect(proxy.v2.seen).toHaveLength(1)
    })

    it('is not asked again after a 503', async () => {
      const proxy = await setUp(answering({ code: 14, message: 'busy', details: [] }, 503))
      expect(await statusOf(proxy.url + GROUPS)).toMatchObject({ status: 503, body: { code: 14, message: 'busy' } })
      expect(proxy.v2.seen).toHaveLength(1)
    })
  })

  it('is cut off at the deadline when its body is slow', async () => {
    const proxy = await setUp(answering({}), { 'limits.deadlineMs': 100 })
    const { answers } = await talk(proxy.url, `POST ${GROUPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{`, 1)
    expect(answers).toMatchObject([{ status: 408 }])
    expect(await proxy.logged(({ status }) => status === 408)).toMatchObject({ level: 30, error: { code: 'DEADLINE_EXCEEDED' } })
  })

  it.each(['GET', 'POST'])('cancels the %s at v2 of a client that goes away, and logs it as 499', async (method) => {
    const proxy = await setUp(() => {})
    const arrived = once(proxy.v2.server, 'request')
    const request = http.request(proxy.url + GROUPS, { method }).on('error', () => {})
    request.end(method === 'POST' ? POST.body : undefined)
    const [{ socket }] = await arrived
    const ended = once(socket, 'close')
    request.destroy()
    await ended
    expect(await proxy.logged(({ status }) => status === 499)).toMatchObject({ method, calls: 1 })
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    expect(metrics.match(/v2_call_duration_seconds_count\{.*/g)).toEqual(['v2_call_duration_seconds_count{outcome="cancelled"} 1'])
  })

  describe('a streamed list', () => {
    const rows = (page: number) =>
      Array.from({ length: 200 }, (_, at) => ({ uid: `${String(page).padStart(3, '0')}${String(at).padStart(37, '0')}` }))
    const pageOf = (url = '') => Number(new URL(url, 'http://x').searchParams.get('page_token') ?? '0')
    const page = (at: number) => ({ groups: rows(at), nextPageToken: String(at + 1) })

    it('breaks the connection if it fails after its first byte', async () => {
      const proxy = await setUp(
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
      const proxy = await setUp((request, response) => {
        if (pageOf(request.url) === 0) answering(page(0))(request, response, '')
        else answering({ code: 13, message: 'boom', details: [] }, 500)(request, response, '')
      })
      expect((await fetch(proxy.url + GROUPS)).status).toBe(500)
    })

    it('waits for a client that does not read until the deadline', async () => {
      const proxy = await setUp((request, response) => answering(page(pageOf(request.url)))(request, response, ''), {
        'limits.bufferedRows': 0,
        'limits.deadlineMs': 2000,
      })
      const socket = dial(proxy.url)
      socket.write(`GET ${GROUPS} HTTP/1.1\r\nhost: x\r\n\r\n`)
      expect(await proxy.logged(() => true)).toMatchObject({ status: 504, error: { code: 'DEADLINE_EXCEEDED' } })
      // The amount that fits into the sockets' buffers. Without back-pressure it would be as much as 2 seconds allow.
      expect(proxy.v2.seen.length).toBeLessThan(300)
      socket.destroy()
    })
  })

  describe('an answer of v1 that is compared', () => {
    const HEADERS = {
      'content-encoding': 'gzip',
      'cache-control': 'public',
      'set-cookie': ['a=1', 'b=2'],
      date: 'then',
      'x-request-id': 'of v1',
    }

    async function asked(ends: (response: http.ServerResponse) => void) {
      const v1: Handler = (_, response) => ends(response.writeHead(200, HEADERS))
      const stage = await startStage({ mode: 'diff-v1', v1, v2: answering({ groups: [] }) })
      const answer = await rawExchange(stage.url, `GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nx-request-id: ours\r\nconnection: close\r\n\r\n`)
      return { answer, line: await stage.logged(({ reqId }) => reqId === 'ours') }
    }

    it('has the id of its request, under which the log has it', async () => {
      const { answer } = await asked((response) => response.end('x'))
      expect(answer).toContain('x-request-id: ours\r\n')
      expect(answer).not.toContain('of v1')
      for (const header of ['content-encoding: gzip', 'set-cookie: b=2', 'date: then']) expect(answer).toContain(`${header}\r\n`)
    })

    it('is a failure of v1 without the headers of v1 if it breaks before its first byte', async () => {
      const { answer, line } = await asked((response) => {
        response.flushHeaders()
        setImmediate(() => response.destroy())
      })
      expect(answer).toMatch(/^HTTP\/1\.1 503 .*"message":"the connection to the v1 service broke"/s)
      expect(answer).toContain('x-request-id: ours\r\n')
      expect(answer).not.toMatch(/content-encoding|cache-control|set-cookie|: then/i)
      expect(answer).toMatch(/\r\ndate: /i)
      expect(line).toMatchObject({ status: 503, error: { code: 'UNAVAILABLE' } })
    })

    it('is a failure of v1 if it breaks after that', async () => {
      const { answer, line } = await asked((response) => {
        response.write('half')
        setImmediate(() => response.destroy())
      })
      expect(answer).toMatch(/^HTTP\/1\.1 200 .*half/s)
      expect(line).toMatchObject({ status: 503, error: { code: 'UNAVAILABLE' } })
    })
  })
})

it('writes each error with the status and the content type of another API, whoever refuses', async () => {
  const errors: ErrorForm = {
    read: () => ({ code: 'NOT_FOUND', message: 'no such item', details: [], foreign: false }),
    write: ({ code, http, message }) => ({
      status: code === 'INVALID_ARGUMENT' ? 422 : http,
      body: { title: message },
      type: 'application/problem+json',
    }),
  }
  const operations = [
    action('shop.items.get', 'GET /shop/v1/items', { v2: 'GET /shop/v2/items' }),
    action('shop.items.make', 'POST /shop/v1/items', { v2: 'POST /shop/v2/items', request: nothing, readBack: { unverifiable: 'a test' } }),
  ]
  const tables = { name: 'shop', mappings: [{ domain: 'shop', operations }], differences: [], shapes: {}, errors }
  const stage = await startStage({ v1: null, v2: (_, response) => void response.writeHead(404).end('{}'), tables })
  const asked = [{}, { method: 'POST', body: '{' }].map(async (init: RequestInit) => {
    const { status, headers } = await fetch(`${stage.url}/shop/v1/items`, init)
    return [status, headers.get('content-type')]
  })
  expect(await Promise.all(asked)).toEqual([
    [404, 'application/problem+json'],
    [422, 'application/problem+json'],
  ])
})
