import type { Config } from '../../../src/app/config/settings.ts'
import { startProxy } from '../../stage/proxy.ts'
import type { Fault } from '../fault.ts'
import { type FieldLine, FLAG, frame, headers, TYPE } from '../frames.ts'
import { type Given, type OpenAskers, overGrpc, overHttp1, overHttp2, overWebSocket, type Question } from '../fuzz/heads/askers.ts'
import type { Script } from '../fuzz/upstream/script.ts'
import { startScripted } from '../fuzz/upstream/server.ts'
import { errorIn } from '../say.ts'
import { SECURE } from '../wire.ts'

/** A client that receives the service's answer. */
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

/** Returns how often a field occurs in an answer, or the error of another answer. */
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
    ...SINGLE.map(([field, translated]) => ({
      name: `${field.split(':')[0]} twice in an answer to ${path}`,
      expected: `200 with ${path === TRANSLATED ? translated : 1}, then 200`,
      see: () => given(READERS.filter(isHttp2), path, twice(field), countOf(field.split(':')[0] ?? '')),
    })),
    ...ODD_LINES.map(([line, native, v1, translated]) => ({
      name: `an answer ${show(line)} to ${path}`,
      expected: `${{ [NATIVE]: native, [V1]: v1, [TRANSLATED]: translated }[path]}, then 200`,
      see: () => given(READERS, path, head(line), statusOf),
    })),
    {
      name: `http2-settings in an answer to ${path}`,
      expected: '200 with 0, then 200',
      see: () => given(READERS, path, head('HTTP/1.1 200 OK', 'http2-settings: AA\r\n'), countOf('http2-settings')),
    },
  ]
  return path === NATIVE ? faults : faults.map((fault) => ({ ...fault, full: true as const }))
}

/** Answers that a parser accepts and a writer refuses: each ended the process. */
export const headAttacks: readonly Fault[] = [
  ...[NATIVE, V1, TRANSLATED].flatMap(headsTo),
  ...ODD_LINES.filter(([line]) => !line.includes('101')).map(([line, native]) => ({
    name: `an answer ${show(line)} to a WebSocket handshake`,
    expected: `${native}, then 101`,
    see: () => given(SHAKERS, '/socket', head(line), statusOf),
  })),
  ...ODD_STATUSES.map(([status, ...expected]) => ({
    name: `:status ${JSON.stringify(status)} in an answer to a gRPC call`,
    expected: expected.map((one) => `${one}, then 200`),
    see: () => given(CALLERS, CALL, call([[':status', status], ...GOOD.slice(1)], DONE), grpcStatusOf),
  })),
  {
    name: 'http2-settings in the head of an answer to a gRPC call',
    expected: '200, gRPC 0, then 200',
    see: () => given(CALLERS, CALL, call([...GOOD, SETTINGS], DONE), grpcStatusOf),
  },
  {
    name: 'http2-settings in the trailers of an answer to a gRPC call',
    expected: '200, gRPC 0, then 200',
    see: () => given(CALLERS, CALL, call(GOOD, [...DONE, SETTINGS]), grpcStatusOf),
  },
]
