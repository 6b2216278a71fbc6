import { EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import type { Client } from '../../../src/migrate/clients.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { runCommand } from '../../app/cli/support.ts'
import { metric } from '../../programs/faults/process/child.ts'
import { until } from '../../stage/clocks.ts'
import { bearer, startStage, type TestProxy } from '../../stage/stage.ts'
import { answering, type Handler, rawExchange, startUpstream, type Upstream } from '../../stage/upstream.ts'

describe('v1 values', () => {
  const MOVED = 'EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED'

  /** Every parameter value that v2 lacks, by name and by number, in either spelling. */
  const V1_ALONE = [
    ...['JAVASCRIPT', 'JAVA_ATHENA', 'PYTHON_ATHENA', 'JAVASCRIPT_ATHENA', 'DOTNET', 'DOTNET_ATHENA', 'GO', 'GO_ATHENA', '9'].flatMap(
      (value) => [`/libraries/v1/artifacts?ecosystems=${value}`, `/libraries/v1/artifacts/count?ecosystems=JAVA&ecosystems=${value}`],
    ),
    '/libraries/v1/artifacts?include_upstream=true',
    '/libraries/v1/artifacts/a/versions?includeUpstream=1',
    `/vulnerabilities/v1/advisories?event_types=${MOVED}`,
    `/vulnerabilities/v1/advisories?eventTypes=9&page_token=t`,
    `/vulnerabilities/v1/advisories?latest_event_type=${MOVED}`,
  ]

  let v1: Upstream
  let v2: Upstream

  beforeAll(async () => {
    v1 = await startUpstream(answering({ v1: true }))
    v2 = await startUpstream(answering({ uid: 'a'.repeat(40), repos: [], tags: [], artifacts: [], advisories: [] }))
  })

  beforeEach(() => {
    v1.seen.length = 0
    v2.seen.length = 0
  })

  const start = (proxy: Partial<Config>) => startStage({ v1: v1.url, v2: v2.url, proxy })

  describe('a value of a parameter that only v1 knows', () => {
    it.each(['v2', 'diff-v2', 'diff-v1', 'v1'] as const)('goes unchanged to v1 alone in mode %s', async (mode) => {
      const { url, log } = await start({ modes: { default: mode, rules: [], testers: ['*'] } })
      for (const path of V1_ALONE) {
        const answer = await fetch(url + path, { headers: { ...bearer('t'), 'x-crosswalk-mode': mode } })
        expect([path, await answer.json()]).toEqual([path, { v1: true }])
      }
      expect(v1.seen.map((seen) => seen.url)).toEqual(V1_ALONE)
      expect(v2.seen).toEqual([])
      expect(log.filter(({ mode: by }) => by !== 'v1')).toEqual([])
    })

    it('goes to v1 in a form too, byte for byte', async () => {
      const { url } = await start({})
      const body = 'query=%6ba&ecosystems=%47O'
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await fetch(`${url}/libraries/v1/artifacts`, { method: 'POST', body, headers })
      expect(await answer.json()).toEqual({ v1: true })
      expect(v1.seen).toMatchObject([{ method: 'POST', url: '/libraries/v1/artifacts', body }])
      expect(v1.seen[0]?.headers['content-type']).toBe('application/x-www-form-urlencoded')
      expect(v2.seen).toEqual([])
    })

    it('leaves other values to v2', async () => {
      const { url } = await start({})
      for (const query of ['ecosystems=JAVA', 'ecosystems=2', 'include_upstream=false', 'ecosystems=BOGUS']) {
        await fetch(`${url}/libraries/v1/artifacts?${query}`)
      }
      expect(v1.seen).toEqual([])
      expect(v2.seen).toHaveLength(3)
    })

    it('does not take along a list that v2 had begun', async () => {
      const { url } = await start({})
      for (const query of ['ecosystems=JAVA', 'ecosystems=GO', 'ecosystems=JAVA&page_token=t']) {
        await fetch(`${url}/libraries/v1/artifacts?${query}`, { headers: bearer('t') })
      }
      expect([v1.seen.length, v2.seen.length]).toEqual([1, 2])
    })
  })

  describe('a read that v2 can only emulate', () => {
    const EMULATED = [
      '/registry/v1/eoltags',
      '/registry/v1/repocountbysource/a',
      '/registry/v1/repotagssummary/a',
      '/vulnerabilities/v1/advisories/a/events',
    ]
    const askAll = async ({ url }: TestProxy) => {
      for (const path of EMULATED) await (await fetch(url + path)).text()
    }

    it('goes to v1, and to v2 if the operator says so', async () => {
      await askAll(await start({}))
      expect([v1.seen.map(({ url }) => url), v2.seen]).toEqual([EMULATED, []])
      await askAll(await start({ emulated: 'v2' }))
      expect([v1.seen.length, v2.seen.length]).toEqual([EMULATED.length, EMULATED.length])
    })

    it('goes where a rule says', async () => {
      const rules = [{ operations: 'registry.*', clients: '*', mode: 'v2' as const }]
      await askAll(await start({ modes: { default: 'v1', rules, testers: [] } }))
      expect([v1.seen.map(({ url }) => url), v2.seen.length]).toEqual([EMULATED.slice(-1), EMULATED.length - 1])
    })

    it('does not take the writes along', async () => {
      const { url } = await start({})
      await (await fetch(`${url}/registry/v1/tags/a/b`, { method: 'PUT', body: '{}' })).text()
      expect([v1.seen.length, v2.seen.length > 0]).toEqual([0, true])
    })
  })

  describe('a read that only v1 answered', () => {
    const known = async <T>({ adminUrl }: TestProxy, path: string) => (await (await fetch(adminUrl + path)).json()) as T

    it('keeps its client at v1, and has its own entry in traffic', async () => {
      const proxy = await start({})
      const ask = (path: string, token = 't') => fetch(proxy.url + path, { headers: bearer(token) })
      await ask('/iam/v1/groups')
      await ask('/libraries/v1/artifacts?ecosystems=GO')
      await ask('/registry/v1/repos/0123456789abcdef/diff')
      await ask('/registry/v1/repos/fedcba9876543210/diff')
      const [client, ...others] = await known<readonly Client[]>(proxy, '/clients')
      expect([client?.couldMove, others]).toEqual([false, []])
      expect(client?.blockers).toEqual([
        'libraries.artifacts.list?ecosystems: v2 has no JAVASCRIPT, JAVA_ATHENA, PYTHON_ATHENA, JAVASCRIPT_ATHENA, DOTNET, DOTNET_ATHENA, GO, GO_ATHENA among its ecosystems',
        'unknown GET /registry/v1/repos/…/diff: v1 answers it, and no table knows it',
      ])
      const { traffic } = await known<EvidenceReport>(proxy, '/evidence')
      expect(traffic).toEqual({
        'iam.groups.list': 1,
        'libraries.artifacts.list?ecosystems': 1,
        'unknown GET /registry/v1/repos/…/diff': 2,
      })
      const cutover = async (...flags: string[]) =>
        (await runCommand(['cutover', '--admin', proxy.adminUrl, ...flags])).out.replaceAll(/\s+/g, ' ')
      expect(await cutover()).toContain(' v1 unknown GET /registry/v1/repos/…/diff stays with v1 (2 calls by 1 client): ')
      expect(await cutover('--without-v1')).toContain(
        ` no unknown GET /registry/v1/repos/…/diff needs a v1 service (2 calls by 1 client: ${client?.caller} 2): `,
      )
    })

    it('identifies no client at an unknown path, but is counted', async () => {
      const proxy = await start({})
      for (const token of ['a', 'b']) await (await fetch(`${proxy.url}/registry/v1/nothing`, { headers: bearer(token) })).text()
      expect(await known<readonly Client[]>(proxy, '/clients')).toEqual([])
      expect(await known<EvidenceReport>(proxy, '/evidence')).toMatchObject({
        traffic: {},
        strangers: { 'unknown GET /registry/v1/nothing': 2 },
      })
    })

    it('is not counted at an unknown path that v1 refuses', async () => {
      const refusing = await startUpstream((request, response, body) =>
        answering({}, request.url === '/registry/v1/nothing' ? 404 : 200)(request, response, body),
      )
      const proxy = await start({ 'upstream.v1': refusing.url })
      for (const path of ['nothing', 'something']) await (await fetch(`${proxy.url}/registry/v1/${path}`, { headers: bearer('t') })).text()
      const { strangers } = await known<EvidenceReport>(proxy, '/evidence')
      expect(strangers).toEqual({ 'unknown GET /registry/v1/something': 1 })
    })
  })
})

describe('announce', () => {
  const MARCH = Date.UTC(2027, 2, 1) / 1000
  const ANNOUNCED: Partial<Config> = {
    'v1.deprecation': MARCH,
    'v1.sunset': MARCH + 86_400,
    'v1.successor': 'https://docs.example.com/v2',
  }
  const EXPECTED = {
    deprecation: '@1803859200',
    sunset: 'Tue, 02 Mar 2027 00:00:00 GMT',
    link: '<https://docs.example.com/v2>; rel="successor-version"',
  }

  const GROUPS = '/iam/v1/groups'
  const both: Handler = (request, response) => {
    if (request.url?.startsWith('/registry/v1')) response.setHeader('link', '</next>; rel="next"').setHeader('sunset', 'theirs')
    response.end('{"groups":[]}')
  }
  const start = (proxy: Partial<Config>) => startStage({ v1: both, v2: both, proxy })

  it.each<[what: string, proxy: Partial<Config>, path: string, announced: object, init?: RequestInit]>([
    ['nothing by default, as v1 did', {}, GROUPS, {}],
    ['the end of v1 and its successor in answers', ANNOUNCED, GROUPS, EXPECTED],
    ['them in the refusal of a query', ANNOUNCED, `${GROUPS}?page_size=x`, EXPECTED],
    ['them in the refusal of a body', ANNOUNCED, GROUPS, EXPECTED, { method: 'POST', body: '{' }],
    [
      'them beside the links of the v1 service',
      ANNOUNCED,
      '/registry/v1/vuln_reports',
      { ...EXPECTED, link: `</next>; rel="next", ${EXPECTED.link}` },
    ],
    ['nothing in native answers', ANNOUNCED, '/iam/v2/groups', {}],
    ['each by itself', { 'v1.sunset': MARCH }, GROUPS, { sunset: 'Mon, 01 Mar 2027 00:00:00 GMT' }],
  ])('announces %s', async (_, values, path, announced, init) => {
    const { headers } = await fetch((await start(values)).url + path, init)
    expect(Object.fromEntries([...headers].filter(([name]) => name in EXPECTED))).toEqual(announced)
  })

  it('also announces for a path that cannot be decoded', async () => {
    const { url } = await start(ANNOUNCED)
    const answer = await rawExchange(url, 'GET /iam/v1/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*\r\ndeprecation: @1803859200\r\n/s)
  })
})

describe('replicas', () => {
  const GROUPS = '/iam/v1/groups'

  /** A proxy of a sandbox, and another by a way to it that holds the answer to the first read, as it was when the read arrived, until it is released. */
  async function slowWay() {
    const { sandbox, ...other } = await startStage({ v1: null, sandbox: { data: 'demo' } })
    const gate = new EventEmitter()
    const held = once(gate, 'held')
    const free = once(gate, 'free')
    let reads = 0
    const pass = async (request: IncomingMessage, response: ServerResponse) => {
      const isFirst = ++reads === 1
      const answer = await fetch(sandbox.url + request.url, { headers: { authorization: request.headers.authorization ?? '' } })
      const text = await answer.text()
      gate.emit('held')
      if (isFirst) await free
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
    }
    const one = await startStage({ v1: null, v2: (request, response) => void pass(request, response) })
    return { sandbox, one, other, held, letGo: () => gate.emit('free') }
  }

  it('shows a caller its write through another replica, despite an older read', async () => {
    const { sandbox, one, other, held, letGo } = await slowWay()
    const headers = { ...bearer(sandbox.tokens.owner), 'content-type': 'application/json' }
    const names = async () => {
      const { items } = (await (await fetch(one.url + GROUPS, { headers })).json()) as { items: { name: string }[] }
      return items.map(({ name }) => name)
    }
    const before = names()
    await held
    const body = JSON.stringify({ name: 'written-elsewhere' })
    expect((await fetch(`${other.url}${GROUPS}/${sandbox.organization}`, { method: 'POST', headers, body })).status).toBe(200)
    let isAnswered = false
    const after = names().finally(() => {
      isAnswered = true
    })
    await until(async () => isAnswered || (await metric(one, 'crosswalk_requests_in_flight')) === 2)
    letGo()
    expect(await after).toContain('written-elsewhere')
    expect(await before).not.toContain('written-elsewhere')
  })
})
