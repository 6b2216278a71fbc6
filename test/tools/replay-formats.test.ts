import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { Ajv, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import { identify } from '../../src/serve/request.ts'
import { junitText } from '../../src/tools/markup.ts'
import { againstJunit, againstSarif } from '../../src/tools/replay/against.ts'
import { chosenReader } from '../../src/tools/replay/formats.ts'
import { type Item, readTraffic } from '../../src/tools/replay/traffic.ts'
import { runCommand } from '../app/cli/support.ts'
import { file, logLine } from './replay-files.ts'

/** Returns the schema of an object with these members and no other. */
const closed = (required: readonly string[], properties: object) => ({ type: 'object', required, properties, additionalProperties: false })

/** A text that is not empty. */
const text = { type: 'string', minLength: 1 }
const level = { enum: ['none', 'note', 'warning', 'error'] }

/** A message is a text here. It has no other form. */
const message = closed(['text'], { text })

/** A rule. */
const rule = closed(['id'], { id: text, shortDescription: message, defaultConfiguration: closed([], { level }) })

/** A place in a file, and a place in what the file tells. */
const location = closed([], {
  // A URI reference. A space in it is written as %20.
  physicalLocation: closed(['artifactLocation'], {
    artifactLocation: closed(['uri'], { uri: { ...text, format: 'uri-reference' } }),
    region: closed([], { startLine: { type: 'integer', minimum: 1 } }),
  }),
  logicalLocations: { type: 'array', uniqueItems: true, items: closed([], { fullyQualifiedName: text, kind: text }) },
})

/** A finding. */
const result = closed(['message'], {
  ...{ ruleId: text, ruleIndex: { type: 'integer', minimum: 0 }, level, message },
  occurrenceCount: { type: 'integer', minimum: 1 },
  locations: { type: 'array', items: location },
  partialFingerprints: { type: 'object', additionalProperties: text },
})

/** SARIF 2.1.0 (OASIS), as far as Crosswalk writes it. It is stricter than the standard: a member that is not written is unknown. */
const SARIF = closed(['version', 'runs'], {
  $schema: { ...text, format: 'uri' },
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    items: closed(['tool'], {
      tool: closed(['driver'], { driver: closed(['name'], { name: text, rules: { type: 'array', uniqueItems: true, items: rule } }) }),
      results: { type: 'array', items: result },
    }),
  },
})

describe('formats', () => {
  const AT = Date.UTC(2026, 9, 10, 13, 55, 36)
  const GET = { method: 'GET', url: '/iam/v1/groups?limit=5', headers: {}, status: 200, at: AT, client: '192.0.2.7' }

  /** Reads traffic with the flags of a person. */
  async function read(text: string | Uint8Array, { format, fields }: { format?: string; fields?: string } = {}) {
    const reader = chosenReader(format, fields)
    if (reader && 'problem' in reader) throw new Error(reader.problem)
    const bytes = (async function* () {
      yield Buffer.from(text)
    })()
    const traffic = await readTraffic('stdin', reader, bytes)
    const items: Item[] = []
    for await (const item of traffic.items) items.push(item)
    return { format: traffic.format, items, unreadable: traffic.unreadable(), lines: traffic.unreadableLines() }
  }

  const json = (...lines: unknown[]) => lines.map((line) => JSON.stringify(line)).join('\n')

  const TRAEFIK = {
    ClientAddr: '192.0.2.7:55012',
    ClientHost: '192.0.2.7',
    ClientUsername: '-',
    DownstreamStatus: 200,
    RequestMethod: 'GET',
    RequestPath: '/iam/v1/groups?limit=5',
    StartUTC: '2026-10-10T13:55:36Z',
    level: 'info',
    msg: '',
    time: '2026-10-10T13:55:37Z',
  }

  const KONG = {
    request: { method: 'GET', uri: '/iam/v1/groups', querystring: { limit: '5' }, headers: { authorization: 'REDACTED' } },
    response: { status: 200 },
    client_ip: '192.0.2.7',
    started_at: AT,
  }

  const ISTIO = {
    method: 'GET',
    path: '/iam/v1/groups?limit=5',
    response_code: 200,
    start_time: '2026-10-10T13:55:36.000Z',
    downstream_remote_address: '192.0.2.7:1234',
    'x-forwarded-for': '-',
  }

  const ENVOY = '"GET /iam/v1/groups?limit=5 HTTP/2" 200 - '
  const ENVOY_END = '0 226 100 99 "192.0.2.7, 198.51.100.9" "curl" "id" "api.example.com" "10.0.2.1:80"'
  const ALB_END = '"curl/8.5.0" ECDHE TLSv1.2 arn:aws:x "Root=1-5" "api.example.com" "session-reused"'

  describe('a log', () => {
    it.each([
      [
        'access-log',
        '192.0.2.7 - - [10/Oct/2026:15:55:36 +0200] "GET /iam/v1/groups?limit=5 HTTP/1.1" 200 512 "-" "-" 7 "r@docker" "http://10.0.0.1" 5ms',
      ],
      ['access-log', '192.0.2.7 - - [10/Oct/2026:15:55:36 +0200] "GET /iam/v1/groups?limit=5 HTTP/1.1" 200 - '],
      ['traefik', json(TRAEFIK)],
      ['kong', json(KONG)],
      ['kong', json([KONG])],
      ['envoy-json', json(ISTIO)],
      ['envoy-json', json({ ...ISTIO, 'x-forwarded-for': '192.0.2.7,10.0.0.1' })],
      ['envoy', `[2026-10-10T13:55:36.000Z] ${ENVOY}${ENVOY_END}`],
      ['envoy', `[2026-10-10T13:55:36.000Z] ${ENVOY}via_upstream - "-" ${ENVOY_END} outbound|80||x 10.0.0.1:4 - - default`],
      [
        'alb',
        `https 2026-10-10T13:55:36.000000Z app/lb/50dc 192.0.2.7:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://api.example.com:443/iam/v1/groups?limit=5 HTTP/1.1" ${ALB_END}`,
      ],
    ])('is recognized as %s: %s', async (format, text) => {
      expect(await read(`\n${text}\nnonsense\n`)).toEqual({ format, items: [GET], unreadable: 1, lines: [3] })
    })

    it('is in no known format', async () => {
      for (const text of ['hello', '{"msg":"request completed","pid":1,"req":{"url":"/"}}', '']) {
        await expect(read(text)).rejects.toThrow(/^stdin is in no format that is recognized\. The formats are har .* kong .* --fields/)
      }
    })

    it('keeps no credential as a client', async () => {
      const line = json({ m: 'GET', p: '/x', auth: 'Bearer HIDDEN-token' })
      const { items } = await read(line, { fields: 'method=m, path=p, client=auth' })
      expect(items).toEqual([{ method: 'GET', url: '/x', headers: {}, client: identify('Bearer HIDDEN-token').caller }])
    })

    it('has requests whose answer did not begin', async () => {
      const { items } = await read(`[2026-10-10T13:55:36.000Z] "GET /x HTTP/2" 0 DC ${ENVOY_END}`)
      expect(items).toEqual([{ method: 'GET', url: '/x', headers: {}, client: '192.0.2.7', at: AT }])
    })
  })

  describe('lines of JSON', () => {
    const line = { req: { method: 'POST', url: 'https://a.test/x?y=1' }, 'res.status': '201', type: 'application/json' }

    it('are read by the names of their members', async () => {
      expect(await read(json(line), { fields: 'method=req.method,path=req.url,status=res.status,type=type' })).toMatchObject({
        format: 'json',
        items: [{ method: 'POST', url: '/x?y=1', status: 201, headers: { 'content-type': 'application/json' } }],
      })
    })

    it('may have a request line and several names of a member', async () => {
      const text = json({ r: 'GET /x HTTP/1.1', b: 'ci' }, { r: 'GET /y HTTP/1.1', a: 'web' }, { r: 'nothing' })
      const { items, unreadable } = await read(text, { fields: 'request=r,client=a,client=b' })
      expect({ clients: items.map(({ client }) => client), unreadable }).toEqual({ clients: ['ci', 'web'], unreadable: 1 })
    })

    it.each([1_791_640_536, 1_791_640_536.25, 1_791_640_536_250, 1_791_640_536_250_000, 1_791_640_536_250_000_000, '2026-10-10T13:55:36Z'])(
      'tell a time as %j',
      async (time) => {
        const { items } = await read(json({ m: 'GET', p: '/x', time }), { fields: 'method=m,path=p,time=time' })
        expect(Math.floor((items[0]?.at ?? 0) / 1000)).toBe(Math.floor(Date.UTC(2026, 9, 10, 13, 55, 36) / 1000))
      },
    )

    it.each([
      ['method', '--fields must be pairs such as'],
      ['methd=m', '--fields must be pairs such as'],
      ['status=s', '--fields must name method and path, or request'],
    ])('need names: %s', (fields, problem) => {
      expect(chosenReader(undefined, fields)).toEqual({ problem: expect.stringContaining(problem) })
    })
  })

  describe('a format of nginx', () => {
    const COMBINED = '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"'

    it.each([
      [COMBINED, '192.0.2.7 - - [10/Oct/2026:15:55:36 +0200] "GET /iam/v1/groups?limit=5 HTTP/1.1" 200 512 "-" "a \\"b\\" c"'],
      [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: nginx has braces too.
        '$msec|${request_method}|$uri|$args|$status|$http_x_forwarded_for',
        '1791640536.000|GET|/iam/v1/groups|limit=5|200|192.0.2.7, 10.0.0.1',
      ],
      [
        'time=$time_iso8601 req="$request" st=$status ip=$remote_addr rt=$request_time',
        'time=2026-10-10T15:55:36+02:00 req="GET /iam/v1/groups?limit=5 HTTP/2.0" st=200 ip=192.0.2.7 rt=0.1',
      ],
    ])('reads %s', async (format, text) => {
      expect(await read(`${text}\nother\n`, { format })).toEqual({ format: 'nginx', items: [GET], unreadable: 1, lines: [2] })
    })

    it.each([
      ['$request$status', '$request and $status have no text between them'],
      ['$status $request_method', '$request or $request_uri is missing'],
      ['$status $uri', '$request or $request_method is missing'],
      ['ngnix', 'The formats are har'],
      ['enovy', 'did you mean "envoy"?'],
    ])('must be readable: %s', (format, problem) => {
      expect(chosenReader(format, undefined)).toEqual({ problem: expect.stringContaining(problem) })
    })

    it('takes as long as the line, whatever the line is', async () => {
      const line = `192.0.2.7 - - [${'" "'.repeat(300_000)}`
      const { unreadable } = await read(`${line}\n${line}`, { format: COMBINED })
      expect(unreadable).toBe(2)
    })
  })

  describe('traffic', () => {
    const lines = Array.from({ length: 60 }, (_, at) => logLine(at, 'ci', 'GET /iam/v1/groups HTTP/1.1')).join('\n')

    it('may be packed, in several parts, under any name', async () => {
      const path = await file('access.log', '')
      await writeFile(path, Buffer.concat([gzipSync(`${lines}\n`), gzipSync(lines)]))
      const { code, out } = await runCommand(['replay', path])
      expect([code, out.split('\n')[0]]).toEqual([0, expect.stringContaining('120 requests')])
    })

    it('says that a packed file is torn', async () => {
      await expect(read(gzipSync(lines).subarray(0, -20))).rejects.toThrow('stdin is gzip, but not whole: its end is missing or damaged.')
    })

    it('comes from standard input', async () => {
      const { code, out } = await runCommand(['replay', '-'], {}, `${lines}\ntorn`)
      expect([code, out.split('\n')[0]]).toEqual([0, expect.stringMatching(/^60 requests, .*, 1 line not readable \(line 61\)$/)])
    })

    it('may have a line beyond every bound', async () => {
      const long = Buffer.from(`${lines}\n${logLine(1, 'ci', `GET /iam/v1/groups?x=${'a'.repeat(3_000_000)} HTTP/1.1`)}\n${lines}\n`)
      const { items, unreadable } = await read(long)
      expect([items.length, unreadable]).toEqual([120, 1])
    })

    it('may begin with a longer line than a file has in one piece', async () => {
      const { format, items } = await readTraffic(await file('kong.log', json(Array(400).fill(KONG), KONG)))
      let count = 0
      for await (const item of items) count += Number('url' in item)
      expect([format, count]).toEqual(['kong', 401])
    })

    it('is no archive of more than 2^28 characters', async () => {
      const piece = Buffer.alloc(2 ** 24, ' ')
      const bytes = (async function* () {
        yield Buffer.from('{"log":{"entries":[')
        for (;;) yield piece
      })()
      await expect(readTraffic('stdin', undefined, bytes)).rejects.toThrow(
        'stdin is an archive of more than 268435456 characters; split it',
      )
    })

    it('is an archive if --format says so, whatever it begins with', async () => {
      const entries = [{ request: { method: 'GET', url: 'https://v1.test/iam/v1/groups' } }]
      const { format, items } = await read(JSON.stringify({ comment: '', log: { entries } }), { format: 'har' })
      expect([format, items.map((item) => 'url' in item && item.url)]).toEqual(['har', ['/iam/v1/groups']])
    })

    it('is described once', async () => {
      expect(await runCommand(['replay', '-', '--format', 'alb', '--fields', 'request=r'])).toMatchObject({
        code: 2,
        err: '--format and --fields describe the same lines; give one of them.',
      })
    })
  })

  describe('a hostile line', () => {
    const KONG_LINE = (query: string) => `{"request":{"method":"GET","uri":"/iam/v1/groups","querystring":{"a":${query}}},"started_at":1}`

    it.each([
      ['an object in the place of a value', KONG_LINE('{"toString":1,"valueOf":1}')],
      ['a list of very many levels', KONG_LINE(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)],
    ])('with %s is read or counted as unreadable', async (_, line) => {
      const { items, unreadable } = await read(`${KONG_LINE('"b"')}\n${line}\n`)
      expect(items.length + unreadable).toBe(2)
    })

    it.each([
      { kind: 'traffic', operation: 'iam.groups.list', at: { toString: 1, valueOf: 1 }, calls: 1 },
      { kind: 'traffic', operation: 'iam.groups.list', at: '2026-01-01T00:00:00Z', calls: 1e308 },
      { kind: 'traffic', operation: 'iam.groups.list', at: '2026-01-01T00:00:00Z', calls: -1 },
    ])('of records is read or counted as unreadable: %j', async (line) => {
      const good = { kind: 'traffic', caller: 'a', operation: 'iam.groups.list', mode: 'v1', at: '2026-01-01T00:00:00Z', calls: 3 }
      const { items, unreadable } = await read(`${JSON.stringify(good)}\n${JSON.stringify(line)}\n`)
      expect(items.length + unreadable).toBe(2)
      expect(items.every((item) => !('times' in item) || Number.isSafeInteger(item.times))).toBe(true)
    })
  })
})

describe('sarif', () => {
  let isValid: ValidateFunction

  beforeAll(() => {
    const ajv = new Ajv()
    addFormats.default(ajv)
    isValid = ajv.compile(SARIF)
  })

  interface Log {
    readonly runs: readonly [{ readonly results: readonly Result[] }]
  }

  interface Result {
    readonly ruleId: string
    readonly level: string
    readonly occurrenceCount: number
    readonly locations: readonly { readonly logicalLocations: readonly { readonly fullyQualifiedName: string }[] }[]
  }

  const left = { writes: 0, forms: 0, repeated: 0, pageTokens: 0, v1Only: 0, other: 0, beyond: 0 }

  const told = ({ runs: [{ results }] }: Log) =>
    results.map((one) => [one.ruleId, one.level, one.occurrenceCount, one.locations[0]?.logicalLocations[0]?.fullyQualifiedName])

  describe('the findings in SARIF', () => {
    it('tell what is not served and which differences to expect, per operation', async () => {
      const path = await file(
        'access log.txt',
        [
          logLine(1, 'ci', 'GET /registry/v1/vuln_reports HTTP/1.1'),
          logLine(2, 'ci', 'GET /registry/v1/vuln_reports HTTP/1.1'),
          logLine(3, 'ci', 'GET /iam/v1/gruops HTTP/1.1', 404),
          logLine(4, 'ci', 'GET /iam/v1/groups?limit=ten HTTP/1.1', 400),
        ].join('\n'),
      )
      const target = await file('findings.sarif', '')
      const { code, out } = await runCommand(['replay', path, '--sarif', target])
      const log = JSON.parse(readFileSync(target, 'utf8'))
      isValid(log)
      expect({ code, wrong: isValid.errors, last: out.split('\n').at(-1) }).toEqual({ code: 0, wrong: null, last: `written to ${target}` })
      const found = told(log)
      expect(found).toContainEqual(['v1-only', 'warning', 2, 'registry.vuln_reports.list'])
      expect(found).toContainEqual(['unknown', 'warning', 1, 'GET /iam/v1/gruops'])
      expect(found).toContainEqual(['refused', 'warning', 1, 'iam.groups.list'])
      expect(found.some(([, level, , operation]) => level === 'note' && operation === 'iam.groups.list')).toBe(true)
    })

    it.each([
      ['no message', { message: undefined }],
      ['an unknown level', { level: 'fatal' }],
      ['a count of none', { occurrenceCount: 0 }],
      ['a rule below the first', { ruleIndex: -1 }],
      ['an unknown member', { severity: 'high' }],
      ['a place that is no URI', { locations: [{ physicalLocation: { artifactLocation: { uri: 'access log.txt' } } }] }],
      ['a line before the first', { locations: [{ physicalLocation: { artifactLocation: { uri: 'a' }, region: { startLine: 0 } } }] }],
    ])('would be noticed with %s', (_, change) => {
      const row = { operation: 'iam.roles.list', shape: 's', v1: 200, v2: 200, differences: ['value /items/*/name'] }
      const log = JSON.parse(JSON.stringify(againstSarif({ rows: [{ ...row, outcome: 'mismatch' }], left }, 'stdin')))
      expect(isValid(log)).toBe(true)
      const [run] = log.runs
      const results = [{ ...run.results[0], ...change }]
      expect(isValid(JSON.parse(JSON.stringify({ ...log, runs: [{ ...run, results }] })))).toBe(false)
    })

    it('name a file whose name has the marks of a query and a fragment', () => {
      const row = { operation: 'iam.roles.list', shape: 's', v1: 200, v2: 200, differences: [], outcome: 'mismatch' as const }
      const left = { writes: 0, forms: 0, repeated: 0, pageTokens: 0, v1Only: 0, other: 0, beyond: 0 }
      expect(JSON.stringify(againstSarif({ rows: [row], left }, 'logs/access #1?.log'))).toContain('"uri":"logs/access%20%231%3F.log"')
    })

    it('tell what differed when reads were sent', () => {
      const row = { operation: 'iam.roles.list', shape: 's', v1: 200, v2: 200, differences: ['value /items/*/name'] }
      const log = againstSarif(
        {
          rows: [
            { ...row, outcome: 'mismatch' },
            { ...row, outcome: 'mismatch', differences: ['missing /items/*/id'] },
            { ...row, outcome: 'match', differences: [] },
            { ...row, outcome: 'inconclusive', differences: [], reason: 'too long' },
          ],
          left,
        },
        'stdin',
      )
      isValid(log)
      expect(isValid.errors).toBeNull()
      expect(told(log as unknown as Log)).toEqual([
        ['mismatch', 'error', 2, 'iam.roles.list'],
        ['inconclusive', 'note', 1, 'iam.roles.list'],
      ])
      expect(JSON.stringify(log)).toContain('2 reads of iam.roles.list: value /items/*/name, missing /items/*/id')
    })
  })

  it('tells CI every read that was sent, as JUnit', async () => {
    const row = { operation: 'iam.roles.list', shape: 'iam.roles.list?name=<&"', v1: 200, v2: 200 }
    const cases = againstJunit({
      rows: [
        { ...row, outcome: 'match', differences: [] },
        { ...row, outcome: 'mismatch', differences: ['value /items/*/name\u0000'] },
        { ...row, outcome: 'race', differences: [], reason: 'a write came between' },
      ],
      left,
    })
    expect(cases.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'skipped'])
    const text = junitText('crosswalk replay', cases)
    expect(text).toContain('<testsuite name="crosswalk replay" tests="3" failures="1" errors="0" skipped="1">')
    expect(text).toContain(
      'name="iam.roles.list?name=&lt;&amp;&quot;"><failure message="mismatch: HTTP 200 and 200, value /items/*/name\ufffd"/>',
    )
    expect(againstJunit({ rows: [], left })).toEqual([expect.objectContaining({ outcome: 'failed' })])
    expect(await runCommand(['replay', 'x', '--junit', 'y'])).toMatchObject({ code: 2, err: expect.stringContaining('--against') })
  })
})
