import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { errorIn } from '../fault.ts'
import {
  type FieldLine,
  FLAG,
  type Frame,
  frame,
  gathered,
  grpcFrame,
  headerBlock,
  headers,
  readAnswers,
  TYPE,
  talk,
  uint32,
  type WireAnswer,
} from '../wire.ts'
import { drawHead, type HeadCase, HUGE, NAMES, ODD_NAMES, ODD_STATUSES, STATUSES, scriptOf, VALUES } from './heads-draw.ts'
import type { Case, Dice, Prey } from './hunt.ts'
import { openLane } from './requests.ts'
import { NO_KEY, type Script, type Script2 } from './upstream.ts'

export interface Question {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly path: string
  readonly key: string
  readonly body: string
}

export interface Given {
  readonly status: number
  readonly type: string | undefined
  readonly body: string
  /** The whole text, including trailers. */
  readonly text: string
  /** True if the answer was visibly truncated. */
  readonly isBroken: boolean
}

export interface Asker {
  ask(question: Question): Promise<Given>
  close(): void
}

export type OpenAskers = (url: string, count: number) => readonly Asker[]

const NOTHING: Given = { status: 0, type: undefined, body: '', text: '', isBroken: true }

const headOf = ({ method, path, key, body }: Question) =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${body === '' ? '' : `content-length: ${body.length}\r\n`}`

function givenBy(answer: WireAnswer | undefined): Given {
  if (!answer) return NOTHING
  const { status, headers, body, broken } = answer
  const text = [...headers].map((line) => line.join(': ')).join('\n')
  return { status, type: headers.get('content-type'), body, text: `${text}\n\n${body}`, isBroken: broken }
}

export const overHttp1: OpenAskers = (url, count) =>
  Array.from({ length: count }, () => {
    const lane = openLane(url)
    const ask = async (question: Question) =>
      givenBy(await lane.ask({ text: `${headOf(question)}\r\n${question.body}`, isHead: question.method === 'HEAD' }))
    return { ask, close: lane.close }
  })

/** Every handshake has a connection of its own, which its client closes after the answer. */
export const overWebSocket: OpenAskers = (url, count) =>
  Array.from({ length: count }, () => {
    let socket: Socket | undefined
    const ask = async (question: Question) => {
      const speak = (opened: Socket) => {
        socket = opened
        opened.write(`${headOf(question)}connection: Upgrade\r\nupgrade: websocket\r\n\r\n`)
      }
      const { answers } = await talk(url, speak, isAnswered)
      return givenBy(answers.find(({ status }) => status === 101 || status >= 200))
    }
    return { ask, close: () => socket?.destroy() }
  })

/** A tunnel has no end of its own. */
const isAnswered = (received: string) =>
  readAnswers(received, false, []).some(({ status, broken }) => !broken && (status === 101 || status >= 200))

const STREAMS = 8

export const overHttp2: OpenAskers = (url, count) =>
  overSessions(url, count, (session, { method, path, key, body }) => {
    const stream = session.request({ ':method': method, ':path': path, authorization: `Bearer ${key}` }, { endStream: body === '' })
    if (body !== '') stream.end(body)
    return stream
  })

export const overGrpc: OpenAskers = (url, count) =>
  overSessions(url, count, (session, { path, key }) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' })
    stream.end(grpcFrame(0, Buffer.from(key)))
    return stream
  })

type Open = (session: ClientHttp2Session, question: Question) => ClientHttp2Stream

function overSessions(url: string, count: number, open: Open): readonly Asker[] {
  const sessions: ClientHttp2Session[] = []
  const sessionFor = (nth: number) => {
    const known = sessions[nth]
    if (known && !known.closed && !known.destroyed) return known
    const fresh = http2.connect(url, { rejectUnauthorized: false })
    fresh.on('error', () => {})
    sessions[nth] = fresh
    return fresh
  }
  const close = () => {
    for (const session of sessions) session.destroy()
  }
  return Array.from({ length: count }, (_, nth) => ({
    ask: (question: Question) => listen(() => open(sessionFor(Math.floor(nth / STREAMS)), question)),
    close,
  }))
}

async function listen(begin: () => ClientHttp2Stream): Promise<Given> {
  const { status, head, headLines, trailerLines, body: bytes, reset } = await gathered(begin())
  const body = bytes.toString('latin1')
  const text = `${linesOf(headLines)}\n\n${body}\n\n${linesOf(trailerLines)}`
  return { status, type: head['content-type'], body, text, isBroken: reset !== 0 }
}

const linesOf = (raw: readonly string[]) =>
  Array.from({ length: raw.length / 2 }, (_, at) => `${raw[2 * at]}: ${raw[2 * at + 1]}`).join('\n')

/** One field, or a frame that is sent unchanged; `null` ends a block of fields. */
export type CallPart =
  | { readonly field: FieldLine }
  /** The fields before it become a block. */
  | { readonly block: { readonly flags: number; readonly pieces: number } }
  | { readonly frame: Frame }

/** An answer of the upstream to a gRPC call; NO_KEY stands for the key of the call. */
export interface CallCase extends Case {
  readonly parts: readonly CallPart[]
}

const END = FLAG.END_HEADERS | FLAG.END_STREAM

/**
 * The weight of parts that end the connection with its stream.
 * Node with an older nghttp2 then neither reads nor ends the connection, and every later call on it hangs.
 */
const BREAKS = Number(process.versions.nghttp2?.split('.')[1]) < 69 ? 0 : 1

export function drawCall(dice: Dice): CallCase {
  const odd = (): CallPart[] => dice.some(0, 3, () => oddField(dice)).flat()
  const block = (flags: number): CallPart[] => [{ block: { flags, pieces: dice.chance(0.1) ? 2 + dice.below(5) : 1 } }]
  const status = (): FieldLine => [
    ':status',
    dice.weighed([
      [7, () => '200'],
      [1, () => dice.one(STATUSES)],
      [2, () => dice.one(ODD_STATUSES)],
    ]),
  ]
  const begin = (): CallPart[] => [
    ...(dice.chance(0.97) ? [{ field: status() }] : []),
    ...fieldsOf(dice, [
      ['content-type', 'application/grpc'],
      ['x-case', NO_KEY],
    ]),
    ...odd(),
  ]
  const end = (): CallPart[] => [
    ...fieldsOf(dice, [
      ['grpc-status', dice.one(['0', '0', '0', '5', '16', '99', '-1', 'x', ''])],
      ['grpc-message', 'm%20'],
      ['x-end', NO_KEY],
    ]),
    ...odd(),
  ]
  const early = (): CallPart[] => [
    { field: [':status', dice.one(['100', '103', '101', '199', '1xx'])] },
    ...odd(),
    ...block(FLAG.END_HEADERS),
  ]
  const heads = [
    ...dice.weighed<CallPart[]>([
      [8, () => []],
      [1, () => dice.some(1, 40, early).flat()],
    ]),
    ...begin(),
  ]
  const parts = dice.weighed<CallPart[]>([
    [6, () => [...heads, ...block(FLAG.END_HEADERS), ...dice.some(0, 3, () => data(dice, 0)), ...end(), ...block(END)]],
    [2, () => [...heads, ...end(), ...block(END)]],
    [1, () => [...heads, ...block(FLAG.END_HEADERS), data(dice, FLAG.END_STREAM)]],
    [1, () => [...heads, ...block(FLAG.END_HEADERS), ...end(), ...block(FLAG.END_HEADERS)]],
    [BREAKS, () => [...heads, ...block(END), data(dice, 0)]],
    [BREAKS, () => [data(dice, 0), ...heads, ...block(END)]],
  ])
  if (dice.chance(0.1)) parts.splice(dice.below(parts.length + 1), 0, { frame: oddFrame(dice) })
  return { parts }
}

const fieldsOf = (dice: Dice, all: readonly FieldLine[]): CallPart[] => all.filter(() => dice.chance(0.95)).map((field) => ({ field }))

function oddField(dice: Dice): CallPart[] {
  const name = dice.weighed<string>([
    [6, () => dice.one(NAMES)],
    [2, () => dice.one(ODD_NAMES)],
    [1, () => dice.one(['x-bin', 'grpc-status-details-bin', 'grpc-encoding', 'grpc-timeout'])],
  ])
  const part: CallPart = { field: [name, dice.chance(0.02 * BREAKS) ? HUGE : dice.one(VALUES)] }
  return dice.chance(0.3) ? [part, part] : [part]
}

const data = (dice: Dice, flags: number): CallPart => ({
  frame: frame(TYPE.DATA, flags, 1, Buffer.from(dice.one(['\0\0\0\0\x01a', '', 'x', 'y'.repeat(5000)]), 'latin1')),
})

/** Extensions that nghttp2 reads: one that is cut short ends the connection. What has a number from `UNKNOWN` on is skipped. */
const ALTSVC = 10
const ORIGIN = 12
const UNKNOWN = 17

function oddFrame(dice: Dice): Frame {
  return dice.weighed<Frame>([
    [6, () => frame(TYPE.RST_STREAM, 0, 1, uint32(dice.below(15)))],
    [2, () => frame(TYPE.WINDOW_UPDATE, 0, 1, uint32(dice.one([1, 2 ** 31 - 1])))],
    [0.1 * BREAKS, () => frame(TYPE.WINDOW_UPDATE, 0, dice.one([0, 1]), uint32(0))],
    [2, () => frame(UNKNOWN + dice.below(200), dice.below(256), dice.one([0, 1]), Buffer.alloc(dice.below(20)))],
    [0.1 * BREAKS, () => frame(dice.one([ALTSVC, ORIGIN]), dice.below(256), dice.one([0, 1]), Buffer.alloc(dice.below(20)))],
    [2, () => frame(TYPE.PRIORITY, 0, 1, Buffer.alloc(5))],
    [1, () => frame(TYPE.PING, 0, 0, Buffer.alloc(8))],
    [0.3, () => frame(TYPE.GOAWAY, 0, 0, Buffer.concat([uint32(dice.one([0, 1, 2 ** 31 - 1])), uint32(dice.below(14))]))],
    [0.1 * BREAKS, () => frame(TYPE.CONTINUATION, FLAG.END_HEADERS, 1, headerBlock([['x', 'y']]))],
    [0.1 * BREAKS, () => frame(TYPE.PUSH_PROMISE, FLAG.END_HEADERS, 1, Buffer.concat([uint32(2), headerBlock([[':method', 'GET']])]))],
    [0.1 * BREAKS, () => frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(dice.one([5, 6])))],
    [0.1 * BREAKS, () => headers(1, [], FLAG.PADDED | FLAG.END_HEADERS)],
    [0.1 * BREAKS, () => frame(TYPE.HEADERS, FLAG.END_HEADERS, 1, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f))],
  ])
}

/** Returns the frames to send. A block without an end, as after shrinking, gets one. */
export function scriptOfCall({ parts }: CallCase, key: string): Script2 {
  const frames: Frame[] = []
  let fields: FieldLine[] = []
  for (const part of parts) {
    if ('field' in part) fields.push([part.field[0], part.field[1].replaceAll(NO_KEY, key)])
    else if ('frame' in part) frames.push(part.frame)
    else {
      frames.push(...split(headerBlock(fields), part.block))
      fields = []
    }
  }
  return { frames }
}

/** The maximum size of a frame (RFC 9113 §4.2). */
const MOST = 16_384

/** Splits one block into a HEADERS frame and as many CONTINUATIONs as it needs or must have. */
function split(block: Buffer, { flags, pieces }: { readonly flags: number; readonly pieces: number }): Frame[] {
  const size = Math.min(MOST, Math.ceil(block.length / pieces) || 1)
  const count = Math.max(1, Math.ceil(block.length / size))
  return Array.from({ length: count }, (_, at) => {
    const last = at === count - 1 ? FLAG.END_HEADERS : 0
    const own = at === 0 ? flags & ~FLAG.END_HEADERS : 0
    return frame(at === 0 ? TYPE.HEADERS : TYPE.CONTINUATION, own | last, 1, block.subarray(at * size, (at + 1) * size))
  })
}

export function showCall({ parts }: CallCase): string {
  return parts
    .map((part) => {
      if ('field' in part) return `  ${JSON.stringify(part.field)}`
      if ('block' in part) return `  = block, flags ${part.block.flags}, on ${part.block.pieces} frames`
      const { type, flags, stream, payload } = part.frame
      return `  frame ${type}, flags ${flags}, stream ${stream}: ${payload.toString('hex')}`
    })
    .join('\n')
}

interface Asking<C> {
  readonly open: OpenAskers
  readonly scriptOf: (one: C, key: string) => Script
  readonly question: (one: C, key: string) => Question
  readonly wrongWith: (given: Given) => string | undefined
}

function players<C extends Case>({ open, scriptOf, question, wrongWith }: Asking<C>): Prey<C>['players'] {
  return ({ url, upstream }, count) =>
    open(url(), count).map(({ ask, close }) => ({
      async play(one) {
        const key = upstream.newKey()
        upstream.play(key, scriptOf(one, key))
        const given = await ask(question(one, key))
        upstream.forget(key)
        const foreign = upstream.foreignIn(given.text, [key])
        return foreign === undefined ? wrongWith(given) : `foreign: an answer to ${foreign}: ${given.text.slice(0, 500)}`
      },
      close,
    }))
}

export function headsBy({ name, path, asked, isAnyMethod, switches, open, wrongWith }: Way): Prey<HeadCase> {
  const question = ({ method }: HeadCase, key: string): Question => ({ method, path, key, body: method === 'POST' ? '{}' : '' })
  return {
    name: `heads, ${name}`,
    draw: (dice) => drawHead(dice, { target: asked, isAnyMethod, switches }),
    show: (one) => JSON.stringify(one),
    players: players({ open, scriptOf, question, wrongWith }),
  }
}

export const callHeads: Prey<CallCase> = {
  name: 'heads, gRPC',
  draw: drawCall,
  show: showCall,
  players: players({
    open: overGrpc,
    scriptOf: scriptOfCall,
    question: (_, key) => ({ method: 'POST', path: '/test.Echo/Unary', key, body: '' }),
    // An invalid gRPC status is passed on: every client can handle it.
    wrongWith: () => undefined,
  }),
}

/** A way of an upstream's head to a client. */
export interface Way {
  readonly name: string
  readonly path: string
  /** The path of the service that the proxy requests; the upstream answers its body. */
  readonly asked: string
  /** True if methods other than GET occur. */
  readonly isAnyMethod: boolean
  /** True for a handshake, whose expected status is 101. */
  readonly switches: boolean
  readonly open: OpenAskers
  /** Returns the mistake in an answer: the proxy itself may only answer errors. */
  readonly wrongWith: (given: Given) => string | undefined
  /** True if a v1 service also stands behind the proxy. */
  readonly hasV1: boolean
}

/** A relayed answer, which may have any valid status. */
function relayed({ status, isBroken }: Given): string | undefined {
  return isBroken || (status >= 200 && status <= 599) ? undefined : `status: ${status}`
}

/** An answer that the proxy translated from v2. */
function translated(given: Given): string | undefined {
  const { status, type, body, isBroken } = given
  if (isBroken) return undefined
  if (type !== 'application/json') return `type: ${type}`
  if (status >= 400) return errorIn(body, type) === undefined ? `no v1 error: ${body}` : undefined
  return status === 200 ? itemsIn(body) : `status: ${status}`
}

function itemsIn(body: string): string | undefined {
  try {
    const { items } = JSON.parse(body) as { items?: unknown }
    return Array.isArray(items) ? undefined : `no list: ${body}`
  } catch {
    return `not JSON: ${body}`
  }
}

const switched = (given: Given) => (given.status === 101 ? undefined : relayed(given))

/** An operation that v1 answers, with or without a comparison with v2: `V1_MODES`. */
const PASSED = '/iam/v1/roles'
const COMPARED = '/iam/v1/groups'

export const V1_MODES = { default: 'v1', rules: [{ operations: 'iam.groups.*', mode: 'diff-v1' }] }

type Rest = Omit<Way, 'name' | 'open' | 'switches'>

const both = (name: string, rest: Rest): readonly Way[] => [
  { name: `${name}, HTTP/1.1`, open: overHttp1, switches: false, ...rest },
  { name: `${name}, HTTP/2`, open: overHttp2, switches: false, ...rest },
]

const handshake = { path: '/iam/v2/socket', asked: '/iam/v2/socket', isAnyMethod: false, switches: true, hasV1: false }

/** Every carrier of HTTP/1.1 heads, to clients of both protocols. */
export const WAYS: readonly Way[] = [
  ...both('native', { path: '/iam/v2/groups', asked: '/iam/v2/groups', isAnyMethod: true, wrongWith: relayed, hasV1: false }),
  ...both('translated', { path: '/iam/v1/groups', asked: '/iam/v2/groups', isAnyMethod: false, wrongWith: translated, hasV1: false }),
  { name: 'WebSocket', open: overWebSocket, wrongWith: switched, ...handshake },
  ...both('passed to v1', { path: PASSED, asked: PASSED, isAnyMethod: true, wrongWith: relayed, hasV1: true }),
  ...both('compared, answered by v1', { path: COMPARED, asked: COMPARED, isAnyMethod: false, wrongWith: relayed, hasV1: true }),
]
