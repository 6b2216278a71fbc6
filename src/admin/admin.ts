/**
 * The port for people: rights, routes, metrics, the page of the report, and events that go out.
 *
 * 1. This file opens the port: who may do what, which origins, how many attempts.
 * 2. `routes.ts` and `fleet-routes.ts` are its endpoints, for one process and for replicas.
 * 3. `metrics.ts` counts what serving tells it; `metrics-text.ts` writes that for Prometheus.
 * 4. `report/` makes the report of counts and records; `web/` is the page, and `report-page.ts` serves both.
 * 5. `notify.ts` sends an event for each note to a receiver.
 * 6. `oidc.ts` reads the tokens of an identity provider.
 *
 * It serves no client of v1, and it shows no token, no body and no query.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import http, { type IncomingMessage } from 'node:http'
import { type AddressInfo, isIP, type Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { ApiError, asApiError } from '../errors.ts'
import type { Actor } from '../migrate/records/record.ts'
import { createBucket } from '../serve/bounds.ts'
import { NO_SCHEMAS } from '../serve/http/app.ts'
import { hasPassed, isLoopback, peerOf } from '../serve/http/forwarded.ts'
import { notFound, refuseExpectation, refuseSocket, sendError } from '../serve/http/v1-surface.ts'
import { awaitsAnswer, inTurn, whenAnswered } from '../serve/listen/upgrades.ts'
import type { Readiness } from '../serve/upstream/health.ts'
import { isObject } from '../tables/json.ts'
import type { OperationRow } from '../tools/explore.ts'
import type { OpenApiDocument } from '../tools/openapi.ts'
import type { OidcSettings, Verify } from './oidc.ts'
import type { Report } from './report/report.ts'
import { addReport, PAGE, ROOT } from './report-page.ts'
import { addContract, addMetrics, addMigration, type MetricsTexts, type MigrationSources } from './routes.ts'

/** A token of the admin port. */
interface AdminToken {
  /** Stands for the token wherever its use is told: the setting that holds it, or the name of its holder. */
  readonly name: string
  readonly token: string
  readonly right: 'change' | 'read'
}

export type Right = AdminToken['right'] | 'none'

/** What an `Authorization` header permits. */
export interface Grant {
  readonly right: Right
  /** The name of the token; absent if none is known. */
  readonly token?: string
  /** What somebody with this right is told who wants more; absent where the right alone says it. */
  readonly refused?: ApiError
}

/** Returns what an `Authorization` header permits. An identity provider may have to be asked for its keys. */
type Identify = (authorization: string | undefined) => Grant | Promise<Grant>

/**
 * Compares the given token with every token by hashes of equal length, so that the time reveals nothing. Without any token, every caller
 * may do everything. Tokens may change from one request to the next.
 */
export function createRights(tokensNow: () => readonly AdminToken[]) {
  return (authorization: string | undefined): Grant => {
    const tokens = tokensNow()
    if (tokens.length === 0) return { right: 'change' }
    const known = tokens.map(({ name, token, right }) => ({ hashed: hash(token), grant: { right, token: name } }))
    const given = hash(bearerIn(authorization) ?? '')
    const [equal] = known.filter(({ hashed }) => timingSafeEqual(given, hashed))
    return equal?.grant ?? { right: 'none' }
  }
}

function bearerIn(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w.~+/=-]+)$/i.exec(authorization ?? '')?.[1]
}

/** Three parts with dots between them, as a signed JWT has them. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** Beside the tokens, accepts those of an identity provider. A token that somebody else knows is never compared with keys. */
function createIdentify(tokensNow: () => readonly AdminToken[], oidc: OidcSettings | undefined, log: Pick<Logger, 'warn'>): Identify {
  const rights = createRights(tokensNow)
  if (oidc === undefined) return rights
  let verify: Promise<Verify> | undefined
  return (authorization) => {
    const known: Grant = tokensNow().length === 0 ? { right: 'none' } : rights(authorization)
    const token = bearerIn(authorization)
    if (known.right !== 'none') return known
    if (token === undefined || !JWT.test(token)) return { right: 'none', refused: NO_TOKEN_OR_JWT }
    // Most ports need none of it, and a start waits for nothing.
    verify ??= import('./oidc.ts').then(({ createVerify }) => createVerify(oidc, log))
    return verify.then((verified) => verified(token))
  }
}

/** Returns why a caller with this grant may not use the method; undefined if it may. */
export function whyNot({ right, refused }: Grant, method: string): ApiError | undefined {
  if (right === 'none') return refused ?? NO_TOKEN
  return right === 'change' || method === 'GET' || method === 'HEAD' ? undefined : (refused ?? READS_ONLY)
}

const TOKENS = 'the admin port asks for a bearer token: that of admin.token, one of admin.tokens, or that of admin.readToken to read'
const BEARER = { headers: { 'www-authenticate': 'Bearer' } }
const NO_TOKEN = new ApiError('UNAUTHENTICATED', TOKENS, BEARER)
const NO_TOKEN_OR_JWT = new ApiError('UNAUTHENTICATED', `${TOKENS}, or a token of admin.oidc.issuer`, BEARER)
const READS_ONLY = new ApiError(
  'PERMISSION_DENIED',
  'admin.readToken only reads; to change something takes the token of admin.token or one of admin.tokens',
)

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** What browsers send for a page of this origin, and for an address that a person typed (Fetch Metadata). */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/** What is looked at of a request. */
type RequestHead = Pick<IncomingMessage, 'url' | 'headers'> & Partial<Pick<IncomingMessage, 'rawHeaders'>>

/**
 * Returns a function that says why a request may come from another site's page or through the proxy; undefined if it cannot. A page can make its own name resolve to this machine (DNS rebinding). Its browser then sees one
 * origin, and only the name in the request differs. So the name must be one of `names`; an address cannot be rebound. A request from
 * another origin says so in its headers. Clients that are no browsers are checked by name only. A page that `isLinked` opens from anywhere
 * in a tab of its own, which the other page cannot read.
 */
export function createForeign(names: readonly string[]) {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  return ({ url = '', headers, rawHeaders = [] }: RequestHead, isLinked = false): ApiError | undefined => {
    if (hasPassed(headers)) return PROXIED
    if (rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1) return TWO_HOSTS
    const { host, origin, 'sec-fetch-site': site = 'none' } = headers
    if (/^[a-z][a-z\d+.-]*:/i.test(url)) return new ApiError('INVALID_ARGUMENT', 'the request target must be a path')
    // Only HTTP/1.0 has no Host header, and no browser speaks it.
    if (host !== undefined && !isKnown(nameIn(host), known)) return unknownName(host)
    if (origin !== undefined && authorityOf(origin) !== host?.toLowerCase()) return OTHER_ORIGIN
    return OWN_SITES.has(String(site)) || (isLinked && isNavigation(headers)) ? undefined : OTHER_ORIGIN
  }
}

/** True if a browser opens the answer as a page of its own: a link was followed. A form that is sent has an origin. */
function isNavigation({ origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest }: IncomingMessage['headers']): boolean {
  return mode === 'navigate' && dest === 'document' && origin === undefined
}

/** If `upstream.v2` led here, every client of the proxy could change its modes. */
const PROXIED = new ApiError('PERMISSION_DENIED', 'the admin port is not for what has come through a Crosswalk')

/** Node keeps the first of them, and whoever is before or behind it may keep another (RFC 9112 §3.2). */
const TWO_HOSTS = new ApiError('INVALID_ARGUMENT', 'a request has one Host header')

const OTHER_ORIGIN = new ApiError('PERMISSION_DENIED', 'a page of another origin may not ask the admin port; links to / and /report work')

function unknownName(host: string): ApiError {
  const message = `the admin port does not go by the name ${JSON.stringify(host)}; list its names in admin.names (CROSSWALK_ADMIN_NAMES)`
  return new ApiError('PERMISSION_DENIED', message)
}

function isKnown(name: string, known: ReadonlySet<string>): boolean {
  return isIP(name) !== 0 || known.has(name)
}

/** Returns the name in a Host header without port and IPv6 brackets; empty if there is none. */
function nameIn(host: string): string {
  const [, address, name = ''] = /^(?:\[([\da-f:.]+)\]|([^:@/\\[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  return (address ?? name).toLowerCase()
}

/** Returns host and port of an origin; undefined for `null` and for anything that is no web page. */
function authorityOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1]
}

/** Tells who sent a request to the admin port: the name of the token and the address of the connection, never the token. */
export type ActorOf = (request: Pick<FastifyRequest, 'raw' | 'socket'>) => Actor

/** Lines at once, and in each minute from then on. Callers with a token have lines of their own, so that a flood of others hides none. */
const LINES = { most: 20, fillMs: 60_000 }

const LONGEST_REASON = 300

/**
 * Logs what the admin port refused: attempts to change something, and tokens that it does not know. `now` is a monotonic clock in
 * milliseconds.
 */
export function createRefusedAttempts(log: Pick<Logger, 'warn'>, actorOf: ActorOf, now: () => number) {
  const newLines = () => ({ bucket: createBucket(LINES, now), suppressed: 0 })
  const lines = { known: newLines(), unknown: newLines() }
  return (request: FastifyRequest, { statusCode: status }: FastifyReply, payload: unknown): void => {
    if (status < 400 || !isTold(request, status)) return
    const by = actorOf(request)
    const line = by.token === undefined ? lines.unknown : lines.known
    if (!line.bucket.take()) {
      line.suppressed += 1
      return
    }
    const { method, routeOptions } = request
    const before = line.suppressed > 0 && { suppressed: line.suppressed }
    line.suppressed = 0
    // The path may be anything, and a token in the wrong place too: only routes are told.
    const members = { what: 'refused', method, route: routeOptions.url ?? 'none', status, by, ...before }
    log.warn(members, `the admin port refused a request: ${reasonIn(payload).slice(0, LONGEST_REASON)}`)
  }
}

function isTold({ method, headers }: FastifyRequest, status: number): boolean {
  return (method !== 'GET' && method !== 'HEAD') || (status === 401 && headers.authorization !== undefined)
}

/** Returns the message of an error's body. */
function reasonIn(payload: unknown): string {
  try {
    const body: unknown = JSON.parse(String(payload))
    return isObject(body) ? String(body.message) : ''
  } catch {
    return ''
  }
}

interface AdminSources extends Omit<MigrationSources, 'actorOf' | 'page'> {
  /** Returns the current report, in a fleet that of all replicas. */
  readonly reportNow: () => Report | Promise<Report>
  /** Returns the v1 contract of the proxy at this address. */
  readonly contract: (server: string) => OpenApiDocument
  /** The address that the proxy listens at. */
  readonly proxyUrl: () => string
  readonly metrics: MetricsTexts
  readonly operations: () => readonly OperationRow[]
  readonly readiness: () => Promise<Readiness>
  readonly log: Pick<Logger, 'warn'>
}

interface AdminSettings {
  /** The host names of the port. */
  readonly names: readonly string[]
  /** The address of the page, if people know one. */
  readonly page?: string | undefined
  readonly tokens: () => readonly AdminToken[]
  /** The identity provider whose tokens the port accepts, too. */
  readonly oidc?: OidcSettings | undefined
}

/** An answer is current, has the type it states, and is not for other pages. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' }

/** Served without a token even if one is set: probes have none, and the page asks the person for it. They reveal nothing else. */
const OPEN: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', PAGE, ROOT])

/** The admin endpoints. They have their own port, so that they are never exposed with the API. */
export function createAdmin(sources: AdminSources, { names, page, tokens, oidc }: AdminSettings): FastifyInstance {
  const { metrics, operations, readiness, reportNow, contract, proxyUrl, log, ...migration } = sources
  const whyForeign = createForeign(names)
  const identify = createIdentify(tokens, oidc, log)
  const grants = new WeakMap<IncomingMessage, Grant>()
  const grantOf = (request: IncomingMessage): Grant => grants.get(request) ?? { right: 'none' }
  const whyRefused = async ({ raw, method, routeOptions: { url } }: FastifyRequest) => {
    const grant = await identify(raw.headers.authorization)
    grants.set(raw, grant)
    return whyForeign(raw, url === PAGE || url === ROOT) ?? (OPEN.has(url) ? undefined : whyNot(grant, method))
  }
  const app = createPort(async (request, reply) => {
    const problem = await whyRefused(request)
    return sendError(reply.headers(ALWAYS), problem ?? notFound())
  })
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(ALWAYS)
    const problem = await whyRefused(request)
    if (problem) throw problem
  })
  const actorOf: ActorOf = ({ raw, socket }) => {
    const { token } = grantOf(raw)
    return { source: 'admin', ...(token !== undefined && { token }), address: peerOf(socket.remoteAddress) }
  }
  const attempts = createRefusedAttempts(log, actorOf, () => performance.now())
  app.addHook('onSend', async (request, reply, payload) => attempts(request, reply, payload))
  takeEmptyBodies(app)
  app.removeContentTypeParser('text/plain')
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    const { notReady, services } = await readiness()
    const mayKnow = grantOf(request.raw).right !== 'none'
    if (notReady === undefined) return { status: 'ok', ...(mayKnow && services) }
    return sendError(reply, new ApiError('UNAVAILABLE', mayKnow ? notReady : 'not ready'))
  })
  addMetrics(app, metrics)
  app.get('/operations', async () => operations())
  addMigration(app, { ...migration, actorOf, page })
  addContract(app, contract, proxyUrl)
  addReport(app, { reportNow, rightOf: ({ raw }) => grantOf(raw).right })
  app.setNotFoundHandler((_, reply) => sendError(reply, notFound()))
  app.setErrorHandler((thrown, _, reply) => sendError(reply, refused(thrown)))
  return app
}

/** A command needs no body, but clients may name a type all the same. */
function takeEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) =>
    body === '' ? done(null, undefined) : parse(request, body as string, done),
  )
}

/** Returns a sentence if other machines can reach the port and need no token to use it. */
export function whyExposed({ server }: FastifyInstance, { tokens, oidc }: Pick<AdminSettings, 'tokens' | 'oidc'>): string | undefined {
  const { address } = server.address() as AddressInfo
  if (isLoopback(address) || tokens().length > 0 || oidc !== undefined) return undefined
  return `whoever reaches the admin port on ${address} may change modes and read who calls: set admin.token (CROSSWALK_ADMIN_TOKEN)`
}

/** Milliseconds for a request to arrive and between two requests. Node checks for late ones once a second. */
const TIMES = { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1000 }

/** People, monitoring and probes use this port. They send little and one request at a time, so no client may hold more than this. */
const MOST = { connections: 256, waiting: 10, bytes: 256 * 1024, silentMs: 30_000 }

/** Connections that are kept free of those that say nothing. */
const ROOM = 56

/** Creates a server within these limits. `refuse` answers a path that cannot be read. */
function createPort(refuse: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>): FastifyInstance {
  const open = new Set<Socket>()
  const port = Fastify({
    bodyLimit: MOST.bytes,
    schemaController: NO_SCHEMAS,
    serverFactory(handler) {
      // A rehearsal takes as long as a side that hangs.
      const silent = (socket: Socket) => void (awaitsAnswer(socket) || socket.destroy())
      const server = http.createServer(TIMES, inTurn(handler, MOST.waiting)).setTimeout(MOST.silentMs, silent)
      server.maxConnections = MOST.connections
      server.on('connection', (socket: Socket) => {
        open.add(socket.once('close', () => void open.delete(socket)))
        // Connections that wait for their next request give way, so that there is room for a probe.
        if (open.size > MOST.connections - ROOM) server.closeIdleConnections()
      })
      server.on('checkExpectation', (request, response) => refuseExpectation(request, response.setHeaders(new Map(Object.entries(ALWAYS)))))
      return server
    },
    frameworkErrors: (_, request, reply) => void refuse(request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: ({ code }, socket) => refuseClient(socket, code),
  })
  // Browsers open connections ahead. Node takes one without a request for a busy one.
  port.addHook('preClose', async () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  })
  return port
}

const CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** Refuses bytes that are no request. An earlier request on the same connection is answered first. */
function refuseClient(socket: Socket, code: string | undefined): void {
  if (code === 'ECONNRESET') return void socket.destroy()
  const error = new ApiError('INVALID_ARGUMENT', 'the request is not well-formed, too long or too slow', { headers: ALWAYS })
  whenAnswered(socket, () => refuseSocket(socket, error, CLIENT_ERRORS[code ?? ''] ?? '400 Bad Request'))
}

const NOT_JSON = new ApiError('INVALID_ARGUMENT', 'a body must be JSON, sent with content-type: application/json')

/** A body that Fastify cannot read is the client's mistake, as Fastify's status says. */
function refused(thrown: unknown): ApiError {
  const { statusCode = 500, message } = thrown as { statusCode?: number; message?: string }
  if (statusCode === 415) return NOT_JSON
  return statusCode < 500 && !(thrown instanceof ApiError)
    ? new ApiError('INVALID_ARGUMENT', message ?? 'the request cannot be read')
    : asApiError(thrown)
}
