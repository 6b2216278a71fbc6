import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'
import type { Agent as UndiciAgent, Dispatcher as UndiciDispatcher } from 'undici'
import { ApiError, brokenAnswer, CODES, type ErrorForm, fromTransport } from '../../errors.ts'
import { ARRIVED_MEMORY, SHORT_TEXT } from '../../tables/text/engine.ts'
import type { Call } from '../../tables/turn.ts'
import type { Signal } from '../signals.ts'
import type { CallSpan } from '../watch/spans.ts'
import { type Connect, connectorOf, DIRECT, type Dial } from './dial.ts'
import type { Receiver, Underway } from './shared-reads.ts'
import { Agent, Client, Pool } from './undici.ts'

interface PoolSettings {
  /** Connections to one origin. */
  readonly connections: number
  /** Milliseconds until a connection must be open. */
  readonly connectTimeoutMs: number
  /** Milliseconds until the answer's headers, and between two pieces of its body. */
  readonly callTimeoutMs: number
  /** Milliseconds after which a connection takes no further request, so that a name that moves is followed; 0 or absent = unlimited. */
  readonly connectionAgeMs?: number
  /** How its connections open; directly without it. */
  readonly dial?: Dial
}

/** Creates the one connection pool of translated calls and passed-through bytes. It verifies TLS (design §6.1). */
export function createPool({
  connections,
  connectTimeoutMs,
  callTimeoutMs,
  connectionAgeMs = 0,
  dial = DIRECT,
}: PoolSettings): UndiciAgent {
  const connect = connectorOf(dial, { timeout: connectTimeoutMs, onread: { buffer: arrived, callback: pushCopy } })
  const all = { connections, headersTimeout: callTimeoutMs, bodyTimeout: callTimeoutMs, connect }
  if (connectionAgeMs === 0) return new Agent(all)
  const client = (origin: URL, options: object) => new AgingClient(origin, { ...options, connect }, connectionAgeMs)
  return new Agent({ ...all, factory: (origin, options) => new Pool(origin, { ...options, factory: client }) })
}

/** What carries requests to a service. */
export type Carries = Pick<UndiciAgent, 'dispatch'>

/**
 * A pool with two connections, one for each service, for each of `parallel` comparisons. The setting is live: requests that come after a
 * change take other connections, and those under way keep theirs.
 */
export function createLivePool(settings: Omit<PoolSettings, 'connections'>, live: { readonly parallel: number }) {
  const make = (parallel: number) => ({ parallel, pool: createPool({ ...settings, connections: 2 * parallel }) })
  const leaving = new Set<UndiciAgent>()
  let current = make(live.parallel)
  const renew = () => {
    const { pool } = current
    current = make(live.parallel)
    leaving.add(pool)
    const left = () => void leaving.delete(pool)
    pool.close().then(left, left)
  }
  return {
    dispatch(...request: Parameters<Carries['dispatch']>): boolean {
      if (live.parallel !== current.parallel) renew()
      return current.pool.dispatch(...request)
    },
    async destroy(): Promise<void> {
      await Promise.all([current.pool, ...leaving].map((pool) => pool.destroy()))
    },
  }
}

/**
 * One connection at a time. One that is too old takes no further request: it closes while it rests, or when the next request comes, which
 * opens another. `clientTtl` of undici's pools would leave requests waiting for ever if all connections of a pool are too old at once.
 */
class AgingClient extends Client {
  #old: Socket | undefined

  constructor(origin: URL, { connect, ...options }: { readonly connect: Connect }, ageMs: number) {
    let opened = (_: Socket) => {}
    const aging: Connect = (asked, done) =>
      connect(asked, (...came) => {
        if (came[1]) opened(came[1])
        done(...came)
      })
    super(origin, { ...options, connect: aging })
    opened = (socket) => {
      const grown = () => {
        this.#old = socket
        this.#renew()
      }
      const aged = setTimeout(grown, ageMs).unref()
      socket.once('close', () => clearTimeout(aged))
    }
  }

  override dispatch(options: UndiciDispatcher.DispatchOptions, handler: UndiciDispatcher.DispatchHandler): boolean {
    if (this.#old) this.#renew()
    return super.dispatch(options, handler)
  }

  #renew(): void {
    if (this.stats.running > 0) return
    this.#old?.destroy()
    this.#old = undefined
  }
}

/** The memory that all sockets read into. Each read is copied before the next: without it, Node allocates 64 KiB for every read. */
const arrived = Buffer.allocUnsafeSlow(64 * 1024)

/** Passes a copy of what was read on to the socket's stream. A long one is in memory that is used again. Node calls it on the socket. */
function pushCopy(this: Socket, length: number): boolean {
  if (length <= SHORT_TEXT) return this.push(Buffer.from(arrived.subarray(0, length)))
  const piece = ARRIVED_MEMORY.take(length)
  arrived.copy(piece, 0, 0, length)
  return this.push(piece)
}

/** The status of an answer. If none arrived, `cancelled` says that the client did not wait for it. */
export type CallEnd = number | 'cancelled' | 'unanswered'

/** Tells how a call ended that got no answer. */
export function endOf({ http }: ApiError): CallEnd {
  return http === CODES.CANCELLED.http ? 'cancelled' : 'unanswered'
}

/** The context that all calls of one v1 request share. */
export interface CallContext {
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
  /** Bounds the answers of all calls together. Without it, each has its own limit only. */
  readonly budget?: AnswerBudget | undefined
  /** Fires when the client goes away (AbortError) or the request's deadline passes (TimeoutError). */
  readonly signal: Signal
  /** Called for every call that is really sent. Returns its span, if the request is traced: v2 gets that as its trace context. */
  onCall(call: Call): CallSpan | undefined
  /** Called at its end; `started` is when the call began (`performance.now()`). */
  onCallEnd?(end: CallEnd, started: number, span: CallSpan | undefined): void
  /** Called for every answer that was parsed because its call could not read it in the preferred form. */
  onParsed?(): void
  /** Called for every call that may have changed something: it succeeded, or nothing tells that it did not. */
  onWritten?(): void
}

/** Headers, beside the credential, that v2 may answer by: the client's program and what it wants carried along. */
const ANSWERED_BY = ['user-agent', 'baggage', 'cgclientid'] as const

/** Headers that identify a request or its path. They do not change the answer, and hardly two requests have the same ones. */
const NAMING = ['cgrequestid', 'cdn-loop'] as const

/** The headers that a translated call takes from the v1 request. All others describe the v1 exchange and are dropped. */
const FORWARDED = ['authorization', ...ANSWERED_BY, ...NAMING] as const

/** True if v2 has no reason to answer two requests of one credential differently. */
export function areAnsweredAlike(one: IncomingHttpHeaders, other: IncomingHttpHeaders): boolean {
  return ANSWERED_BY.every((name) => one[name] === other[name])
}

/** Returns a short text that differs where `areAnsweredAlike` is false. */
export function answeredBy(headers: IncomingHttpHeaders): string {
  return createHash('sha256')
    .update(JSON.stringify(ANSWERED_BY.map((name) => headers[name])))
    .digest('base64url')
}

/** The other headers of a v2 call. */
interface CallHeaders {
  readonly requestId: string
  /** Replaces the client's own trace context: the state belongs to its trace alone. */
  readonly span: Pick<CallSpan, 'traceparent' | 'tracestate'> | undefined
  readonly hasBody: boolean
}

/** Returns the headers of a v2 call for a v1 request as alternating names and values. */
export function callHeaders(client: IncomingHttpHeaders, { requestId, span, hasBody }: CallHeaders): string[] {
  const headers = ['accept', 'application/json', 'x-request-id', requestId]
  const { traceparent, tracestate } = span ?? client
  if (typeof traceparent === 'string') headers.push('traceparent', traceparent)
  if (typeof tracestate === 'string') headers.push('tracestate', tracestate)
  for (const name of FORWARDED) {
    const value = client[name]
    if (typeof value === 'string') headers.push(name, value)
  }
  if (hasBody) headers.push('content-type', 'application/json')
  return headers
}

/** Bytes that all answers to the calls of one v1 request may have together. A call that needs more is broken off. */
export interface AnswerBudget {
  /** Bytes that are left; below 0 once an answer needed more. */
  left: number
}

/** Bytes that every answer counts besides its body, so that pages without end come to an end even if they are empty. */
const HEAD = 1024

export function createAnswerBudget(bytes: number): AnswerBudget {
  return { left: bytes }
}

export function isExceeded({ left }: AnswerBudget): boolean {
  return left < 0
}

/** Takes an answer's head. Returns false if the body, of this length if it is known, has no room. */
function takeHead(budget: AnswerBudget, length: number | undefined): boolean {
  budget.left -= HEAD
  if (length !== undefined && length > budget.left) fill(budget)
  return !isExceeded(budget)
}

/** Notes that an answer needs more than is left. */
export function fill(budget: AnswerBudget): void {
  budget.left = -1
}

/** Takes a piece of a body, of which some bytes may be taken already. Returns false if it has no room. */
function takePiece(budget: AnswerBudget, piece: Uint8Array, taken = 0): boolean {
  budget.left -= weightOf(piece) - taken
  return !isExceeded(budget)
}

/** Bytes that each value counts at least: what small values cost is the time to compare them. */
const VALUE = 20
const COMMA = 0x2c

/** Returns the bytes of JSON text, or more if it holds many small values. A value is told by its comma. */
export function weightOf(text: Uint8Array): number {
  let values = 0
  for (let at = 0; at < text.length; at += 1) if (text[at] === COMMA) values += 1
  return Math.max(text.length, VALUE * values)
}

type Decoder = (bytes: Buffer, options: { maxOutputLength: number; chunkSize: number }) => Promise<Buffer>

const BEYOND_OUTPUT = 'ERR_BUFFER_TOO_LARGE'
const GZIP = { magic: 0x1f8b, shortest: 18 }
const inflated = promisify(unzip) as Decoder

/**
 * Reads gzip and deflate, and tells them apart by their first bytes. A gzip content gives its length, modulo 4 GiB, in its last four bytes
 * (RFC 1952 §2.3.1). What is too large is refused by that: its pieces would fill the memory faster than V8 collects them at leisure, and every
 * client would wait for V8.
 */
const unzipped: Decoder = async (bytes, options) => {
  const told = bytes.length >= GZIP.shortest && bytes.readUInt16BE() === GZIP.magic ? bytes.readUInt32LE(bytes.length - 4) : 0
  if (told > options.maxOutputLength) throw Object.assign(new RangeError(`the content has ${told} bytes`), { code: BEYOND_OUTPUT })
  return inflated(bytes, options)
}

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: unzipped,
  'x-gzip': unzipped,
  deflate: unzipped,
  br: promisify(brotliDecompress) as Decoder,
  identity: async (bytes) => bytes,
}

/** True if `decode` knows the content codings of an answer. Clients may take others, such as zstd, and a cache sends what they take. */
export function canDecode(encoding: string): boolean {
  return encoding.split(',').every((name) => Object.hasOwn(DECODERS, name.trim().toLowerCase()))
}

/** One coding is usual, two occur. Each costs as much as the answer, and a header has room for thousands. */
const MOST_CODINGS = 5

/**
 * Removes the content codings of an answer. We ask for none, but a load balancer or a cache may add one. At most `limit` bytes result, so
 * that a small answer cannot fill the memory. A larger result (`isTooLarge`), too many codings, and an unknown or a broken coding are INTERNAL.
 */
export async function decode(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  const codings = encoding.split(',').map((name) => name.trim().toLowerCase())
  if (codings.length > MOST_CODINGS)
    throw new ApiError('INTERNAL', `the v2 service sent an answer in more than ${MOST_CODINGS} content codings`)
  let decoded = bytes
  for (const coding of codings.reverse()) {
    const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (!decoder) throw new ApiError('INTERNAL', `the v2 service sent an answer in the unknown content coding ${JSON.stringify(coding)}`)
    decoded = await undone(decoder, decoded, limit)
  }
  return decoded
}

/** Bytes that are decoded at a time. Each piece is a turn of the event loop, and memory of its own: Node's 16 KiB make a large answer slow. */
const PIECES = { least: 16_384, most: 262_144, perByte: 8 }

async function undone(decoder: Decoder, bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    const chunkSize = Math.min(Math.max(PIECES.least, PIECES.perByte * bytes.length), PIECES.most)
    return await decoder(bytes, { maxOutputLength: limit, chunkSize })
  } catch (error) {
    throw isBeyondOutput(error) ? tooLarge(limit, error) : brokenAnswer(error)
  }
}

export function tooLarge(limit: number, cause?: unknown): ApiError {
  return new ApiError('INTERNAL', `the v2 service sent an answer of more than limits.answerBytes (${limit})`, { cause })
}

/** Decodes an answer whose bytes were taken from the budget. Its content may be a thousand times as long, and counts too. */
async function decodeWithin({ budget, answerBytes }: Exchange, bytes: Buffer, encoding: string): Promise<Buffer> {
  if (!budget) return decode(bytes, encoding, answerBytes)
  const most = Math.min(answerBytes, bytes.length + Math.max(0, budget.left))
  const decoded = await decode(bytes, encoding, most).catch((error) => {
    if (isTooLarge(error)) fill(budget)
    throw error
  })
  if (!takePiece(budget, decoded, bytes.length)) throw tooLarge(answerBytes)
  return decoded
}

/** True if `decode` failed because its result would have more than its limit. */
export function isTooLarge(error: unknown): boolean {
  return isBeyondOutput((error as Error).cause)
}

function isBeyondOutput(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === BEYOND_OUTPUT
}

export function lengthOf(headers: readonly Buffer[]): number | undefined {
  const text = headerOf(headers, 'content-length')
  return text === undefined ? undefined : Number(text)
}

/** Names and values alternate. A repeated header is one list (RFC 9110 §5.3). */
export function headerOf(headers: readonly Buffer[], wanted: 'content-encoding' | 'content-length'): string | undefined {
  let found: string | undefined
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    if (name?.length !== wanted.length || name.toString('latin1').toLowerCase() !== wanted) continue
    const value = headers[at + 1]?.toString('latin1')
    found = found === undefined ? value : `${found},${value}`
  }
  return found
}

/** Milliseconds until the head and between two pieces of the body; null leaves them to the pool. */
export interface Exchange extends Pick<UndiciDispatcher.DispatchOptions, 'headersTimeout' | 'bodyTimeout'> {
  readonly origin: string
  readonly path: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Alternating names and values. */
  readonly headers: string[]
  readonly body?: string
  readonly answerBytes: number
  /** Bounds this answer together with others. */
  readonly budget?: AnswerBudget | undefined
}

export interface RawAnswer {
  readonly status: number
  /** Alternating names and values as received. They are rarely needed (`parseHeaders`). */
  readonly headers: Buffer[]
  /** The body as received. Several requests may share it, so it must not be modified. */
  readonly pieces: readonly Buffer[]
  /** Bytes of the body. */
  readonly bytes: number
}

/**
 * Makes one request and reads its whole answer. A read is repeated once if its connection failed; a write never is (design §6).
 * Our own handler collects the answer: undici's `request` would add a stream and an abort signal to each.
 */
export function exchange(pool: Carries, request: Exchange, receiver: Receiver<RawAnswer>): Underway {
  const gathering = new Gathering(pool, request, receiver, undefined, undefined)
  pool.dispatch(request, gathering)
  return gathering
}

const NONE: Buffer[] = []

/**
 * Collects an answer of at most `answerBytes` bytes, and tells the context the end of the call. One object with methods for each call costs
 * a third of the same functions as closures. undici's newer handlers wrap this kind and get every header as an object. A connection keeps
 * the handler of its last request; the handler therefore drops the answer, its listener and the span at the end.
 */
class Gathering implements UndiciDispatcher.DispatchHandler, Underway {
  readonly #pool: Carries
  readonly #request: Exchange
  #receiver: Receiver<RawAnswer> | undefined
  #context: CallContext | undefined
  #span: CallSpan | undefined
  readonly #started: number
  #abort: ((reason: Error) => void) | undefined
  #given: Error | undefined
  #mayRepeat: boolean
  #status = 0
  #headers = NONE
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(
    pool: Carries,
    request: Exchange,
    receiver: Receiver<RawAnswer>,
    context: CallContext | undefined,
    span: CallSpan | undefined,
  ) {
    this.#pool = pool
    this.#request = request
    this.#receiver = receiver
    this.#context = context
    this.#span = span
    this.#started = performance.now()
    this.#mayRepeat = request.method === 'GET'
  }

  /** Called before anything is sent, and again on another connection. */
  onConnect(abort: (reason?: Error) => void): void {
    this.#abort = abort
    if (this.#given) abort(this.#given)
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    this.#status = status
    this.#headers = headers
    const { budget, answerBytes } = this.#request
    if (budget && !takeHead(budget, lengthOf(headers))) this.#abort?.(tooLarge(answerBytes))
    return true
  }

  onData(piece: Buffer): boolean {
    this.#bytes += piece.length
    const { budget, answerBytes } = this.#request
    const fits = this.#bytes <= answerBytes && (!budget || takePiece(budget, piece))
    if (!fits) this.#abort?.(tooLarge(answerBytes))
    else this.#pieces.push(piece)
    return true
  }

  onComplete(): void {
    const status = this.#status
    const headers = this.#headers
    const encoding = headerOf(headers, 'content-encoding')
    if (encoding === undefined || this.#bytes === 0) this.#land({ status, headers, pieces: this.#pieces, bytes: this.#bytes })
    else {
      const decoded = decodeWithin(this.#request, Buffer.concat(this.#pieces, this.#bytes), encoding)
      decoded.then(
        (whole) => this.#land({ status, headers, pieces: [whole], bytes: whole.length }),
        (error) => this.#refuse(error),
      )
    }
    this.#headers = NONE
    this.#pieces = []
  }

  onError(error: Error): void {
    const repeat = this.#mayRepeat && !this.#given && CONNECTION_FAILURES.has((error as { code?: string }).code ?? '')
    this.#mayRepeat = false
    this.#pieces = []
    this.#bytes = 0
    if (repeat) this.#pool.dispatch(this.#request, this)
    else this.#refuse(error)
  }

  cancel(reason: Error): void {
    this.#given = reason
    this.#refuse(reason)
    this.#abort?.(reason)
  }

  #land(answer: RawAnswer): void {
    const receiver = this.#receiver
    const context = this.#context
    this.#receiver = undefined
    this.#context = undefined
    this.#abort = undefined
    if (!receiver) return
    context?.onCallEnd?.(answer.status, this.#started, this.#span)
    this.#span = undefined
    receiver.received(answer)
  }

  #refuse(error: unknown): void {
    const receiver = this.#receiver
    const context = this.#context
    this.#receiver = undefined
    this.#context = undefined
    if (!receiver) return
    const failure = fromTransport(error)
    context?.onCallEnd?.(endOf(failure), this.#started, this.#span)
    this.#span = undefined
    receiver.failed(failure)
  }
}

/** Failures of a connection, not of a request. */
const CONNECTION_FAILURES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Returns the origin of a service, and the prefix of its paths without a slash at its end. */
export function placeOf(base: string): { readonly origin: string; readonly prefix: string } {
  const { origin, pathname } = new URL(base)
  return { origin, prefix: pathname.replace(/\/$/, '') }
}

export interface SendCallSettings {
  readonly pool: Carries
  /** The origin of the v2 service, with an optional path prefix and without a trailing slash. */
  readonly base: string
  /** The maximum size of a v2 answer in bytes. */
  readonly answerBytes: number
  /** Milliseconds until the head of an answer, and between two pieces of its body. They may change. Without them, those of the pool hold. */
  readonly times?: { readonly callTimeoutMs: number } | undefined
  /** How the API writes errors. */
  readonly errors?: ErrorForm | undefined
}

export type SendCall = (context: CallContext, call: Call, target: string, receiver: Receiver<RawAnswer>) => Underway

/** Starts calls on the pool; `target` is a call's path and query. */
export function createSendCall({ pool, base, answerBytes, times }: SendCallSettings): SendCall {
  const { origin: slice, prefix } = placeOf(base)
  // V8 keeps the origin as a slice of the address. undici reads it letter by letter for each call, which took 2 % of a small request.
  const origin = Buffer.from(slice).toString('latin1')
  return (context, call, target, receiver) => {
    const span = context.onCall(call)
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const hasBody = body !== undefined
    const headers = callHeaders(context.headers, { requestId: context.requestId, span, hasBody })
    const { budget } = context
    const ms = times?.callTimeoutMs ?? null
    const limits = { answerBytes, budget, headersTimeout: ms, bodyTimeout: ms }
    const request = { origin, path: prefix + target, method: call.method, headers, ...(hasBody && { body }), ...limits }
    const gathering = new Gathering(pool, request, receiver, context, span)
    pool.dispatch(request, gathering)
    return gathering
  }
}

/** Returns path and query of a call. A space is `%20`, as v2 documents it (specification §4 rule 2). */
export function targetOf({ path, query }: Pick<Call, 'path' | 'query'>): string {
  let target = path
  let mark = '?'
  for (const [name, value] of query) {
    target += `${mark}${encodeURIComponent(name)}=${encodeURIComponent(value)}`
    mark = '&'
  }
  return target
}

/** Returns a call's query, percent-encoded as in its target. */
export function queryText({ query }: Pick<Call, 'query'>): string {
  return targetOf({ path: '', query }).slice(1)
}

/** Returns a body that came in pieces, whose bounds may lie within a character. */
export function whole(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  return first && pieces.length === 1 ? first : Buffer.concat(pieces)
}

/** Decodes a UTF-8 body. */
export function textOf(pieces: readonly Buffer[]): string {
  return whole(pieces).toString()
}
