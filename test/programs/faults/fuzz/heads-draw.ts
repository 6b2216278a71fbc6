import type { Case, Dice } from './hunt.ts'
import { bodyTo, EVIL_KEY, NO_KEY, type Script1 } from './upstream.ts'

/** Names with special treatment in a proxy: single-valued ones, those of one hop, and its own. */
export const NAMES = [
  ...['access-control-allow-credentials', 'access-control-max-age', 'age', 'alt-svc', 'authorization', 'cache-control', 'connection'],
  ...['content-disposition', 'content-encoding', 'content-language', 'content-length', 'content-location', 'content-md5', 'content-range'],
  ...['content-type', 'date', 'dnt', 'early-data', 'etag', 'expect', 'expires', 'from', 'grpc-message', 'grpc-status', 'host'],
  ...['http2-settings', 'if-match', 'if-none-match', 'keep-alive', 'last-modified', 'link', 'location', 'max-forwards', 'origin'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'range', 'referer', 'retry-after', 'sec-websocket-accept', 'server'],
  ...['set-cookie', 'status', 'strict-transport-security', 'te', 'tk', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['upgrade-insecure-requests', 'user-agent', 'vary', 'via', 'warning', 'www-authenticate', 'x-content-type-options', 'x-frame-options'],
  ...['x-request-id', 'x-crosswalk-mode'],
] as const

/** Almost valid names, and a long one. */
export const ODD_NAMES = [
  ...['', ' ', ':', ':status', ':path', ':x', 'x y', 'x\ty', '\x00', 'x\x00y', 'x\x7f', '\xe9', 'x\xff', '"q"', '(c)', 'a/b', 'a@b', 'a,b'],
  ...['a;b', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '-', "!#$%&'*+-.^_`|~", 'X-UPPER', 'Content-Type'],
  ...['x'.repeat(5000)],
]

export const VALUES = [
  ...['', ' ', '0', '1', '-1', '5, 5', '1e3', '0x10', '99999999999999999999', 'a', 'a,b', 'close', 'keep-alive', 'keep-alive, close'],
  ...['Upgrade', 'chunked', 'identity', 'gzip', 'gzip, chunked', 'chunked, chunked', 'trailers', 'websocket', 'h2c', 'nosniff', 'true'],
  ...['*', 'x-hop', 'x-case', 'content-type', 'content-length', 'transfer-encoding', 'x-request-id, x-hop', 'date', 'host', 'set-cookie'],
  ...[':status', 'application/json', 'application/grpc', 'application/json; charset="utf-8"', 'text/html', 'AAMAAABkAAQAAP__'],
  ...['a=1; HttpOnly', NO_KEY, '"e"', 'W/"e"', 'Mon, 01 Jan 2024 00:00:00 GMT', 'bytes 0-1/2', '/elsewhere', 'http://127.0.0.1:1/', '\x01'],
  ...['\x7f', 'a\x00b', 'a\x0bb', '\xe9\xff', 'a\rb', 'a\nb', 'a\r\n b', 'a\r\nx-evil: 1', ' lead', 'trail ', '\ttab\t', 'v'.repeat(9000)],
  ...['v'.repeat(60_000)],
]

/** Longer than a header in an HTTP/2 block may be: it ends the connection. */
export const HUGE = 'v'.repeat(70_000)

export const REASONS = [
  ...['OK', 'OK', 'OK', '', 'Not Found', 'a b c', '\ttab', '\xe9\xff', '\x01', 'a\x00b', 'a\x7fb', '\x1b[2J', 'a\rb', '200'],
  ...['HTTP/1.1 200 OK', 'r'.repeat(9000), '<script>', '%0d%0a', ' lead', 'trail '],
]

export const STATUSES = [
  200, 200, 200, 200, 201, 202, 203, 204, 205, 206, 207, 226, 299, 300, 301, 302, 304, 307, 400, 401, 403, 404, 405, 407, 408, 409, 410,
  411, 412, 413, 416, 417, 418, 421, 425, 426, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 511, 599,
].map(String)

export const ODD_STATUSES = [
  ...['000', '001', '020', '099', '100', '101', '102', '103', '199', '600', '666', '999', '1000', '20', '2', '', '-1', '2x0', '0200'],
  ...['+20', '65536'],
]

/** An answer of the upstream over HTTP/1.1. Its joined parts are its bytes; NO_KEY stands for the key of the request. */
export interface HeadCase extends Case {
  readonly parts: readonly string[]
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly afterwards: Script1['afterwards']
  readonly early: boolean
  readonly writes: number
}

const EVIL = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-case: ${EVIL_KEY}\r\ncontent-length: 2\r\n\r\n{}`

const METHODS = ['GET', 'GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'] as const

/** Answers after which the connection may continue, because the proxy knows their end. After any other it would wait for more. */
const KEPT = /^HTTP\/1\.1 ([2-5]\d\d|101) /
const FRAMING = /^(content-length|transfer-encoding)/i

export interface Asked {
  /** The target, which determines the body of the answer. */
  readonly target: string
  /** True if methods other than GET occur. */
  readonly isAnyMethod: boolean
  /** True if 101 is the expected status. */
  readonly switches: boolean
}

export function drawHead(dice: Dice, { target, isAnyMethod, switches }: Asked): HeadCase {
  const method = isAnyMethod ? dice.one(METHODS) : 'GET'
  const isFramed = dice.chance(0.6)
  const [status, lines] = [statusLine(dice, switches), fields(dice)]
  const parts = [...informational(dice), status, ...lines, ...framed(dice, bodyTo(target, NO_KEY), method, isFramed)]
  const isMutated = dice.chance(0.15)
  const isWhole = isFramed && !isMutated && KEPT.test(status) && !lines.some((line) => FRAMING.test(line))
  const afterwards = dice.weighed<Script1['afterwards']>([
    [isWhole ? 20 : 0, () => 'keep'],
    [9, () => 'end'],
    [1, () => 'reset'],
  ])
  const writes = dice.chance(0.2) ? 2 + dice.below(4) : 1
  return { parts: isMutated ? mutated(dice, parts) : parts, method, afterwards, early: dice.chance(0.05), writes }
}

/** Returns the bytes to send, sometimes in pieces that begin anywhere. */
export function scriptOf({ parts, afterwards, early, writes }: HeadCase, key: string): Script1 {
  const text = parts.join('').replaceAll(NO_KEY, key)
  const bytes = Buffer.from(isSecond(text) ? text : text.replaceAll(EVIL_KEY, key), 'latin1')
  const size = Math.ceil(bytes.length / writes) || 1
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
  return { pieces, afterwards, early, delayMs: 0 }
}

/** True if the extra answer follows another final one; otherwise it is the first answer. */
function isSecond(text: string): boolean {
  const before = text.slice(0, text.lastIndexOf('HTTP/', text.indexOf(EVIL_KEY)))
  return /HTTP\/\d\.\d (?!1\d\d )/.test(before)
}

function informational(dice: Dice): string[] {
  const one = () => {
    const status = dice.one(['100 Continue', '103 Early Hints', '102 Processing', '199 x', '100', '101 Switching Protocols'])
    return `HTTP/1.1 ${status}\r\n${dice.chance(0.5) ? 'link: </a>; rel=preload\r\n' : ''}\r\n`
  }
  return dice.weighed<string[]>([
    [85, () => []],
    [12, () => dice.some(1, 3, one)],
    [3, () => dice.some(10, 60, one)],
  ])
}

function statusLine(dice: Dice, switches: boolean): string {
  if (dice.chance(switches ? 0.7 : 0.02)) return `HTTP/1.1 101 ${dice.one(REASONS)}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n`
  const version = dice.weighed([
    [94, () => 'HTTP/1.1'],
    [4, () => 'HTTP/1.0'],
    [2, () => dice.one(['HTTP/0.9', 'HTTP/2.0', 'http/1.1', 'HTTP/1.2', 'ICY'])],
  ])
  const status = dice.chance(0.8) ? dice.one(STATUSES) : dice.one(ODD_STATUSES)
  return `${version} ${status}${dice.chance(0.97) ? ` ${dice.one(REASONS)}` : ''}\r\n`
}

function fields(dice: Dice): string[] {
  const name = () => (dice.chance(0.9) ? dice.one(NAMES) : dice.one(ODD_NAMES))
  const line = () => {
    const text = `${name()}${dice.chance(0.97) ? ': ' : dice.one([':', ' : ', '', '\t:', ': :'])}${dice.one(VALUES)}\r\n`
    return dice.chance(0.3) ? [text, text] : [text]
  }
  const own = dice.chance(0.95) ? [`x-case: ${NO_KEY}\r\n`] : []
  const type = dice.chance(0.8) ? ['content-type: application/json\r\n'] : []
  return [...own, ...type, ...dice.some(0, 4, line).flat()]
}

/** Draws the end of the head and the body, framed correctly or almost correctly. */
function framed(dice: Dice, body: string, method: HeadCase['method'], isRight: boolean): string[] {
  const sent = method === 'HEAD' ? '' : body
  const hex = sent.length.toString(16)
  const length = (text: string | number) => [`content-length: ${text}\r\n`, '\r\n', sent]
  const chunks = (...pieces: string[]) => ['transfer-encoding: chunked\r\n', '\r\n', ...pieces]
  const trailers = dice.chance(0.2) ? `x-end: ${NO_KEY}\r\n${dice.one(NAMES)}: ${dice.one(VALUES)}\r\n` : ''
  if (isRight) return dice.chance(0.7) ? length(body.length) : chunks(`${hex}\r\n`, sent, '\r\n', '0\r\n', trailers, '\r\n')
  return dice.weighed<string[]>([
    [2, () => ['\r\n', sent]],
    [
      2,
      () =>
        length(
          dice.one([
            body.length - 5,
            body.length + 5,
            0,
            -1,
            `${body.length}, ${body.length}`,
            `0${body.length}`,
            '1e2',
            '',
            '9'.repeat(20),
          ]),
        ),
    ],
    [1, () => [`content-length: ${body.length}\r\n`, ...length(dice.one([body.length, 0]))]],
    [1, () => [`content-length: ${body.length}\r\n`, ...chunks(`${hex}\r\n`, sent, '\r\n0\r\n\r\n')]],
    [
      2,
      () =>
        chunks(
          `${hex}${dice.one([';a=b', ';"', ' ', ';'.repeat(20_000), '\x00', 'z', ''])}\r\n`,
          sent,
          dice.one(['\r\n', '', '\n']),
          '0\r\n',
          trailers,
          dice.one(['\r\n', '']),
        ),
    ],
    [1, () => chunks(dice.one(['-1', 'ffffffffffffffff', '', 'z', '0x5']), '\r\n', sent, '\r\n0\r\n\r\n')],
    [
      1,
      () => [
        `transfer-encoding: ${dice.one(['identity', 'gzip', 'chunked, gzip', 'x', 'chunked, identity', ' chunked'])}\r\n`,
        '\r\n',
        sent,
      ],
    ],
    [2, () => [...length(body.length), dice.one([EVIL, '\r\n', '\x00', 'HTTP/1.1 ', 'x'.repeat(100)])]],
    [1, () => ['\n', sent]],
    [1, () => []],
  ])
}

function mutated(dice: Dice, parts: readonly string[]): string[] {
  let text = parts.join('')
  for (let left = 1 + dice.below(3); left > 0; left--) {
    const at = dice.below(text.length + 1)
    const end = Math.min(text.length, at + 1 + dice.below(dice.chance(0.8) ? 3 : 60))
    const byte = () => String.fromCharCode(dice.chance(0.5) ? dice.below(256) : dice.one([0, 9, 10, 13, 32, 58, 44, 127]))
    const instead = dice.one([byte, () => '', () => text.slice(at, end).repeat(2), () => byte() + text.slice(at, end)])()
    text = text.slice(0, at) + instead + text.slice(end)
  }
  return text.split(/(?<=\n)/)
}
