import { once } from 'node:events'
import http, { type ServerResponse } from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { createForeign, createRefusedAttempts } from '../../src/admin/admin.ts'
import { ifMatch } from '../../src/admin/fleet-routes.ts'
import { until } from '../stage/clocks.ts'
import { bearer, NOWHERE, type Player, startStage, type TestProxy } from '../stage/stage.ts'
import { answering, connect2, fetch2, type Handler, rawExchange, startUpstream, type Upstream } from '../stage/upstream.ts'
import { documentWith } from '../tools/openapi-documents.ts'

describe('admin', () => {
  let v2: Upstream
  let proxy: TestProxy

  beforeAll(async () => {
    v2 = await startUpstream(answering({ groups: [], response: 'pong' }), 'seen')
    proxy = await startStage({ v1: null, v2: v2.url })
  })

  describe('the log', () => {
    it('holds no byte of a path that a terminal obeys', async () => {
      const session = await connect2(proxy.url)
      await fetch2(session, '/native/\u009b31m?x', { 'x-request-id': 'log-0' })
      session.destroy()
      expect((await proxy.logged(({ reqId }) => reqId === 'log-0')).path).toBe('/native/%C2%9B31m')
    })

    it('has one line a request and no secrets', async () => {
      await fetch(`${proxy.url}/iam/v1/groups?colour=red&token=hidden-1&AKIAHIDDEN=1&exclude_dates=true`, {
        headers: { ...bearer('hidden-2'), cookie: 'session=hidden-3', 'x-request-id': 'log-1' },
      })
      const line = await proxy.logged(({ reqId }) => reqId === 'log-1')
      expect(line).toMatchObject({
        method: 'GET',
        path: '/iam/v1/groups',
        operation: 'iam.groups.list',
        mode: 'v2',
        calls: 1,
        dropped: ['(no name)', '(no name)', '(no name)', 'exclude_dates'],
        status: 200,
        caller: expect.stringMatching(/^[0-9a-f]{16}$/),
        ms: expect.any(Number),
      })
      expect(proxy.log.filter(({ reqId }) => reqId === 'log-1')).toHaveLength(1)
      expect(JSON.stringify(proxy.log)).not.toContain('hidden')
    })

    it('gives each caller one name of its own', async () => {
      for (const [id, token] of [
        ['a1', 'a'],
        ['a2', 'a'],
        ['b1', 'b'],
      ] as const) {
        await fetch(`${proxy.url}/iam/v1/groups`, { headers: { ...bearer(token), 'x-request-id': id } })
      }
      const [a1, a2, b1] = await Promise.all(['a1', 'a2', 'b1'].map((id) => proxy.logged(({ reqId }) => reqId === id)))
      expect(a1?.caller).toBe(a2?.caller)
      expect(a1?.caller).not.toBe(b1?.caller)
    })

    it('gives a caller the name that /clients and rules know, also with another token', async () => {
      const stage = await startStage({ v1: NOWHERE, v2: v2.url })
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      for (const exp of [1, 2]) {
        const token = `${part({ alg: 'none' })}.${part({ iss: 'https://issuer.test', sub: 'ci', exp })}.c2ln`
        await fetch(`${stage.url}/iam/v1/groups`, { headers: { ...bearer(token), 'x-request-id': `ci-${exp}` } })
      }
      const logged = await Promise.all(['ci-1', 'ci-2'].map((id) => stage.logged(({ reqId }) => reqId === id)))
      const clients = (await (await fetch(`${stage.adminUrl}/clients`)).json()) as readonly { readonly caller: string }[]
      expect(logged.map(({ caller }) => caller)).toEqual([clients[0]?.caller, clients[0]?.caller])
      expect(clients).toHaveLength(1)
    })
  })

  describe('the admin port', () => {
    const get = async (path: string) => {
      const answer = await fetch(proxy.adminUrl + path)
      return { status: answer.status, text: await answer.text() }
    }

    it('is healthy, and ready when v2 answers its ping', async () => {
      // The answer of another test's ping would serve again for a while.
      const { adminUrl } = await startStage({ v1: null, v2: v2.url })
      expect((await fetch(`${adminUrl}/healthz`)).status).toBe(200)
      expect((await fetch(`${adminUrl}/readyz`)).status).toBe(200)
      expect(v2.seen.at(-1)?.url).toBe('/ping/v2/ping')
    })

    it('counts requests, calls, dropped parameters and connections by operation', async () => {
      await fetch(`${proxy.url}/iam/v1/groups?size=big`, { headers: { 'x-request-id': 'counted' } })
      await proxy.logged(({ reqId }) => reqId === 'counted')
      await fetch(`${proxy.url}/elsewhere`)
      await proxy.logged(({ path }) => path === '/elsewhere')
      const { text } = await get('/metrics')
      expect(text).toMatch(/crosswalk_requests_total\{operation="iam\.groups\.list",mode="v2",outcome="ok"\} \d+/)
      expect(text).toMatch(/crosswalk_requests_total\{operation="native",mode="native",outcome="ok"\} 1/)
      expect(text).toMatch(/crosswalk_v2_calls_total\{operation="iam\.groups\.list"\} \d+/)
      expect(text).toMatch(/crosswalk_unknown_parameters_total\{operation="iam\.groups\.list"\} [1-9]/)
      expect(text).toMatch(/crosswalk_request_duration_seconds_count\{operation="iam\.groups\.list"\} \d+/)
      expect(text).toContain('crosswalk_requests_in_flight 0')
      expect(text).toMatch(/crosswalk_pool\{origin="http:\/\/127\.0\.0\.1:\d+",state="connected"\} \d+/)
    })

    it('lists every operation', async () => {
      const rows = JSON.parse((await get('/operations')).text)
      expect(rows).toHaveLength(mappings.flatMap(({ operations }) => operations).length)
      expect(rows[0]).toMatchObject({ id: 'iam.groups.list', method: 'GET', path: '/iam/v1/groups', kind: 'direct' })
    })

    it('answers the v1 contract of the proxy once, until it is another one', async () => {
      const first = await fetch(`${proxy.adminUrl}/openapi.json`)
      expect([first.status, await first.json()]).toEqual([200, documentWith({ server: proxy.url })])
      const etag = String(first.headers.get('etag'))
      const again = (known: string) => fetch(`${proxy.adminUrl}/openapi.json`, { headers: { 'if-none-match': known } })
      expect([(await again(etag)).status, (await again('"other"')).status]).toEqual([304, 200])
      expect(proxy.reload({ 'errors.notFound': 'error' })).toBeUndefined()
      onTestFinished(() => void proxy.reload({ 'errors.notFound': 'empty' }))
      expect(await (await again(etag)).json()).toEqual(documentWith({ server: proxy.url, notFound: 'error' }))
    })

    it('answers everything else with 404 in the common form', async () => {
      for (const path of ['/nothing', '/%zz']) {
        expect(await get(path)).toEqual({ status: 404, text: '{"code":5,"message":"Not Found","details":[]}' })
      }
    })
  })

  /** Paths of every kind of answer; requests that are not HTTP use a connection of their own. */
  const KINDS = ['/healthz', '/metrics', '/modes', '/report', '/report.json', '/openapi.json', '/comparisons?limit=x', '/nothing', '/%zz']
  const BYTES = [
    'GET http://x/modes HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n',
    'GET /modes HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    'GET /%zz HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
    'nonsense\r\n\r\n',
    'GET /modes HTTP/1.1\r\nhost: localhost\r\nexpect: more\r\nconnection: close\r\n\r\n',
    `GET /modes HTTP/1.1\r\nhost: localhost\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`,
  ]

  describe('every answer of the admin port', () => {
    it('is not stored, states its type, and is nothing for other pages', async () => {
      for (const path of KINDS) {
        const { headers } = await fetch(proxy.adminUrl + path)
        expect([
          path,
          ...['cache-control', 'x-content-type-options', 'cross-origin-resource-policy'].map((name) => headers.get(name)),
        ]).toEqual([path, 'no-store', 'nosniff', 'same-origin'])
      }
      for (const bytes of BYTES) expect(await rawExchange(proxy.adminUrl, bytes)).toMatch(/x-content-type-options: nosniff/)
    })

    it('describes the mistake in the bytes in the common form', async () => {
      const said = await Promise.all(BYTES.map((bytes) => rawExchange(proxy.adminUrl, bytes)))
      expect(said.map((text) => `${text.slice(9, 12)} ${JSON.parse(text.slice(text.indexOf('{'))).code}`)).toEqual([
        '400 3',
        '403 7',
        '403 7',
        '400 3',
        '417 3',
        '431 3',
      ])
    })

    it('precedes the refusal of the bytes after it', async () => {
      const said = await rawExchange(proxy.adminUrl, 'GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\nnonsense\r\n\r\n')
      expect([...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '400'])
    })

    it('follows a small request only', async () => {
      const rules = JSON.stringify({ default: 'v2', rules: [], testers: [] })
      const put = async (body: string) =>
        (await fetch(`${proxy.adminUrl}/modes`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })).status
      expect([await put(rules), await put(rules + ' '.repeat(300_000))]).toEqual([200, 400])
    })

    it('takes JSON only, and says so', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
        const init = { method: 'PUT', headers: { 'content-type': type }, body: '{"default":"v1"}' }
        const answer = await fetch(`${proxy.adminUrl}/modes`, init)
        expect({ type, status: answer.status, body: await answer.json() }).toEqual({
          type,
          status: 400,
          body: { code: 3, message: 'a body must be JSON, sent with content-type: application/json', details: [] },
        })
      }
    })
  })

  describe('the admin port with tokens', () => {
    const tokens = { 'admin.token': 'the-token-that-changes', 'admin.readToken': 'the-token-that-reads' }
    let guarded: TestProxy
    beforeAll(async () => {
      guarded = await startStage({ v1: v2.url, v2: 'http://127.0.0.1:1', proxy: tokens })
    })
    const ask = async (path: string, token?: string, init: RequestInit = {}) => {
      const answer = await fetch(guarded.adminUrl + path, { ...init, headers: { ...init.headers, ...(token && bearer(token)) } })
      return { status: answer.status, text: await answer.text(), challenge: answer.headers.get('www-authenticate') }
    }

    it('requires one', async () => {
      for (const path of [
        '/metrics',
        '/modes',
        '/evidence',
        '/clients',
        '/comparisons',
        '/operations',
        '/report.json',
        '/nothing',
        '/%zz',
      ]) {
        expect([path, await ask(path)]).toEqual([
          path,
          { status: 401, text: expect.stringContaining('admin.readToken'), challenge: 'Bearer' },
        ])
        expect([path, (await ask(path, 'the-token-that-reads')).status]).toEqual([path, path === '/nothing' || path === '/%zz' ? 404 : 200])
      }
    })

    it('changes modes for the token that may do so', async () => {
      const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"default":"v1"}' }
      expect((await ask('/modes', undefined, init)).status).toBe(401)
      expect(await ask('/modes', 'the-token-that-reads', init)).toMatchObject({ status: 403, text: expect.stringContaining('admin.token') })
      expect((await ask('/modes', 'the-token-that-changes')).text).toContain('"default":"v2"')
      expect((await ask('/modes', 'the-token-that-changes', init)).text).toContain('"default":"v1"')
    })

    it('tells probes yes or no, and the reason only to those who may read it', async () => {
      expect(await ask('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}', challenge: null })
      expect(await ask('/readyz')).toEqual({ status: 200, text: '{"status":"ok"}', challenge: null })
      expect((await ask('/readyz', 'the-token-that-reads')).text).toContain('nothing listens (127.0.0.1:')
      const nowhere = await startStage({ v1: null, v2: 'http://127.0.0.1:1', proxy: tokens })
      const answer = await fetch(`${nowhere.adminUrl}/readyz`)
      expect([answer.status, await answer.json()]).toEqual([503, { code: 14, message: 'not ready', details: [] }])
    })

    it('sends its page without the report', async () => {
      expect((await ask('/report')).text).toContain('data-live="/report.json">null</script>')
    })

    it('logs what it refused to change, and tokens that it does not know', async () => {
      const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"default":"v1"}' }
      const from = guarded.log.length
      await ask('/metrics')
      await ask('/metrics', 'a-token-unknown-here')
      await ask('/modes?token=a-token-unknown-here', undefined, init)
      await ask('/modes', 'the-token-that-reads', init)
      await ask('/modes', 'the-token-that-changes', { ...init, headers: { ...init.headers, 'if-match': '"old"' } })
      await ask('/modes', 'the-token-that-changes', { ...init, body: `{"default":"v1","a-token-${'x'.repeat(5000)}":1}` })
      const lines = guarded.log.slice(from).map(({ level, what, method, route, status, by, msg }) => {
        expect(String(msg)).toMatch(/^the admin port refused a request: \w/)
        expect(String(msg).length).toBeLessThan(400)
        const { token } = by as { token?: string }
        expect(by).toEqual({ source: 'admin', ...(token !== undefined && { token }), address: '127.0.0.1' })
        return [level, what, method, route, status, token]
      })
      expect(lines).toEqual([
        [40, 'refused', 'GET', '/metrics', 401, undefined],
        [40, 'refused', 'PUT', '/modes', 401, undefined],
        [40, 'refused', 'PUT', '/modes', 403, 'admin.readToken'],
        [40, 'refused', 'PUT', '/modes', 412, 'admin.token'],
        [40, 'refused', 'PUT', '/modes', 400, 'admin.token'],
      ])
      expect(JSON.stringify(guarded.log.slice(from))).not.toMatch(/token-unknown|the-token-that/)
    })

    it('shows the tokens nowhere', async () => {
      const paths = ['/modes', '/metrics', '/evidence', '/clients', '/operations', '/report', '/report.json', '/nothing']
      const texts = await Promise.all(paths.map(async (path) => (await ask(path, 'the-token-that-changes')).text))
      expect(texts.join() + JSON.stringify(guarded.log)).not.toMatch(/the-token-that/)
    })
  })

  describe('the admin port within reach of other machines', () => {
    const warningOf = async (settings: object) => {
      const open = await startStage({ v1: null, v2: v2.url, proxy: settings })
      await open.close()
      return open.log.filter(({ level }) => level === 40).map(({ msg }) => msg)
    }

    it('warns if it requires no token', async () => {
      const sentence =
        'whoever reaches the admin port on 0.0.0.0 may change modes and read who calls: set admin.token (CROSSWALK_ADMIN_TOKEN)'
      expect(await warningOf({ 'admin.host': '0.0.0.0' })).toEqual([sentence])
    })

    it.each([{}, { 'admin.host': 'localhost' }, { 'admin.host': '0.0.0.0', 'admin.token': 'the-token-that-changes' }])(
      'does not warn for %j',
      async (settings) => expect(await warningOf(settings)).toEqual([]),
    )
  })
})

describe('foreign', () => {
  const isForeign = createForeign(['0.0.0.0', 'Crosswalk.internal'])
  const HOST = '127.0.0.1:8081'

  it.each(['localhost', 'LOCALHOST:8081', HOST, '10.1.2.3', '[::1]:8081', '[fd00::1]', 'crosswalk.internal', 'CROSSWALK.INTERNAL:9'])(
    'accepts the name %s',
    (host) => expect(isForeign({ url: '/modes', headers: { host } })).toBeUndefined(),
  )

  it.each([
    ...['evil.example', 'evil.example:8081', 'localhost.evil.example', '127.0.0.1.evil.example', 'xlocalhost', 'a.crosswalk.internal'],
    ...[
      '',
      ':8081',
      'localhost:',
      'localhost:x',
      'localhost:1:2',
      'a@localhost',
      'localhost/',
      '[localhost]',
      '[::1',
      '::1',
      '0x7f.1',
      '1',
    ],
  ])('refuses the name %j, and says where names are listed', (host) => {
    expect(isForeign({ url: '/modes', headers: { host } })).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: `the admin port does not go by the name ${JSON.stringify(host)}; list its names in admin.names (CROSSWALK_ADMIN_NAMES)`,
    })
  })

  it('accepts a request without a name, which only HTTP/1.0 has and no browser sends', () => {
    expect(isForeign({ url: '/healthz', headers: {} })).toBeUndefined()
    expect(isForeign({ url: '/healthz', headers: { origin: 'http://evil.example' } })).toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  it.each([
    { origin: `http://${HOST}` },
    { origin: `https://${HOST.toUpperCase()}` },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])('accepts its own page and a typed address: %j', (headers) => {
    expect(isForeign({ url: '/modes', headers: { host: HOST, ...headers } })).toBeUndefined()
  })

  it.each([
    ...['null', '', 'http://evil.example', 'http://127.0.0.1', 'http://127.0.0.1:3000', 'http://localhost:8081'].map((origin) => ({
      origin,
    })),
    ...[`http://${HOST}@evil.example`, `http://evil.example/${HOST}`, `chrome-extension://${HOST}`, HOST].map((origin) => ({ origin })),
    ...['cross-site', 'same-site', 'else', ''].map((site) => ({ 'sec-fetch-site': site })),
  ])('refuses other pages: %j', (headers) => {
    expect(isForeign({ url: '/modes', headers: { host: HOST, ...headers } })).toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  it.each(['http://127.0.0.1:8081/modes', 'HTTP://localhost/modes', 'data:x', 'evil:/modes'])(
    'refuses a target that is not a path: %s',
    (url) => {
      expect(isForeign({ url, headers: { host: HOST } })).toMatchObject({ code: 'INVALID_ARGUMENT' })
    },
  )

  it('refuses two Host headers, whichever comes first', () => {
    const rawHeaders = ['Host', HOST, 'host', 'evil.example']
    expect(isForeign({ url: '/modes', headers: { host: HOST }, rawHeaders })).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(isForeign({ url: '/modes', headers: { host: HOST }, rawHeaders: ['accept', 'host', 'Host', HOST] })).toBeUndefined()
  })

  const LINK = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

  it('accepts a link from anywhere to what may be linked to, and to nothing else', () => {
    const headers = { host: HOST, ...LINK }
    expect(isForeign({ url: '/report', headers }, true)).toBeUndefined()
    expect(isForeign({ url: '/modes', headers })).toMatchObject({ code: 'PERMISSION_DENIED' })
  })

  it.each([
    { 'sec-fetch-dest': 'iframe' },
    { 'sec-fetch-dest': 'empty' },
    { 'sec-fetch-mode': 'no-cors' },
    { origin: 'http://evil.example' },
    { host: 'evil.example' },
  ])('takes no other request for a link: %j', (headers) => {
    expect(isForeign({ url: '/report', headers: { host: HOST, ...LINK, ...headers } }, true)).toMatchObject({ code: 'PERMISSION_DENIED' })
  })
})

it.each([
  [undefined, 'met'],
  ['*', 'met'],
  [' * ', 'met'],
  ['"a-2"', 'met'],
  ['"a-1", "a-2"', 'met'],
  [',"a-2",', 'met'],
  ['"x,y", "a-2"', 'met'],
  ['"a-1"', 'failed'],
  ['"x,"a-2"', 'malformed'],
  ['W/"a-2"', 'met'],
  ['W/"a-1"', 'failed'],
  ['"A-2"', 'failed'],
  ['""', 'failed'],
  ['a-2', 'malformed'],
  ['', 'malformed'],
  [',', 'malformed'],
  ['"a-2" "a-2', 'malformed'],
  ['*, "a-2"', 'malformed'],
] as const)('if match says of If-Match %j: %s', (header, said) => expect(ifMatch(header, '"a-2"')).toBe(said))

describe('ready', () => {
  const REFUSED = /^the v2 service does not answer its ping: nothing listens/

  /** Returns a proxy and the answers of its `/readyz`. */
  async function proxyOf<V1 extends Player, V2 extends Player>(v1: V1, v2: V2) {
    const proxy = await startStage({ v1, v2, pings: 'seen' })
    const ready = async () => {
      const answer = await fetch(`${proxy.adminUrl}/readyz`)
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
    }
    return { ...proxy, ready }
  }

  it('is ready when v1 is well, whatever v2 says', async () => {
    const { ready, v1 } = await proxyOf(answering({ response: 'pong' }), NOWHERE)
    expect(await ready()).toEqual({ status: 200, body: { status: 'ok', v2: expect.stringMatching(REFUSED), v1: 'ok' } })
    expect(v1.seen.map(({ url }) => url)).toEqual(['/ping/v1/ping'])
  })

  it('is not ready before any service was well, and says why', async () => {
    const alone = await proxyOf(null, NOWHERE)
    expect(await alone.ready()).toEqual({ status: 503, body: { code: 14, message: expect.stringMatching(REFUSED), details: [] } })
    const both = await proxyOf(NOWHERE, NOWHERE)
    expect((await both.ready()).body.message).toMatch(/; the v1 service does not answer its ping: nothing listens/)
  })

  it('stays ready when v2 dies: an answer of v1 is better than a refused connection', async () => {
    const { url, ready, v2 } = await proxyOf(null, answering({ response: 'pong' }))
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
    const { ready } = await proxyOf(null, handle)
    expect(await ready()).toEqual({ status: 503, body: { code: 14, message: expect.stringMatching(said), details: [] } })
  })

  it('tells monitoring the state of v2 and v1', async () => {
    const { adminUrl } = await proxyOf(answering({ response: 'pong' }), NOWHERE)
    const text = await (await fetch(`${adminUrl}/metrics`)).text()
    expect(text.match(/^crosswalk_upstream_up.*$/gm)).toEqual([
      'crosswalk_upstream_up{service="v2"} 0',
      'crosswalk_upstream_up{service="v1"} 1',
    ])
  })
})

describe('refused attempts', () => {
  it('logs a bounded number of attempts, counts the others, and keeps lines for callers with a token', () => {
    const lines: { by: { token?: string }; suppressed?: number }[] = []
    let now = 0
    const log = { warn: (members: (typeof lines)[number]) => void lines.push(members) }
    const attempts = createRefusedAttempts(
      log as never,
      ({ raw: { headers } }) => ({ source: 'admin', ...(headers.authorization === 'known' && { token: 'alice' }), address: '127.0.0.1' }),
      () => now,
    )
    const attempt = (authorization: string) => {
      const headers = { authorization }
      const request = { method: 'PUT', headers, raw: { headers }, routeOptions: { url: '/modes' } } as FastifyRequest
      attempts(request, { statusCode: 401 } as FastifyReply, '{"code":16,"message":"no"}')
    }
    for (let nth = 0; nth < 1000; nth += 1) attempt('wrong')
    expect(lines).toHaveLength(20)
    attempt('known')
    expect(lines.at(-1)?.by.token).toBe('alice')
    now = 60_000
    attempt('wrong')
    expect(lines.at(-1)).toMatchObject({ suppressed: 980 })
    attempt('wrong')
    expect(lines.at(-1)).not.toHaveProperty('suppressed')
  })
})

describe('a silent connection', () => {
  it('is not ended while it waits for an answer', async () => {
    type SetTimeout = (this: http.Server, ms: number, ended?: (socket: net.Socket) => void) => http.Server
    const usual: SetTimeout = http.Server.prototype.setTimeout
    const sooner: SetTimeout = function (ms, ended) {
      return usual.call(this, ms === 30_000 ? 250 : ms, ended)
    }
    vi.spyOn(http.Server.prototype, 'setTimeout').mockImplementation(sooner as typeof http.Server.prototype.setTimeout)
    onTestFinished(() => void vi.restoreAllMocks())
    const { adminUrl } = await startStage({ v1: answering({ items: [] }), v2: () => {}, proxy: { 'diff.deadlineMs': 500 } })
    const body = JSON.stringify({ url: '/iam/v1/groups', token: 'x' })
    const answer = await fetch(`${adminUrl}/rehearsals`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect([answer.status, await answer.json()]).toMatchObject([200, { v1: 200, v2: 504 }])
    // Nobody waits for a request whose body does not come.
    const head = `POST /rehearsals HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`
    expect(await rawExchange(adminUrl, head)).toBe('')
  })
})

it('closes although a browser has opened a connection ahead', async () => {
  const proxy = await startStage({ v1: null, v2: NOWHERE })
  const socket = net.connect(Number(new URL(proxy.adminUrl).port), '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  // A request on another connection is answered after this one was accepted.
  await (await fetch(`${proxy.adminUrl}/healthz`)).text()
  const late = new AbortController()
  const ends = [proxy.close().then(() => 'closed'), delay(15_000, 'late', { signal: late.signal })]
  expect(await Promise.race(ends)).toBe('closed')
  late.abort()
})

describe('room', () => {
  /** The most connections of the admin port. */
  const ALL = 256

  it('answers a probe beside as many connections as it takes, all of which wait for a next request', async () => {
    const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:9' })
    const port = Number(new URL(proxy.adminUrl).port)
    const sockets: net.Socket[] = []
    for (let nth = 0; nth < ALL + 20; nth += 1) {
      const socket = net.connect(port, '127.0.0.1')
      sockets.push(socket.on('error', () => {}))
      await once(socket, 'connect')
      socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
      const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['closed'])])) as [Buffer | string]
      expect(String(answer).slice(0, 15)).toBe('HTTP/1.1 200 OK')
    }
    expect((await fetch(`${proxy.adminUrl}/healthz`)).status).toBe(200)
    for (const socket of sockets) socket.destroy()
  })
})
