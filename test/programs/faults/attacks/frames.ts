import { gzipSync } from 'node:zlib'
import type { Config } from '../../../../src/app/config/settings.ts'
import { startProxy } from '../../../stage/stage.ts'
import { afterwards, askBoth, type Behaviour, errorIn, type Fault, fault, inWorld, longFault, messageIn, say, serving } from '../fault.ts'
import { send } from '../fuzz/frames.ts'
import { type Given, type OpenAskers, overGrpc, overHttp1, overHttp2, overWebSocket, type Question } from '../fuzz/heads.ts'
import { type Script, startScripted } from '../fuzz/upstream.ts'
import { bytesOf, type FieldLine, FLAG, type Frame, frame, GOAWAY, headers, PREFACE, SECURE, TYPE, uint32 } from '../wire.ts'

const CANCEL = 8
const NOTHING = 0

const request = (...fields: readonly FieldLine[]): Frame => headers(1, [[':scheme', 'http'], [':authority', 'x'], ...fields])
const GRPC: FieldLine = ['content-type', 'application/grpc']

const REQUESTS: Readonly<Record<string, Frame>> = {
  'a gRPC call': request([':method', 'POST'], [':path', '/test.Echo/Unary'], GRPC),
  'a gRPC call to a path that is none': request([':method', 'POST'], [':path', '/'], GRPC),
  'a translated gRPC call': request([':method', 'POST'], [':path', '/chainguard.platform.iam.Groups/List'], GRPC),
  'a call of gRPC-Web': request(
    [':method', 'POST'],
    [':path', '/chainguard.platform.iam.Groups/List'],
    ['content-type', 'application/grpc-web'],
  ),
  'a call of Connect': request(
    [':method', 'POST'],
    [':path', '/chainguard.platform.iam.Groups/List'],
    ['content-type', 'application/json'],
  ),
  'a native upload': request([':method', 'POST'], [':path', '/iam/v2/groups']),
  'a translated write': request([':method', 'POST'], [':path', `/iam/v1/groups/${'a'.repeat(40)}`]),
  'what v1 answers': request([':method', 'POST'], [':path', '/registry/v1/vuln_reports']),
  'an extended CONNECT': request([':method', 'CONNECT'], [':protocol', 'websocket'], [':path', '/socket']),
}

/** Frames that end a stream or its connection; Node emits the request all the same. */
const ENDINGS: Readonly<Record<string, Frame>> = {
  RST_STREAM: frame(TYPE.RST_STREAM, 0, 1, uint32(CANCEL)),
  'a window of 0 for its stream': frame(TYPE.WINDOW_UPDATE, 0, 1, uint32(NOTHING)),
  'a window of 0 for all': frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(NOTHING)),
  GOAWAY,
  'a PING that is too short': frame(TYPE.PING, 0, 0, Buffer.alloc(1)),
  'SETTINGS that are too short': frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(5)),
  'a header table that is none': frame(TYPE.HEADERS, FLAG.END_HEADERS, 3, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)),
  'trailers without an end': headers(1, [['x', 'y']]),
}

/** The pairs that once ended the process. The others run in `npm run faults`. */
const QUICK = new Set(['RST_STREAM', 'a window of 0 for its stream'])

const TIMES = 3

async function onePacket(begin: Frame, end: Frame, settings: Partial<Config>): Promise<string> {
  // Some versions of Node do not close a connection after an error; this limit ends it.
  return inWorld(serving(3), { 'limits.idleTimeoutMs': 500, ...settings }, async ({ proxy }) => {
    const packet = Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), begin, end].map(bytesOf)])
    for (let nth = 0; nth < TIMES; nth += 1) await send(proxy.url, [packet], 'fin')
    return afterwards(proxy)
  })
}

/** Streams behind the GOAWAY of a connection, connections at a time, and times: together they ended the process on Node 20. */
const LATE = { streams: 100, connections: 50, times: 10 }

const endings: readonly Fault[] = Object.entries(REQUESTS).flatMap(([name, begin]) =>
  Object.entries(ENDINGS).flatMap(([ending, end]) =>
    [false, true].map((isSecure) => ({
      name: `${name} and ${ending} in one packet${isSecure ? ' over TLS' : ''}`,
      expected: 'none in flight; then 200, 3 rows',
      see: () => onePacket(begin, end, isSecure ? SECURE : {}),
      ...((isSecure || !QUICK.has(ending) || name.startsWith('a call of')) && { full: true as const }),
    })),
  ),
)

export const frameAttacks: readonly Fault[] = [
  ...endings,
  longFault('requests behind a GOAWAY, in one packet on many connections', 'none in flight; then 200, 3 rows', () =>
    inWorld(serving(3), {}, async ({ proxy }) => {
      const fields: readonly FieldLine[] = [
        [':method', 'GET'],
        [':path', '/iam/v1/groups'],
        [':scheme', 'http'],
        [':authority', 'x'],
      ]
      const late = Array.from({ length: LATE.streams }, (_, nth) => headers(2 * nth + 1, fields, FLAG.END_STREAM | FLAG.END_HEADERS))
      const packet = Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), GOAWAY, ...late].map(bytesOf)])
      for (let nth = 0; nth < LATE.times; nth += 1) {
        await Promise.all(Array.from({ length: LATE.connections }, () => send(proxy.url, [packet], 'fin')))
      }
      return afterwards(proxy)
    }),
  ),
]

interface Reader {
  readonly name: string
  readonly open: OpenAskers
  readonly settings: Partial<Config>
}

const READERS: readonly Reader[] = [
  { name: 'HTTP/1.1', open: overHttp1, settings: {} },
  { name: 'HTTP/2', open: overHttp2, settings: {} },
  { name: 'HTTP/1.1 over TLS', open: overHttp1, settings: SECURE },
  { name: 'HTTP/2 over TLS', open: overHttp2, settings: SECURE },
]
const isHttp2 = ({ name }: Reader) => name.startsWith('HTTP/2')
const CALLERS = READERS.filter(isHttp2).map((reader) => ({ ...reader, open: overGrpc }))
const SHAKERS = READERS.filter((reader) => !isHttp2(reader)).map((reader) => ({ ...reader, open: overWebSocket }))

/** Gives every reader the same head, then a good answer. */
async function given(readers: readonly Reader[], path: string, script: Script, tell: (given: Given) => string): Promise<string> {
  const said = new Map<string, string[]>()
  for (const { name, open, settings } of readers) {
    const service = await startScripted()
    const proxy = await startProxy({ 'upstream.v2': service.url, 'upstream.v1': service.url, 'fallback.perMinute': 0, ...settings })
    const [asker] = open(proxy.url, 1)
    const [key, later] = [service.newKey(), service.newKey()]
    service.play(key, script)
    const question: Omit<Question, 'key'> = { method: 'GET', path, body: '' }
    const odd = await asker?.ask({ ...question, key })
    const good = await asker?.ask({ ...question, key: later })
    const line = `${odd && tell(odd)}, then ${good?.status}`
    said.set(line, [...(said.get(line) ?? []), name])
    asker?.close()
    await proxy.close()
    await service.close()
  }
  if (said.size === 1) return [...said.keys()].join()
  return [...said].map(([line, names]) => `${names.join(' and ')}: ${line}`).join('; ')
}

const BODY = '{"groups":[],"items":[]}'
const head = (line: string, fields = ''): Script => ({
  pieces: [Buffer.from(`${line}\r\n${fields}content-length: ${BODY.length}\r\n\r\n${BODY}`, 'latin1')],
  afterwards: 'keep',
  early: false,
  delayMs: 0,
})

const twice = (field: string) => head('HTTP/1.1 200 OK', `${field}\r\n${field}\r\n`)

const countOf =
  (name: string) =>
  ({ status, type, body, text }: Given) =>
    status === 200 ? `200 with ${text.split('\n').filter((line) => line.startsWith(`${name}:`)).length}` : errorOf(status, type, body)

const errorOf = (status: number, type: string | undefined, body: string) => `${status}/${errorIn(body, type)}`
const statusOf = ({ status, type, body }: Given) => (status < 400 ? `${status}` : errorOf(status, type, body))

const grpcStatusOf = ({ status, text }: Given) => (status === 0 ? 'reset' : `${status}, gRPC ${/^grpc-status: (\d+)$/m.exec(text)?.[1]}`)

/** Fields that HTTP/2 allows only once, and how often a client of a translated answer sees them. */
const SINGLE: readonly (readonly [field: string, translated: number])[] = [
  ['content-type: application/json', 1],
  ['etag: "a"', 0],
  ['date: now', 1],
  ['x-content-type-options: nosniff', 0],
  ['access-control-allow-credentials: true', 0],
]

/** Status lines, and their results natively, from v1, and translated. */
const ODD_LINES: readonly (readonly [line: string, native: string, v1: string, translated: string])[] = [
  ['HTTP/1.1 000 x', '502/13', '500/13', '503/14'],
  ['HTTP/1.1 099 x', '502/13', '500/13', '503/14'],
  ['HTTP/1.1 101 x', '502/13', '500/13', '503/14'],
  ['HTTP/1.1 600 x', '502/13', '500/13', '500/13'],
  ['HTTP/1.1 999 x', '502/13', '500/13', '500/13'],
  ['HTTP/1.1 200 a\x01b', '200', '200', '200'],
]

const NATIVE = '/iam/v2/groups'
const V1 = '/registry/v1/vuln_reports'
const TRANSLATED = '/iam/v1/groups'

const show = (text: string) => JSON.stringify(text.replace('HTTP/1.1 ', ''))

const call = (fields: readonly FieldLine[], trailers: readonly FieldLine[]): Script => ({
  frames: [headers(1, fields), frame(TYPE.DATA, 0, 1, Buffer.alloc(5)), headers(1, trailers, FLAG.END_HEADERS | FLAG.END_STREAM)],
})

const GOOD: readonly FieldLine[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
]
const DONE: readonly FieldLine[] = [['grpc-status', '0']]
const SETTINGS: FieldLine = ['http2-settings', 'AA']
const CALL = '/test.Echo/Unary'

/**
 * A status that is no number resets the stream. In newer versions of nghttp2, so does every number below 100.
 * Clients read the reset as INTERNAL.
 */
const ODD_STATUSES: readonly (readonly [status: string, ...expected: readonly string[]])[] = [
  ['600', '200, gRPC 13'],
  ['999', '200, gRPC 13'],
  ['099', '200, gRPC 13', 'reset'],
  ['000', '200, gRPC 13', 'reset'],
  ['1xx', 'reset'],
  ['', 'reset'],
]

/** On the native carrier each of them ended the process. The other carriers run in `npm run faults`. */
function headsTo(path: string): readonly Fault[] {
  const faults: readonly Fault[] = [
    ...SINGLE.map(([field, translated]) =>
      fault(`${field.split(':')[0]} twice in an answer to ${path}`, `200 with ${path === TRANSLATED ? translated : 1}, then 200`, () =>
        given(READERS.filter(isHttp2), path, twice(field), countOf(field.split(':')[0] ?? '')),
      ),
    ),
    ...ODD_LINES.map(([line, native, v1, translated]) =>
      fault(`an answer ${show(line)} to ${path}`, `${{ [NATIVE]: native, [V1]: v1, [TRANSLATED]: translated }[path]}, then 200`, () =>
        given(READERS, path, head(line), statusOf),
      ),
    ),
    fault(`http2-settings in an answer to ${path}`, '200 with 0, then 200', () =>
      given(READERS, path, head('HTTP/1.1 200 OK', 'http2-settings: AA\r\n'), countOf('http2-settings')),
    ),
  ]
  return path === NATIVE ? faults : faults.map((fault) => ({ ...fault, full: true as const }))
}

/** Answers that a parser accepts and a writer refuses: each ended the process. */
export const headAttacks: readonly Fault[] = [
  ...[NATIVE, V1, TRANSLATED].flatMap(headsTo),
  ...ODD_LINES.filter(([line]) => !line.includes('101')).map(([line, native]) =>
    fault(`an answer ${show(line)} to a WebSocket handshake`, `${native}, then 101`, () => given(SHAKERS, '/socket', head(line), statusOf)),
  ),
  ...ODD_STATUSES.map(([status, ...expected]) =>
    fault(
      `:status ${JSON.stringify(status)} in an answer to a gRPC call`,
      expected.map((one) => `${one}, then 200`),
      () => given(CALLERS, CALL, call([[':status', status], ...GOOD.slice(1)], DONE), grpcStatusOf),
    ),
  ),
  fault('http2-settings in the head of an answer to a gRPC call', '200, gRPC 0, then 200', () =>
    given(CALLERS, CALL, call([...GOOD, SETTINGS], DONE), grpcStatusOf),
  ),
  fault('http2-settings in the trailers of an answer to a gRPC call', '200, gRPC 0, then 200', () =>
    given(CALLERS, CALL, call(GOOD, [...DONE, SETTINGS]), grpcStatusOf),
  ),
]

const THOUSANDS = 3000

/** The depth up to which an answer is really packed; no decoder reaches the end of thousands. */
const DEEPEST = 100

const named = (count: number) => Array.from({ length: count }, () => 'gzip').join()

const packed = (count: number) =>
  Array.from({ length: count }).reduce((bytes: Buffer) => gzipSync(bytes, { level: 1 }), Buffer.from('{"groups":[]}'))

/** Answers in this many codings, all named in one header or each in its own. */
const coded = (count: number, inOne = true): Behaviour => {
  const body = packed(Math.min(count, DEEPEST))
  return (_, response) => {
    response.setHeader('content-encoding', inOne ? named(count) : named(count).split(','))
    response.end(body)
  }
}

const readOf = (behaviour: Behaviour) =>
  inWorld(behaviour, { 'upstream.v1': undefined }, async ({ proxy, upstream }) => {
    const answers = await askBoth(proxy.url, { target: '/iam/v1/groups' })
    const said = answers.map((answer) => (answer?.status === 200 ? say(answer) : `${say(answer)} ${answer && messageIn(answer)}`))
    return `${[...new Set(said)].join(' and ')}; ${upstream.seen.length} calls`
  })

/** Returns the answers to a write in so many codings, and the body that arrives where it is passed on. */
async function codedRequests(): Promise<string> {
  const body = packed(20)
  return inWorld(serving(0), {}, async ({ proxy, upstream }) => {
    const headers = { 'content-encoding': named(THOUSANDS) }
    const ask = (target: string) => askBoth(proxy.url, { method: 'POST', target, headers, body })
    const translated = await ask('/iam/v1/groups/abc')
    const before = upstream.seen.length
    const passed = [...(await ask('/registry/v1/repos/abc:checkPolicies')), ...(await ask('/iam/v2/groups/abc'))]
    const whole = upstream.seen.filter((seen) => seen.headers['content-encoding'] === named(THOUSANDS) && seen.body === body.toString())
    return `translated ${translated.map(say).join()}, ${before} passed on; native and v1 ${passed.map(say).join()}, ${whole.length} untouched`
  })
}

const TOO_MANY = '500/13 the v2 service sent an answer in more than 5 content codings; 2 calls'

export const codingAttacks: readonly Fault[] = [
  fault('an answer of v2 in five content codings', '200, 0 rows; 2 calls', () => readOf(coded(5))),
  fault('an answer of v2 in two headers of one coding each', '200, 0 rows; 2 calls', () => readOf(coded(2, false))),
  fault('an answer of v2 in thousands of content codings', TOO_MANY, () => readOf(coded(THOUSANDS))),
  fault('an answer of v2 in six headers of one coding each', TOO_MANY, () => readOf(coded(6, false))),
  fault(
    'a request in thousands of content codings',
    'translated 400/3,400/3, 0 passed on; native and v1 200,200,200,200, 4 untouched',
    codedRequests,
  ),
]
