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

interface ClientOptions {
  readonly settings?: Partial<Config>
  readonly enough?: number
  readonly heads?: readonly number[]
}

const REFUSED = '400/3; 0 passed on'

/** Bytes of a client, the expected answer, and the number of requests that may reach the services. */
const sends = (name: string, bytes: string | ((socket: Socket) => void), expected = REFUSED, options: ClientOptions = {}): Fault =>
  fault(name, expected, () =>
    inWorld(serving(3), { 'upstream.v1': undefined, ...options.settings }, async ({ proxy, upstream }) => {
      const { answers } = await talk(proxy.url, bytes, options.enough, options.heads)
      const said = answers.map((answer) => say(answer) + named(answer.status, answer.body)).join(', ')
      const health = await answerTo(proxy.url)
      const asked = upstream.seen.length - 1
      return `${said || 'closed'}; ${asked} passed on${health === '200, 3 rows' ? '' : `; afterwards ${health}`}`
    }),
  )

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

const trickle =
  (first: string, piece: string) =>
  (socket: Socket): void => {
    socket.write(first)
    const timer = setInterval(() => socket.write(piece), 20)
    socket.once('close', () => clearInterval(timer))
  }

const nested = (depth: number) => `{"name":"x","resource_limits":${'['.repeat(depth)}${']'.repeat(depth)}}`
const parameters = (name: (at: number) => string) => Array.from({ length: 10_000 }, (_, at) => `${name(at)}=1`).join('&')

const FAULTS: readonly Fault[] = [
  sends(
    'slowloris: headers that trickle in',
    trickle(`GET ${GROUPS} HTTP/1.1\r\nhost: x\r\nx-slow: `, 'x'),
    '408/3 (limits.headersTimeoutMs); 0 passed on',
    { settings: { 'limits.headersTimeoutMs': 200 } },
  ),
  sends('a body that trickles in', trickle(framed('content-length: 100000', '{'), ' '), '408/4 (limits.deadlineMs); 0 passed on', {
    settings: { 'limits.deadlineMs': 200 },
    enough: 1,
  }),
  sends('huge headers', request('GET', GROUPS, [`x: ${'x'.repeat(70_000)}`]), '431/3 (limits.headerBytes); 0 passed on'),
  sends('a huge request line', request('GET', `${GROUPS}?x=${'x'.repeat(70_000)}`), '431/3 (limits.headerBytes); 0 passed on'),
  sends(
    '10,000 unknown parameters',
    request('GET', `${GROUPS}?${parameters((at) => at.toString(36).toUpperCase())}`),
    '200, 3 rows; 1 passed on',
  ),
  sends('10,000 times the same parameter', request('GET', `${GROUPS}?${parameters(() => 'id')}`)),
  sends('5,000 uids, more than v2 takes in a query', request('GET', `${GROUPS}?${Array<string>(5000).fill('uidp.ids=1').join('&')}`)),
  sends('JSON nested 100 deep', post(nested(99)), '200; 1 passed on'),
  sends('JSON nested 101 deep', post(nested(100))),
  sends('JSON nested a million deep', post('['.repeat(1_000_000))),
  sends('a body of 17 MB', post(`{"name":"${'x'.repeat(17 * 2 ** 20)}"}`), '400/3 (limits.requestBytes); 0 passed on', { enough: 1 }),
  sends('a body that is not JSON', post('{')),
  sends('a body that is no UTF-8', request('POST', `${GROUPS}/${PARENT}`, ['content-length: 3'], '').concat('"\xff"')),
  sends('a body shorter than its length', framed('content-length: 100', '{"name":"x"}'), '408/4 (limits.deadlineMs); 0 passed on', {
    settings: { 'limits.deadlineMs': 200 },
    enough: 1,
  }),
  sends('a body longer than its length', framed('content-length: 2', '{}garbage'), '200, 400/3; 1 passed on'),
  sends('a negative length', framed('content-length: -1', '')),
  sends('a length that is no number', framed('content-length: 1e3', '')),
  sends('two lengths', framed(`content-length: 0\r\ncontent-length: ${HIDDEN.length}`, HIDDEN)),
  sends('CL/TE', framed(`content-length: ${HIDDEN.length + 5}\r\ntransfer-encoding: chunked`, `0\r\n\r\n${HIDDEN}`)),
  sends('TE/TE', framed('transfer-encoding: chunked\r\ntransfer-encoding: identity', `0\r\n\r\n${HIDDEN}`)),
  sends('TE with a vertical tab', framed('transfer-encoding: \x0bchunked', `0\r\n\r\n${HIDDEN}`)),
  sends('an odd transfer coding', framed('transfer-encoding: xchunked', `0\r\n\r\n${HIDDEN}`)),
  sends('a chunk size that is none', framed('transfer-encoding: chunked', `-1\r\n\r\n${HIDDEN}`)),
  sends('a chunk size beyond 64 bits', framed('transfer-encoding: chunked', `fffffffffffffffff\r\n${HIDDEN}`)),
  sends('a chunk longer than its size', framed('transfer-encoding: chunked', `2\r\n{}xx\r\n0\r\n\r\n${HIDDEN}`)),
  sends('obs-fold', framed('x: 1\r\n content-length: 0', HIDDEN)),
  sends('a space before the colon', framed(`content-length : ${HIDDEN.length}`, HIDDEN)),
  sends('a bare line feed', `GET ${GROUPS} HTTP/1.1\nhost: x\n\n`),
  sends('a header with NUL', request('GET', GROUPS, ['x: a\0b'])),
  sends('no host', `GET ${GROUPS} HTTP/1.1\r\nconnection: close\r\n\r\n`),
  sends('absolute-form', request('GET', `http://other.example${GROUPS}`)),
  sends('authority-form', request('CONNECT', 'other.example:443'), 'closed; 0 passed on'),
  sends('asterisk-form', request('OPTIONS', '*')),
  sends('..%2f in an id', request('DELETE', `${GROUPS}/a..%2f..%2froles`)),
  sends('..%2f instead of an id', request('DELETE', `${GROUPS}/..%2froles`)),
  sends('NUL in an id', request('DELETE', `${GROUPS}/a%00b`)),
  sends('CRLF in an id', request('DELETE', `${GROUPS}/a%0d%0aX-Evil:%201`)),
  sends('a broken escape in an id', request('DELETE', `${GROUPS}/a%zz`)),
  sends(
    'pipelined requests',
    keepAlive(request('GET')) + keepAlive(request('GET', '/iam/v1/nothing')) + request('GET'),
    '200, 3 rows, 404/5, 200, 3 rows; 2 passed on',
  ),
  sends('Expect: 100-continue', post('{"name":"x"}', ['expect: 100-continue']), '100, 200; 1 passed on'),
  sends('an unknown Expect', post('{"name":"x"}', ['expect: wonders']), '417/3; 0 passed on'),
  sends(
    'an offer of h2c',
    request('GET', GROUPS, ['upgrade: h2c', 'http2-settings: x']).replace('connection: close', 'connection: upgrade, http2-settings'),
    '200, 3 rows; 1 passed on',
    { enough: 1 },
  ),
  sends('HTTP/1.0', request('GET', GROUPS, [], '', 'HTTP/1.0'), '200, 3 rows; 1 passed on'),
  sends('HTTP/1.0 with a streamed list', request('GET', GROUPS, [], '', 'HTTP/1.0'), '200, 3 rows; 1 passed on', {
    settings: { 'limits.bufferedRows': 0 },
  }),
  sends('HTTP/3.0', request('GET', GROUPS, [], '', 'HTTP/3.0')),
  sends('no HTTP at all', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  sends('HEAD', request('HEAD'), '501, empty; 0 passed on', { heads: [0] }),
  sends('OPTIONS', request('OPTIONS'), '501/12; 0 passed on'),
  sends('TRACE', request('TRACE'), '501/12; 0 passed on'),
  sends('a method that v1 has not', request('PATCH'), '501/12; 0 passed on'),
  sends('a method that nobody has', request('BREW')),
]

export const clientFaults: readonly Fault[] = [...FAULTS, ...goneFaults]
