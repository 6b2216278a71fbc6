import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { readAnswers, type Talk, talk } from '../wire.ts'
import { drawHead, type HeadCase, scriptOf } from './heads-draw.ts'
import type { Case, Dice, Prey } from './hunt.ts'
import { NO_KEY, type ScriptedUpstream } from './upstream.ts'

/** One request as bytes; NO_KEY stands for its key. */
export interface Piece {
  readonly text: string
  readonly isHead: boolean
  /** True if it offers another protocol; v2's reply to the offer answers it. */
  readonly offers: boolean
}

export interface UpgradeCase extends Case {
  readonly parts: readonly Piece[]
  readonly answer: HeadCase
  /** When the client leaves. `answered`: when it has all answers or a tunnel. */
  readonly leaves: 'answered' | 'fin' | 'reset' | 'halved'
  readonly writes: 'together' | 'apart'
}

/** The text in bodies that v2 must never see as a request. */
export const SMUGGLED = `GET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n`

export function drawUpgrade(dice: Dice): UpgradeCase {
  const around = () =>
    dice.weighed([
      [3, () => []],
      [2, () => dice.some(1, 3, () => plain(dice))],
    ])
  const offers = dice.some(1, dice.chance(0.9) ? 1 : 3, () => offer(dice))
  const parts = [...around(), ...offers.map(({ piece }) => piece), ...around()]
  const isWhole = offers.every((one) => one.isWhole)
  return {
    parts,
    answer: drawHead(dice, { target: '/iam/v2/socket', isAnyMethod: false, switches: true }),
    leaves: dice.weighed<UpgradeCase['leaves']>([
      [isWhole ? 7 : 0, () => 'answered'],
      [1, () => 'fin'],
      [1, () => 'reset'],
      [1, () => 'halved'],
    ]),
    writes: dice.chance(0.7) ? 'together' : 'apart',
  }
}

function plain(dice: Dice): Piece {
  const method = dice.one(['GET', 'GET', 'GET', 'HEAD', 'POST'])
  const path = dice.one(['/iam/v2/groups', '/iam/v2/slow', '/iam/v1/groups', '/iam/v1/groups', '/iam/v1/nothing'])
  const body = method === 'POST' ? '{}' : ''
  const framing = method === 'POST' ? `content-length: ${body.length}\r\n` : ''
  const text = `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${NO_KEY}\r\n${framing}\r\n${body}`
  return { text, isHead: method === 'HEAD', offers: false }
}

const PROTOCOLS = [
  ...['websocket', 'websocket', 'websocket', 'WebSocket', 'h2c', 'h2c', 'h2', 'TLS/1.0', 'foo', '', 'websocket, h2c', 'h2c, websocket'],
  ...['websocket/13', ' websocket ', 'websocket\r\nupgrade: h2c', 'h2c\r\nupgrade: websocket', 'websocket\x00', '\xff'],
]
const CONNECTIONS = [
  ...['Upgrade', 'Upgrade', 'Upgrade', 'upgrade', 'keep-alive, Upgrade', 'close', 'close, Upgrade', 'Upgrade, HTTP2-Settings'],
  ...['keep-alive', 'Upgrade, content-length', 'Upgrade, transfer-encoding', 'Upgrade, host', 'Upgrade, authorization'],
  ...['Upgrade, x-request-id', '', 'x'],
]
const METHODS = ['GET', 'GET', 'GET', 'GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'DELETE', 'CONNECT', 'PUT']
const TARGETS = [
  ...['/iam/v2/socket', '/iam/v2/socket', '/iam/v2/socket', '/iam/v1/groups', '/iam/v2/slow', '/iam/v2/early', '/', '*', '//x/y', '/%'],
  ...['/a#b', 'http://169.254.169.254/', 'x:80', '/../x', `/${'x'.repeat(3000)}`, '/iam/v2/groups?a=b'],
]
const EXTRA = [
  ...[
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n',
    'http2-settings: AAMAAABkAAQAAP__\r\n',
    'http2-settings: x\r\n',
  ],
  ...[
    ...['expect: 100-continue\r\n', 'expect: x\r\n', 'te: trailers\r\n', 'proxy-connection: x\r\n', 'x: a\x00b\r\n', ' folded\r\n'],
    ...['host: y\r\n'],
  ],
  ...[
    'content-type: application/grpc\r\n',
    'trailer: x\r\n',
    'x-http-method-override: DELETE\r\n',
    ': x\r\n',
    `x: ${'v'.repeat(9000)}\r\n`,
  ],
]

interface Offer {
  readonly piece: Piece
  /** True if its end is known, so that an answer must arrive. */
  readonly isWhole: boolean
}

function offer(dice: Dice): Offer {
  const method = dice.one(METHODS)
  const version = dice.chance(0.93) ? 'HTTP/1.1' : dice.one(['HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', ''])
  const named = dice.chance(0.97) ? `upgrade: ${dice.one(PROTOCOLS)}\r\n` : ''
  const connection = dice.chance(0.97) ? `connection: ${dice.one(CONNECTIONS)}\r\n` : ''
  const lines = `host: x\r\nauthorization: Bearer ${NO_KEY}\r\n${connection}${named}${dice.some(0, 2, () => dice.one(EXTRA)).join('')}`
  const { framing, body, isWhole } = framed(dice)
  const text = `${method} ${dice.one(TARGETS)} ${version}\r\n${lines}${framing}\r\n${body}`
  return { piece: { text, isHead: method === 'HEAD', offers: true }, isWhole }
}

interface Framed {
  readonly framing: string
  readonly body: string
  readonly isWhole: boolean
}

/** Draws the end of the request. Without the framing, its body would be a request of its own. */
function framed(dice: Dice): Framed {
  const size = SMUGGLED.length
  const chunk = `${size.toString(16)}\r\n${SMUGGLED}\r\n`
  const rows: readonly (readonly [number, Framed])[] = [
    [10, { framing: '', body: '', isWhole: true }],
    [1, { framing: 'content-length: 0\r\n', body: '', isWhole: true }],
    [3, { framing: `content-length: ${size}\r\n`, body: SMUGGLED, isWhole: true }],
    [2, { framing: `content-length: ${2 * size}\r\n`, body: SMUGGLED, isWhole: false }],
    [2, { framing: `content-length: ${size}\r\n`, body: '', isWhole: false }],
    [2, { framing: 'transfer-encoding: chunked\r\n', body: `${chunk}0\r\n\r\n`, isWhole: true }],
    [1, { framing: 'transfer-encoding: chunked\r\n', body: chunk, isWhole: false }],
    [1, { framing: 'transfer-encoding: ChUnKeD\r\n', body: `${chunk}0\r\nx: y\r\n\r\n`, isWhole: true }],
    [1, { framing: `content-length: ${size}\r\ntransfer-encoding: chunked\r\n`, body: `${chunk}0\r\n\r\n`, isWhole: false }],
    [1, { framing: `content-length: ${size}\r\ncontent-length: 0\r\n`, body: SMUGGLED, isWhole: false }],
    [1, { framing: `content-length: ${dice.one(['-1', '1e1', '+5', '0x5', '', 'a'])}\r\n`, body: '', isWhole: false }],
    [1, { framing: `transfer-encoding: ${dice.one(['x', 'gzip', 'chunked, x', 'identity'])}\r\n`, body: '', isWhole: false }],
  ]
  return dice.weighed<Framed>(rows.map(([weight, one]) => [weight, () => one]))
}

/** Offers of another protocol among other requests on one connection. */
export const upgrades: Prey<UpgradeCase> = {
  name: 'upgrades',
  draw: drawUpgrade,
  show: (one) => JSON.stringify(one),
  players: ({ url, upstream }, count) =>
    Array.from({ length: count }, () => {
      let socket: Socket | undefined
      const opened = (fresh: Socket) => {
        socket = fresh
      }
      const play = async (one: UpgradeCase) => {
        const keys = one.parts.map(() => upstream.newKey())
        one.parts.forEach(({ offers }, at) => {
          if (offers) upstream.play(keys[at] ?? '', scriptOf(one.answer, keys[at] ?? ''))
        })
        const talked = await converse(url(), one, keys, opened)
        for (const key of keys) upstream.forget(key)
        return outOfStep(talked, keys, upstream)
      }
      return { play, close: () => socket?.destroy() }
    }),
}

function converse(
  url: string,
  { parts, leaves, writes }: UpgradeCase,
  keys: readonly string[],
  opened: (socket: Socket) => void,
): Promise<Talk> {
  const texts = parts.map(({ text }, at) => text.replaceAll(NO_KEY, keys[at] ?? ''))
  const heads = parts.flatMap(({ isHead }, at) => (isHead ? [at] : []))
  const whole = writes === 'together' ? [texts.join('')] : texts
  const speak = async (socket: Socket) => {
    opened(socket)
    for (const text of leaves === 'halved' ? [texts.join('').slice(0, texts.join('').length / 2)] : whole) {
      if (socket.destroyed) return
      socket.write(text, 'latin1')
      await setImmediate()
    }
    if (leaves === 'fin') socket.end()
    if (leaves === 'reset' || leaves === 'halved') socket.resetAndDestroy()
  }
  const isEnough = (received: string) => {
    const answers = readAnswers(received, false, heads).filter(({ broken }) => !broken)
    return answers.some(({ status }) => status === 101) || answers.filter(({ status }) => status >= 200).length >= parts.length
  }
  return talk(url, (socket) => void speak(socket), isEnough, heads)
}

/** Checks that answers arrive in the order of their requests; those of the proxy itself have no key. */
function outOfStep({ answers }: Talk, keys: readonly string[], upstream: ScriptedUpstream): string | undefined {
  const final = answers.filter(({ status }) => status === 101 || status >= 200)
  const at = final.findIndex(({ headers, body }, nth) => {
    const own = keys[nth] === undefined ? [] : [keys[nth]]
    return upstream.foreignIn(`${[...headers.values()].join('\n')}\n${body}`, own) !== undefined
  })
  return at < 0 ? undefined : `out of step: answer ${at} of ${keys.join()}: ${JSON.stringify(final[at])?.slice(0, 600)}`
}
