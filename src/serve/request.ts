import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import { ApiError, askAgain, CODES } from '../errors.ts'
import { isObject, parseJson } from '../tables/json.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import type { Query } from '../tables/query.ts'
import type { Turn } from '../tables/turn.ts'
import type { Budget } from './bounds.ts'
import type { Found } from './route.ts'
import { type Closing, type Signal, whenClosed } from './signals.ts'
import type { RawRequest } from './upstream/v1.ts'

/** Returns the query of a request target without its `?`, or an empty text. */
export function searchOf(url: string): string {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

/** The maximum number of parameters. Go's servers, and so v1's gateway, have the same limit. */
const MOST = 10_000

/**
 * Decodes a query string or a form. Every occurrence is kept; `+` is a space.
 * Broken percent-encoding is INVALID_ARGUMENT, as in the gateway (facts §12.6).
 */
export function parseQuery(...texts: readonly string[]): Query {
  const query = new Map<string, string[]>()
  let pairs = 0
  for (const text of texts) {
    for (let at = 0; at < text.length; ) {
      const next = text.indexOf('&', at)
      const end = next < 0 ? text.length : next
      if (end > at) {
        pairs += 1
        if (pairs > MOST) throw new ApiError('INVALID_ARGUMENT', `the query holds more than ${MOST} parameters`)
        addPair(query, text.slice(at, end))
      }
      at = end + 1
    }
  }
  return query
}

function addPair(query: Map<string, string[]>, pair: string): void {
  const equals = pair.indexOf('=')
  const name = decode(equals < 0 ? pair : pair.slice(0, equals))
  const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
  const values = query.get(name)
  if (values) values.push(value)
  else query.set(name, [value])
}

const BROKEN_ESCAPE = /%(?![\da-f]{2})/i

function decode(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    const shown = JSON.stringify(text.slice(0, 100))
    if (!BROKEN_ESCAPE.test(text)) throw new ApiError('INVALID_ARGUMENT', `the query holds bytes that are not UTF-8: ${shown}`)
    throw new ApiError('INVALID_ARGUMENT', `the query holds a broken percent-encoding: ${shown}`)
  }
}

/** What bounds a body, and the errors for one that exceeds it. */
interface BodyBounds {
  /** Maximum bytes of one body. */
  readonly most: number
  /** The bytes of all bodies together. They are given back when the answer ends. */
  readonly budget: Budget
  readonly tooLarge: () => Error
  readonly overBudget: () => Error
}

/** A request body that arrives: a request, or an HTTP/2 stream. */
interface Arriving {
  readonly readableEnded: boolean
  on(event: 'data', listener: (piece: Buffer) => void): unknown
  on(event: 'end' | 'error', listener: (error: Error) => void): unknown
}

const NOTHING = Buffer.alloc(0)

/**
 * Reads a whole body. Pieces are joined as they arrive: each piece, if kept, would cost a hundred bytes of overhead. `ending` is the
 * answer, or the stream. When `signal` fires, reading fails with its reason.
 */
export function gather(
  arriving: Arriving,
  ending: Closing,
  { most, budget, tooLarge, overBudget }: BodyBounds,
  signal: Signal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body = NOTHING
    let bytes = 0
    let wanted = true
    const refuse = (error: Error) => {
      wanted = false
      reject(error)
    }
    const give = () => refuse(notArrived(signal.reason as Error))
    const over = () => {
      wanted = false
      budget.give(body.length)
    }
    if (signal.aborted) return give()
    signal.addEventListener('abort', give)
    whenClosed(ending, { over, next: undefined })
    const whole = () => {
      signal.removeEventListener('abort', give)
      resolve(body.subarray(0, bytes))
    }
    // A body without a byte may have ended before it is read. Its end is not told again.
    if (arriving.readableEnded) return whole()
    arriving.on('data', (piece) => {
      if (!wanted) return
      const end = bytes + piece.length
      if (end > most) return refuse(tooLarge())
      if (end > body.length) {
        const larger = Math.max(end, Math.min(2 * body.length, most))
        if (!budget.take(larger - body.length)) return refuse(overBudget())
        const before = body
        body = Buffer.allocUnsafe(larger)
        before.copy(body, 0, 0, bytes)
      }
      piece.copy(body, bytes)
      bytes = end
    })
    arriving.on('end', whole)
    arriving.on('error', reject)
  })
}

export const REQUEST_TIMEOUT = 408

/** The error of a body that was not there at a deadline of ours: its client caused that. */
function notArrived(reason: Error): Error {
  const isLate = reason instanceof ApiError && reason.http === CODES.DEADLINE_EXCEEDED.http
  return isLate ? new ApiError(reason.code, reason.message, { http: REQUEST_TIMEOUT }) : reason
}

/** Limits of request bodies, named as in the configuration. */
export interface BodyLimits {
  readonly requestBytes: number
  readonly bodiesBytes: number
}

/**
 * Reads the whole body of the request that a response answers. A body over `requestBytes` is INVALID_ARGUMENT. All bodies together take at
 * most `bodiesBytes` until they are answered; a body beyond that is UNAVAILABLE. When `signal` fires, reading fails with its reason.
 */
type ReadBytes = (response: ServerResponse, signal: Signal) => Promise<Buffer>

/** `budget` has the `bodiesBytes` that all bodies share. */
export function createReadBytes(limits: BodyLimits, budget: Budget): ReadBytes {
  return async (response, signal) => {
    const { req } = response
    const bounds = { most: limits.requestBytes, budget, tooLarge: () => tooLarge(limits, req), overBudget: () => overBudget(limits, req) }
    if (Number(req.headers['content-length'] ?? 0) > limits.requestBytes) throw tooLarge(limits, req)
    return gather(req, response, bounds, signal)
  }
}

/** Decodes a body, which must be UTF-8 whatever its Content-Type says (facts §12.5). Otherwise INVALID_ARGUMENT. */
export function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ApiError('INVALID_ARGUMENT', 'the request body is not UTF-8')
  }
}

/** The header that ends the connection of a body that is not read. HTTP/2 has none, and Node warns of one. */
export function closing({ httpVersionMajor }: IncomingMessage): Readonly<Record<string, string>> {
  return httpVersionMajor === 1 ? { connection: 'close' } : {}
}

function tooLarge({ requestBytes }: BodyLimits, request: IncomingMessage): ApiError {
  const message = `the request body is larger than limits.requestBytes (${requestBytes}) allows`
  return new ApiError('INVALID_ARGUMENT', message, { headers: closing(request) })
}

function overBudget({ bodiesBytes }: BodyLimits, request: IncomingMessage): ApiError {
  const message = `the request bodies in memory take more than limits.bodiesBytes (${bodiesBytes})`
  return askAgain('UNAVAILABLE', message, { headers: closing(request) })
}

/** One v1 request, raw and as the tables read it. Serving, explain, replay and comparison all use it. */
export interface Request {
  readonly operation: Operation
  /** The request as received, for the v1 service. */
  readonly raw: RawRequest
  /** Parses the request, once. Throws an ApiError if that fails. */
  readonly read: () => V1Request
}

/** A request with a client that waits for the answer. */
export interface ClientRequest extends Request, Identified {
  /** Returns the first turn of its operation, for the side of v2 that is compared. Throws an ApiError if the tables refuse it. */
  readonly begin?: (() => Turn) | undefined
  /** Fires when the client goes away. */
  readonly client: Signal
  /** Fires when the client goes away or the deadline passes. */
  readonly signal: Signal
}

/** Creates a request that was routed to an operation. `known` is what the tables read of its URL before. */
export function createRequest(routed: Found, raw: RawRequest, known?: V1Request): Request {
  const read = () => {
    known ??= parse(routed, raw)
    return known
  }
  return { operation: routed.match.operation, raw, read }
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** True if the body of the request is read; for other requests it has no meaning. */
export function takesBody({ form, match }: Found): boolean {
  return form || WITH_BODY.has(match.operation.method)
}

/** The head of a request. */
export interface RequestHead {
  readonly method?: string | undefined
  /** Path and query, still encoded. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** True if the body is known to fit; a body of unknown length may not. */
export function isBodyWithin({ headers }: RequestHead, limit: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= limit
}

/** Bytes of a query that is no part of a head: of a form, or of a message. It becomes the query of a call to v2, and servers of Go read no longer head. */
export const LONGEST_QUERY = 2 ** 20

const PLUS = 0x2b
const SPACE = 0x20

/** Returns the text of a form with its spaces. `replaceAll` takes half a second for millions of plus signs. */
function formText(body: Buffer): string {
  if (body.length > LONGEST_QUERY) throw new ApiError('INVALID_ARGUMENT', `the form is longer than any query (${LONGEST_QUERY} bytes)`)
  const spaced = Buffer.from(body)
  for (let at = spaced.indexOf(PLUS); at >= 0 && at < spaced.length; at += 1) if (spaced[at] === PLUS) spaced[at] = SPACE
  return utf8(spaced)
}

function parse({ form, match }: Found, { url, body }: RawRequest): V1Request {
  const { params } = match
  if (form) return { params, query: parseQuery(searchOf(url), body ? formText(body) : ''), body: undefined }
  const text = body && utf8(body)
  return { params, query: parseQuery(searchOf(url)), body: text === undefined ? undefined : parseJson(text) }
}

/** The name of a caller without a credential. */
export const ANONYMOUS = 'anonymous'

/**
 * Callers repeat the same token; hashing it each time would be a tenth of the work of a small request.
 * A longer credential is not cached: a thousand of them would fill the memory.
 */
const hashes = new LRUCache<string, string>({ max: 1000 })
const LONGEST_CREDENTIAL = 8192

/**
 * Returns a short stable name for a credential: the first 16 hex digits of its SHA-256. Admission, shared reads and accepted credentials
 * go by it, never by the token. A credential is one caller however its scheme is spelled.
 */
export function credentialHash(authorization: string | undefined): string {
  if (!authorization) return ANONYMOUS
  let hash = hashes.get(authorization)
  if (hash === undefined) {
    hash = createHash('sha256').update(plain(authorization)).digest('hex').slice(0, 16)
    if (authorization.length <= LONGEST_CREDENTIAL) hashes.set(authorization, hash)
  }
  return hash
}

/** The caller of a request. */
export interface Identity {
  /** 16 hex digits. They hash the token's issuer and subject if it has them, so that they outlive the token; otherwise the credential. */
  readonly caller: string
  readonly subject: string | undefined
}

export interface Identified extends Identity {
  /** 16 hex digits that hash the credential itself. Shared and cached data is keyed by them. */
  readonly credential: string
}

const callers = new LRUCache<string, Identified>({ max: 1000 })

/**
 * Names the caller of a request. The token is not verified here; the service behind verifies it.
 * That service refuses a forged subject, and only credentials that a service accepted count (`Accepted`).
 */
export function identify(authorization: string | undefined): Identified {
  const found = callers.get(authorization ?? '')
  if (found) return found
  const identity = identityOf(authorization)
  if ((authorization?.length ?? 0) <= LONGEST_CREDENTIAL) callers.set(authorization ?? '', identity)
  return identity
}

function identityOf(authorization: string | undefined): Identified {
  const claims = claimsOf(authorization)
  const credential = credentialHash(authorization)
  if (typeof claims?.sub !== 'string' || claims.sub === '') return { caller: credential, subject: undefined, credential }
  const name = `${typeof claims.iss === 'string' ? claims.iss : ''} ${claims.sub}`
  return { caller: createHash('sha256').update(name).digest('hex').slice(0, 16), subject: claims.sub, credential }
}

/** Normalises scheme and spaces: a scheme has no case (RFC 9110 §11.1). */
function plain(authorization: string): string {
  const [, initial = '', rest = '', credential] = /^(\S)(\S*)[ \t]+(\S.*)$/s.exec(authorization.trim()) ?? []
  return credential === undefined ? authorization.trim() : `${initial.toUpperCase()}${rest.toLowerCase()} ${credential}`
}

/** Returns the claims of a JSON Web Token. The vendor's SDK also sends one without a scheme. */
function claimsOf(authorization: string | undefined) {
  const [, payload] = /^(?:bearer\s+)?[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(authorization ?? '') ?? []
  if (payload === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    return isObject(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
