import { EventEmitter, once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net from 'node:net'
import tls from 'node:tls'
import { describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Config } from '../../../src/app/config/settings.ts'
import { type AdmissionLimits, createAdmission, type Refused } from '../../../src/serve/http/admission.ts'
import { parseJson } from '../../../src/tables/json.ts'
import { inFlight, metric } from '../../programs/faults/process/child.ts'
import { talk } from '../../programs/faults/wire.ts'
import { until } from '../../stage/clocks.ts'
import { bearer, startStage } from '../../stage/stage.ts'
import { answering, type Handler, rawExchange } from '../../stage/upstream.ts'

const KEY = 'test/certificates/localhost.key'
const CERT = 'test/certificates/localhost.crt'

describe('limits', () => {
  const setUp = (proxy: Partial<Config>, v2: Handler = answering({ groups: [] })) => startStage({ v1: null, v2, proxy })

  const GROUPS = '/iam/v1/groups'
  const uids = (page: number) => Array.from({ length: 10 }, (_, at) => ({ uid: `${page}${at}`.padStart(40, '0') }))

  /** An endless list with ten rows a page. */
  const endless: Handler = (request, response) => {
    const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '1')
    answering({ groups: uids(at), nextPageToken: String(at + 1) })(request, response, '')
  }

  const large: Handler = answering({ groups: [{ uid: 'a'.repeat(40), description: 'x'.repeat(2000) }] })
  const silent: Handler = () => {}

  it.each<[setting: keyof Config, value: number, status: number, handle: Handler | undefined, init?: RequestInit]>([
    ['limits.answerBytes', 1000, 500, large],
    ['limits.rowsPerRequest', 25, 400, endless],
    ['limits.callsPerRequest', 3, 400, endless],
    ['limits.headerBytes', 1024, 431, undefined, { headers: { 'x-large': 'x'.repeat(1100) } }],
  ])('enforces %s = %d: %d, and the error names it', async (setting, value, status, handle, init) => {
    const proxy = await setUp({ [setting]: value }, handle)
    const answer = await fetch(proxy.url + GROUPS, init)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/json'])
    const body = await answer.json()
    expect(body).toEqual({ code: expect.any(Number), message: expect.stringContaining(`${setting} (${value})`), details: [] })
  })

  it('says what a write has done before it reaches limits.callsPerRequest', async () => {
    const proxy = await setUp({ 'limits.callsPerRequest': 1 }, answering({ uid: 'a', name: 'made' }))
    const body = JSON.stringify({ name: 'made', readme: 'text' })
    const answer = await fetch(`${proxy.url}/registry/v1/repos/b`, { method: 'POST', body })
    const done = /limits\.callsPerRequest \(1\).*\(the repo was created with id a, but without its readme\)$/
    expect([answer.status, await answer.json()]).toMatchObject([400, { message: expect.stringMatching(done) }])
  })

  it('counts a request as refused that is given up for one with a credential', async () => {
    const proxy = await setUp({ 'limits.requestsInFlight': 1 })
    const given = talk(proxy.url, `POST ${GROUPS} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf`)
    await until(async () => (await inFlight(proxy)) === 1)
    expect((await proxy.request('GET', GROUPS)).status).toBe(200)
    expect((await given).answers).toMatchObject([{ status: 429 }])
    expect(await proxy.logged(({ method }) => method === 'POST')).toMatchObject({ level: 30, status: 429 })
  })

  it('breaks the connection if a list becomes too long after its first byte', async () => {
    const proxy = await setUp({ 'limits.rowsPerRequest': 50, 'limits.bufferedRows': 20 }, endless)
    const answer = await fetch(proxy.url + GROUPS)
    await expect(answer.text()).rejects.toThrow()
    expect(await proxy.logged(() => true)).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('limits.rowsPerRequest') },
    })
  })

  it('cuts off slow headers with 408, and the error names the limit', async () => {
    const proxy = await setUp({ 'limits.headersTimeoutMs': 100 })
    const { answers } = await talk(proxy.url, (socket) => {
      socket.write(`GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nx-slow: `)
      const trickle = setInterval(() => socket.write('x'), 20)
      socket.once('data', () => clearInterval(trickle))
    })
    const message = 'the request headers did not arrive within limits.headersTimeoutMs (100)'
    expect(answers).toMatchObject([{ status: 408, body: expect.stringContaining(`"code":3,"message":"${message}"`) }])
  })

  it.each(['/registry/v1/vuln_reports', '/iam/v2/groups'])('%s: ends the connection of a body that stops', async (path) => {
    const proxy = await startStage({ v1: silent, v2: silent, proxy: { 'limits.idleTimeoutMs': 100 } })
    expect(await rawExchange(proxy.url, `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{`)).toBe('')
  })

  it('loses no header, however many there are', async () => {
    const seen: unknown[] = []
    const proxy = await setUp({}, (request, response) => {
      seen.push(request.headers.authorization)
      response.end('{}')
    })
    const lines = 'a: b\r\n'.repeat(2100)
    await rawExchange(proxy.url, `GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines}authorization: last\r\n\r\n`)
    expect(seen).toEqual(['last'])
  })

  it('logs at most twenty unknown parameters in a line', async () => {
    const proxy = await setUp({})
    const names = Array.from({ length: 1000 }, (_, at) => `unknown_${at}`)
    expect((await fetch(`${proxy.url}${GROUPS}?${names.join('&')}`)).status).toBe(200)
    expect((await proxy.logged(() => true)).dropped).toEqual(Array(20).fill('(no name)'))
  })

  it('refuses an impossible expectation in v1’s form', async () => {
    const proxy = await setUp({})
    const answer = await rawExchange(proxy.url, `POST ${GROUPS} HTTP/1.1\r\nhost: x\r\nexpect: wonders\r\ncontent-length: 2\r\n\r\n{}`)
    expect(answer).toMatch(/^HTTP\/1\.1 417 .*\{"code":3,"message":"the expect header can only be 100-continue","details":\[\]\}$/s)
  })

  it('refuses a body that is nested more than 100 levels deep', () => {
    const nested = (depth: number, inside = '') => `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`
    expect(() => parseJson(nested(100))).not.toThrow()
    expect(() => parseJson(nested(100, '"[[\\"[["'))).not.toThrow()
    expect(() => parseJson(`[${`${nested(99)},`.repeat(50)}1]`)).not.toThrow()
    for (const deep of [nested(101), nested(101, '12345678901234567890'), '{"a":'.repeat(100_000), '['.repeat(1_000_000)]) {
      expect(() => parseJson(deep)).toThrow('the request body is nested deeper than 100 levels')
    }
  })

  it('lets a WebSocket be silent for longer than a request', async () => {
    const proxy = await setUp({ 'limits.idleTimeoutMs': 50 }, silent)
    const sockets = new WebSocketServer({ server: proxy.v2.server })
    sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(message)))
    const client = new WebSocket(`${proxy.url.replace('http', 'ws')}/events`)
    await once(client, 'open')
    // This connection falls silent later and is closed earlier.
    await rawExchange(proxy.url, 'POST /iam/v2/groups HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{')
    client.send('still here')
    const [echo] = await once(client, 'message')
    expect(String(echo)).toBe('still here')
    client.terminate()
  })
})

describe('admission', () => {
  const NONE: AdmissionLimits = { requestsInFlight: 0, callerInFlight: 0, callerPerSecond: 0 }

  function setUp(given: Partial<AdmissionLimits>, giveUpOne?: () => boolean) {
    const limits = { ...NONE, ...given }
    const refused: Refused[] = []
    let now = 0
    const admit = createAdmission(
      limits,
      (why) => refused.push(why),
      () => now,
      giveUpOne,
    )
    const wait = (ms: number) => {
      now += ms
    }
    const ask = (authorization?: string) => {
      const response = new EventEmitter()
      const error = admit({ headers: { authorization } } as IncomingMessage, response as unknown as ServerResponse)
      return { error, end: () => response.emit('close') }
    }
    return { limits, refused, ask, wait }
  }

  it('goes by limits that change, also for callers that it knows', () => {
    const { ask: askAs, limits } = setUp({})
    const ask = () => askAs('a').error?.message
    expect([ask(), ask()]).toEqual([undefined, undefined])
    limits.callerPerSecond = 1
    expect([ask(), ask()]).toEqual([undefined, expect.stringContaining('limits.callerPerSecond (1)')])
    limits.callerPerSecond = 0
    expect(ask()).toBeUndefined()
    limits.requestsInFlight = 2
    expect(ask()).toContain('limits.requestsInFlight (2)')
    limits.requestsInFlight = 100
    limits.callerInFlight = 2
    expect([ask(), ask()]).toEqual([undefined, expect.stringContaining('limits.callerInFlight (2)')])
  })

  it('knows a caller by its credential, however that is spelled', () => {
    const { ask } = setUp({ callerInFlight: 2 })
    const spellings = ['Bearer t', 'bearer t', 'BEARER t', 'bEARER t', 'Bearer  t', 'Bearer\tt', 'Bearer t ']
    expect(spellings.map((one) => ask(one).error?.code)).toEqual([
      undefined,
      undefined,
      ...spellings.slice(2).map(() => 'RESOURCE_EXHAUSTED'),
    ])
    expect(ask('Basic t').error).toBeUndefined()
  })

  it('gives the place of a request without a credential to one with it', () => {
    let given = 1
    const { ask: askAs } = setUp({ requestsInFlight: 1 }, () => given-- > 0)
    const ask = (authorization?: string) => askAs(authorization).error?.code
    expect([ask(), ask(), ask('a'), ask('a')]).toEqual([undefined, 'UNAVAILABLE', undefined, 'UNAVAILABLE'])
  })

  it('keeps a quarter of the places for callers with a credential', () => {
    const { ask, refused } = setUp({ requestsInFlight: 8 })
    const first = Array.from({ length: 6 }, () => ask())[0]
    expect(ask().error?.message).toBe(
      'requests without a credential take their share of limits.requestsInFlight (8), three quarters; ask again later',
    )
    expect([ask('a').error, ask('b').error]).toEqual([undefined, undefined])
    expect(ask('c').error?.message).toContain('more than limits.requestsInFlight (8)')
    first?.end()
    expect(ask().error).toBeUndefined()
    expect(refused).toEqual(['overload', 'overload'])
  })

  describe('all callers together', () => {
    it('may have a number of requests in flight; the next one must retry', () => {
      const { ask, refused } = setUp({ requestsInFlight: 2 })
      const first = ask('a')
      ask('b')
      expect(ask('c').error).toMatchObject({
        code: 'UNAVAILABLE',
        message: 'more than limits.requestsInFlight (2) requests are under way; ask again later',
        headers: { 'retry-after': '1' },
      })
      first.end()
      expect(ask('c').error).toBeUndefined()
      expect(refused).toEqual(['overload'])
    })

    it('are unlimited with 0', () => {
      const { ask } = setUp({})
      expect(Array.from({ length: 5000 }, () => ask().error).filter(Boolean)).toEqual([])
    })
  })

  describe('one caller', () => {
    it('may have a number of requests in flight, whatever others do', () => {
      const { ask, refused } = setUp({ callerInFlight: 1 })
      const first = ask('Bearer a')
      expect(ask('Bearer b').error).toBeUndefined()
      expect(ask('Bearer a').error).toMatchObject({ code: 'RESOURCE_EXHAUSTED', headers: { 'retry-after': '1' } })
      first.end()
      expect(ask('Bearer a').error).toBeUndefined()
      expect(refused).toEqual(['caller-in-flight'])
    })

    it('may begin a number of requests a second, and as many at once after a pause', () => {
      const { ask, refused, wait } = setUp({ callerPerSecond: 2 })
      const asked = () => ask('Bearer a').error
      expect([asked(), asked()]).toEqual([undefined, undefined])
      expect(asked()).toMatchObject({
        message: 'this caller sends more than limits.callerPerSecond (2) requests a second; ask again later',
        headers: { 'retry-after': '1' },
      })
      expect(ask('Bearer b').error).toBeUndefined()
      wait(500)
      expect([asked() === undefined, asked() === undefined]).toEqual([true, false])
      wait(60_000)
      expect([1, 2, 3].map(() => asked() === undefined)).toEqual([true, true, false])
      expect(refused).toEqual(['caller-rate', 'caller-rate', 'caller-rate'])
    })
  })

  describe('over HTTP', () => {
    it.each(['/iam/v1/groups', '/iam/v2/groups'])(
      '%s: refuses the excess with 503 and Retry-After in v1’s form, and counts it',
      async (path) => {
        let release = () => {}
        const v2: Handler = (_, response) => {
          release = () => void response.end('{"groups":[]}')
        }
        const proxy = await startStage({ v1: null, v2, proxy: { 'limits.requestsInFlight': 1 } })
        const arrived = once(proxy.v2.server, 'request')
        const first = fetch(proxy.url + path)
        await arrived
        const second = await fetch(proxy.url + path, { method: 'POST', body: '{}' })
        expect(second.status).toBe(503)
        expect(Object.fromEntries(second.headers)).toMatchObject({ 'retry-after': '1', 'content-type': 'application/json' })
        expect(await second.json()).toEqual({ code: 14, message: expect.stringContaining('limits.requestsInFlight (1)'), details: [] })
        expect((await fetch(`${proxy.adminUrl}/healthz`)).status).toBe(200)
        expect(await metric(proxy, 'crosswalk_refused_total{reason="overload"}')).toBe(1)
        release()
        expect((await first).status).toBe(200)
        expect(proxy.v2.seen).toHaveLength(1)
      },
    )

    it('answers 429 to a caller beyond its rate, and answers other callers', async () => {
      const proxy = await startStage({ v1: null, v2: answering({ groups: [] }), proxy: { 'limits.callerPerSecond': 1 } })
      const ask = async (token: string) => (await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(token) })).status
      expect([await ask('a'), await ask('a'), await ask('b')]).toEqual([200, 429, 200])
    })
  })
})

describe('shutdown', () => {
  const start = (proxy: Partial<Config>, v2: Handler = answering({ groups: [] })) => startStage({ v1: null, v2, proxy })

  it('finishes a request in flight and accepts no new one', async () => {
    let release = () => {}
    const proxy = await start({}, (_, response) => {
      release = () => response.end('{"groups":[]}')
    })
    const arrived = once(proxy.v2.server, 'request')
    const answer = fetch(`${proxy.url}/iam/v1/groups`)
    await arrived
    const closed = proxy.close()
    await expect(fetch(`${proxy.url}/iam/v1/groups`)).rejects.toThrow()
    release()
    expect(await (await answer).json()).toEqual({ items: [] })
    await closed
  })

  it('cuts off a request that takes too long', async () => {
    const proxy = await start({ 'limits.shutdownMs': 50 }, () => {})
    const arrived = once(proxy.v2.server, 'request')
    const answer = fetch(`${proxy.url}/iam/v1/groups`).catch(() => 'cut off')
    await arrived
    await proxy.close()
    expect(await answer).toBe('cut off')
  })

  const get = (url: string, agent: http.Agent) =>
    new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      const request = http.get(url, { agent }, (answer) => {
        answer.resume().once('end', () => resolve({ status: answer.statusCode, connection: answer.headers.connection }))
      })
      request.once('error', reject)
    })

  it.each([
    ['at once', {}],
    ['after the time to linger', { 'limits.lingerMs': 50 }],
  ])('ends idle kept-alive connections %s', async (_, values) => {
    const proxy = await start({ 'limits.shutdownMs': 60_000, ...values })
    const kept = new http.Agent({ keepAlive: true })
    await get(`${proxy.url}/iam/v1/groups`, kept)
    await proxy.close()
    kept.destroy()
  })

  it.each([
    ['in plain text', {}, (there: net.TcpNetConnectOpts) => net.connect(there), 'connect'],
    ['over TLS', { 'tls.key': KEY, 'tls.cert': CERT }, (there: tls.ConnectionOptions) => tls.connect(there), 'secureConnect'],
  ] as const)('ends connections that have asked nothing %s', async (_, values, connect, connected) => {
    const proxy = await start({ 'limits.shutdownMs': 60_000, 'limits.headersTimeoutMs': 60_000, ...values })
    const there = { host: '127.0.0.1', port: Number(new URL(proxy.url).port), rejectUnauthorized: false }
    const below = net.connect(there)
    await once(below, 'connect')
    const silent = connect(there)
    await once(silent, connected)
    const ends = [below, silent].map((socket) => once(socket, 'close'))
    await proxy.close()
    await Promise.all(ends)
  })

  describe('a proxy behind a balancer', () => {
    it('first says that it is not ready, and serves until the balancer removes it', async () => {
      const proxy = await start({ 'limits.drainMs': 500 })
      const kept = new http.Agent({ keepAlive: true })
      expect(await get(`${proxy.url}/iam/v1/groups`, kept)).toEqual({ status: 200, connection: 'keep-alive' })
      const closed = proxy.close()
      const ready = await fetch(`${proxy.adminUrl}/readyz`)
      expect([ready.status, await ready.json()]).toEqual([503, { code: 14, message: 'the proxy is shutting down', details: [] }])
      for (const agent of [kept, new http.Agent()]) {
        for (const path of ['/iam/v1/groups', '/iam/v2/groups']) {
          expect(await get(proxy.url + path, agent)).toEqual({ status: 200, connection: 'close' })
        }
      }
      await closed
      await expect(fetch(`${proxy.url}/iam/v1/groups`)).rejects.toThrow()
      kept.destroy()
    })

    it('refuses new connections and serves open ones, for a balancer that notices that', async () => {
      const proxy = await start({ 'limits.lingerMs': 60_000 })
      const kept = new http.Agent({ keepAlive: true })
      await get(`${proxy.url}/iam/v1/groups`, kept)
      const { url } = proxy
      const closed = proxy.close()
      // The proxy stops listening in the next quiet turn of the event loop.
      const refused = async () => {
        while ((await get(`${url}/iam/v1/groups`, new http.Agent())).status === 200);
      }
      // The system resets one that arrives in the instant in which the port closes; nothing was sent on it.
      await expect(refused()).rejects.toThrow(/^connect ECONN(REFUSED|RESET)/)
      expect(await get(`${url}/iam/v1/groups`, kept)).toEqual({ status: 200, connection: 'close' })
      // After its last connection nothing is left to wait for.
      await closed
      kept.destroy()
    })
  })
})
