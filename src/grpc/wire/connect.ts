import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, CODES, codeName } from '../../errors.ts'
import { type Signal, whenClosed } from '../../serve/signals.ts'
import { CallSignal, carry, type WireCall, type WireHandler, type WireReply, type WireStatus } from './call.ts'
import {
  boundsOf,
  framesOf,
  gzipped,
  type Inflated,
  inBase64,
  inflated,
  lengthOf,
  prefix,
  readBody,
  readFramed,
  sendPieces,
  textLength,
  tooLarge,
  type WireSettings,
} from './framing.ts'
import { connectTimeout, failureStatus, grpcTimeout, grpcTrailers, metadata, unpadded } from './status.ts'

/** Lets pages of other origins call by gRPC-Web and Connect (Fetch, CORS protocol). */
export interface Cors {
  /** Lets a page of an allowed origin read the answer, with its metadata. */
  open(request: IncomingMessage, response: ServerResponse): void
  /** Answers a preflight of an allowed origin, after `open`; false for any other request. */
  preflight(request: IncomingMessage, response: ServerResponse): boolean
}

/** Seconds for which a browser may keep the answer to a preflight; browsers allow at most two hours. */
const KEPT = 7200

/** Names of headers with commas between them. Others cannot be asked for. */
const NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/**
 * Metadata can have any name, so all headers are exposed. The wildcard suffices, because cookies are not allowed. Older browsers know
 * none and see the status at least.
 */
const EXPOSED = '*, grpc-status, grpc-message, grpc-status-details-bin'

/** Allows these origins, as in `https://console.example.com`; `*` allows all. */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins)
  const isAllowed = (origin: string | undefined): origin is string => origin !== undefined && (allowed.has('*') || allowed.has(origin))
  const open: Cors['open'] = ({ headers: { origin } }, response) => {
    response.appendHeader('vary', 'origin')
    if (!isAllowed(origin)) return
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', EXPOSED)
  }
  return {
    open,
    preflight({ method, headers }, response) {
      const wanted = headers['access-control-request-headers']
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined || !isAllowed(headers.origin)) return false
      response.setHeader('access-control-allow-methods', 'GET, POST')
      if (wanted !== undefined && NAMES.test(wanted)) response.setHeader('access-control-allow-headers', wanted)
      response.setHeader('access-control-max-age', KEPT)
      response.writeHead(204).end()
      return true
    },
  }
}

/** An error as Connect answers it. */
export interface ConnectError {
  /** Of HTTP. */
  readonly status: number
  /** JSON. */
  readonly text: string
}

/** Writes a status as an error of Connect: `{"code":"not_found","message":"no such role"}`. Its HTTP status is that of a gRPC gateway. */
export function connectError({ code, message, details }: WireStatus): ConnectError {
  const name = codeName(code)
  const written = details.map(({ type, value }) => ({ type, value: unpadded(value) }))
  const error = {
    code: CONNECT_CODES[name] ?? name.toLowerCase(),
    ...(message !== '' && { message }),
    ...(written.length > 0 && { details: written }),
  }
  return { status: CODES[name].http, text: JSON.stringify(error) }
}

/** Connect spells one name in another way. */
const CONNECT_CODES: Readonly<Record<string, string>> = { CANCELLED: 'canceled' }

/** A request over HTTP/1.1 or HTTP/2, and its response. */
export interface WebPair {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** One call of a protocol that is an ordinary request of HTTP. */
export interface PairCall {
  readonly call: Omit<WireCall, 'message' | 'signal' | 'timeoutMs'>
  /** Reads the client's timeout; throws an ApiError if it is malformed. */
  timeoutMs(): number | undefined
  read(signal: Signal): Promise<Inflated>
  /** Sends the answer. */
  write(reply: WireReply): void | Promise<void>
}

/** The path of a request without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/** The content types of unary calls of Connect. */
const TYPE = /^application\/(proto|json) *(?:; *charset="?utf-8"? *)?$/i

/** Reads a POST as a unary call of Connect; undefined if its content type is another. */
export function connectCall({ request, response }: WebPair, settings: WireSettings): PairCall | undefined {
  const { headers } = request
  const codec = TYPE.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() as 'proto' | 'json' | undefined
  if (codec === undefined) return undefined
  const read = async (signal: Signal): Promise<Inflated> => {
    checkVersion(headers['connect-protocol-version'])
    const coding = codingOf(headers['content-encoding'])
    const message = await readBody({ body: request, ending: response, headers }, 0, signal, settings)
    return coding === 'gzip' ? inflated(message, boundsOf(settings), malformed) : { message, release() {} }
  }
  return {
    call: { path: pathOf(request), protocol: 'connect', codec, headers, isGet: false },
    timeoutMs: () => connectTimeout(headers['connect-timeout-ms'] as string | undefined),
    read,
    write: connectWrite(response, `application/${codec}`, headers['content-encoding'] === 'gzip' && takesGzip(headers)),
  }
}

/** Only version 1 is there. A client need not say it. */
export function checkVersion(version: string | readonly string[] | undefined): void {
  if (version !== undefined && version !== '1') throw new ApiError('INVALID_ARGUMENT', 'the version of Connect is 1')
}

/** Reads the name of a compression. An unknown one is UNIMPLEMENTED. */
export function codingOf(coding = 'identity'): 'gzip' | 'identity' {
  if (coding !== 'gzip' && coding !== 'identity') throw new ApiError('UNIMPLEMENTED', 'the compression is neither gzip nor identity')
  return coding
}

export function malformed(cause: unknown): ApiError {
  return new ApiError('INVALID_ARGUMENT', 'the message cannot be decompressed', { cause })
}

/** True if a client takes gzip. */
export function takesGzip({ 'accept-encoding': accepted = '' }: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(String(accepted))
}

/** Returns what sends a reply: its message as it is, or an error as JSON. Trailers are headers with a prefix. */
export function connectWrite(response: WebPair['response'], type: string, isCompressed: boolean): PairCall['write'] {
  return async (reply: WireReply) => {
    const zipped = 'message' in reply && isCompressed ? await gzipped(reply.message) : undefined
    if (response.headersSent) return
    const error = 'status' in reply ? connectError(reply.status) : undefined
    const pieces = error ? [Buffer.from(error.text)] : (zipped ?? ('message' in reply ? reply.message : []))
    const length = lengthOf(pieces)
    const trailers = Object.entries(metadata(reply.trailers)).map(([name, value]) => [`trailer-${name}`, value])
    response.writeHead(error?.status ?? 200, {
      ...metadata(reply.headers),
      ...Object.fromEntries(trailers),
      'content-type': error ? 'application/json' : type,
      ...(zipped && { 'content-encoding': 'gzip' }),
      'content-length': length,
    })
    sendPieces(response, pieces, length)
  }
}

/**
 * Reads a GET as a unary call of Connect, whose message stands in the query: `?connect=v1&encoding=json&message=%7B%7D`.
 * It is undefined if the query names no codec that is known.
 */
export function connectGetCall({ request, response }: WebPair, settings: WireSettings): PairCall | undefined {
  const { headers, url = '' } = request
  const query = new URLSearchParams(url.slice(pathOf(request).length))
  const codec = query.get('encoding')
  if (codec !== 'proto' && codec !== 'json') return undefined
  const compression = query.get('compression') ?? undefined
  const read = async (): Promise<Inflated> => {
    checkVersion(query.get('connect')?.replace(/^v/, ''))
    const coding = codingOf(compression)
    const message = messageIn(query)
    if (message.length > settings.requestBytes) throw tooLarge(settings.requestBytes)
    return coding === 'gzip' ? inflated(message, boundsOf(settings), malformed) : { message, release() {} }
  }
  return {
    call: { path: pathOf(request), protocol: 'connect', codec, headers, isGet: true },
    timeoutMs: () => connectTimeout(headers['connect-timeout-ms'] as string | undefined),
    read,
    write: connectWrite(response, `application/${codec}`, compression === 'gzip' && takesGzip(headers)),
  }
}

/** Base64 is that of URLs or of mail, with or without padding. */
function messageIn(query: URLSearchParams): Buffer {
  const text = query.get('message')
  if (text === null) throw new ApiError('INVALID_ARGUMENT', 'the query has no message')
  if (query.get('base64') !== '1') return Buffer.from(text)
  // A plus sign in a query is a space.
  const written = text.replaceAll(' ', '+')
  if (!/^[\w+/-]*={0,2}$/.test(written)) throw new ApiError('INVALID_ARGUMENT', 'the message in the query is not base64')
  return Buffer.from(written, 'base64url')
}

/** The content types of gRPC-Web. Those with `-text` carry base64, for browsers that cannot read bytes. */
const GRPC_WEB_TYPE = /^application\/grpc-web(-text)?(?:\+(proto|json))? *(?:;|$)/i

/** The flag of the frame that holds the trailers. */
const TRAILERS = 0x80

/** Reads a request as a call of gRPC-Web; undefined if its content type is another. */
export function grpcWebCall({ request, response }: WebPair, settings: WireSettings): PairCall | undefined {
  const { headers } = request
  const [type, text, codec = 'proto'] = GRPC_WEB_TYPE.exec(headers['content-type'] ?? '') ?? []
  if (type === undefined) return undefined
  return {
    call: { path: pathOf(request), protocol: 'grpc-web', codec: codec.toLowerCase() as 'proto' | 'json', headers, isGet: false },
    timeoutMs: () => grpcTimeout(headers['grpc-timeout'] as string | undefined),
    read: (signal) => readFramed({ body: request, ending: response, headers, isText: text !== undefined }, signal, settings),
    async write(reply) {
      const isZipped = 'message' in reply && !reply.isFramed && headers['grpc-encoding'] === 'gzip'
      const zipped = isZipped ? await gzipped(reply.message) : undefined
      const pieces = 'message' in reply ? framesOf(reply, zipped) : []
      const whole = [...pieces, ...trailersFrame(reply)]
      const length = text ? textLength(lengthOf(whole)) : lengthOf(whole)
      const coding = zipped && { 'grpc-encoding': 'gzip' }
      if (response.headersSent) return
      response.writeHead(200, {
        'content-type': headers['content-type'],
        ...metadata(reply.headers),
        ...coding,
        'content-length': length,
      })
      sendPieces(response, text ? inBase64(whole) : whole, length)
    },
  }
}

/** Writes the trailers as the last frame: names in lower case, one line each (gRPC-Web, Message framing). */
function trailersFrame(reply: WireReply): readonly Uint8Array[] {
  const lines = Object.entries(grpcTrailers(reply)).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  const text = Buffer.from(lines.join(''), 'latin1')
  return [prefix(TRAILERS, text.length), text]
}

/** Who answers a call that comes as an ordinary request. */
export interface PairHandler {
  readonly handler: WireHandler
  /** True if the method has no side effects, so that Connect may ask by GET. */
  readonly isSafe: boolean
  /** Called once, when the response is closed, with the code that the client sees; undefined for an answer without one (405, 415). */
  readonly ended?: (code: number | undefined) => void
}

/**
 * Serves one unary call of gRPC-Web or Connect over HTTP/1.1 or HTTP/2. A request with another method is answered 405, and one with
 * another content type 415. Headers that the response has already are kept.
 */
export type ServePair = (pair: WebPair, handler: PairHandler) => void

export function createServePair(settings: WireSettings): ServePair {
  return (pair, { handler, isSafe, ended = () => {} }) => {
    const { response } = pair
    const { method = '' } = pair.request
    if (method !== 'POST' && !(method === 'GET' && isSafe)) return refuse(response, 405, { allow: isSafe ? 'GET, POST' : 'POST' }, ended)
    const carried = method === 'GET' ? connectGetCall(pair, settings) : (grpcWebCall(pair, settings) ?? connectCall(pair, settings))
    if (!carried) return refuse(response, 415, { 'accept-post': TYPES }, ended)
    const { read, write } = watched(carried, response, ended)
    try {
      const timeoutMs = carried.timeoutMs()
      const signal = new CallSignal(response, settings.deadlines, timeoutMs)
      const call = { ...carried.call, timeoutMs }
      carry({ call, signal, read: () => read(signal), write }, handler, settings.failed).catch(settings.failed)
    } catch (thrown) {
      void write({ status: failureStatus(thrown) })
    }
  }
}

const TYPES = ['proto', 'json', 'grpc-web', 'grpc-web+proto', 'grpc-web+json', 'grpc-web-text']
  .map((type) => `application/${type}`)
  .join(', ')

function refuse(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  ended: (code: undefined) => void,
): void {
  whenClosed(response, { over: () => ended(undefined), next: undefined })
  response.writeHead(status, { ...headers, 'content-length': 0 }).end()
}

/** Calls `ended` with the code of the answer, or CANCELLED if the client did not get it whole. */
function watched({ read, write }: PairCall, response: ServerResponse, ended: (code: number) => void): Pick<PairCall, 'read' | 'write'> {
  let sent = CODES.CANCELLED.number as number
  whenClosed(response, { over: () => ended(response.writableFinished ? sent : CODES.CANCELLED.number), next: undefined })
  return {
    read,
    write(reply: WireReply) {
      sent = 'status' in reply ? reply.status.code : CODES.OK.number
      return write(reply)
    },
  }
}
