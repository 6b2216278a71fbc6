import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../../src/app/cli/run.ts'
import type { Entry } from '../../src/migrate/records/record.ts'
import { identify } from '../../src/serve/request.ts'
import type { Replayed } from '../../src/tools/replay/summary.ts'
import { comparison, lines, traffic } from '../admin/report-stage.ts'
import { runCommand } from '../app/cli/support.ts'
import { startQuietSandbox } from '../stage/stage.ts'
import { file, har, logLine, ORG, REPO } from './replay-files.ts'

describe('replay', () => {
  async function replayed(path: string, ...flags: string[]): Promise<Replayed> {
    const { code, out, err } = await runCommand(['replay', path, '--json', ...flags])
    expect([code, err]).toEqual([0, ''])
    return JSON.parse(out)
  }

  const ACCESS_LOG = [
    logLine(1, 'ci', `GET /iam/v1/groups?uidp.descendants_of=${ORG} HTTP/1.1`),
    logLine(2, 'ci', `GET /iam/v1/groups?id=${ORG} HTTP/1.1`),
    logLine(3, '-', `GET /registry/v1/repos?uidp.children_of=${ORG}&limit=10&trace=on HTTP/1.1`),
    logLine(4, '-', `GET /registry/v1/vuln_reports?parent_id=${REPO} HTTP/1.1`),
    logLine(5, 'ci', `DELETE /iam/v1/groups/${ORG}/00df03e05eba2b78 HTTP/1.1`),
    logLine(6, 'ci', 'GET /iam/v1/gruops HTTP/1.1', 404),
    logLine(7, 'ci', 'PATCH /iam/v1/groups HTTP/1.1', 501),
    logLine(8, '-', 'GET /v2/nginx/manifests/latest HTTP/1.1'),
    logLine(9, '-', 'GET /iam/v1/groups?limit=ten HTTP/1.1', 400),
    logLine(10, '-', '\\x16\\x03\\x01', 400),
  ].join('\n')

  describe('the guide of a client in recorded traffic', () => {
    const guide = (path: string, id: string, ...flags: string[]) => runCommand(['replay', path, '--guide', id, ...flags])

    it('has its requests as v2 calls, without its secrets', async () => {
      const path = await file('access.log', `${ACCESS_LOG}\n${logLine(11, 'ci', 'GET /iam/v1/groups?name=hunter2 HTTP/1.1')}`)
      const { code, out } = await guide(path, 'ci')
      expect(code).toBe(0)
      expect(out).toContain('The client `ci` made 4 calls to v1')
      expect(out).toContain(`$V2/iam/v2/groups?uidp.descendants_of=${ORG}&page_size=200"`)
      expect(out).toContain('$V2/iam/v2/groups?name=<name>&page_size=200"')
      expect(out).not.toMatch(/hunter|crosswalk clients/)
      expect((await guide(path, 'cj')).err).toBe('No client "cj" has called; did you mean "ci"?')
      expect((await guide(path, 'ci', '--html', 'f', '--json')).code).toBe(2)
    })

    it('has the kinds of requests that records keep', async () => {
      const kind = { shape: 'a', path: [], query: [['limit', '5']], samples: 3 }
      const at = new Date(0).toISOString()
      const entry = { kind: 'traffic', at, caller: 'c0ffee', operation: 'iam.groups.list', mode: 'v2', calls: 9, requests: [kind] }
      const { out } = await guide(await file('records.ndjson', JSON.stringify(entry)), 'c0ffee')
      expect(out).toContain('`GET /iam/v1/groups`: 9 calls.')
      expect(out).toContain('### `GET /iam/v1/groups?limit=5`')
    })
  })

  it('counts the requests to paths that are too many to be listed', async () => {
    const calls = Array.from({ length: 10_003 }, (_, nth) =>
      traffic('c', `unknown GET /x/${'y'.repeat(nth % 200)}/${'z'.repeat(nth / 200)}`, 2),
    )
    const path = await file('records.ndjson', lines(calls))
    const { unknown, unlisted } = await replayed(path)
    expect([unknown.length, unlisted]).toEqual([10_000, 6])
    expect((await runCommand(['replay', path])).out).toContain('  6 requests to further paths')
  })

  it('counts gRPC calls of v1 as their operations, and others as passed on', async () => {
    const calls = [
      logLine(1, 'ci', 'POST /chainguard.platform.iam.Groups/List HTTP/2.0'),
      logLine(2, 'ci', 'POST /chainguard.platform.registry.Registry/GetDeployment HTTP/2.0'),
      logLine(3, 'ci', 'POST /chainguard.platform.iam.v2.GroupsService/ListGroups HTTP/2.0'),
    ]
    expect((await replayed(await file('access.log', calls.join('\n')))).coverage).toEqual({ served: 1, v1Only: 1, unknown: 0, native: 1 })
    const own = ['iam.groups.list', 'grpc'].map((operation) =>
      JSON.stringify({ level: 30, time: 1, reqId: 'a', operation, msg: 'request' }),
    )
    expect((await replayed(await file('log.ndjson', own.join('\n')))).coverage).toEqual({ served: 1, v1Only: 0, unknown: 0, native: 1 })
  })

  describe('an access log of known content', () => {
    it('is reported as it is', async () => {
      const told = await replayed(await file('access.log', ACCESS_LOG))
      expect(told).toMatchObject({
        format: 'access-log',
        requests: 9,
        unreadable: 1,
        span: { from: Date.UTC(2026, 9, 10, 13, 55, 1), to: Date.UTC(2026, 9, 10, 13, 55, 9) },
        coverage: { served: 5, v1Only: 1, unknown: 2, native: 1 },
      })
      const rows = told.operations.map(({ operation, requests, v2Calls, refused }) => [operation, requests, v2Calls, refused])
      expect(rows).toEqual([
        // One page, one Get, and a window that is refused before v2 is asked.
        ['iam.groups.list', 3, 2, 1],
        // One page of ten repos, and the readme of each.
        ['registry.repos.list', 1, 11, 0],
        ['registry.vuln_reports.list', 1, 0, 0],
        ['iam.groups.delete', 1, 1, 0],
      ])
      expect(told.v2).toEqual({ calls: 14, kept: 10, peak: { at: Date.UTC(2026, 9, 10, 13, 55), requests: 8, calls: 14 } })
      expect(told.operations[1]).toMatchObject({ droppedParameters: { trace: 1 } })
      expect(told.unknown).toEqual([
        { method: 'GET', path: '/iam/v1/gruops', why: 'no operation', requests: 1 },
        { method: 'PATCH', path: '/iam/v1/groups', why: 'another method', requests: 1 },
      ])
      expect(told.clients).toEqual([
        { client: 'ci', requests: 5, served: 3, v1Only: 0, unknown: 2, unclear: 2, v2Calls: 3, blockers: [] },
        {
          client: '192.0.2.7',
          requests: 4,
          served: 2,
          v1Only: 1,
          unknown: 0,
          unclear: 0,
          v2Calls: 11,
          blockers: ['registry.vuln_reports.list'],
        },
      ])
      expect(told.differences.find(({ code }) => code === 'v1-only')).toMatchObject({ requests: 1 })
    })

    it('is printed for people too', async () => {
      const { out } = await runCommand(['replay', await file('access.log', ACCESS_LOG)])
      expect(out.split('\n').slice(0, 5)).toEqual([
        '9 requests, 2026-10-10T13:55:01Z to 2026-10-10T13:55:09Z, 1 line not readable (line 10)',
        'coverage  5 served from v2 (55.6 %), 1 v1-only, 2 unknown, 1 not v1',
        'cost      14 v2 calls, 10 of them spared while an answer is kept',
        'peak      14 v2 calls for 8 requests in the minute of 2026-10-10T13:55:00Z',
        '',
      ])
      expect(out).toContain('registry.repos.list  parameter trace  1 request')
      expect(out).toContain('Every list holds 50 rows and is read in pages of 200')
    })

    it('accepts forms that stand for a GET, which v1 would have refused otherwise', async () => {
      const told = await replayed(
        await file(
          'access.log',
          [
            logLine(1, 'ci', 'POST /registry/v1/vuln_reports/counts HTTP/1.1'),
            logLine(2, 'ci', 'POST /registry/v1/vuln_reports/counts HTTP/1.1', 501),
            logLine(3, 'ci', `POST /iam/v1/groups/${ORG} HTTP/1.1`),
          ].join('\n'),
        ),
      )
      expect(told.operations.map(({ operation, requests }) => [operation, requests])).toEqual([
        ['registry.vuln_reports.counts', 1],
        ['iam.groups.create', 1],
      ])
      expect(told.unknown).toMatchObject([{ why: 'another method', requests: 1 }])
    })

    it('lets no client move that asks for something no table has', async () => {
      const log = [
        logLine(1, 'ci', 'GET /iam/v1/groups HTTP/1.1'),
        logLine(2, 'ci', 'GET /registry/v1/repos/0123456789abcdef/diff HTTP/1.1'),
        logLine(3, 'web', 'GET /iam/v1/groups HTTP/1.1'),
        logLine(4, 'scan', 'GET /libraries/v1/artifacts?ecosystems=GO HTTP/1.1'),
      ]
      const { out } = await runCommand(['replay', await file('access.log', log.join('\n'))])
      expect(out.split('\n').slice(out.split('\n').indexOf('clients') + 1, -4)).toEqual([
        '  ci    2 requests  1 served, 0 v1-only, 1 unknown  1 v2 call   needs v1 for unknown GET /registry/v1/repos/…/diff',
        '  web   1 request   1 served, 0 v1-only             1 v2 call   could move to v2',
        '  scan  1 request   0 served, 1 v1-only             0 v2 calls  needs v1 for libraries.artifacts.list?ecosystems',
      ])
    })

    it('skips lines that are too long to be read', async () => {
      const endless = logLine(1, 'ci', `GET /iam/v1/groups?id=${'a'.repeat(12_000_000)} HTTP/1.1`)
      expect(await replayed(await file('access.log', `${ACCESS_LOG}\n${endless}`))).toMatchObject({ requests: 9, unreadable: 2 })
    })

    it('costs what the rows of a list cost', async () => {
      const path = await file('access.log', logLine(1, '-', `GET /iam/v1/groups?uidp.descendants_of=${ORG} HTTP/1.1`))
      // After the first page, windows of 200 rows overlap by one (design §4).
      const calls = async (rows: string) => (await replayed(path, '--rows', rows)).v2.calls
      expect(await Promise.all(['0', '1', '200', '201', '1000'].map(calls))).toEqual([1, 1, 1, 2, 6])
    })
  })

  describe('an HTTP archive of known content', () => {
    const SECRET = 'planted-secret-4711'

    it('is reported as it is by client, with the members that bodies lose', async () => {
      const body = JSON.stringify({ name: 'text', description: 'a', color: 'red', create_time: '2026-01-01T00:00:00Z' })
      const archive = har([
        { path: `/registry/v1/tags?uidp.children_of=${REPO}&limit=500`, token: 'a' },
        { path: `/registry/v1/repos/${ORG}`, method: 'POST', body, token: 'b' },
        { path: '/favicon.ico', token: 'b' },
      ])
      const told = await replayed(await file('traffic.har', archive), '--rows', '450')
      expect(told).toMatchObject({ format: 'har', requests: 3, unreadable: 0, coverage: { served: 2, v1Only: 0, unknown: 0, native: 1 } })
      // 450 tags are three pages of 200, 200 and 50.
      expect(told.operations.find(({ operation }) => operation === 'registry.tags.list')).toMatchObject({ v2Calls: 3 })
      expect(told.operations.find(({ operation }) => operation === 'registry.repos.create')?.droppedMembers).toMatchObject({
        'color (v1 does not know it)': 1,
      })
      expect(told.clients.map(({ client }) => client).sort()).toEqual([identify('Bearer a').caller, identify('Bearer b').caller].sort())
    })

    it('is routed by the headers that v1 reads, however a form is written', async () => {
      const type = { name: 'Content-Type', value: 'application/x-www-form-urlencoded' }
      const entry = (path: string, postData: object, more: readonly object[] = []) => ({
        request: { method: 'POST', url: `https://api.example.com${path}`, headers: [type, ...more], postData },
      })
      const entries = [
        entry('/registry/v1/vuln_reports/counts', { text: 'repo=a' }),
        entry('/libraries/v1/artifacts', { params: [{ name: 'ecosystems', value: 'GO' }] }),
        entry('/iam/v1/groups', { text: 'name=a' }, [{ name: 'X-HTTP-Method-Override', value: 'GET' }]),
        entry('/iam/v1/groups', { text: 'name=a' }, [{ name: 'X-HTTP-Method-Override', value: 'PUT' }]),
      ]
      const told = await replayed(await file('a.har', JSON.stringify({ log: { entries } })))
      expect(told.operations.map(({ operation }) => operation)).toEqual([
        'registry.vuln_reports.counts',
        'libraries.artifacts.list?ecosystems',
        'iam.groups.list',
      ])
      expect(told.unknown).toMatchObject([{ path: '/iam/v1/groups', why: 'another method' }])
    })

    it('discloses no token, cookie, value or odd name', async () => {
      const body = JSON.stringify({ name: SECRET, [SECRET]: SECRET, client_secret: SECRET })
      const archive = har([
        { path: `/registry/v1/repos?name=${SECRET}&${SECRET}=1&token=${SECRET}`, token: SECRET },
        { path: `/registry/v1/${SECRET}/x?access_token=${SECRET}`, token: SECRET },
        { path: `/registry/v1/repos/${ORG}`, method: 'POST', body, token: SECRET },
        { path: `/registry/v1/repos/${ORG}`, method: 'POST', body: `{"broken": "${SECRET}`, token: SECRET },
      ])
      const path = await file('secret.har', archive)
      const [told, shown] = [await runCommand(['replay', path, '--json']), await runCommand(['replay', path])]
      expect(told.out + told.err + shown.out + shown.err).not.toContain(SECRET)
      expect(JSON.parse(told.out)).toMatchObject({ requests: 4, unknown: [{ path: '/registry/v1/…/x' }] })
      const torn = await runCommand(['replay', await file('torn.har', archive.slice(0, -3))])
      expect(torn).toMatchObject({ code: 2, out: '', err: expect.stringContaining('not a complete HTTP archive') })
      expect(torn.err).not.toContain(SECRET)
    })
  })

  describe('records of known content', () => {
    it('count requests by the sums of traffic, and cost what their shapes cost', async () => {
      const entries = [
        traffic('ci', 'iam.groups.list', 900),
        traffic('web', 'iam.groups.list', 100),
        traffic('web', 'registry.vuln_reports.list', 5),
        comparison(1, { operation: 'iam.groups.list', shape: 'iam.groups.list?uidp.descendants_of=root' }),
        comparison(2, { operation: 'iam.groups.list', shape: 'iam.groups.list?id=root' }),
        comparison(3, { operation: 'iam.groups.list', shape: 'iam.groups.list?limit=large' }),
      ]
      const told = await replayed(await file('records.ndjson', `${lines(entries)}{"torn":`), '--rows', '500')
      expect(told).toMatchObject({ format: 'records', requests: 1_005, unreadable: 1, coverage: { served: 1_000, v1Only: 5 } })
      // Three pages, one Get, three pages: 7 calls for 3 requests on average.
      expect(told.operations[0]).toMatchObject({ operation: 'iam.groups.list', requests: 1_000, v2Calls: 2_333 })
      expect(told.clients).toMatchObject([
        { client: 'ci', requests: 900, v2Calls: 2_100 },
        { client: 'web', requests: 105, v2Calls: 233, blockers: ['registry.vuln_reports.list'] },
      ])
    })

    it('name the requests that only v1 answered', async () => {
      const told = await replayed(
        await file(
          'records.ndjson',
          lines([traffic('c', 'libraries.artifacts.list?ecosystems', 2), traffic('c', 'unknown GET /registry/v1/repos/…/diff', 3)]),
        ),
      )
      expect(told.coverage).toEqual({ served: 0, v1Only: 2, unknown: 3, native: 0 })
      expect(told.unknown).toEqual([{ method: 'GET', path: '/registry/v1/repos/…/diff', why: 'no operation', requests: 3 }])
      expect(told.clients).toMatchObject([
        { unknown: 3, v1Only: 2, blockers: ['libraries.artifacts.list?ecosystems', 'unknown GET /registry/v1/repos/…/diff'] },
      ])
    })

    it('tell no request in what is recorded of none', async () => {
      const at = '2027-01-01T00:00:00.000Z'
      const others = [
        { kind: 'note', at, what: 'epoch', text: 'epoch 1 begins' },
        { kind: 'tally', at, operation: 'iam.groups.list', comparisons: 3 },
        { kind: 'rollout', at, name: 'iam', digest: 'x' },
        { ...comparison(1), kind: 'rehearsal' },
      ]
      const told = await replayed(await file('records.ndjson', lines([traffic('c', 'iam.groups.list', 2), ...(others as Entry[])])))
      expect(told).toMatchObject({ requests: 2, unreadable: 0 })
    })

    it('without sums are counted one by one, like lines of the proxy’s own log', async () => {
      const single = await replayed(await file('records.ndjson', lines([comparison(1), comparison(2)])), '--rows', '3')
      expect(single).toMatchObject({ requests: 2, operations: [{ operation: 'registry.repos.list', requests: 2, v2Calls: 8 }] })
      const line = (operation: string) => JSON.stringify({ level: 30, time: 1, reqId: 'x', operation, caller: 'ci', msg: 'request' })
      const log = [line('iam.groups.list'), line('native'), line('unknown'), JSON.stringify({ level: 30, msg: 'started' })].join('\n')
      expect(await replayed(await file('crosswalk.log', log))).toMatchObject({
        requests: 3,
        unreadable: 0,
        coverage: { served: 1, native: 1, unknown: 1 },
      })
    })
  })

  it('crosswalk replay refuses files that are no traffic or cannot be read', async () => {
    expect(await runCommand(['replay', await file('a.txt', 'hello\n')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('is in no format that is recognized'),
    })
    expect(await runCommand(['replay', '/nowhere.har'])).toMatchObject({ code: 2, err: expect.stringContaining('/nowhere.har') })
    expect(await runCommand(['replay', 'x', '--rows', 'many'])).toMatchObject({ code: 2 })
  })
})

describe('records that Crosswalk did not write', () => {
  const line = (members: object) =>
    `${JSON.stringify({ kind: 'traffic', caller: 'a', operation: 'iam.roles.list', mode: 'v1', calls: 1, ...members })}\n`

  it.each([
    ['a time beyond all', { kind: undefined, reqId: 'x', time: 1e300 }],
    ['requests that are none', { requests: [null] }],
    ['requests without members', { requests: [{}] }],
  ])('are read or counted as unreadable: %s', async (_, members) => {
    const path = await file('records.ndjson', line({ at: '2026-01-01T00:00:00Z' }) + line({ at: '2026-01-01T00:00:00Z', ...members }))
    for (const flags of [[], ['--guide', 'a']]) {
      const { code, err } = await runCommand(['replay', path, ...flags])
      expect([flags, code, err]).toEqual([flags, 0, ''])
    }
  })
})

describe('crosswalk replay --against', () => {
  const TOKEN = 'demo-owner'

  /** Runs the command without interrupting it. */
  async function sent(argv: readonly string[], env: Record<string, string> = { TOKEN }) {
    const [out, err]: [string[], string[]] = [[], []]
    const io = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), env, stdin: async () => '' }
    const code = await run(argv, { ...io, untilStopped: () => new Promise(() => {}), untilEscaped: () => new Promise(() => {}) })
    return { code, out: out.join('\n'), err: err.join('\n') }
  }

  const ARCHIVE = har([
    { path: `/iam/v1/groups?uidp.descendants_of=${ORG}`, token: 'recorded-token' },
    { path: `/iam/v1/groups?uidp.descendants_of=${ORG}`, token: 'recorded-token' },
    { path: `/registry/v1/repos?id=${REPO}`, token: 'recorded-token' },
    { path: '/registry/v1/repos?id=none', token: 'recorded-token' },
    { path: `/registry/v1/vuln_reports?parent_id=${REPO}` },
    { path: `/registry/v1/eoltags?page_token=abc` },
    { path: `/iam/v1/groups/${ORG}`, method: 'PUT', body: '{"name":"renamed"}' },
    { path: `/iam/v1/groups/${ORG}`, method: 'DELETE' },
    { path: '/favicon.ico' },
  ])

  const journalOf = async (url: string) => (await (await fetch(`${url}/-/journal`)).json()) as readonly { method: string }[]

  it('sends every different read to both sides, and nothing else', async () => {
    const { url } = await startQuietSandbox()
    const path = await file('traffic.har', ARCHIVE)
    const flags = ['--against', url, '--upstream-v2', url, '--rate', '1000']
    const { code, out, err } = await sent(['replay', path, ...flags, '--json'])
    expect([code, err]).toEqual([0, ''])
    const { rows, left } = JSON.parse(out)
    expect(rows.map(({ operation, outcome, v1, v2 }: Record<string, unknown>) => [operation, outcome, v1, v2])).toEqual([
      ['iam.groups.list', 'match', 200, 200],
      ['registry.repos.list', 'match', 200, 200],
      ['registry.repos.list', 'match', 200, 200],
    ])
    expect(left).toEqual({ writes: 2, forms: 0, repeated: 1, pageTokens: 1, v1Only: 1, other: 1, beyond: 0 })
    expect(new Set((await journalOf(url)).map(({ method }) => method))).toEqual(new Set(['GET']))
  })

  it('finds and records the effect of an injected bug, and exits with its code', async () => {
    const { url } = await startQuietSandbox()
    const fault = { match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'another' } }
    await fetch(`${url}/-/faults`, { method: 'POST', body: JSON.stringify(fault), headers: { 'content-type': 'application/json' } })
    const path = await file('traffic.har', ARCHIVE)
    const records = join(dirname(path), 'records.ndjson')
    const { code, out } = await sent(['replay', path, '--against', url, '--upstream-v2', url, '--rate', '1000', '--records', records])
    expect(code).toBe(1)
    expect(out).toContain('3 reads sent to both sides: 1 mismatch, 0 transient, 0 error')
    expect(out).toContain('not sent: 2 writes, which are never sent')
    expect(out).toContain('mismatch  iam.groups.list?uidp.descendants_of=root  HTTP 200 and 200  value /items/*/name')
    const written = await readFile(records, 'utf8')
    expect(written + out).not.toMatch(/demo-owner|recorded-token/)
    const { out: report } = await runCommand(['report', records])
    expect(report).toContain('outside')
    expect(report).toContain('value /items/*/name')
  })

  it('observes its limits', async () => {
    const { url } = await startQuietSandbox()
    const path = await file('traffic.har', ARCHIVE)
    const began = performance.now()
    const { out } = await sent(['replay', path, '--against', url, '--upstream-v2', url, '--rate', '10', '--max', '2', '--json'])
    expect(performance.now() - began).toBeGreaterThanOrEqual(100)
    expect(JSON.parse(out)).toMatchObject({ rows: [{}, {}], left: { beyond: 1 } })
  })

  it('sends and records nothing once it is stopped', async () => {
    const { url } = await startQuietSandbox()
    const path = await file('traffic.har', ARCHIVE)
    const records = join(dirname(path), 'records.ndjson')
    const flags = ['--against', url, '--upstream-v2', url, '--rate', '1000', '--records', records]
    expect(await runCommand(['replay', path, ...flags], { TOKEN })).toMatchObject({ code: 1, err: expect.stringContaining('aborted') })
    expect(await readFile(records, 'utf8').catch(() => '')).toBe('')
  })

  it('says what it needs', async () => {
    const path = await file('traffic.har', ARCHIVE)
    const [v1, v2] = [
      ['--against', 'http://127.0.0.1:9'],
      ['--upstream-v2', 'http://127.0.0.1:9'],
    ]
    expect(await sent(['replay', path, ...v1], {})).toMatchObject({ code: 2, err: expect.stringContaining('upstream.v2 is not set') })
    expect(await sent(['replay', path, ...v1, ...v2], {})).toMatchObject({ code: 2, err: expect.stringContaining('TOKEN is not set') })
    expect(await sent(['replay', path, ...v1, ...v2, '--rate', '0'])).toMatchObject({ code: 2, err: expect.stringContaining('--rate') })
    expect(await sent(['replay', path, ...v1, ...v2, '--max', '-1'])).toMatchObject({ code: 2, err: expect.stringContaining('--max') })
    const records = await file(
      'records.ndjson',
      '{"kind":"traffic","caller":"a","operation":"iam.groups.list","mode":"v1","calls":1,"at":"2026-01-01T00:00:00Z"}\n',
    )
    expect(await sent(['replay', records, ...v1, ...v2])).toMatchObject({ code: 1, err: expect.stringContaining('keep no values') })
  })
})
