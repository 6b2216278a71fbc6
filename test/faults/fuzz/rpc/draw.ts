import { gzipSync } from 'node:zlib'
import { encodeMessage } from '../../../compat/rpc/answer.ts'
import { type MethodFact, methods } from '../../../compat/rpc/facts.ts'
import { writeMessage } from '../../../compat/rpc/protojson.ts'
import type { Dice } from '../dice.ts'
import type { Case } from '../prey.ts'
import { MOMENTS, randomMessage } from './random-message.ts'

export type Carrier = 'grpc' | 'grpc-web' | 'connect'

/** A piece of the body, or metadata. */
export type RpcPart = { readonly bytes: Buffer } | { readonly header: readonly [name: string, value: string] }

/** A call of which anything may be wrong. */
export interface RpcCase extends Case {
  readonly carrier: Carrier
  readonly over: 'HTTP/1.1' | 'HTTP/2'
  readonly path: string
  readonly type: string
  readonly parts: readonly RpcPart[]
  /** What the client does after its body; one that waits resets the stream later. */
  readonly ends: 'end' | 'reset' | 'wait'
}

/** The bound of a body in these runs, so that a greater one is soon sent. */
export const REQUEST_BYTES = 65_536

const PATHS = [
  '/chainguard.platform.iam.Groups/Nothing',
  '/chainguard.platform.iam.v2.GroupsService/ListGroups',
  '/chainguard.platform.iam.v2beta1.GroupsService/ListGroups',
  '/grpc.health.v1.Health/Check',
  '/test.Echo/Unary',
  '/chainguard.platform.iam.Groups/',
  '/chainguard.platform.iam.Groups',
  '/a/../b',
  '/%2e/%00',
]

const TYPES: Readonly<Record<Carrier, readonly string[]>> = {
  grpc: ['application/grpc', 'application/grpc', 'application/grpc+proto', 'application/grpc+json', 'application/grpc;charset=x'],
  'grpc-web': ['application/grpc-web', 'application/grpc-web+proto', 'application/grpc-web-text', 'application/grpc-web+json'],
  connect: ['application/json', 'application/json', 'application/proto', 'application/proto', 'application/json; charset=utf-8'],
}

const METADATA = [
  ...['authorization', 'grpc-timeout', 'connect-timeout-ms', 'grpc-encoding', 'content-encoding', 'grpc-accept-encoding'],
  ...['accept-encoding', 'connect-protocol-version', 'connect-accept-encoding', 'x-a-bin', 'x-a', 'cookie', 'traceparent'],
  ...['x-crosswalk-mode', 'x-forwarded-for', 'x-http-method-override', 'x-request-id', 'user-agent', 'grpc-status', 'x-grpc-web'],
]
const VALUES = [
  ...['Bearer x', '', '1n', '10S', '99999999H', '1', '-1S', 'gzip', 'br', 'identity', 'gzip,identity', 'AAA', '%%%', 'é'],
  ...['trailers', '0', 'x'.repeat(2000), '00-00000000000000000000000000000000-0000000000000000-01'],
]

/** Draws a call: mostly of a known method, often with a valid message in a valid frame. */
export function drawCall(dice: Dice): RpcCase {
  const carrier = dice.one<Carrier>(['grpc', 'grpc', 'grpc-web', 'connect'])
  const method = dice.one(methods)
  const type = dice.one(TYPES[carrier])
  const body = carrier === 'connect' ? bare(dice, method, type) : framed(dice, method)
  const metadata = dice.some(0, 3, (): RpcPart => ({ header: [dice.one(METADATA), dice.one(VALUES)] }))
  return {
    carrier,
    over: carrier === 'grpc' || dice.chance(0.5) ? 'HTTP/2' : 'HTTP/1.1',
    path: dice.chance(0.05) ? dice.one(PATHS) : method.path,
    type,
    parts: [...metadata, ...body.map((bytes): RpcPart => ({ bytes }))],
    ends: dice.weighed<RpcCase['ends']>([
      [40, () => 'end'],
      [1, () => 'reset'],
      [1, () => 'wait'],
    ]),
  }
}

/** Draws bytes in the place of a message: a valid one, a spoilt one, or anything. */
function message(dice: Dice, { input }: MethodFact): Buffer {
  const valid = () => Buffer.from(encodeMessage(input, randomMessage(dice, input)))
  return dice.weighed([
    [10, valid],
    [1, () => valid().subarray(0, dice.below(20))],
    [1, () => Buffer.concat([valid(), anyBytes(dice)])],
    [2, () => spoilt(dice, valid())],
    [2, () => anyBytes(dice)],
    [0.2, () => Buffer.alloc(REQUEST_BYTES + dice.below(3) - 1, 'x')],
  ])
}

const anyBytes = (dice: Dice) => Buffer.from(dice.some(0, 40, () => dice.below(256)))

function spoilt(dice: Dice, bytes: Buffer): Buffer {
  for (let left = 1 + dice.below(3); left > 0 && bytes.length > 0; left--) bytes[dice.below(bytes.length)] = dice.below(256)
  return bytes
}

/** Ten million zeros in ten kilobytes. */
const BOMB = gzipSync(Buffer.alloc(10_000_000))

const frame = (flags: number, bytes: Buffer, length = bytes.length): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt8(flags)
  head.writeUInt32BE(length >>> 0, 1)
  return Buffer.concat([head, bytes])
}

/** Draws a body of gRPC or gRPC-Web in pieces. */
function framed(dice: Dice, method: MethodFact): readonly Buffer[] {
  const own = () => message(dice, method)
  const body = dice.weighed<Buffer>([
    [14, () => frame(0, own())],
    [2, () => frame(1, packed(dice, own()))],
    [1, () => frame(dice.below(256), own())],
    [1, () => frame(0, own(), dice.one([0, 1, 5, 1000, 2 ** 31, 2 ** 32 - 1]))],
    [1, () => Buffer.concat([frame(0, own()), frame(dice.one([0, 1, 128]), own())])],
    [0.5, () => Buffer.alloc(0)],
    [0.5, () => anyBytes(dice)],
    [0.5, () => frame(0, own()).subarray(0, dice.below(8))],
    [0.5, () => Buffer.from(frame(0, own()).toString('base64'))],
  ])
  return inPieces(dice, body)
}

/** Draws a body of Connect: a message as it is, in the codec of its type. */
function bare(dice: Dice, method: MethodFact, type: string): readonly Buffer[] {
  const json = () => Buffer.from(JSON.stringify(writeMessage(method.input, randomMessage(dice, method.input, MOMENTS))))
  const own = () => (type.includes('json') && dice.chance(0.8) ? json() : message(dice, method))
  const body = dice.weighed<Buffer>([
    [12, own],
    [1, () => own().subarray(0, dice.below(30))],
    [1, () => spoilt(dice, own())],
    [1, () => packed(dice, own())],
    [1, () => Buffer.from(dice.one(['', 'null', '[]', '{', '{"id":7}', `${'['.repeat(5000)}`, '{"":null}', '\ufeff{}']))],
    [0.5, () => frame(0, own())],
  ])
  return inPieces(dice, body)
}

/** Compresses, well or not. */
const packed = (dice: Dice, bytes: Buffer): Buffer =>
  dice.weighed([
    [4, () => gzipSync(bytes)],
    [1, () => bytes],
    [1, () => gzipSync(bytes).subarray(0, dice.below(30))],
    [1, () => spoilt(dice, gzipSync(bytes))],
    [0.3, () => BOMB],
    [1, () => Buffer.concat([gzipSync(bytes), gzipSync(bytes)])],
  ])

function inPieces(dice: Dice, body: Buffer): readonly Buffer[] {
  if (dice.chance(0.7) || body.length === 0) return [body]
  const at = dice.below(body.length)
  return [body.subarray(0, at), body.subarray(at)]
}
