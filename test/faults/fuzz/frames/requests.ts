import { type FieldLine, FLAG, type Frame, frame, headerBlock, TYPE, uint32 } from '../../frames.ts'
import type { Dice } from '../dice.ts'
import { ODD_NAMES, VALUES } from '../heads/vocabulary.ts'

const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'CONNECT', 'TRACE', 'PRI', 'get', '']
const PATHS = [
  ...['/iam/v1/groups', '/iam/v1/groups', '/iam/v1/groups?limit=1', '/iam/v2/groups', '/iam/v2/groups', '/iam/v2/early', '/iam/v2/hang'],
  ...['/iam/v1/nothing', '/registry/v1/vuln_reports', '/', '*', '', 'x', '/iam/v1/%', '/\xff', '/iam/v1/groups#x', 'http://x/', '//x'],
]
const CALLS = ['/test.Echo/Unary', '/test.Echo/Unary', '/', '', '*', '/x', 'x']
const TYPES = [
  'application/grpc',
  'application/grpc',
  'application/grpc',
  'application/grpc+proto',
  'application/grpc-web',
  'application/grpc\xff',
]

/** Draws one request: its block, in one frame or several, and perhaps a body. Half of them are gRPC calls. */
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

/** Returns HEADERS, sometimes padded, with a priority, in pieces, or never ended. */
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
