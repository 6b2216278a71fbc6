import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, CODES, codeName } from '../../errors.ts'
import { pathOf } from '../../serve/classify.ts'
import { whenClosed } from '../../serve/signals.ts'
import { type Carried, carry, type Noted, type WireHandler, type WireReply, type WireStatus } from './call.ts'
import {
  codingOf,
  framesOf,
  gzipped,
  inBase64,
  inflated,
  lengthOf,
  nothing,
  prefix,
  readBody,
  readFramed,
  sendPieces,
  textLength,
  tooLarge,
  type WireSettings,
} from './framing.ts'
import { connectCode, connectTimeout, grpcTimeout, grpcTrailers, metadata, unpadded } from './status.ts'

/** Seconds for which a browser may keep the answer to a preflight; browsers allow at most two hours. */
const KEPT = 7200

/** Names of headers with commas between them. Others cannot be asked for. */
const NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/

/**
 * Metadata can have any name, so all headers are exposed. The wildcard suffices, because cookies are not allowed. Older browsers know
 * none and see the status at least.
 */
const EXPOSED = '*, grpc-status, grpc-message, grpc-status-details-bin'

/**
 * Lets pages of other origins call by gRPC-Web and Connect (Fetch, CORS protocol). It allows these origins, as in
 * `https://console.example.com`; `*` allows all.
 */
export function createCors(origins: readonly string[]) {
  const allowed = new Set(origins)
  const isAllowed = (origin: string | undefined): origin is string => origin !== undefined && (allowed.has('*') || allowed.has(origin))
  return {
    /** Lets a page of an allowed origin read the answer, with its metadata. */
    open({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
      response.appendHeader('vary', 'origin')
      if (!isAllowed(origin)) return
      response.setHeader('access-control-allow-origin', origin)
      response.setHeader('access-control-expose-headers', EXPOSED)
    },
    /** Answers a preflight of an allowed origin, after `open`; false for any other request. */
    preflight({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
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

/** Writes a status as an error of Connect: `{"code":"not_found","message":"no such role"}`. Its HTTP status is that of a gRPC gateway. */
function connectError({ code, message, details }: WireStatus) {
  const name = codeName(code)
  const written = details.map(({ type, value }) => ({ type, value: unpadded(value) }))
  const error = {
    code: connectCode(name),
    ...(message !== '' && { message }),
    ...(written.length > 0 && { details: written }),
  }
  return { status: CODES[name].http, text: JSON.stringify(error) }
}

/** A request over HTTP/1.1 or HTTP/2, and its response. */
export interface WebPair {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** A call whose end nobody watches yet. */
type Read = Omit<Carried, 'noted'>

/** The content types of unary calls of Connect. */
const TYPE = /^application\/(proto|json) *(?:; *charset="?utf-8"? *)?$/i

/**
 * Reads a request as a unary call of Connect; undefined if it names no codec that is known. The message of a GET stands in its query:
 * `?connect=v1&encoding=json&message=%7B%7D`.
 */
function connectCall({ request, response }: WebPair, settings: WireSettings): Read | undefined {
  const { method, headers, url = '' } = request
  const path = pathOf(url)
  const query = method === 'GET' ? new URLSearchParams(url.slice(path.length)) : undefined
  const codec = query ? query.get('encoding') : TYPE.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase()
  if (codec !== 'proto' && codec !== 'json') return undefined
  const version = query ? query.get('connect')?.replace(/^v/, '') : headers['connect-protocol-version']
  const compression = query ? (query.get('compression') ?? undefined) : headers['content-encoding']
  return {
    call: { path, protocol: 'connect', codec, headers, isGet: query !== undefined },
    timeout: headers['connect-timeout-ms'] as string | undefined,
    readTimeout: connectTimeout,
    async read(signal) {
      // A client need not say the version.
      if (version !== undefined && version !== '1') throw new ApiError('INVALID_ARGUMENT', 'the version of Connect is 1')
      const coding = codingOf(compression, 'the compression')
      const message = query ? messageIn(query) : await readBody({ body: request, ending: response, headers }, 0, signal, settings)
      if (message.length > settings.requestBytes) throw tooLarge(settings.requestBytes)
      return coding === 'gzip' ? inflated(message, settings, 'INVALID_ARGUMENT') : { message, release: nothing }
    },
    write: connectWrite(response, `application/${codec}`, compression === 'gzip' && takesGzip(headers)),
  }
}

/** True if a client takes gzip. */
function takesGzip({ 'accept-encoding': accepted = '' }: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(String(accepted))
}

/** Returns what sends a reply: its message as it is, or an error as JSON. Trailers are headers with a prefix. */
function connectWrite(response: WebPair['response'], type: string, isCompressed: boolean): Carried['write'] {
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
function grpcWebCall({ request, response }: WebPair, settings: WireSettings): Read | undefined {
  const { headers, url = '' } = request
  const [type, text, codec = 'proto'] = GRPC_WEB_TYPE.exec(headers['content-type'] ?? '') ?? []
  if (type === undefined) return undefined
  return {
    call: { path: pathOf(url), protocol: 'grpc-web', codec: codec.toLowerCase() as 'proto' | 'json', headers, isGet: false },
    timeout: headers['grpc-timeout'] as string | undefined,
    readTimeout: grpcTimeout,
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
interface PairHandler {
  readonly handler: WireHandler
  /** True if the method has no side effects, so that Connect may ask by GET. */
  readonly isSafe: boolean
  /** Called once, when the response is closed; the code that the client sees is undefined for an answer without one (405, 415). */
  readonly ended?: (code: number | undefined, failure: ApiError | undefined) => void
}

/**
 * Creates what serves one unary call of gRPC-Web or Connect over HTTP/1.1 or HTTP/2. A request with another method is answered 405, and one
 * with another content type 415. Headers that the response has already are kept.
 */
export function createServePair(settings: WireSettings) {
  return (pair: WebPair, { handler, isSafe, ended = () => {} }: PairHandler) => {
    const { request, response } = pair
    const { method = '' } = request
    if (method !== 'POST' && !(method === 'GET' && isSafe)) return refuse(response, 405, { allow: isSafe ? 'GET, POST' : 'POST' }, ended)
    const carried = (method === 'POST' ? grpcWebCall(pair, settings) : undefined) ?? connectCall(pair, settings)
    if (!carried) return refuse(response, 415, { 'accept-post': TYPES }, ended)
    const noted: Noted = { failure: undefined }
    carry({ ...carried, noted, write: watched(carried.write, response, (code) => ended(code, noted.failure)) }, response, handler, settings)
  }
}

const TYPES = ['proto', 'json', 'grpc-web', 'grpc-web+proto', 'grpc-web+json', 'grpc-web-text']
  .map((type) => `application/${type}`)
  .join(', ')

function refuse(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  ended: NonNullable<PairHandler['ended']>,
): void {
  whenClosed(response, { over: () => ended(undefined, undefined), next: undefined })
  response.writeHead(status, { ...headers, 'content-length': 0 }).end()
}

/** Calls `ended` with the code of the answer, or CANCELLED if the client did not get it whole. */
function watched(write: Carried['write'], response: ServerResponse, ended: (code: number) => void): Carried['write'] {
  let sent = CODES.CANCELLED.number as number
  whenClosed(response, { over: () => ended(response.writableFinished ? sent : CODES.CANCELLED.number), next: undefined })
  return (reply) => {
    sent = 'status' in reply ? reply.status.code : CODES.OK.number
    return write(reply)
  }
}
