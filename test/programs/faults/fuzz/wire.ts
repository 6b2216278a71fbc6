import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import http2, { type IncomingHttpHeaders } from 'node:http2'
import type { Writable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { CODES, type CodeName } from '../../../../src/errors.ts'
import type { WireHandler } from '../../../../src/grpc/wire/call.ts'
import { createServePair } from '../../../../src/grpc/wire/connect.ts'
import { createServeGrpc, createServeGrpcStream, type WireStreamHandler } from '../../../../src/grpc/wire/grpc.ts'
import { createBudget } from '../../../../src/serve/bounds.ts'
import { createListener } from '../../../../src/serve/listen/listener.ts'
import { createDeadlines } from '../../../../src/serve/listen/times.ts'
import { listening } from '../../../stage/programs.ts'
import { gathered, grpcFrame } from '../wire.ts'
import { countIn, type Dice, diceOf } from './hunt.ts'
import type { Fuzzed } from './requests.ts'

/** What a call got. A connection that ended has neither code nor status. */
export interface WireAnswered {
  readonly code: number | undefined
  readonly http: number | undefined
  readonly message: Buffer
}

const GONE: WireAnswered = { code: undefined, http: undefined, message: Buffer.alloc(0) }

export function createAskers(url: string) {
  const session = http2.connect(url)
  session.on('error', () => {})
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })
  return {
    ask: (drawn: WireCase) => (drawn.version === 2 ? ask2(session, drawn) : ask1(url, agent, drawn)),
    async close() {
      agent.destroy()
      if (session.destroyed) return
      session.destroy()
      await once(session, 'close')
    },
  }
}

async function ask2(session: http2.ClientHttp2Session, drawn: WireCase): Promise<WireAnswered> {
  const stream = session.request(
    { ':method': methodOf(drawn), ':path': pathOf(drawn), ...drawn.headers },
    { endStream: drawn.way === 'get' },
  )
  const given = gathered(stream)
  send(stream, drawn, () => stream.close(http2.constants.NGHTTP2_CANCEL))
  if (drawn.end === 'never') stream.once('end', () => stream.close())
  const { status, head, trailers, body } = await given
  return status === 0 ? GONE : answeredOf(drawn, status, { ...head, ...trailers }, body)
}

function ask1(url: string, agent: http.Agent, drawn: WireCase): Promise<WireAnswered> {
  return new Promise((resolve) => {
    const request = http.request(url, { agent, method: methodOf(drawn), path: pathOf(drawn), headers: drawn.headers })
    request.on('error', () => resolve(GONE))
    request.on('response', (response) => {
      const body: Buffer[] = []
      response.on('data', (piece: Buffer) => body.push(piece))
      response.on('error', () => resolve(GONE))
      response.on('end', () => {
        resolve(answeredOf(drawn, response.statusCode ?? 0, response.headers, Buffer.concat(body)))
        if (drawn.end === 'never') request.destroy()
      })
    })
    send(request, drawn, () => request.destroy())
  })
}

function send(to: Writable, { body, cuts, end, way }: WireCase, reset: () => void): void {
  if (way === 'get') return void (to instanceof http.ClientRequest && to.end())
  const bounds = [0, ...cuts, body.length]
  const pieces = bounds.slice(1).map((bound, at) => body.subarray(bounds[at], bound))
  const sent = end === 'whole' ? pieces : [body.subarray(0, Math.floor(body.length / 2))]
  for (const piece of sent) to.write(piece)
  if (end === 'whole') to.end()
  if (end === 'reset') setImmediate(reset)
}

function methodOf({ way }: WireCase): string {
  return way === 'get' ? 'GET' : 'POST'
}

function pathOf({ way, body, headers }: WireCase): string {
  if (way === 'stream') return '/stream'
  if (way !== 'get') return '/unary'
  const compression = headers['content-encoding'] === 'gzip' ? '&compression=gzip' : ''
  return `/unary?connect=v1&encoding=proto&base64=1&message=${body.toString('base64url')}${compression}`
}

function answeredOf({ way }: WireCase, status: number, said: IncomingHttpHeaders, body: Buffer): WireAnswered {
  if (way === 'connect' || way === 'get') return connectAnswer(status, said, body)
  const text = way === 'text' && said['content-type']?.includes('-text')
  const bytes = text ? Buffer.from(body.toString(), 'base64') : body
  const trailers = /grpc-status: (\d+)\r\n/.exec(bytes.toString('latin1'))?.[1]
  const code = said['grpc-status'] ?? (status === 200 ? trailers : undefined)
  const message = bytes.length >= 5 ? bytes.subarray(5, 5 + bytes.readUInt32BE(1)) : bytes
  return { code: code === undefined ? undefined : Number(code), http: status, message }
}

function connectAnswer(status: number, said: IncomingHttpHeaders, body: Buffer): WireAnswered {
  if (status === 200) return { code: 0, http: status, message: body }
  if (said['content-type'] !== 'application/json') return { code: undefined, http: status, message: body }
  const name = String(JSON.parse(body.toString()).code).toUpperCase()
  return { code: CODES[(name === 'CANCELED' ? 'CANCELLED' : name) as CodeName]?.number, http: status, message: body }
}

export const MOST = 1000

export type WireWay = 'grpc' | 'stream' | 'web' | 'text' | 'connect' | 'get'

/** One call that is hostile, malformed or sound. */
export interface WireCase {
  readonly way: WireWay
  readonly version: 1 | 2
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** The bytes after which a new piece begins. */
  readonly cuts: readonly number[]
  /** How the client ends: as it should, by a reset in the middle, or never, so that its own deadline must end the call. */
  readonly end: 'whole' | 'reset' | 'never'
  /** The codes that may answer; undefined for any but UNKNOWN. */
  readonly codes: readonly number[] | undefined
  /** The message that an answer with OK repeats. */
  readonly message: Buffer | undefined
}

interface Body {
  readonly body: Buffer
  readonly isCompressed?: true
  readonly codes?: readonly number[]
  readonly message?: Buffer
}

const TYPES: Readonly<Record<WireWay, string>> = {
  grpc: 'application/grpc',
  stream: 'application/grpc',
  web: 'application/grpc-web+proto',
  text: 'application/grpc-web-text',
  connect: 'application/proto',
  get: '',
}

const ODD: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['grpc-encoding', ['gzip', 'identity', 'br', '', 'gzip, gzip', 'GZIP']],
  ['content-encoding', ['gzip', 'identity', 'br', 'gzip, identity']],
  ['grpc-timeout', ['1S', '0n', '99999999H', '1.5S', '-1m', 'S', '123456789m', '5m']],
  ['connect-timeout-ms', ['1000', '0', '-1', '99999999999', 'x', '5']],
  ['connect-protocol-version', ['1', '2', '']],
  [
    'content-type',
    ['application/grpc+json', 'application/grpc+', 'application/grpc;x', 'application/json', 'text/plain', 'application/connect+proto'],
  ],
  ['accept-encoding', ['gzip', '*', 'gzip;q=0']],
]

export function drawWireCase(dice: Dice): WireCase {
  const way = dice.one<WireWay>(['grpc', 'grpc', 'stream', 'web', 'text', 'connect', 'get'])
  const isBare = way === 'connect' || way === 'get'
  const version = way === 'grpc' || way === 'stream' ? 2 : dice.one<1 | 2>([1, 2])
  const drawn = isBare ? bareBody(dice) : framedBody(dice, way === 'stream')
  const coding = isBare ? 'content-encoding' : 'grpc-encoding'
  const odd = dice.chance(0.2) ? dice.some(1, 3, () => dice.one(ODD)) : []
  const headers = {
    ...(TYPES[way] !== '' && { 'content-type': TYPES[way] }),
    ...(drawn.isCompressed && { [coding]: 'gzip' }),
    ...Object.fromEntries(odd.map(([name, values]) => [name, dice.one(values)])),
  }
  const body = way === 'text' ? Buffer.from(drawn.body.toString('base64')) : drawn.body
  const end =
    way === 'get' || body.length === 0
      ? 'whole'
      : dice.weighed<WireCase['end']>([
          [8, () => 'whole'],
          [1, () => 'reset'],
          [1, () => 'never'],
        ])
  const deadline = end === 'never' ? { 'grpc-timeout': '10m', 'connect-timeout-ms': '10' } : {}
  const isKnown = odd.length === 0 && end === 'whole'
  const cuts = dice.chance(0.3) ? dice.some(1, 4, () => dice.below(body.length + 1)).sort((a, b) => a - b) : []
  return {
    ...{ way, version, headers: { ...headers, ...deadline }, body, cuts, end },
    codes: isKnown ? drawn.codes : undefined,
    message: isKnown ? drawn.message : undefined,
  }
}

const bytes = (dice: Dice, most: number) => Buffer.from(dice.some(0, most, () => dice.below(256)))

/** A gzip that becomes far more than the limit. */
const BOMB = gzipSync(Buffer.alloc(8 * 2 ** 20))

function spoilt(dice: Dice, whole: Buffer): Buffer {
  const copy = Buffer.from(whole)
  for (const at of dice.some(1, 3, () => dice.below(copy.length))) copy[at] = dice.below(256)
  return copy
}

function framedBody(dice: Dice, isStream: boolean): Body {
  const message = bytes(dice, 200)
  const sound = grpcFrame(0, message)
  const many = isStream ? undefined : [12]
  return dice.weighed<Body>([
    [4, () => ({ body: sound, codes: [0], message })],
    [2, () => ({ body: grpcFrame(1, gzipSync(message)), isCompressed: true, codes: [0], message })],
    [2, () => ({ body: bytes(dice, 60) })],
    [2, () => ({ body: sound.subarray(0, dice.below(sound.length)), codes: isStream ? [0, 13] : [12, 13] })],
    [1, () => ({ body: grpcFrame(0, Buffer.alloc(MOST + 1 + dice.below(5000))), codes: [8] })],
    [1, () => ({ body: Buffer.concat([sound, grpcFrame(0, bytes(dice, 200))]), ...(many && { codes: many }) })],
    [1, () => ({ body: grpcFrame(2 + dice.below(254), message), codes: [13] })],
    [1, () => ({ body: grpcFrame(1, gzipSync(message)), codes: [13] })],
    [1, () => ({ body: grpcFrame(1, BOMB), isCompressed: true, codes: [8] })],
    [1, () => ({ body: grpcFrame(1, spoilt(dice, gzipSync(message))), isCompressed: true })],
    [1, () => ({ body: spoilt(dice, sound) })],
  ])
}

function bareBody(dice: Dice): Body {
  const message = bytes(dice, 200)
  return dice.weighed<Body>([
    [4, () => ({ body: message, codes: [0], message })],
    [2, () => ({ body: gzipSync(message), isCompressed: true, codes: [0], message })],
    [1, () => ({ body: Buffer.alloc(MOST + 1 + dice.below(5000)), codes: [8] })],
    [1, () => ({ body: BOMB, isCompressed: true, codes: [8] })],
    [1, () => ({ body: spoilt(dice, gzipSync(message)), isCompressed: true })],
    [1, () => ({ body: bytes(dice, 60), isCompressed: true })],
  ])
}

const LANES = 16
const HANGS = 10_000
/** Calls on one connection: Node ends one whose client resets a thousand streams. */
const ON_ONE = 300

const ROOM = 64 * 2 ** 20
const LIMITS = { headerBytes: 65_536, headersTimeoutMs: 10_000, idleTimeoutMs: 60_000, maxStreams: 100, connections: 0 }

const echo: WireHandler = ({ message }) => Promise.resolve({ message: [message] })
const echoAll: WireStreamHandler = async function* ({ messages }) {
  for await (const message of messages) yield Buffer.from(message)
}

/**
 * Makes random calls to the wire alone, over all its protocols. It fails if a call has no answer, the code UNKNOWN, a code that is wrong
 * for what was sent or another message, if the wire reports an exception, or if room for messages is lost.
 */
export async function fuzzWire(cases: number, seed: number): Promise<Fuzzed> {
  const budget = createBudget(ROOM)
  const failures: unknown[] = []
  const failed = (error: unknown) => void failures.push(error)
  const settings = { requestBytes: MOST, budget, deadlines: createDeadlines(60_000), failed }
  const [grpc, stream, pair] = [createServeGrpc(settings), createServeGrpcStream(settings), createServePair(settings)]
  const request: RequestListener = (arrived, response) => pair({ request: arrived, response }, { handler: echo, isSafe: true })
  const listener = createListener(
    (bare, headers) => (headers[':path'] === '/stream' ? stream(bare, headers, echoAll) : grpc(bare, headers, echo)),
    { certificate: undefined, ...LIMITS },
  )
  const server = listener.create({ request, expectation: request, failed, dropped() {} })
  const { url } = await listening(server)
  const statuses: Record<string, number> = {}
  try {
    for (let at = 0; at < cases; at += ON_ONE) {
      const askers = createAskers(url)
      let next = at
      const lane = async () => {
        while (next < Math.min(at + ON_ONE, cases)) {
          const nth = next
          next += 1
          const drawn = drawWireCase(diceOf(seed, nth))
          const answered = await within(askers.ask(drawn))
          const kind = `${drawn.way} ${answered?.code ?? answered?.http ?? (answered ? 'gone' : 'hangs')}`
          countIn(statuses, kind)
          const wrong = failures.length > 0 ? `it threw ${String(failures[0])}` : wrongWith(drawn, answered)
          if (wrong) throw new Error(`case ${nth} of CROSSWALK_SEED=${seed}: ${wrong}\n${told(drawn)}`)
        }
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      await askers.close()
    }
    listener.cut()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    if (!budget.take(ROOM)) throw new Error(`CROSSWALK_SEED=${seed}: room for messages was not given back`)
    return { statuses }
  } finally {
    listener.cut()
    server.close()
  }
}

function within(answer: Promise<WireAnswered>): Promise<WireAnswered | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), HANGS)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function wrongWith({ end, codes, message }: WireCase, answered: WireAnswered | undefined): string | undefined {
  if (!answered) return 'the call hangs'
  const { code, http } = answered
  if (end === 'reset') return undefined
  if (code === undefined) return http === undefined || codes ? `there is no code, and HTTP says ${http}` : undefined
  if (code === 2) return 'the code is UNKNOWN'
  if (codes && !codes.includes(code)) return `the code is ${code}, expected ${codes.join(' or ')}`
  return code === 0 && message && !message.equals(answered.message) ? 'the message is another' : undefined
}

function told({ body, ...rest }: WireCase): string {
  return JSON.stringify({ ...rest, message: undefined, body: body.toString('hex').slice(0, 400) })
}
