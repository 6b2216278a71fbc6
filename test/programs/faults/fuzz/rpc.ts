import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { isOfBoth } from '../../../../src/grpc/facts.ts'
import { encodeMessage } from '../../../contract/rpc/call.ts'
import {
  enums,
  type FieldFact,
  type Json,
  type MethodFact,
  messages,
  methods,
  readMessage,
  wireTypes,
  writeMessage,
} from '../../../contract/rpc/protojson.ts'
import { gathered, grpcFrame } from '../wire.ts'
import type { Case, Dice, Prey } from './hunt.ts'
import { openLane } from './requests.ts'

export interface RpcGiven {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  readonly trailers: ReadonlyMap<string, string>
  readonly reset: number
}

const WAIT = 20

/** Opens a client with a connection of each protocol, which asks one thing at a time. */
export function openRpcAsker(url: () => string) {
  let session: ClientHttp2Session | undefined
  const lane = openLane(url())
  const over2 = (one: RpcCase) => {
    if (!session || session.closed || session.destroyed) {
      session = http2.connect(url(), { rejectUnauthorized: false })
      session.on('error', () => {})
    }
    return ask2(session, one)
  }
  return {
    ask: (one: RpcCase) => (one.over === 'HTTP/2' ? over2(one) : ask1(lane, one)),
    close() {
      session?.destroy()
      lane.close()
    },
  }
}

const headersOf = ({ type, parts }: RpcCase): Readonly<Record<string, string>> =>
  Object.fromEntries([['content-type', type], ...parts.flatMap((part) => ('header' in part ? [part.header] : []))])

const piecesOf = ({ parts }: RpcCase) => parts.flatMap((part) => ('bytes' in part ? [part.bytes] : []))

async function ask1(lane: ReturnType<typeof openLane>, one: RpcCase): Promise<RpcGiven> {
  const body = Buffer.concat(piecesOf(one))
  const lines = Object.entries({ ...headersOf(one), 'content-length': String(body.length) }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${one.path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`
  const answer = await lane.ask({ text: head + body.toString('latin1'), isHead: false })
  const bytes = Buffer.from(answer?.body ?? '', 'latin1')
  return { status: answer?.status ?? 0, headers: answer?.headers ?? new Map(), body: bytes, trailers: new Map(), reset: 0 }
}

async function ask2(session: ClientHttp2Session, one: RpcCase): Promise<RpcGiven> {
  const stream = session.request({ ':method': 'POST', ':path': one.path, ...headersOf(one) })
  const given = gathered(stream)
  for (const piece of piecesOf(one)) stream.write(piece)
  if (one.ends === 'end') stream.end()
  else if (one.ends === 'reset') stream.close(http2.constants.NGHTTP2_CANCEL)
  else setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), WAIT)
  const { status, head, trailers, body, reset } = await given
  return { status, headers: mapOf(head), trailers: mapOf(trailers), body, reset }
}

const mapOf = (headers: IncomingHttpHeaders) => new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))

const TEXTS = [
  ...['', 'x', 'a'.repeat(40), `${'a'.repeat(40)}/${'b'.repeat(16)}`, '..', '%2F', '\0', '\u2028é🔑', '__proto__', 'id asc', '{id=**}'],
  ...['*'],
]
const WHOLE = ['0', '1', '-1', '200', '2147483647', '-9223372036854775808', '9223372036854775807']

/** Times and spans that protobuf JSON can write. */
export const MOMENTS = [
  { seconds: '0', nanos: 0 },
  { seconds: '1', nanos: 999_999_999 },
  { seconds: '-62135596800', nanos: 1 },
  { seconds: '253402300799', nanos: 120_000_000 },
]

/** All that the bytes of a time can say. */
const ANY_MOMENTS = [...MOMENTS, { seconds: '9223372036854775807', nanos: -1 }, { seconds: '-1', nanos: 2 ** 31 - 1 }]

/** The depth at which a message has no messages. */
const DEEPEST = 4

/** Draws a message that its type allows, as protobufjs takes it: each field may be set, with odd values. */
export function randomMessage(dice: Dice, type: string, moments = ANY_MOMENTS, depth = 0): Json {
  const fields = (messages.get(type) ?? []).filter(() => dice.chance(0.2))
  return Object.fromEntries(fields.map((field) => [field.proto, valueOfField(dice, field, moments, depth)]))
}

function valueOfField(dice: Dice, { shape, type, keys }: FieldFact, moments: typeof MOMENTS, depth: number): unknown {
  if (shape === 'one') return oneOf(dice, type, moments, depth)
  const many = dice.some(0, 3, () => oneOf(dice, type, moments, depth))
  if (shape === 'list') return many
  return Object.fromEntries(many.map((one) => [keys === 'string' ? dice.one(TEXTS) : dice.one(WHOLE), one]))
}

function oneOf(dice: Dice, type: string, moments: typeof MOMENTS, depth: number): unknown {
  const values = enums.get(type)
  if (values) return dice.chance(0.1) ? 999 : dice.one(Object.values(values))
  switch (type) {
    case 'string':
      return dice.one(TEXTS)
    case 'bool':
      return dice.chance(0.5)
    case 'bytes':
      return Buffer.from(dice.one(TEXTS))
    case 'int32':
      return dice.one([0, 1, -1, 2 ** 31 - 1, -(2 ** 31)])
    case 'uint32':
      return dice.one([0, 1, 2 ** 32 - 1])
    case 'int64':
      return dice.one(WHOLE)
    case 'google.protobuf.Timestamp':
    case 'google.protobuf.Duration':
      return dice.one(moments)
    default:
      return depth < DEEPEST ? randomMessage(dice, type, moments, depth + 1) : {}
  }
}

export type Carrier = 'grpc' | 'grpc-web' | 'connect'

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
  ...['/chainguard.platform.iam.Groups/Nothing', '/chainguard.platform.iam.v2.GroupsService/ListGroups'],
  ...['/chainguard.platform.iam.v2beta1.GroupsService/ListGroups', '/grpc.health.v1.Health/Check', '/test.Echo/Unary'],
  ...['/chainguard.platform.iam.Groups/', '/chainguard.platform.iam.Groups', '/a/../b', '/%2e/%00'],
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
  ...['Bearer x', '', '1n', '10S', '99999999H', '1', '-1S', 'gzip', 'br', 'identity', 'gzip,identity', 'AAA', '%%%', 'é', 'trailers', '0'],
  ...['x'.repeat(2000), '00-00000000000000000000000000000000-0000000000000000-01'],
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

function framed(dice: Dice, method: MethodFact): readonly Buffer[] {
  const own = () => message(dice, method)
  const body = dice.weighed<Buffer>([
    [14, () => grpcFrame(0, own())],
    [2, () => grpcFrame(1, packed(dice, own()))],
    [1, () => grpcFrame(dice.below(256), own())],
    [1, () => grpcFrame(0, own(), dice.one([0, 1, 5, 1000, 2 ** 31, 2 ** 32 - 1]))],
    [1, () => Buffer.concat([grpcFrame(0, own()), grpcFrame(dice.one([0, 1, 128]), own())])],
    [0.5, () => Buffer.alloc(0)],
    [0.5, () => anyBytes(dice)],
    [0.5, () => grpcFrame(0, own()).subarray(0, dice.below(8))],
    [0.5, () => Buffer.from(grpcFrame(0, own()).toString('base64'))],
  ])
  return inPieces(dice, body)
}

function bare(dice: Dice, method: MethodFact, type: string): readonly Buffer[] {
  const json = () => Buffer.from(JSON.stringify(writeMessage(method.input, randomMessage(dice, method.input, MOMENTS))))
  const own = () => (type.includes('json') && dice.chance(0.8) ? json() : message(dice, method))
  const body = dice.weighed<Buffer>([
    [12, own],
    [1, () => own().subarray(0, dice.below(30))],
    [1, () => spoilt(dice, own())],
    [1, () => packed(dice, own())],
    [1, () => Buffer.from(dice.one(['', 'null', '[]', '{', '{"id":7}', `${'['.repeat(5000)}`, '{"":null}', '\ufeff{}']))],
    [0.5, () => grpcFrame(0, own())],
  ])
  return inPieces(dice, body)
}

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

const UNKNOWN = 2
const LAST = 16

/** Names of Connect's errors; `unknown` is none that v1 answers. */
const NAMES =
  /^(canceled|invalid_argument|deadline_exceeded|not_found|already_exists|permission_denied|resource_exhausted|failed_precondition|aborted|out_of_range|unimplemented|internal|unavailable|data_loss|unauthenticated)$/

/** HTTP errors of requests that are no calls: Connect and gRPC answer a type or a method that they do not know by HTTP alone. */
const NO_CALL = new Set([404, 405, 413, 415, 431])

/** Paths of v2's own methods that v1 publishes, too. Their messages are passed on unread, and the v2 of these runs echoes any bytes. */
const OF_V2 = new Set(methods.filter(isOfBoth).map(({ path }) => path))

/** Paths of methods of v1, known or not. */
const OURS = /^\/chainguard\.platform\.(?!.*\.v2)[\w.]+\/\w+$/

/** Returns what is wrong with an answer; undefined if nothing is. */
export function wrongWith(one: RpcCase, given: RpcGiven): string | undefined {
  if (one.over === 'HTTP/2' && one.ends !== 'end') return undefined
  if (given.status === 0) return `no answer: reset ${given.reset}`
  // What is not a method of v1 is passed on as it is, or refused by HTTP alone.
  if (NO_CALL.has(given.status) || !OURS.test(one.path) || OF_V2.has(one.path)) return undefined
  if (one.carrier === 'connect') return wrongWithConnect(one, given)
  if (given.status !== 200) return `HTTP ${given.status}`
  if (one.carrier === 'grpc') return wrongWithEnd(one, { ...given, trailers: new Map([...given.headers, ...given.trailers]) })
  const { message, trailers } = splitWeb(given)
  return wrongWithEnd(one, { ...given, body: message, trailers: new Map([...given.headers, ...trailers]) })
}

function wrongWithEnd({ path, type }: RpcCase, { body, trailers }: RpcGiven): string | undefined {
  const code = Number(trailers.get('grpc-status') ?? Number.NaN)
  const said = trailers.get('grpc-message') ?? ''
  if (!Number.isInteger(code) || code < 0 || code > LAST) return `code ${trailers.get('grpc-status')}`
  if (code === UNKNOWN || said === 'internal error') return `code ${code}: ${said}`
  if (code !== 0) return body.length === 0 ? undefined : 'a message and an error'
  if (body.length < 5 || body.readUInt32BE(1) !== body.length - 5) return 'no whole message'
  return body[0] === 0 ? wrongWithMessage(path, type, body.subarray(5)) : undefined
}

function wrongWithConnect({ path, type }: RpcCase, { status, headers, body }: RpcGiven): string | undefined {
  if (status === 200) {
    return headers.has('content-encoding') ? undefined : wrongWithMessage(path, type, body)
  }
  const { code, message } = JSON.parse(body.toString()) as { code?: unknown; message?: unknown }
  return NAMES.test(String(code)) && message !== 'internal error' ? undefined : `HTTP ${status}, ${body.toString()}`
}

/** A message must be one of its type. An exception says what is wrong. */
function wrongWithMessage(path: string, type: string, bytes: Buffer): string | undefined {
  const method = methods.find((known) => known.path === path)
  if (!method) return 'a message of no method'
  if (type.includes('json')) readMessage(method.output, JSON.parse(bytes.toString()))
  else wireTypes.lookupType(method.output).decode(bytes)
  return undefined
}

/** Splits a body of gRPC-Web into its message and its trailers (gRPC-Web, Message framing). */
function splitWeb({ headers, body }: RpcGiven): { readonly message: Buffer; readonly trailers: ReadonlyMap<string, string> } {
  const bytes = headers.get('content-type')?.includes('-text') ? Buffer.from(body.toString('latin1'), 'base64') : body
  let at = 0
  while (at + 5 <= bytes.length && (bytes[at] ?? 0) < 128) at += 5 + bytes.readUInt32BE(at + 1)
  const lines = bytes
    .subarray(at + 5)
    .toString('latin1')
    .split('\r\n')
    .filter(Boolean)
  const pairs = lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  return { message: bytes.subarray(0, at), trailers: new Map(pairs) }
}

/** Calls of every method over gRPC, gRPC-Web and Connect, valid and not. */
export const rpcCalls: Prey<RpcCase> = {
  name: 'rpc',
  draw: drawCall,
  show: ({ parts, ...one }) => `  ${JSON.stringify(one)}\n${parts.map(showPart).join('\n')}`,
  players: ({ url }, count) =>
    Array.from({ length: count }, () => {
      const { ask, close } = openRpcAsker(url)
      return { play: async (one) => wrongWith(one, await ask(one)), close }
    }),
}

const showPart = (part: RpcCase['parts'][number]) => `  ${'header' in part ? part.header.join(': ') : part.bytes.toString('hex')}`
