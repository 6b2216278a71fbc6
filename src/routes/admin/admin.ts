import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { ApiError, asApiError } from '../../errors.ts'
import { NO_SCHEMAS } from '../../serve/http/app.ts'
import { isLoopback } from '../../serve/http/forwarded.ts'
import { notFound, refuseExpectation, refuseSocket, sendError } from '../../serve/http/v1-surface.ts'
import { inTurn, whenAnswered } from '../../serve/listen/upgrades.ts'
import type { Readiness } from '../../serve/upstream/health.ts'
import type { OperationRow } from '../../tools/explore.ts'
import { createActorOf } from './actor-of.ts'
import { addContract, type ContractSources } from './contract-route.ts'
import { createForeign } from './foreign.ts'
import { addMetrics, type MetricsTexts } from './metrics-route.ts'
import { addMigration, type MigrationSources } from './migration-routes.ts'
import { createRefusedAttempts } from './refused-attempts.ts'
import { addReport, PAGE, type ReportSources, ROOT } from './report-page.ts'
import { type AdminToken, createRights, whyNot } from './rights.ts'

export interface AdminSources extends Omit<MigrationSources, 'actorOf'>, ReportSources, ContractSources {
  readonly metrics: MetricsTexts
  readonly operations: () => readonly OperationRow[]
  readonly readiness: () => Promise<Readiness>
  readonly log: Pick<Logger, 'warn'>
}

export interface AdminSettings {
  /** The host names of the port. */
  readonly names: readonly string[]
  readonly tokens: () => readonly AdminToken[]
}

/** An answer is current, has the type it states, and is not for other pages. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' }

/** Served without a token even if one is set: probes have none, and the page asks the person for it. They reveal nothing else. */
const OPEN: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', PAGE, ROOT])

/** The admin endpoints. They have their own port, so that they are never exposed with the API. */
export function createAdmin(sources: AdminSources, { names, tokens }: AdminSettings): FastifyInstance {
  const { metrics, operations, readiness, reportNow, contract, proxyUrl, log, ...migration } = sources
  const isForeign = createForeign(names)
  const rights = createRights(tokens)
  const rightOf = ({ headers }: FastifyRequest) => rights(headers.authorization).right
  const whyRefused = (request: FastifyRequest) => isForeign(request.raw) ?? whyNot(rightOf(request), request.method)
  const app = createPort((request, reply) => sendError(reply.headers(ALWAYS), whyRefused(request) ?? notFound()))
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(ALWAYS)
    const problem = OPEN.has(request.routeOptions.url) ? isForeign(request.raw) : whyRefused(request)
    if (problem) throw problem
  })
  const actorOf = createActorOf(rights)
  const attempts = createRefusedAttempts(log, actorOf, () => performance.now())
  app.addHook('onSend', async (request, reply, payload) => attempts(request, reply, payload))
  takeEmptyBodies(app)
  app.removeContentTypeParser('text/plain')
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (request, reply) => {
    const { notReady, services } = await readiness()
    const mayKnow = rightOf(request) !== 'none'
    if (notReady === undefined) return { status: 'ok', ...(mayKnow && services) }
    return sendError(reply, new ApiError('UNAVAILABLE', mayKnow ? notReady : 'not ready'))
  })
  addMetrics(app, metrics)
  app.get('/operations', async () => operations())
  addMigration(app, { ...migration, actorOf })
  addContract(app, { contract, proxyUrl })
  addReport(app, { reportNow }, (authorization) => rights(authorization).right)
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
export function whyExposed({ server }: FastifyInstance, { tokens }: Pick<AdminSettings, 'tokens'>): string | undefined {
  const { address } = server.address() as AddressInfo
  if (isLoopback(address) || tokens().length > 0) return undefined
  return `whoever reaches the admin port on ${address} may change modes and read who calls: set admin.token (CROSSWALK_ADMIN_TOKEN)`
}

/** Milliseconds for a request to arrive and between two requests. Node checks for late ones once a second. */
const TIMES = { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 65_000, connectionsCheckingInterval: 1000 }

/** People, monitoring and probes use this port. They send little and one request at a time, so no client may hold more than this. */
const MOST = { connections: 256, waiting: 10, bytes: 256 * 1024, silentMs: 30_000 }

/** Creates a server within these limits. `refuse` answers a path that cannot be read. */
function createPort(refuse: (request: FastifyRequest, reply: FastifyReply) => FastifyReply): FastifyInstance {
  return Fastify({
    bodyLimit: MOST.bytes,
    schemaController: NO_SCHEMAS,
    serverFactory(handler) {
      const server = http.createServer(TIMES, inTurn(handler, MOST.waiting)).setTimeout(MOST.silentMs)
      server.maxConnections = MOST.connections
      server.on('checkExpectation', (request, response) => refuseExpectation(request, response.setHeaders(new Map(Object.entries(ALWAYS)))))
      return server
    },
    frameworkErrors: (_, request, reply) => void refuse(request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: ({ code }, socket) => refuseClient(socket, code),
  })
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
