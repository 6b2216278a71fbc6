import type { Socket } from 'node:net'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { bytesOf, dial, type FieldLine, FLAG, type Frame, frame, headerBlock, PREFACE, readFrames, TYPE, uint32 } from '../wire.ts'
import { ODD_NAMES, VALUES } from './heads-draw.ts'
import type { Case, Dice, Prey } from './hunt.ts'

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'get', '']
const PATHS = [
  ...['/iam/v1/groups', '/iam/v1/groups', '/iam/v1/groups?limit=1', '/iam/v2/groups', '/iam/v2/groups', '/iam/v2/early', '/iam/v2/hang'],
  ...['/iam/v1/nothing', '/registry/v1/vuln_reports', '/', '*', '', 'x', '/iam/v1/%', '/\xff', '/iam/v1/groups#x', 'http://x/', '//x'],
]
const CALLS = ['/test.Echo/Unary', '/test.Echo/Unary', '/', '', '*', '/x', 'x']
const TYPES = [
  ...['application/grpc', 'application/grpc', 'application/grpc', 'application/grpc+proto', 'application/grpc-web', 'application/grpc\xff'],
]

export function drawRequest(dice: Dice, stream: number): Frame[] {
  const isCall = dice.chance(0.5)
  const ends = dice.chance(isCall ? 0.3 : 0.7)
  const block = headerBlock(fieldsOf(dice, isCall))
  const bodies = ends ? [] : dice.some(0, 2, () => bodyOf(dice, stream, isCall))
  return [...framesOf(dice, stream, block, ends ? FLAG.END_STREAM : 0), ...bodies]
}

function fieldsOf(dice: Dice, isCall: boolean): readonly FieldLine[] {
  const pseudo: FieldLine[] = [
    [':method', isCall && dice.chance(0.9) ? 'POST' : dice.one(METHODS)],
    [':scheme', dice.chance(0.95) ? 'http' : dice.one(['https', '', 'ftp'])],
    [':path', dice.one(isCall ? CALLS : PATHS)],
    [':authority', dice.chance(0.9) ? 'x' : dice.one(['', 'a@b', 'a/b', 'x\r\ny: z', '[::1]:99999'])],
  ]
  const kept = pseudo.filter(() => dice.chance(0.98))
  const twice = dice.chance(0.02) ? [dice.one(pseudo)] : []
  const protocol: FieldLine[] = dice.chance(0.02) ? [[':protocol', 'websocket']] : []
  const call: FieldLine[] = isCall
    ? [
        ['content-type', dice.one(TYPES)],
        ['te', 'trailers'],
      ]
    : []
  const odd = (): FieldLine => [dice.chance(0.6) ? dice.one(SPECIAL) : dice.one(ODD_NAMES), dice.one(VALUES)]
  const all = [...kept, ...twice, ...protocol, ...call, ...(dice.chance(0.3) ? dice.some(1, 3, odd) : [])]
  return dice.chance(0.98) ? all : all.reverse()
}

const SPECIAL = [
  ...['content-length', 'expect', 'te', 'connection', 'upgrade', 'transfer-encoding', 'host', 'http2-settings', 'authorization', 'cookie'],
  ...['content-type', 'grpc-timeout', 'x-bin', 'x-forwarded-for', 'traceparent', 'x-request-id', 'x-crosswalk-mode', 'priority'],
]

function bodyOf(dice: Dice, stream: number, isCall: boolean): Frame {
  const content = dice.one(isCall ? ['\0\0\0\0\x01a', '\0', '', '\0\0\0\xff\xff'] : ['{}', '', 'x'.repeat(1000)])
  return frame(TYPE.DATA, dice.chance(0.6) ? FLAG.END_STREAM : 0, stream, Buffer.from(content, 'latin1'))
}

function framesOf(dice: Dice, stream: number, block: Buffer, flags: number): Frame[] {
  const whole = (payload: Buffer, more = 0) => [frame(TYPE.HEADERS, flags | more | FLAG.END_HEADERS, stream, payload)]
  const priority = () => Buffer.concat([uint32(dice.one([0, stream, 1])), Buffer.of(dice.below(256)), block])
  const pieces = () => {
    const size = Math.ceil(block.length / (2 + dice.below(5)))
    const count = Math.ceil(block.length / size)
    return Array.from({ length: count }, (_, at) =>
      frame(
        at === 0 ? TYPE.HEADERS : TYPE.CONTINUATION,
        (at === 0 ? flags : 0) | (at === count - 1 ? FLAG.END_HEADERS : 0),
        stream,
        block.subarray(at * size, (at + 1) * size),
      ),
    )
  }
  return dice.weighed<Frame[]>([
    [20, () => whole(block)],
    [1, () => whole(Buffer.concat([Buffer.of(dice.one([0, 3, 255])), block, Buffer.alloc(3)]), FLAG.PADDED)],
    [1, () => whole(priority(), FLAG.PRIORITY)],
    [2, pieces],
    [0.5, () => [frame(TYPE.HEADERS, flags, stream, block)]],
    [0.5, () => whole(Buffer.concat([block, Buffer.from(dice.some(1, 6, () => dice.below(256)))]))],
  ])
}

/** The frames of a client on one connection. `ping`: it leaves when the server has read everything. */
export interface SequenceCase extends Case {
  readonly parts: readonly Buffer[]
  readonly ends: 'ping' | 'linger' | 'fin' | 'reset'
}

export function drawSequence(dice: Dice): SequenceCase {
  const streams: number[] = []
  let lies = false
  const open = () => {
    const id = (streams.at(-1) ?? -1) + 2
    streams.push(id)
    return id
  }
  const some = () => (streams.length > 0 && dice.chance(0.85) ? dice.one(streams) : dice.one([0, 1, 2, 3, 5, 99, 2 ** 31 - 1]))
  const request = (): Frame[] => drawRequest(dice, open())
  const step = (): Frame[] =>
    dice.weighed<Frame[]>([
      [5, request],
      [6, () => [drawOther(dice, some)]],
      [1, () => [drawSettings(dice)]],
    ])
  const frames = [...request(), ...dice.some(1, 8, step).flat()]
  const parts = frames.map((one) => {
    if (!dice.chance(0.02)) return bytesOf(one)
    lies = true
    return bytesOf({ ...one, length: dice.one([0, 1, one.payload.length + 1, Math.max(0, one.payload.length - 1), 16_385, 2 ** 24 - 1]) })
  })
  const greeting = [
    ...(dice.chance(0.99) ? [PREFACE] : [PREFACE.subarray(0, 3 + dice.below(22))]),
    ...(dice.chance(0.97) ? [bytesOf(drawSettings(dice, 0.8))] : []),
  ]
  const goes = lies || greeting[0] !== PREFACE ? (['fin', 'reset'] as const) : (['ping', 'ping', 'linger', 'fin', 'reset'] as const)
  return { parts: [...greeting, ...parts], ends: dice.one(goes) }
}

/** Names and limits of settings (RFC 9113 §6.5.2). */
function drawSettings(dice: Dice, plain = 0.3): Frame {
  if (dice.chance(plain)) return frame(TYPE.SETTINGS, 0, 0)
  const entry = () => {
    const bytes = Buffer.alloc(6)
    bytes.writeUInt16BE(dice.one([1, 2, 3, 4, 5, 6, 8, 9, 0, 65_535]))
    bytes.writeUInt32BE(dice.one([0, 0, 1, 2, 100, 16_384, 65_535, 2 ** 24 - 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]), 2)
    return bytes
  }
  const payload = dice.chance(0.95) ? Buffer.concat(dice.some(1, 4, entry)) : Buffer.alloc(dice.below(12))
  return frame(TYPE.SETTINGS, dice.chance(0.95) ? 0 : FLAG.ACK, dice.chance(0.98) ? 0 : 1, payload)
}

/** Draws any frame that is no request, often where it is not allowed. */
function drawOther(dice: Dice, stream: () => number): Frame {
  const junk = () => Buffer.from(dice.some(0, 12, () => dice.below(256)))
  const flags = () => (dice.chance(0.7) ? 0 : dice.below(256))
  const number = () => uint32(dice.one([0, 1, 2, 8, 100, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]))
  const trailer: readonly FieldLine[] = [
    dice.one<FieldLine>([
      ['grpc-x', '1'],
      [':path', '/'],
      ['content-length', '3'],
      ['X-Up', '1'],
      ['x\0', '1'],
      ['te', 'x'],
    ]),
  ]
  return dice.weighed<Frame>([
    [6, () => frame(TYPE.RST_STREAM, 0, stream(), dice.chance(0.95) ? number() : junk())],
    [5, () => frame(TYPE.WINDOW_UPDATE, 0, stream(), dice.chance(0.95) ? number() : junk())],
    [
      5,
      () =>
        frame(
          TYPE.DATA,
          dice.one([0, 0, FLAG.END_STREAM, FLAG.PADDED, FLAG.PADDED | FLAG.END_STREAM]),
          stream(),
          dice.chance(0.8) ? junk() : Buffer.alloc(dice.one([16_384, 16_385, 70_000])),
        ),
    ],
    [3, () => frame(TYPE.HEADERS, FLAG.END_HEADERS | (dice.chance(0.8) ? FLAG.END_STREAM : 0), stream(), headerBlock(trailer))],
    [2, () => frame(TYPE.PRIORITY, 0, stream(), dice.chance(0.9) ? Buffer.concat([uint32(stream()), Buffer.of(dice.below(256))]) : junk())],
    [2, () => frame(TYPE.CONTINUATION, dice.one([0, FLAG.END_HEADERS]), stream(), dice.chance(0.5) ? headerBlock(trailer) : junk())],
    [2, () => frame(TYPE.PING, flags(), dice.chance(0.9) ? 0 : stream(), dice.chance(0.9) ? Buffer.alloc(8) : junk())],
    [1, () => frame(TYPE.GOAWAY, 0, dice.chance(0.9) ? 0 : stream(), Buffer.concat([uint32(stream()), number(), junk()]))],
    [1, () => frame(TYPE.PUSH_PROMISE, FLAG.END_HEADERS, stream(), Buffer.concat([uint32(2), headerBlock([[':method', 'GET']])]))],
    [1, () => frame(TYPE.SETTINGS, FLAG.ACK, 0)],
    [2, () => frame(10 + dice.below(246), flags(), stream(), junk())],
    [1, () => frame(dice.below(11), dice.below(256), stream(), junk())],
  ])
}

const PING = Buffer.from('are you?')

/** Milliseconds that a client stays after its frames have been read, so that answers arrive. */
const LINGER = 20

/** Sequences of frames, each sent twice: one write for every frame, and one write for all. */
export const sequences: Prey<SequenceCase> = {
  name: 'frames',
  draw: drawSequence,
  show: ({ parts, ends }) => `${parts.map((part) => `  ${part.toString('hex')}`).join('\n')}\n  ${ends}`,
  players: ({ url }, count) =>
    Array.from({ length: count }, () => ({
      async play({ parts, ends }) {
        await send(url(), parts, ends)
        await send(url(), [Buffer.concat(parts)], ends)
        return undefined
      },
      close() {},
    })),
}

/** Resolves when either side has closed the connection. */
export async function send(url: string, writes: readonly Buffer[], ends: SequenceCase['ends']): Promise<void> {
  const socket = dial(url, 'h2')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const { answered, dismissed } = listen(socket)
  socket.on('error', () => {})
  for (const bytes of writes) {
    if (socket.destroyed) break
    socket.write(bytes)
    await setImmediate()
  }
  if (ends === 'ping' || ends === 'linger') {
    socket.write(bytesOf(frame(TYPE.PING, 0, 0, PING)))
    await Promise.race([answered, dismissed, closed])
    if (ends === 'linger') await Promise.race([delay(LINGER), closed])
    socket.destroy()
  } else if (ends === 'fin') {
    socket.end()
    await Promise.race([dismissed, closed])
    socket.destroy()
  } else socket.resetAndDestroy()
  await closed
}

/**
 * Resolves when the server has answered our ping and so has read everything before it, or when it has told us to leave.
 * The latter counts as its end of the connection: after an error, some versions of Node wait for ours.
 */
function listen(socket: Socket): { readonly answered: Promise<void>; readonly dismissed: Promise<void> } {
  const [answered, dismissed] = [deferred(), deferred()]
  let received: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    const { frames, rest } = readFrames(Buffer.concat([received, bytes]))
    received = rest
    if (frames.some(({ type, flags, payload }) => type === TYPE.PING && (flags & FLAG.ACK) !== 0 && payload.equals(PING)))
      answered.resolve()
    if (frames.some(({ type }) => type === TYPE.GOAWAY)) dismissed.resolve()
  })
  return { answered: answered.promise, dismissed: dismissed.promise }
}

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
