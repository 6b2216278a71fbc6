import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { identify } from '../../src/serve/caller.ts'
import { chosenReader } from '../../src/tools/replay/formats.ts'
import { type Item, readTraffic } from '../../src/tools/replay/traffic.ts'
import { runCommand } from '../cli/support.ts'
import { file, logLine } from './files.ts'

const AT = Date.UTC(2026, 9, 10, 13, 55, 36)
const GET = { method: 'GET', url: '/iam/v1/groups?limit=5', headers: {}, status: 200, at: AT, client: '192.0.2.7' }

/** Reads traffic with the flags of a person. */
async function read(text: string | Uint8Array, { format, fields }: { format?: string; fields?: string } = {}) {
  const reader = chosenReader(format, fields)
  if (reader && 'problem' in reader) throw new Error(reader.problem)
  const bytes = (async function* () {
    yield Buffer.from(text)
  })()
  const traffic = await readTraffic({ name: 'stdin', bytes }, reader)
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

  it('is no archive of more than 2^28 characters', async () => {
    const piece = Buffer.alloc(2 ** 24, ' ')
    const bytes = (async function* () {
      yield Buffer.from('{"log":{"entries":[')
      for (;;) yield piece
    })()
    await expect(readTraffic({ name: 'stdin', bytes })).rejects.toThrow('stdin is an archive of more than 268435456 characters; split it')
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
    const good = { kind: 'traffic', operation: 'iam.groups.list', at: '2026-01-01T00:00:00Z', calls: 3 }
    const { items, unreadable } = await read(`${JSON.stringify(good)}\n${JSON.stringify(line)}\n`)
    expect(items.length + unreadable).toBe(2)
    expect(items.every((item) => !('times' in item) || Number.isSafeInteger(item.times))).toBe(true)
  })
})
