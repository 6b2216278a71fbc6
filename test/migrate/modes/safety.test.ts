import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import type { Client } from '../../../src/migrate/clients.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { ALL_V2, type ModeRules } from '../../../src/migrate/modes/rules.ts'
import type { Mode } from '../../../src/serve/sides.ts'
import { runCommand } from '../../app/cli/support.ts'
import { bearer, type Stage, startStage, type TestProxy } from '../../stage/stage.ts'
import { answering, type Handler } from '../../stage/upstream.ts'

describe('safety', () => {
  const GROUP = { name: 'a', description: '' }
  const V1 = { items: [{ id: 'a'.repeat(40), ...GROUP }] }
  const V2 = { groups: [{ uid: 'a'.repeat(40), ...GROUP }], nextPageToken: '', totalCount: '1' }

  /** Starts a v1 and a v2 service with these handlers, and a proxy in front of them. */
  async function stage(mode: Mode, handlers: { v1?: Handler; v2?: Handler }, values: Partial<Config> = {}) {
    const sides = { v1: answering(V1), v2: answering(V2), ...handlers }
    const proxy = await startStage({ ...sides, mode, proxy: { 'diff.learnEvery': 0, ...values } })
    return { v1: proxy.v1, v2: proxy.v2, proxy }
  }

  const halfAnAnswer: Handler = (_, response) => {
    response.writeHead(200, { 'content-length': 100 })
    response.write('{"items":')
    setImmediate(() => response.destroy())
  }

  /** A service that leaves its first answers open; `arrived` resolves with the first request. */
  function hanging() {
    let tell = (_: ServerResponse) => {}
    const arrived = new Promise<ServerResponse>((resolve) => {
      tell = resolve
    })
    const handler: Handler = (_, response) => tell(response)
    return { arrived, handler }
  }

  /** Resolves when the queue has completed this many comparisons. */
  async function compared(proxy: Pick<Stage, 'evidence'>, done: number): Promise<EvidenceReport> {
    for (;;) {
      const report = await proxy.evidence()
      if (report.queue.done >= done) return report
    }
  }

  const list = (proxy: TestProxy) => fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer('t') })

  describe.each([
    ['diff-v1', 'v2'],
    ['diff-v2', 'v1'],
  ] as const)('in mode %s with a bad %s, the proxy', (mode, asked) => {
    it('answers the client while the other side hangs', async () => {
      const { arrived, handler } = hanging()
      const { proxy } = await stage(mode, { [asked]: handler })
      const answer = await list(proxy)
      expect([answer.status, ((await answer.json()) as typeof V1).items[0]?.name]).toEqual([200, 'a'])
      const pending = await arrived
      expect(pending.writableEnded).toBe(false)
      expect((await proxy.evidence()).queue).toMatchObject({ running: 1, done: 0 })
      for (let more = 0; more < 20; more += 1) expect((await list(proxy)).status).toBe(200)
      expect((await proxy.evidence()).operations).toMatchObject([{ comparisons: 0, booked: { uses: 21 }, uncompared: {} }])
    })

    it('answers clients while the other side hangs on all its connections', async () => {
      const { handler } = hanging()
      const { proxy } = await stage(mode, { [asked]: handler }, { 'upstream.connections': 1, 'diff.parallel': 8, 'diff.perSecond': 0 })
      for (let nth = 0; nth < 20; nth += 1) expect((await list(proxy)).status).toBe(200)
      expect((await proxy.evidence()).queue.running).toBe(8)
    })

    it.each<[string, Handler]>([
      ['500', answering({ code: 13, message: 'no', details: [] }, 500)],
      ['a page of HTML', (_, response) => void response.end('<html>')],
      ['a cut connection', (_, response) => void response.destroy()],
      ['half an answer', halfAnAnswer],
    ])('answers the client if the other side fails with %s', async (_, handler) => {
      const { proxy } = await stage(mode, { [asked]: handler })
      const answer = await list(proxy)
      expect([answer.status, ((await answer.json()) as typeof V1).items[0]?.name]).toEqual([200, 'a'])
      const [operation] = (await compared(proxy, 1)).operations
      // A failure of v2 is an error; a failure of v1 says nothing about v2.
      expect(operation).toMatchObject(asked === 'v2' ? { errors: 1, matches: 0 } : { errors: 0, inconclusive: 1, matches: 0 })
    })

    it('gives up a comparison that exceeds the deadline', async () => {
      const { handler } = hanging()
      const { proxy } = await stage(mode, { [asked]: handler }, { 'diff.deadlineMs': 20 })
      await list(proxy)
      const [operation] = (await compared(proxy, 1)).operations
      expect(operation).toMatchObject(asked === 'v2' ? { errors: 1 } : { inconclusive: 1 })
    })

    it('drops and counts comparisons that do not fit into the queue', async () => {
      const { arrived, handler } = hanging()
      const { proxy } = await stage(mode, { [asked]: handler }, { 'diff.waiting': 2, 'diff.parallel': 1 })
      await list(proxy)
      await arrived
      // Each has one unknown parameter more, so that each is another kind of request.
      for (const query of ['a', 'a&b', 'a&b&c', 'a&b&c&d', 'a&b&c&d&e']) {
        await fetch(`${proxy.url}/iam/v1/groups?${query}`, { headers: bearer('t') })
      }
      expect((await proxy.evidence()).queue).toMatchObject({ running: 1, waiting: 2, dropped: 3 })
    })
  })

  describe('the answer of v1 in mode diff-v1', () => {
    it('is passed on unchanged: status, headers and bytes', async () => {
      const odd: Handler = (_, response) => {
        response.writeHead(203, { 'content-type': 'application/json; charset=utf-8', 'x-v1': 'yes', 'set-cookie': ['a=1', 'b=2'] })
        response.end('{ "items" : [ 1.0 ] }')
      }
      const { proxy, v1 } = await stage('diff-v1', { v1: odd })
      const answer = await fetch(`${proxy.url}/iam/v1/groups?x=%20+&x=2`, { headers: { ...bearer('t'), 'x-crosswalk-mode': 'v2' } })
      expect([answer.status, await answer.text()]).toEqual([203, '{ "items" : [ 1.0 ] }'])
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
      expect(v1.seen[0]).toMatchObject({ url: '/iam/v1/groups?x=%20+&x=2', headers: { authorization: 'Bearer t' } })
      expect(v1.seen[0]?.headers).not.toHaveProperty('x-crosswalk-mode')
    })

    it.each([
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
      ['gzip, br', (text: string) => brotliCompressSync(gzipSync(text))],
      ['identity', Buffer.from],
    ])('may be in the content coding %s, and is still compared', async (encoding, compress) => {
      const compressed: Handler = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': encoding })
        response.end(compress(JSON.stringify({ items: [] })))
      }
      const { proxy } = await stage('diff-v1', { v1: compressed, v2: answering({ groups: [], nextPageToken: '' }) })
      expect(await (await list(proxy)).json()).toEqual({ items: [] })
      expect((await compared(proxy, 1)).operations).toMatchObject([{ matches: 1 }])
    })

    it('keeps its body without a content type', async () => {
      const { proxy } = await stage('diff-v1', { v1: (_, response) => void response.writeHead(502).end('down') })
      const answer = await list(proxy)
      expect([answer.status, answer.headers.has('content-type'), await answer.text()]).toEqual([502, false, 'down'])
    })

    it('goes to the client if it is a failure, and is no evidence', async () => {
      const down = answering({ code: 14, message: 'down', details: [] }, 503)
      const v1: Handler = (request, ...rest) => (request.url === '/iam/v1/groups' ? down : answering(V1))(request, ...rest)
      const { proxy } = await stage('diff-v1', { v1 })
      await fetch(`${proxy.url}/iam/v1/roles`, { headers: bearer('t') })
      const answer = await list(proxy)
      expect([answer.status, await answer.json()]).toEqual([503, { code: 14, message: 'down', details: [] }])
      const { operations } = await compared(proxy, 2)
      expect(operations.find(({ operation }) => operation === 'iam.groups.list')).toMatchObject({ inconclusive: 1, matches: 0, n: 0 })
    })

    it('becomes a 503 in v1 shape if it never comes', async () => {
      const { proxy } = await stage('diff-v1', {}, { 'upstream.v1': 'http://127.0.0.1:1' })
      const answer = await list(proxy)
      expect([answer.status, await answer.json()]).toEqual([503, { code: 14, message: 'the v1 service cannot be reached', details: [] }])
    })

    it('breaks off for the client too if it breaks off', async () => {
      const { proxy } = await stage('diff-v1', { v1: halfAnAnswer })
      await expect((await list(proxy)).text()).rejects.toThrow()
      await proxy.idle()
      expect((await proxy.evidence()).operations).toMatchObject([{ inconclusive: 1, n: 0, uncompared: { v1Failed: 1 } }])
    })
  })

  describe('a long list', () => {
    const rows = Array.from({ length: 500 }, (_, nth) => ({
      uid: nth.toString(16).padStart(40, '0'),
      name: `group ${nth}`,
      description: '',
    }))
    const paged: Handler = (request, response) => {
      const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? 0)
      const next = at + 100 < rows.length ? String(at + 100) : ''
      response.end(JSON.stringify({ groups: rows.slice(at, at + 100), nextPageToken: next, totalCount: String(rows.length) }))
    }

    it('is streamed from v2, and wrong beyond the limit if that of v1 is within it', async () => {
      const { proxy } = await stage(
        'diff-v2',
        { v2: paged, v1: answering({ items: [] }) },
        { 'limits.bufferedRows': 100, 'diff.answerBytes': 1000 },
      )
      const answer = (await (await list(proxy)).json()) as typeof V1
      expect(answer.items).toHaveLength(500)
      expect((await compared(proxy, 1)).operations).toMatchObject([{ errors: 1, matches: 0, mismatches: 0 }])
    })

    it('is compared while it is streamed, up to the limit', async () => {
      const { proxy } = await stage('diff-v2', { v2: paged, v1: answering({ items: [] }) }, { 'limits.bufferedRows': 100 })
      await (await list(proxy)).text()
      expect((await compared(proxy, 1)).operations).toMatchObject([{ mismatches: 1 }])
    })
  })
})

describe('strangers', () => {
  let stage: Stage

  const clients = async () => (await fetch(`${stage.adminUrl}/clients`)).json() as Promise<readonly Client[]>
  const cutover = async () => (await runCommand(['cutover', '--admin', stage.adminUrl, '--target', '0.5', '--each'])).out

  /** An unsigned token. */
  function forged(claims: object): string {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`
  }

  /** A signed token of the demo's owner. */
  async function signed({ url, tokens }: Stage['sandbox']): Promise<string> {
    const headers = { authorization: `Bearer ${tokens.owner}` }
    const answer = await fetch(`${url}/sts/exchange?aud=${url}`, { method: 'POST', headers })
    return ((await answer.json()) as { token: string }).token
  }

  /** Reads that v1 refuses for their credential and the tables for their query. */
  const ODD = ['/iam/v1/groups', '/iam/v1/roles', '/registry/v1/repos', '/registry/v1/tags'].map((path) => `${path}?limit=abc`)

  const NOTHING = { operations: [], traffic: {} }

  describe.each(['v1', 'diff-v1', 'diff-v2', 'v2'] as const)('in mode %s', (mode) => {
    it('strangers are no clients, no traffic and no evidence', async () => {
      stage = await startStage({ mode })
      for (const [nth, path] of ODD.entries()) {
        for (const token of ['', `junk-${nth}`, forged({ sub: `x-${nth}` })]) await stage.request('GET', path, { token })
      }
      for (const method of ['POST', 'PUT', 'DELETE']) await stage.request(method, '/iam/v1/groups/x', { token: 'junk', body: {} })
      await stage.request('GET', '/registry/v1/vuln_reports', { token: 'junk' })
      for (const path of ['/iam/v2/groups', '/iam/v2/groups?page_size=1']) await stage.request('GET', path, { token: 'junk' })
      await stage.settled()
      expect(await stage.evidence()).toMatchObject({ ...NOTHING, strangers: { 'iam.groups.list': 3, 'registry.vuln_reports.list': 1 } })
      expect(await clients()).toEqual([])
    })

    it('an operation without a credential names no caller that is not known already', async () => {
      stage = await startStage({ mode })
      for (const path of ['/ping/v1/ping', '/advisory/v1/documents', '/advisory/v1/metadata']) {
        expect((await stage.request('GET', path, { token: 'junk' })).status).toBe(200)
      }
      await stage.settled()
      expect(await stage.evidence()).toMatchObject(NOTHING)
      await stage.request('GET', '/iam/v1/groups')
      await stage.request('GET', '/ping/v1/ping')
      await stage.settled()
      expect((await stage.evidence()).traffic).toEqual({ 'iam.groups.list': 1, 'ping.ping.ping': 1 })
      expect(await clients()).toMatchObject([{ calls: 2 }])
    })

    it('a token that a service no longer accepts counts for nothing', async () => {
      stage = await startStage({ mode })
      await stage.request('GET', '/iam/v1/groups')
      await stage.fault({ match: 'GET /iam/', status: 401 })
      await stage.request('GET', '/iam/v1/roles')
      await stage.settled()
      expect(await stage.evidence()).toMatchObject({ traffic: { 'iam.groups.list': 1 }, strangers: { 'iam.roles.list': 1 } })
      expect((await stage.evidence()).operations.map(({ operation }) => operation)).not.toContain('iam.roles.list')
    })
  })

  it('v2 traffic that is passed on is no v1 traffic, and names no caller', async () => {
    stage = await startStage({ mode: 'diff-v1' })
    expect((await stage.request('GET', '/iam/v2/groups')).status).toBe(200)
    await stage.settled()
    expect(await stage.evidence()).toMatchObject({ ...NOTHING, strangers: {} })
    expect(await clients()).toEqual([])
  })

  it('a client that disconnects before its answer is not accepted by it', async () => {
    stage = await startStage({ mode: 'v1' })
    await stage.fault({ match: 'GET /iam/v1/', delayMs: 60_000 })
    const gone = new AbortController()
    const answer = fetch(`${stage.url}/iam/v1/groups`, { headers: { authorization: 'Bearer junk' }, signal: gone.signal })
    while (!(await stage.journal()).some(({ path }) => path === '/iam/v1/groups')) await new Promise(setImmediate)
    gone.abort()
    await answer.catch(() => undefined)
    while (!stage.log.some(({ status }) => status === 499)) await new Promise(setImmediate)
    expect(await clients()).toEqual([])
  })

  it("a known caller's request is no traffic if it was refused without a call", async () => {
    stage = await startStage({ v1: null })
    await stage.request('GET', '/iam/v1/groups')
    expect((await stage.request('GET', '/events/v1/subscriptions?limit=abc')).status).toBe(400)
    expect((await stage.request('GET', '/registry/v1/vuln_reports')).status).toBe(501)
    expect((await stage.evidence()).traffic).toEqual({ 'iam.groups.list': 1 })
  })

  it('a cutover becomes ready in spite of strangers', async () => {
    stage = await startStage({
      proxy: { modes: { ...ALL_V2, rules: [{ operations: 'iam.groups.list', clients: '*', mode: 'diff-v1' }] } },
    })
    const queries = ['', '?limit=5', '?limit=500', '?limit=0', '?offset=1', '?order_by=name', '?id=x']
    for (const query of queries) await stage.request('GET', `/iam/v1/groups${query}`)
    await stage.settled()
    expect(await cutover()).toContain('All 1 operations with traffic')
    for (const path of ['/registry/v1/vuln_reports', '/events/v1/subscriptions?limit=abc', '/ping/v1/ping', ...ODD]) {
      await stage.request('GET', path, { token: 'junk' })
      await stage.request('GET', path, { token: '' })
    }
    await stage.settled()
    expect(await cutover()).toContain('All 1 operations with traffic')
    expect(await cutover()).toContain('Not counted: 14 requests of strangers to 7 operations: no side accepted a credential of theirs.')
  })

  it('a path that only strangers call is in the way of the end of v1 after a restart, too, and in a report', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-strangers-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const records = path.join(folder, 'records.ndjson')
    const start = () => startStage({ mode: 'v1', v1: answering({}), v2: answering({}), proxy: { 'records.file': records } })
    const IN_THE_WAY =
      'unknown GET /registry/v1/something: INCONCLUSIVE, because v1 answered 2 requests of callers that no other request proves'
    const before = await start()
    for (const token of ['', 'junk']) expect((await before.request('GET', '/registry/v1/something', { token })).status).toBe(200)
    await before.settled()
    await before.close()
    expect(JSON.parse((await runCommand(['report', records, '--json', '--without-v1'])).out)).toMatchObject({
      reasons: [expect.stringContaining(IN_THE_WAY)],
      clients: [],
    })
    const dismissal = ['--dismiss', 'GET /registry/v1/something until 2099-12-31: a scanner']
    expect((await runCommand(['report', records, '--json', '--without-v1', ...dismissal])).out).toContain(
      'is dismissed until 2099-12-31 (2 calls)',
    )
    const { adminUrl, evidence } = await start()
    expect(await evidence()).toMatchObject({ traffic: {}, strangers: { 'unknown GET /registry/v1/something': 2 } })
    const { out } = await runCommand(['cutover', '--admin', adminUrl, '--without-v1'])
    expect(out.replaceAll(/\s+/g, ' ')).toContain(IN_THE_WAY)
  })

  describe('a circuit', () => {
    const canary: ModeRules = {
      ...ALL_V2,
      default: 'v1',
      rules: [{ operations: '*', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } }],
    }
    const open = async () => stage.log.filter(({ msg }) => String(msg).includes('is open'))

    it('is not opened by strangers, whatever v2 answers', async () => {
      stage = await startStage({ proxy: { modes: canary, 'fallback.perMinute': 0 } })
      await stage.fault({ match: 'GET /iam/v2/groups', status: 503 })
      for (let nth = 0; nth < 30; nth += 1) await stage.request('GET', '/iam/v1/groups', { token: `junk-${nth}` })
      expect(await open()).toEqual([])
    })

    it.each(['diff-v1', 'diff-v2'] as const)('is not opened by an anonymous request in mode %s', async (mode) => {
      stage = await startStage({ mode })
      await stage.request('GET', '/iam/v1/groups')
      expect([400, 401]).toContain((await fetch(`${stage.url}/iam/v1/groups?limit=abc`)).status)
      await stage.logged(({ msg, status }) => msg === 'request' && status !== 200)
      await stage.settled()
      const { operations, strangers } = await stage.evidence()
      expect(operations).toMatchObject([{ operation: 'iam.groups.list', comparisons: 1, matches: 1, mismatches: 0 }])
      expect(strangers).toEqual({ 'iam.groups.list': 1 })
      expect(await open()).toEqual([])
    })

    it('is opened by callers that were accepted before, also where v1 cannot help', async () => {
      stage = await startStage({ proxy: { modes: canary, 'fallback.perMinute': 0 } })
      await stage.request('GET', '/iam/v1/roles')
      await stage.fault({ match: 'POST /iam/v2/groups', status: 503 })
      for (let nth = 0; nth < 10; nth += 1) await stage.request('POST', '/iam/v1/groups/x', { body: { name: 'a' } })
      expect(await open()).toHaveLength(1)
    })

    it('is opened by new callers if v1 accepts them instead', async () => {
      stage = await startStage({ proxy: { modes: canary } })
      await stage.fault({ match: 'GET /iam/v2/groups', status: 503 })
      for (const token of Object.values(stage.sandbox.tokens)) await stage.request('GET', '/iam/v1/groups', { token })
      expect(await open()).toHaveLength(1)
    })
  })

  describe('a stranger with the subject of a real caller', () => {
    it('excuses no difference by attempted writes', async () => {
      stage = await startStage({ mode: 'diff-v1' })
      const token = await signed(stage.sandbox)
      const fake = `${token.split('.').slice(0, 2).join('.')}.c2ln`
      await stage.request('GET', '/iam/v1/roles', { token })
      await stage.fault({ match: 'GET /iam/v2/groups', times: 1, change: { at: '/groups/0/name', to: 'wrong' } })
      const reads = Array.from({ length: 10 }, () => stage.request('GET', '/iam/v1/groups', { token }))
      const writes = Array.from({ length: 50 }, () => stage.request('DELETE', '/iam/v1/groups/x', { token: fake }))
      await Promise.all([...reads, ...writes])
      await stage.settled()
      const groups = (await stage.evidence()).operations.find(({ operation }) => operation === 'iam.groups.list')
      expect(groups).toMatchObject({ races: 0, mismatches: 0, transients: 1 })
      expect(await clients()).toHaveLength(1)
    })
  })
})
