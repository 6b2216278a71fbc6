import { seeded } from '../../stage/clocks.ts'
import { credential, readAll } from './judge.ts'

export const CARRIERS = ['native', 'translated', 'v1'] as const
export type CarrierName = (typeof CARRIERS)[number]

/** The path that selects each carrier in the proxy. The server behind the proxy itself answers `refused`. */
export const TARGETS: Readonly<Record<CarrierName, { readonly read: string; readonly write: string; readonly refused: string }>> = {
  native: { read: '/iam/v2/groups', write: '/iam/v2/groups', refused: '/iam/v2/refused' },
  translated: { read: '/iam/v1/groups', write: `/iam/v1/groups/${'a'.repeat(40)}`, refused: '/iam/v1/refused' },
  v1: { read: '/registry/v1/vuln_reports', write: '/registry/v1/vuln_reports', refused: '/registry/v1/refused' },
}

/** The parts of an odd request. */
export interface Make {
  readonly carrier: CarrierName
  readonly targets: (typeof TARGETS)[CarrierName]
  /** A request in a body, or where a careless reader sees one. It is whole, or left open for the head of another client. */
  readonly hidden: string
  /** The same, always whole. */
  readonly hiddenWhole: string
  /** Returns a head with the next credential of this row, and these lines. */
  head(method: string, lines?: readonly string[], options?: HeadOptions): string
  pick<T>(items: readonly T[]): T
}

export interface HeadOptions {
  readonly target?: string
  readonly version?: string
  /** The behaviour of the journal. */
  readonly behaviour?: string
}

/** One or several odd requests as bytes. Each part of a list is sent after the answer to the one before. */
export interface Shape {
  readonly name: string
  readonly bytes: (make: Make) => string | readonly string[]
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Creates the parts of one row; their ids name the row. */
export function createMake(row: number, carrier: CarrierName, random: () => number): Make {
  const targets = TARGETS[carrier]
  const pick = <T>(items: readonly T[]) => items[Math.floor(random() * items.length)] as T
  let requests = 0
  const hiddenWhole = `GET /iam/v2/hidden-${row} HTTP/1.1\r\nhost: garden\r\n${credential(`hidden-${row}`, 'ok')}\r\n\r\n`
  const hiddenOpen = `DELETE /iam/v2/hidden-${row} HTTP/1.1\r\nx-ignore: `
  return {
    carrier,
    targets,
    hidden: pick([hiddenWhole, hiddenOpen]),
    hiddenWhole,
    head(method, lines = [], { target, version = 'HTTP/1.1', behaviour = 'ok' } = {}) {
      const name = credential(`r${row}-${requests++}`, behaviour)
      const start = `${method} ${target ?? (READS.has(method) ? targets.read : targets.write)} ${version}`
      return `${[start, 'host: garden', name, ...lines].join('\r\n')}\r\n\r\n`
    },
    pick,
  }
}

/** Returns a body as one chunk. */
export const chunk = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n`
export const LAST_CHUNK = '0\r\n\r\n'
export const CHUNKED = 'transfer-encoding: chunked'
export const lengthOf = (body: string) => `content-length: ${body.length}`
const halfOf = (body: string) => `content-length: ${2 * body.length + 999}`

/** A request with the hidden one as its body, behind a length or in a chunk. */
const withLength = (make: Make, method: string, options?: HeadOptions, lines: readonly string[] = []) =>
  make.head(method, [...lines, lengthOf(make.hidden)], options) + make.hidden
const withChunks = (make: Make, method: string, options?: HeadOptions, lines: readonly string[] = [CHUNKED]) =>
  make.head(method, lines, options) + chunk(make.hidden) + LAST_CHUNK

const shape = (name: string, bytes: Shape['bytes']): Shape => ({ name, bytes })

/** Faults of the journal, by name. No client may receive the bytes after its one answer. */
const BROKEN = ['twice', 'spill', 'spillchunks', 'nobody', 'unchanged', 'lengths', 'both', 'coded', 'folded', 'unasked']

/** Well-formed requests whose answers are odd. */
export const answerShapes: readonly Shape[] = [
  ...BROKEN.map((behaviour) => shape(`an answer that is odd: ${behaviour}`, ({ head }) => head('GET', [], { behaviour }))),
  ...['twice', 'spill'].map((behaviour) =>
    shape(`an answer to a POST that is odd: ${behaviour}`, (make) => withLength(make, 'POST', { behaviour })),
  ),
  ...['twice', 'nobody'].map((behaviour) =>
    shape(`an answer to a HEAD that is odd: ${behaviour}`, ({ head }) => head('HEAD', [], { behaviour })),
  ),
  shape('an answer after hints', ({ head }) => head('GET', [], { behaviour: 'hinted' })),
  shape('an answer that breaks off', ({ head }) => head('GET', [], { behaviour: 'cut' })),
]

/** Methods that rarely have a body, so that a careless server leaves it on the connection. */
const BODILESS = ['GET', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE'] as const

const EARLY = ['early401', 'early200']

/** Bodies that are unexpected, and bodies that are not read because the answer came first. */
export const bodyShapes: readonly Shape[] = [
  ...BODILESS.flatMap((method) => [
    shape(`${method} with a body`, (make) => withLength(make, method)),
    shape(`${method} with a chunked body`, (make) => withChunks(make, method)),
  ]),
  shape('a body whose answer comes first', (make) => withLength(make, 'POST', { behaviour: make.pick(EARLY) })),
  shape('a chunked body whose answer comes first', (make) => withChunks(make, 'POST', { behaviour: make.pick(EARLY) })),
  shape('a body whose answer comes first and closes', (make) => withLength(make, 'POST', { behaviour: 'close401' })),
  shape('GET with a body whose answer comes first', (make) => withLength(make, 'GET', { behaviour: 'early401' })),
  shape('a body that the server itself refuses', (make) => withLength(make, 'POST', { target: make.targets.refused })),
  shape('GET with a body that the server itself refuses', (make) => withLength(make, 'GET', { target: make.targets.refused })),
  shape('a body that is sent after its answer came', ({ head, hidden }) => [
    head('POST', [lengthOf(hidden)], { behaviour: 'early401' }),
    hidden,
  ]),
  shape('a body of which the half comes, its answer came', ({ head, hidden }) => [
    head('POST', [halfOf(hidden)], { behaviour: 'early401' }),
    hidden,
  ]),
  shape('chunks that never end, their answer came', ({ head, hidden }) => [
    head('POST', [CHUNKED], { behaviour: 'early401' }),
    chunk(hidden),
  ]),
  shape('a body of which the half comes, refused by the server itself', ({ head, hidden, targets }) => [
    head('POST', [halfOf(hidden)], { target: targets.refused }),
    hidden,
  ]),
  shape('no body although a length says so', ({ head, pick }) => head(pick(['GET', 'POST', 'DELETE']), ['content-length: 40'])),
]

/** Oddly written first chunks, and the bytes after them. A body is `before`, and then the hidden request in a chunk of its own. */
const FIRST_CHUNKS: readonly (readonly [name: string, before: string])[] = [
  ['an extension', '2;a=b\r\nxx\r\n'],
  ['an extension with a quoted line end', '2;a="\r\n"\r\nxx\r\n'],
  ['an extension with a bare carriage return', '2;a\rb\r\nxx\r\n'],
  ['an extension of 3 kB', `2;${'a'.repeat(3000)}\r\nxx\r\n`],
  ['an extension without its semicolon', '2 a=b\r\nxx\r\n'],
  ['a size with zeros before it', '0000002\r\nxx\r\n'],
  ['a size with 0x before it', '0x2\r\nxx\r\n'],
  ['a size with a plus', '+2\r\nxx\r\n'],
  ['a size with a minus', '-2\r\nxx\r\n'],
  ['a size after a space', ' 2\r\nxx\r\n'],
  ['a size before a space', '2 \r\nxx\r\n'],
  ['a size with an underscore', '0_2\r\nxx\r\n'],
  ['a size plus 2^32', '100000002\r\nxx\r\n'],
  ['a size plus 2^64', '10000000000000002\r\nxx\r\n'],
  ['no size', '\r\nxx\r\n'],
  ['a size that ends in a line feed', '2\nxx\r\n'],
  ['a size that ends in a carriage return', '2\rxx\r\n'],
  ['data that ends in a line feed', '2\r\nxx\n'],
  ['data that ends in two other bytes', '2\r\nxxyy'],
  ['data that is longer than its size', '2\r\nxxx\r\n'],
]

/** Ends of a body. Each is written so that a careless reader finds the hidden request after it. */
const LAST_CHUNKS: readonly (readonly [name: string, after: (make: Make) => string])[] = [
  ['a last chunk of many zeros', () => '000\r\n\r\n'],
  ['a last chunk with an extension', () => '0;a=b\r\n\r\n'],
  ['a last chunk that ends in line feeds', () => '0\n\n'],
  ['a last chunk without its empty line', ({ hidden }) => `0\r\n${hidden}`],
  ['an extension behind which a line feed hides the end', ({ hidden }) => `2;\nxx\r\n${hidden.length.toString(16)}\r\n0\r\n\r\n${hidden}`],
  ['a trailer', () => '0\r\nx-trailer: a\r\n\r\n'],
  ['trailers that frame', ({ hidden }) => `0\r\ncontent-length: ${hidden.length}\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['a trailer that is a credential', () => '0\r\nauthorization: Bearer ok.nobody\r\nhost: elsewhere\r\n\r\n'],
  ['a trailer that is folded', () => '0\r\nx-trailer: a\r\n b\r\n\r\n'],
  ['a trailer without a colon', ({ hidden }) => `0\r\n${hidden.split('\r\n')[0]}\r\n\r\n`],
  ['a trailer with a bare line feed', ({ hiddenWhole }) => `0\r\nx: y\n\n${hiddenWhole}`],
]

export const firstChunkShapes: readonly Shape[] = FIRST_CHUNKS.map(([name, before]) =>
  shape(`chunks: ${name}`, (make) => make.head('POST', [CHUNKED]) + before + chunk(make.hidden) + LAST_CHUNK),
)

export const lastChunkShapes: readonly Shape[] = LAST_CHUNKS.map(([name, after]) =>
  shape(`chunks: ${name}`, (make) => make.head('POST', [CHUNKED]) + chunk('xx') + after(make)),
)

/** Spellings of `transfer-encoding: chunked` that some servers accept and others do not. */
const CODINGS: readonly string[] = [
  ...[CHUNKED, 'Transfer-Encoding: cHuNkEd', 'transfer-encoding: xchunked', 'transfer-encoding : chunked', 'transfer-encoding\t: chunked'],
  ...['transfer-encoding:\tchunked', 'transfer-encoding: \x0bchunked', 'transfer-encoding: chunked\x00', 'transfer-encoding: chu\x00nked'],
  ...['transfer-encoding: chunked\xff', 'transfer-encoding: "chunked"', 'transfer-encoding: chunked;q=1', 'transfer-encoding: chunked,'],
  ...['transfer-encoding: ,chunked', 'transfer-encoding: chunked, chunked', 'transfer-encoding: identity, chunked'],
  ...['transfer-encoding: chunked, identity', 'transfer-encoding: gzip, chunked', 'transfer-encoding: identity', 'transfer-encoding:'],
  ...['transfer-encoding: chunked\r\ntransfer-encoding: x', 'transfer-encoding: x\r\ntransfer-encoding: chunked'],
  ...['transfer-encoding:\r\n chunked', 'x-first: a\ntransfer-encoding: chunked', 'x-first: a\rtransfer-encoding: chunked'],
  ...['transfer_encoding: chunked', 'te: chunked'],
]

const shown = (line: string) => JSON.stringify(line).slice(1, -1)
const ordered = ({ pick }: Make, lines: readonly [string, string]) => pick([lines, [lines[1], lines[0]]])

/** The length covers everything; the chunks end before the hidden request. */
function lengthThenChunks(coding: string, make: Make): string {
  const body = `${LAST_CHUNK}${make.hidden}`
  return make.head('POST', ordered(make, [lengthOf(body), coding])) + body
}

/** The chunks cover everything; the length ends before the hidden request. */
function chunksThenLength(coding: string, make: Make): string {
  const [size] = chunk(make.hidden).split('\r\n')
  return make.head('POST', ordered(make, [`content-length: ${(size ?? '').length + 2}`, coding])) + chunk(make.hidden) + LAST_CHUNK
}

/** Both framings at once, and each spelling of the second alone. */
export const codingShapes: readonly Shape[] = CODINGS.flatMap((coding) => [
  shape(`a length and "${shown(coding)}", which ends first`, (make) => lengthThenChunks(coding, make)),
  shape(`"${shown(coding)}" and a length, which ends first`, (make) => chunksThenLength(coding, make)),
  shape(`"${shown(coding)}" alone`, (make) => withChunks(make, make.pick(['POST', 'OPTIONS', 'GET', 'DELETE']), {}, [coding])),
])

/** Headers for framing, for the caller, or added by a proxy. The sender of a request must not be able to remove them. */
const NAMED = [
  ...['transfer-encoding', 'content-length', 'host', 'authorization', 'x-forwarded-for', 'x-request-id', 'via', 'expect'],
  ...['close, content-length'],
]

function body(make: Make, isChunked: boolean, line: string): string {
  const framed = isChunked ? [CHUNKED] : [lengthOf(make.hidden)]
  const lines = make.pick([
    [line, ...framed],
    [...framed, line],
  ])
  return make.head('POST', lines) + (isChunked ? chunk(make.hidden) + LAST_CHUNK : make.hidden)
}

/** `Connection` headers that name headers which must stay. */
export const connectionShapes: readonly Shape[] = [
  ...NAMED.map((name) =>
    shape(`Connection names ${name}`, (make) =>
      body(make, name.includes('transfer'), `connection: ${make.pick(['keep-alive, ', ''])}${name}`),
    ),
  ),
  shape('Connection names content-length of a GET', (make) => withLength(make, 'GET', {}, ['connection: content-length'])),
  shape('Connection names both framings', (make) => body(make, true, 'connection: content-length, transfer-encoding')),
  shape('two Connections', (make) => body(make, false, 'connection: keep-alive\r\nconnection: content-length')),
  shape('Proxy-Connection names content-length', (make) => body(make, false, 'proxy-connection: content-length')),
  shape('Keep-Alive and TE', (make) => body(make, true, 'keep-alive: timeout=99\r\nte: trailers, chunked')),
]

/** The body is sent after the first bytes of an answer, or at once. */
function expecting(expect: string, behaviour: string, isAtOnce: boolean, method = 'POST') {
  return (make: Make) => {
    const head = make.head(method, [`expect: ${expect}`, lengthOf(make.hidden)], { behaviour })
    return isAtOnce ? head + make.hidden : [head, make.hidden]
  }
}

const CONTINUE = '100-continue'

/** `Expect: 100-continue`, answered in every way, and other expectations. */
export const expectationShapes: readonly Shape[] = [
  ...['ok', 'early200', 'early401', 'early417', 'close401'].flatMap((behaviour) => [
    shape(`expecting to continue, answered ${behaviour}`, expecting(CONTINUE, behaviour, false)),
    shape(`expecting to continue, answered ${behaviour}, the body sent at once`, expecting(CONTINUE, behaviour, true)),
  ]),
  shape('GET expecting to continue', expecting(CONTINUE, 'early401', false, 'GET')),
  shape('DELETE expecting to continue', expecting(CONTINUE, 'early401', true, 'DELETE')),
  shape('expecting to continue twice', expecting(`${CONTINUE}\r\nexpect: ${CONTINUE}`, 'early401', true)),
  shape('expecting something and to continue', expecting(`y ${CONTINUE}`, 'early401', true)),
  shape('expecting to continue in capitals', expecting('100-CONTINUE', 'ok', false)),
  shape('expecting something else', expecting('200-ok', 'ok', true)),
  shape('expecting to continue without a body', ({ head }) => head('GET', [`expect: ${CONTINUE}`])),
  shape('expecting to continue, and the next request instead of the body', ({ head, hiddenWhole }) => [
    head('POST', [`expect: ${CONTINUE}`, lengthOf(hiddenWhole)], { behaviour: 'early417' }),
    hiddenWhole,
  ]),
]

const LINES: readonly (readonly [name: string, line: (make: Make) => string])[] = [
  ['a NUL in a value', () => 'x-odd: a\x00b'],
  ['a carriage return in a value', () => 'x-odd: a\rb'],
  ['a request behind a bare carriage return', ({ hiddenWhole }) => `x-odd: a\r\r${hiddenWhole.trimEnd()}`],
  ['a request behind bare line feeds', ({ hiddenWhole }) => `x-odd: a\n\n${hiddenWhole.trimEnd()}`],
  ['a folded value', () => 'x-odd: a\r\n b'],
  ['a fold behind nothing', ({ hiddenWhole }) => `x-odd:\r\n ${hiddenWhole.split('\r\n')[0]}`],
  ['a line without a colon', () => 'x-odd'],
  ['a name that is empty', () => ': x'],
  ['a name with a space', () => 'x odd: x'],
  ['a name with a NUL', () => 'x\x00odd: x'],
  ['a name in brackets', () => '(odd): x'],
  ['a value of high bytes', () => 'x-odd: \xff\xfe\x80'],
  ['a value of 9 kB', () => `x-odd: ${'a'.repeat(9000)}`],
  ['a second host', () => 'host: elsewhere'],
  ['a second credential', () => 'authorization: Bearer ok.nobody'],
  ['a host with a line of its own', ({ hiddenWhole }) => `x-forwarded-host: garden ${hiddenWhole.split('\r\n')[0]}`],
  ['an only line feed as the line end', () => 'x-odd: a\nx-odd-2: b'],
]

/** Header lines. Each request has a body that contains the hidden one. */
export const headerShapes: readonly Shape[] = [
  ...LINES.map(([name, line]) =>
    shape(`a header: ${name}`, (make) => {
      const [odd, length] = [line(make), lengthOf(make.hidden)]
      return make.head('POST', ordered(make, [odd, length])) + make.hidden
    }),
  ),
  shape('a fold before the first header', (make) => withLength(make, 'POST').replace('\r\n', '\r\n ')),
  shape('no host', (make) => withLength(make, 'POST').replace('host: garden\r\n', '')),
  shape('an empty line before the request', ({ head }) => `\r\n${head('GET')}`),
  shape('all lines end in line feeds', (make) => make.head('POST', [lengthOf(make.hidden)]).replaceAll('\r\n', '\n') + make.hidden),
]

/** Ways to declare a body of `n` bytes. */
const LENGTHS: readonly (readonly [name: string, lines: (n: number) => readonly string[]])[] = [
  ['with a plus', (n) => [`content-length: +${n}`]],
  ['with a minus', (n) => [`content-length: -${n}`]],
  ['with zeros before it', (n) => [`content-length: 000${n}`]],
  ['in hexadecimal', (n) => [`content-length: 0x${n.toString(16)}`]],
  ['with a fraction', (n) => [`content-length: ${n}.0`]],
  ['with an underscore in it', (n) => [`content-length: ${String(n).split('').join('_')}`]],
  ['with a word after it', (n) => [`content-length: ${n} a`]],
  ['with a NUL after it', (n) => [`content-length: ${n}\x00`]],
  ['with a vertical tab before it', (n) => [`content-length: \x0b${n}`]],
  ['with a space before the colon', (n) => [`content-length : ${n}`]],
  ['with an underscore in the name', (n) => [`content_length: ${n}`]],
  ['folded', (n) => [`content-length:\r\n ${n}`]],
  ['behind a bare line feed', (n) => [`x-first: a\ncontent-length: ${n}`]],
  ['that is empty', () => ['content-length:']],
  ['twice the same', (n) => [`content-length: ${n}`, `content-length: ${n}`]],
  ['then none', (n) => [`content-length: ${n}`, 'content-length: 0']],
  ['after none', (n) => ['content-length: 0', `content-length: ${n}`]],
  ['twice in one line', (n) => [`content-length: ${n}, ${n}`]],
  ['after none in one line', (n) => [`content-length: 0, ${n}`]],
  ['plus 2^32', (n) => [`content-length: ${2 ** 32 + n}`]],
  ['plus 2^64', (n) => [`content-length: ${2n ** 64n + BigInt(n)}`]],
]

/** A hidden request as the body, with an oddly declared length. */
export const lengthShapes: readonly Shape[] = LENGTHS.map(([name, lines]) =>
  shape(`a length ${name}`, ({ head, hidden, pick }) => head(pick(['POST', 'GET', 'DELETE']), lines(hidden.length)) + hidden),
)

/** Well-formed requests for a pipeline. */
const LINKS: Readonly<Record<string, (make: Make) => string>> = {
  get: ({ head }) => head('GET'),
  head: ({ head }) => head('HEAD'),
  post: (make) => withLength(make, 'POST'),
  chunks: (make) => withChunks(make, 'POST'),
  early: (make) => withLength(make, 'POST', { behaviour: 'early401' }),
  getWithBody: (make) => withLength(make, 'GET'),
  chunkedAnswer: ({ head }) => head('GET', [], { behaviour: 'chunked' }),
  cut: ({ head }) => head('GET', [], { behaviour: 'cut' }),
  closing: ({ head }) => head('GET', [], { behaviour: 'close200' }),
}

const PIPELINES = [
  ...['get get', 'head get', 'post get', 'early get', 'chunks post get', 'cut get', 'closing get', 'getWithBody head get'],
  ...['chunkedAnswer get head get', 'early early early get', 'get get get get get'],
].map((links) => links.split(' '))

/** Number of pipelines that a seed adds to those above. */
const DRAWN = 6

/** Two to five requests in one write. */
export const pipelineShapes: readonly Shape[] = [
  ...PIPELINES.map((links) => shape(`a pipeline of ${links.join(', ')}`, (make) => links.map((link) => LINKS[link]?.(make)).join(''))),
  ...Array.from({ length: DRAWN }, (_, at) =>
    shape(`a pipeline by chance, ${at + 1}`, (make) =>
      Array.from({ length: make.pick([2, 3, 4, 5]) }, () => make.pick(Object.values(LINKS))(make)).join(''),
    ),
  ),
]

const ODD_TARGETS: readonly (readonly [name: string, target: (make: Make) => string])[] = [
  ['that is a whole address', ({ targets }) => `http://garden${targets.read}`],
  ['that is an address elsewhere', ({ targets }) => `http://elsewhere.example${targets.read}`],
  ['of a path with two slashes', ({ targets }) => `/${targets.read}`],
  ['with a dot segment', ({ targets }) => targets.read.replace('/iam', '/iam/x/..')],
  ['with a fragment', ({ targets }) => `${targets.read}#x`],
  ['with a backslash', ({ targets }) => `${targets.read}\\x`],
  ['with an encoded line end', ({ targets, hiddenWhole }) => `${targets.read}?x=${encodeURIComponent(`x HTTP/1.1\r\n\r\n${hiddenWhole}`)}`],
  ['with an encoded space', ({ targets }) => `${targets.read}?x=%20HTTP/1.1`],
  ['with a space', ({ targets }) => `${targets.read} HTTP/1.1 x`],
  ['with a tab', ({ targets }) => `${targets.read}\tHTTP/1.1`],
  ['with a NUL', ({ targets }) => `${targets.read}\x00`],
  ['that is a star', () => '*'],
  ['that is empty', () => ''],
]

const METHODS = ['get', 'BREW', 'GET\x00', 'CONNECT', 'PROPFIND', 'M-SEARCH', '"GET"']

const KEPT = ['connection: keep-alive']

/** Request lines: targets, methods, versions. */
export const startShapes: readonly Shape[] = [
  ...ODD_TARGETS.map(([name, target]) => shape(`a target ${name}`, (make) => make.head('GET', [], { target: target(make) }))),
  ...METHODS.map((method) =>
    shape(`method ${JSON.stringify(method)} with a body`, (make) => withLength(make, method, { target: make.targets.read })),
  ),
  shape('HTTP/1.0 kept alive', ({ head }) => head('GET', KEPT, { version: 'HTTP/1.0' })),
  shape('HTTP/1.0 kept alive, its end is the end of the connection', ({ head }) =>
    head('GET', KEPT, { version: 'HTTP/1.0', behaviour: 'close200' }),
  ),
  shape('HTTP/1.0 with a length', (make) => withLength(make, 'POST', { version: 'HTTP/1.0' }, KEPT)),
  shape('HTTP/1.0 with chunks', (make) => withChunks(make, 'POST', { version: 'HTTP/1.0' }, [...KEPT, CHUNKED])),
  ...['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1\x00', 'HTTP/01.1'].map((version) =>
    shape(`version ${JSON.stringify(version)}`, (make) => withLength(make, 'POST', { version })),
  ),
  shape('no version', ({ targets, hiddenWhole }) => `GET ${targets.read}\r\n${hiddenWhole}`),
]

const WEBSOCKET = ['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13', 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==']
const H2C = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__']

const OFFERS: readonly (readonly [name: string, lines: readonly string[]])[] = [
  ['a WebSocket handshake', WEBSOCKET],
  ['an offer of h2c', H2C],
  ['an offer of something', ['connection: Upgrade', 'upgrade: something']],
]

const REFUSED = { behaviour: 'early404' }

/** Upgrades with bodies, refused and accepted, and with requests after them. */
export const upgradeShapes: readonly Shape[] = [
  ...OFFERS.flatMap(([name, lines]) => [
    shape(`${name} with a length and no body`, ({ head }) => head('GET', [...lines, 'content-length: 300'], REFUSED)),
    shape(`${name} with a body`, (make) => withLength(make, 'GET', REFUSED, lines)),
    shape(`${name} with a chunked body`, (make) => withChunks(make, 'GET', REFUSED, [...lines, CHUNKED])),
    shape(`${name}, refused`, ({ head }) => head('GET', lines, REFUSED)),
    shape(`${name}, not heard of`, ({ head }) => head('GET', lines)),
    shape(`${name} behind a request`, ({ head }) => head('GET') + head('GET', lines, REFUSED)),
    shape(`${name} by POST`, (make) => withLength(make, 'POST', {}, lines)),
  ]),
  shape('a WebSocket handshake with a length, refused by the server itself', ({ head, targets }) =>
    head('GET', [...WEBSOCKET, 'content-length: 999'], { target: targets.refused }),
  ),
  shape('a WebSocket handshake with a length, accepted', (make) => withLength(make, 'GET', { behaviour: 'switch' }, WEBSOCKET)),
  shape('a WebSocket handshake of a wrong version', ({ head }) => {
    const wrong = WEBSOCKET.map((line) => line.replace('13', '777'))
    return head('GET', wrong, REFUSED)
  }),
  shape('a WebSocket handshake of HTTP/1.0', ({ head }) => head('GET', WEBSOCKET, { ...REFUSED, version: 'HTTP/1.0' })),
]

/** Shapes that are read in the same way on every carrier. The carriers take turns. */
const OF_THE_READER: readonly Shape[] = [...codingShapes, ...lengthShapes, ...startShapes, ...headerShapes, ...firstChunkShapes]

/** Shapes that each carrier handles in its own way. */
const OF_THE_CARRIER: readonly Shape[] = [
  ...lastChunkShapes,
  ...bodyShapes,
  ...expectationShapes,
  ...connectionShapes,
  ...upgradeShapes,
  ...pipelineShapes,
  ...answerShapes,
]

/** One odd exchange. Its last request asks to close the connection. */
export interface Row {
  readonly nr: number
  readonly name: string
  readonly carrier: CarrierName
  readonly parts: readonly string[]
  /** What a strict reader finds in its bytes. */
  readonly sent: ReturnType<typeof readAll>
}

/** Returns all rows, which are the same for the same seed. */
export function rowsFrom(seed: number): readonly Row[] {
  return rowsOf([...inTurn(OF_THE_READER), ...onEach(OF_THE_CARRIER)], seed)
}

interface Carried {
  readonly shape: Shape
  readonly carrier: CarrierName
}

/** Returns each shape on one carrier. */
export function inTurn(shapes: readonly Shape[]): readonly Carried[] {
  return shapes.map((shape, at) => ({ shape, carrier: CARRIERS[(at + Math.floor(at / CARRIERS.length)) % CARRIERS.length] ?? 'native' }))
}

/** Returns each shape on every carrier. */
export function onEach(shapes: readonly Shape[]): readonly Carried[] {
  return shapes.flatMap((shape) => CARRIERS.map((carrier) => ({ shape, carrier })))
}

export function rowsOf(carried: readonly Carried[], seed: number): readonly Row[] {
  return carried.map(({ shape, carrier }, nr) => {
    const make = createMake(nr, carrier, seeded(seed * 10_000 + nr))
    const probe = `GET ${make.targets.read} HTTP/1.1\r\nhost: garden\r\n${credential(`probe-${nr}`, 'ok')}\r\nconnection: close\r\n\r\n`
    const parts = [shape.bytes(make), probe].flat()
    return { nr, name: shape.name, carrier, parts, sent: readAll(parts.join('')) }
  })
}
