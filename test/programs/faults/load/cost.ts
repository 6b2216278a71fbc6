import http2 from 'node:http2'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { listening } from '../../../stage/programs.ts'
import { connect2, fetch2, startUpstream } from '../../../stage/upstream.ts'
import { type Fault, listOf } from '../fault.ts'
import { askProbe, type Child, metric, program, serve } from '../process/child.ts'
import { grpcFrame } from '../wire.ts'

/** Bytes: the defaults of `limits.requestBytes`, `limits.messageBytes` and `limits.answerBytes`. */
const REQUEST = 2 ** 20
const MESSAGE = 100 * 2 ** 20
const ANSWER = 64 * 2 ** 20

/** Milliseconds of the core, and of those in the longest turn of its event loop. */
interface Cost {
  readonly cpuMs: number
  readonly stallMs: number
}

/** What a request of a stranger may cost, and how long an answer of an upstream may keep others waiting. */
const OF_A_BODY: Cost = { cpuMs: 20, stallMs: 20 }
const OF_A_MESSAGE: Cost = { cpuMs: 4000, stallMs: 50 }
const OF_A_PAGE: Cost = { cpuMs: 5000, stallMs: 50 }
const OF_A_COMPARISON: Cost = { cpuMs: 5000, stallMs: 50 }

const PROBE = ['--import', program('../load/cost-probe.js')]

type Least = Cost & { readonly said: string }

/** Tries until the least cost is at most `most`, after one that does not count: other programs use the machine as well. */
async function least(child: Child, tries: number, most: Cost, ask: () => Promise<string>): Promise<Least> {
  let said = await ask()
  let [cpuMs, stallMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let at = 0; at < tries || (at < 4 * tries && (cpuMs > most.cpuMs || stallMs > most.stallMs)); at += 1) {
    await askProbe<Cost>(child, 'cost')
    said = await ask()
    const seen = await askProbe<Cost>(child, 'cost')
    cpuMs = Math.min(cpuMs, seen.cpuMs)
    stallMs = Math.min(stallMs, seen.stallMs)
  }
  return { said, cpuMs, stallMs }
}

function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.of(number * 8 + 2), varint(bytes.length), bytes])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
  return Buffer.of(...bytes, left)
}

const filled = (size: number, piece: Buffer) => Buffer.alloc(Math.floor(size / piece.length) * piece.length, piece)
const text = (size: number, piece: string) => filled(size, Buffer.from(piece))

interface Body {
  readonly path: string
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const UID = 'a'.repeat(40)
const GROUPS = '/chainguard.platform.iam.Groups'
const V2_GROUPS = '/chainguard.platform.iam.v2.GroupsService'
const GRPC = { 'content-type': 'application/grpc', te: 'trailers' }
const JSON_TYPE = { 'content-type': 'application/json' }
const PROTO = { 'content-type': 'application/proto' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' }

/** Room for what stands around a value. */
const INSIDE = REQUEST - 200
const grpc = (path: string, message: Buffer): Body => ({ path, headers: GRPC, body: grpcFrame(0, message) })
const connect = (path: string, json: string): Body => ({ path, headers: JSON_TYPE, body: Buffer.from(json) })
const rest = (json: string, path = `/iam/v1/groups/${UID}`, method: Body['method'] = 'POST'): Body => ({
  path,
  method,
  headers: JSON_TYPE,
  body: Buffer.from(json),
})
const form = (body: string): Body => ({ path: '/registry/v1/repos', headers: FORM, body: Buffer.from(body) })
const many = (piece: string, size = INSIDE) => piece.repeat(Math.floor(size / Buffer.byteLength(piece)))
const id = (piece: string) => field(1, text(INSIDE, piece))

const BODIES: Readonly<Record<string, Body>> = {
  'an id of slashes over gRPC': grpc(`${GROUPS}/Delete`, id('/')),
  'an id of short segments over gRPC': grpc(`${GROUPS}/Delete`, id('a/')),
  'an id that climbs over gRPC': grpc(`${GROUPS}/Delete`, id('../')),
  'an id of percent signs over gRPC': grpc(`${GROUPS}/Delete`, id('%')),
  'an id of letters that are encoded over gRPC': grpc(`${GROUPS}/Delete`, id('€')),
  'an id of slashes over Connect': connect(`${GROUPS}/Delete`, `{"id":"${many('/')}"}`),
  'an id of slashes over gRPC-Web': { ...grpc(`${GROUPS}/Delete`, id('/')), headers: { 'content-type': 'application/grpc-web' } },
  'a filter over gRPC': grpc(`${GROUPS}/List`, field(1, text(INSIDE, '%'))),
  'a filter of letters that are encoded over gRPC': grpc(`${GROUPS}/List`, field(1, text(INSIDE, '€'))),
  'empty messages over gRPC': grpc('/chainguard.platform.iam.RoleBindings/CreateBatch', filled(INSIDE, Buffer.of(0x12, 0))),
  'unknown fields over gRPC': grpc(`${GROUPS}/List`, filled(INSIDE, Buffer.of(0xf8, 0x7f, 1))),
  'groups in groups over gRPC': grpc(`${GROUPS}/List`, filled(INSIDE, Buffer.of(0x7b))),
  'a name over gRPC': grpc(`${GROUPS}/Create`, field(2, field(2, text(INSIDE, 'a')))),
  'a name of control characters over gRPC': grpc(`${GROUPS}/Create`, field(2, field(2, text(INSIDE, '\u0001')))),
  'a name of some control characters over gRPC': grpc(`${GROUPS}/Create`, field(2, field(2, text(INSIDE, `\u0001${'a'.repeat(10)}`)))),
  'empty objects over Connect': connect(
    '/chainguard.platform.iam.RoleBindings/CreateBatch',
    `{"parent":"x","role_bindings":[${many('{},')}{}]}`,
  ),
  'members over Connect': connect(`${GROUPS}/Create`, `{${Array.from({ length: 300_000 }, (_, at) => `"m${at}":1`).join()}}`),
  'empty objects over Connect, for v2': connect(`${V2_GROUPS}/CreateGroup`, `{"group":{"a":[${many('{},')}{}]}}`),
  'members over Connect, for v2': connect(
    `${V2_GROUPS}/CreateGroup`,
    `{"group":{${Array.from({ length: 300_000 }, (_, at) => `"m${at}":1`).join()}}}`,
  ),
  'levels over Connect, for v2': connect(`${V2_GROUPS}/CreateGroup`, many('{"a":')),
  'an id of slashes over Connect, for v2': connect(`${V2_GROUPS}/DeleteGroup`, `{"uid":"${many('/')}"}`),
  'a name over Connect, for v2': connect(`${V2_GROUPS}/CreateGroup`, `{"group":{"name":"${many('a')}"}}`),
  'a list that inflates over Connect': {
    path: `${GROUPS}/List`,
    headers: { ...PROTO, 'content-encoding': 'gzip' },
    body: gzipSync(filled(INSIDE, Buffer.of(0x12, 0))),
  },
  'a name': rest(`{"name":"${many('a')}"}`),
  'a name of control characters': rest(`{"name":"${many('\\u0001')}"}`),
  'a name in a PUT': rest(`{"name":"${many('a')}"}`, `/iam/v1/groups/${UID}`, 'PUT'),
  'empty objects': rest(`[${many('{},')}{}]`, `/iam/v1/rolebindings/batch/${UID}`),
  'members of a name': rest(`{${Array.from({ length: 300_000 }, (_, at) => `"m${at}":1`).join()}}`),
  levels: rest(many('[')),
  digits: rest(`{"name":${many('1')}}`),
  'numbers of many digits': rest(`{"name":[${many('12345678901234567890,')}1]}`),
  spaces: rest(many(' ')),
  escapes: rest(`{"name":"${many('\\\\')}"}`),
  'words of a wrong enum': rest(`{"name":1,"description":[${many('"a",')}1]}`),
  'a form of one value': form(`parent=${many('a')}`),
  'a form of percent signs': form(`parent=${many('%25')}`),
  'a form of plus signs': form(`parent=${many('+')}`),
  'a form of equal filters': form(many('uidp.ids=false&')),
  'a form of slashes': form(`id=${many('/')}`),
  'a form of short segments': form(`id=${many('a_/')}`),
  'a form of letters that are encoded': form(`id=${many('%E2%82%AC')}`),
}

/** Starts a v2 that speaks gRPC with these messages, and answers every other request with rows. */
async function startService() {
  const server = http2.createServer({ maxSessionMemory: 4096 })
  const service = { ...(await listening(server)), message: Buffer.alloc(0) as Buffer }
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    stream.resume()
    if (headers['content-type'] !== 'application/grpc') return
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(grpcFrame(0, service.message))
  })
  server.unref()
  return service
}

async function ask(child: Child, { path, method = 'POST', headers, body }: Body): Promise<string> {
  const session = await connect2(child.url)
  session.setLocalWindowSize(2 ** 30)
  try {
    const answer = await fetch2(session, path, { ':method': method, ...headers }, body)
    return `${answer.status}, ${answer.headers['grpc-message'] ?? (answer.status < 400 ? `${answer.body.length} bytes` : answer.body.slice(0, 200))}`
  } finally {
    session.destroy()
  }
}

let rests: Promise<readonly [Child, Page]> | undefined
let services: Promise<readonly [Child, Awaited<ReturnType<typeof startService>>]> | undefined

interface Page {
  text: Buffer | string
}

/** The proxy in front of a v2 of REST. It lives as long as this program. */
async function startRest(): Promise<readonly [Child, Page]> {
  const page: Page = { text: listOf(3) }
  const upstream = await startUpstream((_, response) => response.setHeader('content-type', 'application/json').end(page.text))
  upstream.server.unref()
  return [await serve({ 'upstream-v2': upstream.url }, { nodeFlags: PROBE }), page]
}

async function startGrpc(): Promise<readonly [Child, Awaited<ReturnType<typeof startService>>]> {
  const service = await startService()
  return [await serve({ 'upstream-v2': service.url }, { nodeFlags: PROBE }), service]
}

const within = (what: string, seen: number, most: number) => (seen <= most ? `${what} at most ${most} ms` : `${what} ${seen.toFixed(0)} ms`)
const said = ({ cpuMs, stallMs }: Cost, most: Cost) =>
  `${within('the core', cpuMs, most.cpuMs)}, ${within('one turn', stallMs, most.stallMs)}`

const row = (name: string, most: Cost, see: () => Promise<Least>): Fault => ({
  name,
  expected: said(most, most),
  patienceMs: 120_000,
  async see() {
    const seen = await see()
    process.stderr.write(`  ${seen.said}: ${seen.cpuMs.toFixed(0)} ms of the core, one turn ${seen.stallMs.toFixed(0)} ms\n`)
    return said(seen, most)
  },
})

const bodyFault = ([name, body]: readonly [string, Body]): Fault => {
  return row(`limits.requestBytes of ${name}`, OF_A_BODY, async () => {
    rests ??= startRest()
    const [child] = await rests
    return least(child, 5, OF_A_BODY, () => ask(child, body))
  })
}

const V2_LIST = connect(`${V2_GROUPS}/ListGroups`, '{}')
const RELAYED = grpc(`${V2_GROUPS}/ListGroups`, Buffer.alloc(0))
const AS_TEXT: Body = {
  path: `${V2_GROUPS}/ListGroups`,
  headers: { 'content-type': 'application/grpc-web-text' },
  body: Buffer.from(grpcFrame(0, Buffer.alloc(0)).toString('base64')),
}
const AS_GZIP: Body = {
  path: `${V2_GROUPS}/ListGroups`,
  headers: { ...PROTO, 'content-encoding': 'gzip', 'accept-encoding': 'gzip' },
  body: gzipSync(Buffer.alloc(0)),
}
const REPORTS = grpc('/chainguard.platform.advisory.SecurityAdvisory/ListResolvedVulnsReports', field(1, Buffer.from([0x0a, 1, 0x61])))
const group = (...fields: Buffer[]) => field(1, Buffer.concat(fields))
const GROUP = group(field(1, Buffer.from(UID)), field(2, Buffer.from('a name')), field(3, Buffer.from('a description of it')))
const MAP = field(4, Buffer.concat([field(1, Buffer.from('members')), Buffer.of(0x10, 7)]))

const MESSAGES: Readonly<Record<string, readonly [Body, () => Buffer]>> = {
  'honest rows': [V2_LIST, () => filled(MESSAGE / 8, GROUP)],
  'empty rows': [V2_LIST, () => filled(MESSAGE, group())],
  'a million empty rows': [V2_LIST, () => filled(2_000_000, group())],
  'rows of one letter': [V2_LIST, () => filled(4_000_000, group(field(2, Buffer.from('a'))))],
  'rows of 30 KB': [V2_LIST, () => filled(MESSAGE / 2, group(field(3, text(30_000, 'a'))))],
  'rows of a megabyte': [V2_LIST, () => filled(MESSAGE / 2, group(field(3, text(2 ** 20, 'a'))))],
  'rows of four megabytes': [V2_LIST, () => filled(MESSAGE / 2, group(field(3, text(2 ** 22 - 100, 'a'))))],
  'rows of control characters': [V2_LIST, () => filled(2 ** 23, group(field(3, text(600_000, '\u0001'))))],
  'rows of letters of three bytes': [V2_LIST, () => filled(MESSAGE / 2, group(field(3, text(2 ** 20, '€'))))],
  'one row': [V2_LIST, () => group(field(3, text(MESSAGE - 100, 'a')))],
  'one row of a map': [V2_LIST, () => group(filled(MESSAGE / 2, MAP))],
  'rows of maps': [V2_LIST, () => filled(MESSAGE / 4, group(filled(30_000, MAP)))],
  'one row of empty times': [V2_LIST, () => group(filled(MESSAGE / 2, Buffer.of(0x32, 0)))],
  'tokens beside no rows': [V2_LIST, () => filled(MESSAGE, Buffer.of(0x12, 0))],
  'unknown fields': [V2_LIST, () => filled(MESSAGE, Buffer.of(0xf8, 0x7f, 1))],
  'unknown fields in a row': [V2_LIST, () => group(filled(MESSAGE / 2, Buffer.of(0xf8, 0x7f, 1)))],
  'groups in groups': [V2_LIST, () => filled(MESSAGE, Buffer.of(0x7b))],
  'a length that lies': [V2_LIST, () => Buffer.concat([filled(MESSAGE / 8, GROUP), Buffer.of(0x0a, 127)])],
  zeros: [V2_LIST, () => Buffer.alloc(MESSAGE)],
  'empty rows, relayed': [RELAYED, () => filled(MESSAGE, group())],
  'one row, as text': [AS_TEXT, () => group(field(3, text(MESSAGE / 2, 'a')))],
  'one row, compressed': [AS_GZIP, () => group(field(3, text(MESSAGE / 2, 'a')))],
  'one row, relayed': [RELAYED, () => group(field(3, text(MESSAGE - 100, 'a')))],
  'empty rows for a v1 list that only gRPC carries': [REPORTS, () => filled(MESSAGE, group())],
}

const messageFault = ([name, [body, message]]: readonly [string, readonly [Body, () => Buffer]]): Fault =>
  row(`limits.messageBytes of ${name}`, OF_A_MESSAGE, async () => {
    services ??= startGrpc()
    const [child, service] = await services
    service.message = message()
    return least(child, 2, OF_A_MESSAGE, () => ask(child, body))
  })

const rowsOf = (count: number, members: (nth: number) => string) =>
  Buffer.from(Array.from({ length: count }, (_, nth) => `{"uid":"${String(nth).padStart(40, '0')}"${members(nth)}},`).join(''))
/** Members of a map that have names of their own, so that no row has the shape of another. */
const own = (nth: number, count: number) => Array.from({ length: count }, (_, at) => `"m${nth}x${at}":1`).join()

/** Pages of at most `limits.answerBytes` that v2 answers with over REST: the rows, each before a comma. v2 is asked for 200. */
const PAGES: Readonly<Record<string, () => Buffer>> = {
  'honest rows': () => rowsOf(200, () => ',"name":"a name","description":"a description of it"'),
  'honest rows that are too many': () => rowsOf(600_000, () => ',"name":"a name","description":"a description of it"'),
  'equal rows': () => text(ANSWER - 100, `{"uid":"${UID}","name":"a name"},`),
  'empty rows': () => text(2_000_000, '{},'),
  'empty rows to the limit': () => text(ANSWER - 100, '{},'),
  'one row': () => Buffer.from(`{"uid":"${UID}","name":"${'a'.repeat(ANSWER - 200)}"},`),
  'one row of 4 MB': () => rowsOf(1, () => `,"name":"${'a'.repeat(4_000_000)}"`),
  'rows of 300 KB': () => rowsOf(200, () => `,"description":"${'a'.repeat(300_000)}"`),
  'rows of escapes': () => rowsOf(200, () => `,"description":"${'\\u0001'.repeat(50_000)}"`),
  'rows of letters of three bytes': () => rowsOf(200, () => `,"description":"${'€'.repeat(100_000)}"`),
  'rows of backslashes': () => rowsOf(200, () => `,"description":"${'\\\\'.repeat(80_000)}"`),
  'odd members': () => text(ANSWER - 100, `{"uid":"${UID}","name":"a name","odd":[1,2,3]},`),
  'too many maps with names of their own': () => rowsOf(150, (nth) => `,"resourceLimits":{${own(nth, 19_900)}}`),
  'rows of maps with names of their own': () => rowsOf(25, (nth) => `,"resourceLimits":{${own(nth, 19_900)}}`),
  'a short page of odd values': () => rowsOf(200, (nth) => `,"resourceLimits":{${own(nth, 40)}},"status":7`),
  'half a megabyte of odd values': () => rowsOf(190, (nth) => `,"resourceLimits":{${own(nth, 200)}},"status":7`),
  'a row of too many values': () => rowsOf(1, () => `,"odd":[${'1,'.repeat(ANSWER / 2 - 100)}1]`),
  'lists in lists': () => Buffer.from('['.repeat(ANSWER - 100)),
  'long numbers': () => rowsOf(40, () => `,"odd":[${'12345678901234567890,'.repeat(10_000)}1]`),
  spaces: () => Buffer.from(`${' '.repeat(ANSWER - 100)},`),
  text: () => Buffer.from(`"${'a'.repeat(ANSWER - 100)}",`),
}

const pageFault = ([name, rows]: readonly [string, () => Buffer]): Fault =>
  row(`limits.answerBytes of ${name}`, OF_A_PAGE, async () => {
    rests ??= startRest()
    const [child, page] = await rests
    page.text = Buffer.concat([Buffer.from('{"groups":['), rows().subarray(0, -1), Buffer.from(']}')])
    const seen = await least(child, 2, OF_A_PAGE, () =>
      ask(child, { path: '/iam/v1/groups', method: 'GET', headers: {}, body: Buffer.alloc(0) }),
    )
    page.text = listOf(3)
    return seen
  })

const rows = (count: number, row: (nth: number) => string) => Array.from({ length: count }, (_, nth) => row(nth))
const listed = (count: number, row: (nth: number) => string) => rows(count, row).join()
const numbered = (nth: number) => String(nth).padStart(40, '0')
const v1Row = (nth: number, more = '') => `{"id":"${numbered(nth)}","name":"a name"${more}}`
const NONE = ''
const shuffled = (nth: number) => (nth * 7919) % 4409
const deep = (nth: number) => `${'{"a":'.repeat(90)}${nth}${'}'.repeat(90)}`
const EIGHT = ',"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8'
const v1Times = ',"created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"'
const v2Times = ',"createTime":"2026-01-01T00:00:00Z","updateTime":"2026-01-01T00:00:00Z"'

/** What v1 and v2 list: answers of at most `diff.answerBytes` that are compared. Each value counts as 20 bytes, and v2 has more of them. */
const PAIRS: Readonly<Record<string, readonly [v1: () => string, v2: () => readonly string[]]>> = {
  'honest rows': [() => listed(4400, (nth) => v1Row(nth)), () => rows(4400, (nth) => v2Row(nth))],
  'rows that differ': [() => listed(4400, (nth) => v1Row(nth)), () => rows(4400, (nth) => v2Row(nth, 'another name'))],
  'rows in another order': [() => listed(4409, (nth) => v1Row(shuffled(nth))), () => rows(4409, (nth) => v2Row(nth))],
  'rows that only v1 has': [() => listed(14_000, (nth) => v1Row(nth)), () => []],
  'rows that only v2 has': [() => NONE, () => rows(4400, (nth) => v2Row(nth))],
  'rows that only one side has': [() => listed(14_000, (nth) => v1Row(nth)), () => rows(4400, (nth) => v2Row(nth + 20_000))],
  'equal rows that only v1 has': [() => listed(14_000, () => v1Row(1)), () => []],
  'empty rows, and others': [() => listed(26_000, () => '{}'), () => rows(4400, (nth) => v2Row(nth))],
  'empty rows that only v1 has': [() => listed(26_000, () => '{}'), () => []],
  'rows without ids': [() => listed(26_000, (nth) => `{"name":"${nth}"}`), () => rows(4400, (nth) => v2Row(nth))],
  'numbers in place of rows': [() => listed(50_000, String), () => []],
  'members that only v1 has': [() => listed(4500, (nth) => v1Row(nth, EIGHT)), () => rows(4500, (nth) => v2Row(nth))],
  'one row of members': [() => `{"id":"${numbered(1)}",${listed(50_000, (nth) => `"m${nth}":1`)}}`, () => [v2Row(1)]],
  'one row of lists': [() => `{"id":"${numbered(1)}","odd":[${listed(50_000, () => '{}')}]}`, () => [v2Row(1)]],
  'rows of levels': [() => listed(500, (nth) => v1Row(nth, `,"odd":${deep(nth)}`)), () => rows(500, (nth) => v2Row(nth))],
  'rows of levels without ids': [() => listed(550, deep), () => rows(550, (nth) => v2Row(nth))],
  'one long name': [() => `{"id":"${numbered(1)}","name":"${'a'.repeat(1_000_000)}"}`, () => [v2Row(1, 'a'.repeat(999_999))]],
  'times in another spelling': [() => listed(3000, (nth) => v1Row(nth, v1Times)), () => rows(3000, (nth) => v2Row(nth, 'a name', v2Times))],
}

function v2Row(nth: number, name = 'a name', more = ''): string {
  return `{"uid":"${numbered(nth)}","name":"${name}"${more}}`
}

/** What v1 answers with, and the rows of v2. */
interface Lists {
  v1: string
  v2: readonly string[]
}

let both: Promise<readonly [Child, Lists]> | undefined

/** The proxy between a v1 and a v2 that compares all it serves. It lives as long as this program. */
async function startBoth() {
  const lists: Lists = { v1: NONE, v2: [] }
  const page = (url: string) => {
    const from = Number(new URL(url, 'http://v2').searchParams.get('page_token'))
    const to = from + 200
    return `{"groups":[${lists.v2.slice(from, to)}]${to < lists.v2.length ? `,"nextPageToken":"${to}"` : ''}}`
  }
  const answering = (text: (url: string) => string) =>
    startUpstream(({ url = '' }, response) => response.setHeader('content-type', 'application/json').end(text(url)))
  const [v1, v2] = await Promise.all([answering(() => `{"items":[${lists.v1}]}`), answering(page)])
  for (const { server } of [v1, v2]) server.unref()
  const settings = { 'upstream-v1': v1.url, 'upstream-v2': v2.url, mode: 'diff-v1', 'diff-per-second': 1000 }
  return [await serve(settings, { nodeFlags: PROBE }), lists] as const
}

async function compareOnce(child: Child): Promise<string> {
  const done = () => metric(child, 'crosswalk_comparison_jobs_total{end="done"}')
  const before = await done()
  const answer = await fetch(`${child.url}/iam/v1/groups`, { headers: { authorization: 'Bearer a' } })
  const { byteLength } = await answer.arrayBuffer()
  while ((await done()) === before) await setTimeout(20)
  return `${answer.status}, ${byteLength} bytes`
}

const pairFault = ([name, [v1, v2]]: readonly [string, readonly [() => string, () => readonly string[]]]): Fault =>
  row(`a comparison of ${name}`, OF_A_COMPARISON, async () => {
    both ??= startBoth()
    const [child, lists] = await both
    Object.assign(lists, { v1: v1(), v2: v2() })
    return least(child, 2, OF_A_COMPARISON, () => compareOnce(child))
  })

export const costFaults: readonly Fault[] = [
  ...Object.entries(BODIES).map(bodyFault),
  ...Object.entries(MESSAGES).map(messageFault),
  ...Object.entries(PAGES).map(pageFault),
  ...Object.entries(PAIRS).map(pairFault),
]
