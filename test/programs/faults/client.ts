import type { Socket } from 'node:net'
import type { Config } from '../../../src/app/config/settings.ts'
import { answerTo, type Behaviour, type Fault, fault, inWorld, messageIn, READ, say, serving, type World } from './fault.ts'
import { dial, talk } from './wire.ts'

const WRITE = `POST /iam/v1/groups/${'a'.repeat(40)} HTTP/1.1\r\nhost: x\r\ncontent-length: 12\r\n\r\n`

function connect({ proxy }: World, then: (socket: Socket) => void): Socket {
  const socket: Socket = dial(proxy.url).once('connect', () => then(socket))
  return socket
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** A list without end, 200 rows a page. */
const endless: Behaviour = (request, response) => {
  const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '0')
  const groups = Array.from({ length: 200 }, (_, row) => ({ uid: String(at * 200 + row).padStart(40, '0') }))
  response.end(JSON.stringify({ groups, nextPageToken: String(at + 1) }))
}

/** A service that answers nothing. `arrived` resolves with a request, `ended` when its connection is gone. */
function holding() {
  let ended = Promise.resolve()
  let tell = () => {}
  const arrived = new Promise<void>((resolve) => {
    tell = resolve
  })
  const behaviour: Behaviour = ({ socket }) => {
    ended = closed(socket)
    tell()
  }
  return { behaviour, arrived, ended: () => ended }
}

export const goneFaults: readonly Fault[] = [
  fault('gone in its headers', '0 passed on', () =>
    inWorld(serving(3), {}, async (world) => {
      await closed(connect(world, (socket) => socket.resume().end(READ.slice(0, 20))))
      return `${world.upstream.seen.length} passed on`
    }),
  ),
  fault('gone in its body', '0 passed on, logged as 499', () =>
    inWorld(serving(3), {}, async (world) => {
      connect(world, (socket) => socket.write(`${WRITE}{"na`, () => socket.destroy()))
      const { status } = await world.proxy.logged(() => true)
      return `${world.upstream.seen.length} passed on, logged as ${status}`
    }),
  ),
  ...[READ, `${WRITE}{"name":"x"}`].map((bytes): Fault => {
    const { behaviour, arrived, ended } = holding()
    return fault(`gone before the answer of a ${bytes.slice(0, 4).trim()}`, '1 passed on and cancelled, logged as 499', () =>
      inWorld(behaviour, {}, async (world) => {
        const socket = connect(world, () => socket.write(bytes))
        await arrived
        socket.destroy()
        await ended()
        const { status } = await world.proxy.logged(() => true)
        return `${world.upstream.seen.length} passed on and cancelled, logged as ${status}`
      }),
    )
  }),
  fault('gone in the answer', 'the list is no longer read, logged as 499', () =>
    inWorld(endless, { 'limits.bufferedRows': 0 }, async (world) => {
      const socket = connect(world, () => socket.write(READ))
      socket.once('data', () => socket.destroy())
      const { status, calls } = await world.proxy.logged(() => true)
      return `${world.upstream.seen.length <= Number(calls) ? 'the list is no longer read' : 'the list is read on'}, logged as ${status}`
    }),
  ),
  fault('a slow reader', 'fewer than 300 pages are read ahead, ended by its deadline, logged as 504', () =>
    inWorld(endless, { 'limits.bufferedRows': 0, 'limits.deadlineMs': 1500 }, async (world) => {
      const socket = connect(world, () => socket.pause().write(READ))
      const { status } = await world.proxy.logged(() => true)
      const pages = world.upstream.seen.length
      socket.destroy()
      return `${pages < 300 ? 'fewer than 300' : pages} pages are read ahead, ended by its deadline, logged as ${status}`
    }),
  ),
]

/** Bytes of a client, the expected answer, and the number of requests that may reach the services. */
interface ClientFault {
  readonly name: string
  readonly sends: string | ((socket: Socket) => void)
  readonly settings?: Partial<Config>
  /** The number of answers to wait for if the connection stays open. */
  readonly enough?: number
  readonly heads?: readonly number[]
  readonly expected: string
}

function clientFault({ name, sends, settings = {}, enough, heads, expected }: ClientFault): Fault {
  return fault(name, expected, () =>
    inWorld(serving(3), { 'upstream.v1': undefined, ...settings }, async ({ proxy, upstream }) => {
      const { answers } = await talk(proxy.url, sends, enough, heads)
      const said = answers.map((answer) => say(answer) + named(answer.status, answer.body)).join(', ')
      const health = await answerTo(proxy.url)
      const asked = upstream.seen.length - 1
      return `${said || 'closed'}; ${asked} passed on${health === '200, 3 rows' ? '' : `; afterwards ${health}`}`
    }),
  )
}

/** Returns the limit that a refusal names. */
function named(status: number, body: string): string {
  const name = status >= 400 && body !== '' ? /limits\.\w+/.exec(messageIn({ body }))?.[0] : undefined
  return name === undefined ? '' : ` (${name})`
}

const GROUPS = '/iam/v1/groups'
const PARENT = 'a'.repeat(40)

function request(method: string, target = GROUPS, lines: readonly string[] = [], body = '', version = 'HTTP/1.1'): string {
  const framed = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`]
  return [`${method} ${target} ${version}`, 'host: x', 'connection: close', ...framed, ...lines, '', body].join('\r\n')
}

const post = (body: string, lines: readonly string[] = []) => request('POST', `${GROUPS}/${PARENT}`, lines, body)
const keepAlive = (text: string) => text.replace('connection: close\r\n', '')
/** Returns a POST with these framing lines, followed by the rest of the connection. */
const framed = (lines: string, rest: string) => `POST ${GROUPS}/${PARENT} HTTP/1.1\r\nhost: x\r\n${lines}\r\n\r\n${rest}`
const HIDDEN = 'GET /iam/v1/roles HTTP/1.1\r\nhost: x\r\n\r\n'

/** Sends one piece every 20 milliseconds, without end. */
const trickle =
  (first: string, piece: string) =>
  (socket: Socket): void => {
    socket.write(first)
    const timer = setInterval(() => socket.write(piece), 20)
    socket.once('close', () => clearInterval(timer))
  }

const nested = (depth: number) => `{"name":"x","resource_limits":${'['.repeat(depth)}${']'.repeat(depth)}}`
const parameters = (name: (at: number) => string) => Array.from({ length: 10_000 }, (_, at) => `${name(at)}=1`).join('&')

const FAULTS: readonly ClientFault[] = [
  {
    name: 'slowloris: headers that trickle in',
    sends: trickle(`GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nx-slow: `, 'x'),
    settings: { 'limits.headersTimeoutMs': 200 },
    expected: '408/3 (limits.headersTimeoutMs); 0 passed on',
  },
  {
    name: 'a body that trickles in',
    sends: trickle(framed('content-length: 100000', '{'), ' '),
    settings: { 'limits.deadlineMs': 200 },
    enough: 1,
    expected: '504/4 (limits.deadlineMs); 0 passed on',
  },
  {
    name: 'huge headers',
    sends: request('GET', GROUPS, [`x: ${'x'.repeat(70_000)}`]),
    expected: '431/3 (limits.headerBytes); 0 passed on',
  },
  {
    name: 'a huge request line',
    sends: request('GET', `${GROUPS}?x=${'x'.repeat(70_000)}`),
    expected: '431/3 (limits.headerBytes); 0 passed on',
  },
  {
    name: '10,000 unknown parameters',
    sends: request('GET', `${GROUPS}?${parameters((at) => at.toString(36).toUpperCase())}`),
    expected: '200, 3 rows; 1 passed on',
  },
  { name: '10,000 times the same parameter', sends: request('GET', `${GROUPS}?${parameters(() => 'id')}`), expected: '400/3; 0 passed on' },
  {
    name: '5,000 uids, more than v2 takes in a query',
    sends: request('GET', `${GROUPS}?${Array<string>(5000).fill('uidp.ids=1').join('&')}`),
    expected: '400/3; 0 passed on',
  },
  { name: 'JSON nested 100 deep', sends: post(nested(99)), expected: '200; 1 passed on' },
  { name: 'JSON nested 101 deep', sends: post(nested(100)), expected: '400/3; 0 passed on' },
  { name: 'JSON nested a million deep', sends: post('['.repeat(1_000_000)), expected: '400/3; 0 passed on' },
  {
    name: 'a body of 17 MB',
    sends: post(`{"name":"${'x'.repeat(17 * 2 ** 20)}"}`),
    enough: 1,
    expected: '400/3 (limits.requestBytes); 0 passed on',
  },
  { name: 'a body that is not JSON', sends: post('{'), expected: '400/3; 0 passed on' },
  {
    name: 'a body that is no UTF-8',
    sends: request('POST', `${GROUPS}/${PARENT}`, ['content-length: 3'], '').concat('"\xff"'),
    expected: '400/3; 0 passed on',
  },
  {
    name: 'a body shorter than its length',
    sends: framed('content-length: 100', '{"name":"x"}'),
    settings: { 'limits.deadlineMs': 200 },
    enough: 1,
    expected: '504/4 (limits.deadlineMs); 0 passed on',
  },
  { name: 'a body longer than its length', sends: framed('content-length: 2', '{}garbage'), expected: '200, 400/3; 1 passed on' },
  { name: 'a negative length', sends: framed('content-length: -1', ''), expected: '400/3; 0 passed on' },
  { name: 'a length that is no number', sends: framed('content-length: 1e3', ''), expected: '400/3; 0 passed on' },
  { name: 'two lengths', sends: framed(`content-length: 0\r\ncontent-length: ${HIDDEN.length}`, HIDDEN), expected: '400/3; 0 passed on' },
  {
    name: 'CL/TE',
    sends: framed(`content-length: ${HIDDEN.length + 5}\r\ntransfer-encoding: chunked`, `0\r\n\r\n${HIDDEN}`),
    expected: '400/3; 0 passed on',
  },
  {
    name: 'TE/TE',
    sends: framed('transfer-encoding: chunked\r\ntransfer-encoding: identity', `0\r\n\r\n${HIDDEN}`),
    expected: '400/3; 0 passed on',
  },
  { name: 'TE with a vertical tab', sends: framed('transfer-encoding: \x0bchunked', `0\r\n\r\n${HIDDEN}`), expected: '400/3; 0 passed on' },
  { name: 'an odd transfer coding', sends: framed('transfer-encoding: xchunked', `0\r\n\r\n${HIDDEN}`), expected: '400/3; 0 passed on' },
  { name: 'a chunk size that is none', sends: framed('transfer-encoding: chunked', `-1\r\n\r\n${HIDDEN}`), expected: '400/3; 0 passed on' },
  {
    name: 'a chunk size beyond 64 bits',
    sends: framed('transfer-encoding: chunked', `fffffffffffffffff\r\n${HIDDEN}`),
    expected: '400/3; 0 passed on',
  },
  {
    name: 'a chunk longer than its size',
    sends: framed('transfer-encoding: chunked', `2\r\n{}xx\r\n0\r\n\r\n${HIDDEN}`),
    expected: '400/3; 0 passed on',
  },
  { name: 'obs-fold', sends: framed('x: 1\r\n content-length: 0', HIDDEN), expected: '400/3; 0 passed on' },
  { name: 'a space before the colon', sends: framed(`content-length : ${HIDDEN.length}`, HIDDEN), expected: '400/3; 0 passed on' },
  { name: 'a bare line feed', sends: `GET ${GROUPS} HTTP/1.1\nhost: x\n\n`, expected: '400/3; 0 passed on' },
  { name: 'a header with NUL', sends: request('GET', GROUPS, ['x: a\0b']), expected: '400/3; 0 passed on' },
  { name: 'no host', sends: `GET ${GROUPS} HTTP/1.1\r\nconnection: close\r\n\r\n`, expected: '400/3; 0 passed on' },
  { name: 'absolute-form', sends: request('GET', `http://other.example${GROUPS}`), expected: '400/3; 0 passed on' },
  { name: 'authority-form', sends: request('CONNECT', 'other.example:443'), expected: 'closed; 0 passed on' },
  { name: 'asterisk-form', sends: request('OPTIONS', '*'), expected: '400/3; 0 passed on' },
  { name: '..%2f in an id', sends: request('DELETE', `${GROUPS}/a..%2f..%2froles`), expected: '400/3; 0 passed on' },
  { name: '..%2f instead of an id', sends: request('DELETE', `${GROUPS}/..%2froles`), expected: '400/3; 0 passed on' },
  { name: 'NUL in an id', sends: request('DELETE', `${GROUPS}/a%00b`), expected: '400/3; 0 passed on' },
  { name: 'CRLF in an id', sends: request('DELETE', `${GROUPS}/a%0d%0aX-Evil:%201`), expected: '400/3; 0 passed on' },
  { name: 'a broken escape in an id', sends: request('DELETE', `${GROUPS}/a%zz`), expected: '400/3; 0 passed on' },
  {
    name: 'pipelined requests',
    sends: keepAlive(request('GET')) + keepAlive(request('GET', '/iam/v1/nothing')) + request('GET'),
    expected: '200, 3 rows, 404/5, 200, 3 rows; 2 passed on',
  },
  { name: 'Expect: 100-continue', sends: post('{"name":"x"}', ['expect: 100-continue']), expected: '100, 200; 1 passed on' },
  { name: 'an unknown Expect', sends: post('{"name":"x"}', ['expect: wonders']), expected: '417/3; 0 passed on' },
  {
    name: 'an offer of h2c',
    sends: request('GET', GROUPS, ['upgrade: h2c', 'http2-settings: x']).replace(
      'connection: close',
      'connection: upgrade, http2-settings',
    ),
    enough: 1,
    expected: '200, 3 rows; 1 passed on',
  },
  { name: 'HTTP/1.0', sends: request('GET', GROUPS, [], '', 'HTTP/1.0'), expected: '200, 3 rows; 1 passed on' },
  {
    name: 'HTTP/1.0 with a streamed list',
    sends: request('GET', GROUPS, [], '', 'HTTP/1.0'),
    settings: { 'limits.bufferedRows': 0 },
    expected: '200, 3 rows; 1 passed on',
  },
  { name: 'HTTP/3.0', sends: request('GET', GROUPS, [], '', 'HTTP/3.0'), expected: '400/3; 0 passed on' },
  { name: 'no HTTP at all', sends: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', expected: '400/3; 0 passed on' },
  { name: 'HEAD', sends: request('HEAD'), heads: [0], expected: '501, empty; 0 passed on' },
  { name: 'OPTIONS', sends: request('OPTIONS'), expected: '501/12; 0 passed on' },
  { name: 'TRACE', sends: request('TRACE'), expected: '501/12; 0 passed on' },
  { name: 'a method that v1 has not', sends: request('PATCH'), expected: '501/12; 0 passed on' },
  { name: 'a method that nobody has', sends: request('BREW'), expected: '400/3; 0 passed on' },
]

export const clientFaults: readonly Fault[] = [...FAULTS.map(clientFault), ...goneFaults]
