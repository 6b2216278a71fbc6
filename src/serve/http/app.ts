import { type IncomingMessage, METHODS, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { ApiError, asApiError } from '../../errors.ts'
import type { Mapping } from '../../tables/operation.ts'
import { type Classify, createClassify, type Target } from '../classify.ts'
import { type KnownReads, requestId } from '../core.ts'
import type { ConnectionLimits } from '../listen/listener.ts'
import { handshakeOf, whenAnswered } from '../listen/upgrades.ts'
import type { BeginRecord } from '../watch/access-log.ts'
import type { Passthrough } from './carriers.ts'
import { createLoopGuard, LOOP_DETECTED } from './forwarded.ts'
import { type Compat, refuseSocket, sendError } from './v1-surface.ts'

function refuse(): never {
  throw new Error('no route may have a schema: its compiler is not loaded')
}

/** Keeps Fastify from loading its compilers of JSON Schemas at the start (`schemaController`). No route of this proxy has a schema. */
export const NO_SCHEMAS: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
}

/** What v1 answers say about the end of v1; times are in seconds since the epoch. The default is nothing, as in v1. */
interface Announcement {
  readonly deprecation: number | undefined
  readonly sunset: number | undefined
  /** The address of v1's replacement. */
  readonly successor: string | undefined
}

/** Alternating names and values. */
export type RawHeaders = readonly string[]

interface Announce {
  /** The headers of every v1 answer. */
  readonly headers: RawHeaders
  /** Adds them to an answer that Fastify writes, before the answer begins. Undefined if there are none. */
  readonly put: ((reply: FastifyReply) => void) | undefined
}

/**
 * Adds `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link: rel="successor-version"` (RFC 5829) to every v1 answer of `app`, errors
 * included. Headers of the v1 service arrive later. Ours replace them, except links, which are combined.
 */
export function createAnnounce(app: FastifyInstance, announcement: Announcement): Announce {
  const headers = headersOf(announcement)
  if (Object.keys(headers).length === 0) return { headers: [], put: undefined }
  app.addHook('onSend', async (_, reply) => {
    const theirs = reply.getHeader('link') ?? []
    const links = [theirs, headers.link ?? []].flat().join(', ')
    reply.headers({ ...headers, ...(headers.link !== undefined && theirs !== headers.link && { link: links }) })
  })
  return { headers: Object.entries(headers).flat(), put: (reply) => void reply.headers(headers) }
}

function headersOf({ deprecation, sunset, successor }: Announcement): { deprecation?: string; sunset?: string; link?: string } {
  return {
    ...(deprecation !== undefined && { deprecation: `@${deprecation}` }),
    ...(sunset !== undefined && { sunset: new Date(sunset * 1000).toUTCString() }),
    ...(successor !== undefined && { link: `<${successor}>; rel="successor-version"` }),
  }
}

/** Examines a request before any carrier gets it. */
export interface RequestChecks {
  readonly loop: ReturnType<typeof createLoopGuard>
  readonly classify: Classify
  /** True if v2 lives below a path of its server. */
  readonly isBelow: boolean
}

/** `v2` is the base address of the v2 service. */
export function createRequestChecks(mappings: readonly Mapping[], v2: string): RequestChecks {
  const isBelow = new URL(v2).pathname !== '/'
  return { loop: createLoopGuard(), classify: createClassify(mappings, isBelow), isBelow }
}

const NO_QUERY = {}

type Serve = (request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * Creates the HTTP server of the proxy. No text of Fastify's reaches a client: `serve` takes even a request that Fastify could not route.
 * Bodies are untouched here: each carrier reads its own. `createServer` makes the listening server.
 */
export function createApp(serve: Serve, createServer: (handler: RequestListener) => Server, limits: ConnectionLimits): FastifyInstance {
  const app = Fastify({
    genReqId: requestId,
    exposeHeadRoutes: false,
    schemaController: NO_SCHEMAS,
    return503OnClosing: false,
    // Fastify's parsed query is unused: v1's queries have rules of their own.
    routerOptions: { querystringParser: () => NO_QUERY },
    serverFactory: (handler) => createServer(handler),
    frameworkErrors: (_, request, reply) => void serve(request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: (error, socket) => refuseClient(error, socket, limits),
  })
  // A connection may be idle between requests as long as within one. A separate time would make Node create two timers a request.
  app.server.keepAliveTimeout = 0
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.setErrorHandler((thrown, _, reply) => sendError(reply, asApiError(thrown)))
  return app
}

/** Lets every request reach `serve`. */
export function serveAll(app: FastifyInstance, serve: Serve): void {
  app.setNotFoundHandler(serve)
  app.all('/*', serve)
}

interface ServeParts {
  readonly begin: BeginRecord
  readonly checks: RequestChecks
  /** Serves what is no path of v1. */
  readonly native: Passthrough['serve']
  readonly announce: Announce
  readonly compat: Compat
  /** The URLs of v1 that were read before. */
  readonly reads: Pick<KnownReads, 'find'>
}

/** Serves one request: finds its destination and hands it to that carrier. */
export function createServe({ begin, checks, native, announce, compat, reads }: ServeParts): Serve {
  return (request, reply) => {
    const { raw } = request
    const record = begin(raw, reply.raw, request.id)
    record.error = checks.loop.enter(raw.headers)
    if (record.error) {
      record.operation = 'loop'
      return sendError(reply.header('x-request-id', record.id), record.error, LOOP_DETECTED)
    }
    const problem = problemOf(raw)
    const known = problem === undefined ? reads.find(raw) : undefined
    const target = problem === undefined ? (known ?? checks.classify(raw.url ?? '')) : refused(problem)
    if (target.kind === 'native') return native(request, reply, record)
    reply.header('x-request-id', record.id)
    announce.put?.(reply)
    if (target.kind === 'v1') return compat(request, reply, target.path, record, known)
    record.error = target.error
    return sendError(reply, record.error)
  }
}

function refused(message: string): Target {
  return { kind: 'refused', error: new ApiError('INVALID_ARGUMENT', message) }
}

/**
 * Says what is wrong with the head of a request. It has one host since HTTP/1.1 (RFC 9112 §3.2): Node keeps the first alone in `headers`, and
 * a server in front may go by the other one.
 */
function problemOf(request: IncomingMessage): string | undefined {
  const { headers, rawHeaders, httpVersion } = request
  if (headers.host === undefined && httpVersion !== '1.0') return 'the request has no host header'
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  if (hosts > 1) return 'the request has two host headers'
  const isOdd = headers.upgrade !== undefined && isOddHandshake(request)
  return isOdd ? 'a WebSocket handshake is a GET without content-length and transfer-encoding' : undefined
}

/** A handshake has no body (RFC 6455 §4.1). A client that adds one hopes that a server reads the body as the next request. */
function isOddHandshake(request: IncomingMessage): boolean {
  if (!handshakeOf(request)) return false
  const { method, headers } = request
  return method !== 'GET' || headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: string, message: (limits: ConnectionLimits) => string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    ({ headerBytes }) => `the request line and headers are larger than limits.headerBytes (${headerBytes}) allows`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    ({ headersTimeoutMs }) => `the request headers did not arrive within limits.headersTimeoutMs (${headersTimeoutMs})`,
  ],
}

/**
 * Closes a connection whose bytes are not HTTP; there is no request to answer.
 * An earlier request on it is answered first: it may be a completed write, and the client would read the refusal as its answer.
 */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket, limits: ConnectionLimits): void {
  if (error.code === 'ECONNRESET') return void socket.destroy()
  const [status, message] = CLIENT_ERRORS[error.code ?? ''] ?? ['400 Bad Request', () => 'the request is not well-formed HTTP']
  whenAnswered(socket, () => refuseSocket(socket, new ApiError('INVALID_ARGUMENT', message(limits)), status))
}
