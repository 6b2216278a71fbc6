import type { RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import pino, { type Logger } from 'pino'
import type { Agent } from 'undici'
import { differencesOf } from '../mappings/differences.ts'
import {
  adminSettings,
  admissionLimits,
  announcement,
  appLimits,
  clientTimes,
  compatSettings,
  forwardedSettings,
  grpcSettings,
  passthroughSettings,
  poolSettings,
  retirement,
} from './config/parts.ts'
import type { Config } from './config/settings.ts'
import { RETRY_AFTER } from './errors/ask-again.ts'
import { describeOperations } from './explain/operation-rows.ts'
import { expiryOf, readCertificate } from './listen/certificate.ts'
import { createListener, type Listener, urlOf } from './listen/listener.ts'
import { createRests, type Rests } from './listen/rested-connections.ts'
import { keepTickShape } from './listen/ticks.ts'
import type { TimeLimits } from './listen/times/time-limits.ts'
import type { Migration } from './modes/assemble.ts'
import { idleRules } from './modes/choose/idle-rules.ts'
import { type ModeRules, needV1 } from './modes/choose/rules.ts'
import { NEEDS_V1 } from './modes/modes.ts'
import { createAdmin, whyExposed } from './routes/admin/admin.ts'
import { createReady } from './routes/admin/ready.ts'
import { createAnnounce } from './routes/announce.ts'
import { createApp, createServe } from './routes/app.ts'
import { createGrpcRoute } from './routes/carriers/grpc.ts'
import { createLegacy } from './routes/carriers/legacy.ts'
import { createPassthrough, type Passthrough } from './routes/carriers/passthrough.ts'
import { createCompat } from './routes/compat.ts'
import { createForwarded, type Forwarded } from './routes/forwarded/forwarded.ts'
import { createGate, type Gate } from './routes/gate.ts'
import { type Admit, createAdmission, createBounded } from './routes/lifetime/admission.ts'
import { retire } from './routes/lifetime/retire.ts'
import { createClientLimits, createTimed, type TimedRequest } from './routes/lifetime/timed.ts'
import { refuseExpectation } from './routes/refusal.ts'
import { type Begin, createEdge } from './routes/watch/access-log.ts'
import { createMetrics, type Metrics } from './routes/watch/metrics.ts'
import { createCore } from './serve/core.ts'
import { assembleMigration, reportOf } from './server/migration.ts'
import { checkMappings } from './tables/compile/check.ts'
import type { Mapping } from './tables/operations/operation.ts'
import type { Tracing } from './tracing/tracing.ts'
import { createGrpc } from './upstream/grpc/relay.ts'
import { createHealth, type Ping } from './upstream/health.ts'
import { ping } from './upstream/v2/ping.ts'
import { createPool } from './upstream/v2/pool.ts'
import { createSend } from './upstream/v2/send.ts'

/** The proxy and its admin endpoints. */
export interface Server {
  /** Starts to listen. Rejects if a port is taken or `records.file` cannot be written; then nothing listens. */
  listen(): Promise<void>
  /**
   * Leaves the balancer (`limits.drainMs`, `limits.lingerMs`), lets requests finish for `limits.shutdownMs`, then closes every connection.
   */
  close(): Promise<void>
  /** Applies other rules to every request from now on, or returns a sentence that says why it cannot. */
  changeModes(rules: ModeRules, source: string): string | undefined
  /** Resolves when no comparison waits or runs. */
  idle(): Promise<void>
  /** The proxy's address without a trailing slash, known once the proxy listens. */
  readonly url: string
  readonly adminUrl: string
}

/**
 * Builds the proxy. Throws a sentence if the tables are wrong or `upstream.v2` is missing.
 * It logs to standard error unless another logger is given. Spans are sent only with `tracing`, which the server closes.
 */
export function createServer(config: Config, mappings: readonly Mapping[], log: Logger = createLog(config), tracing?: Tracing): Server {
  const v2 = config['upstream.v2']
  if (v2 === undefined) throw new Error('upstream.v2 is not set: give the base address of the v2 service')
  if (config['upstream.v1'] === undefined && needV1(config.modes)) throw new Error(NEEDS_V1)
  checkMappings(mappings)
  const certificate = readCertificate(config['tls.key'], config['tls.cert'])
  const pool = createPool(poolSettings(config))
  const askPool = createPool({ ...poolSettings(config), connections: 2 * config['diff.parallel'] })
  const migration = assembleMigration(config, v2, mappings, { pool, askPool, log })
  const ask: Ping = (service, base) => ping(pool, service, base)
  const health = createHealth({ v2, v1: config['upstream.v1'] }, ask, () => performance.now())
  const metrics = createMetrics({ pool, report: migration.report, health, expiry: certificate && expiryOf(certificate) })
  const forwarded = createForwarded(forwardedSettings(config))
  const passthrough = createPassthrough({ base: v2, ...passthroughSettings(config) }, { forwarded, metrics, log })
  const rests = createRests({ perSecond: config['limits.refusalsPerSecond'], longestMs: 1000 * RETRY_AFTER }, () => performance.now())
  const admit = createAdmission(admissionLimits(config), metrics.refused, () => performance.now())
  const limits = createClientLimits(clientTimes(config), metrics.cut)
  const gate = createGate(mappings, v2)
  const grpc = createGrpc(v2, grpcSettings(config))
  const listener = createListener(createGrpcRoute({ grpc, admit, gate, forwarded, log, metrics, limits }), {
    certificate,
    ...appLimits(config),
  })
  const begin = createEdge(log, metrics, forwarded)
  const app = createProxy(config, v2, mappings, {
    pool,
    gate,
    passthrough,
    listener,
    forwarded,
    begin,
    admit,
    rests,
    limits,
    failed: (error) => log.error({ err: error }, 'a handler failed'),
    migration,
    metrics,
    tracing,
  })
  let closing = false
  const readiness = createReady(health, () => closing)
  const operations = describeOperations(mappings, differencesOf)
  const access = adminSettings(config)
  const admin = createAdmin({ metrics, operations, readiness, reportNow: reportOf(migration, mappings), ...migration }, access)
  const warnOfIdle = () => {
    const ids = operations.map(({ id }) => id)
    for (const warning of idleRules(migration.modes.rules(), ids)) log.warn(warning)
  }
  const release = async () => {
    await admin.close()
    passthrough.close()
    grpc.close()
    await migration.close()
    await Promise.all([pool.destroy(), askPool.destroy(), tracing?.close()])
  }
  return {
    async listen() {
      keepTickShape()
      await migration.restore()
      try {
        await app.listen({ host: config['listen.host'], port: config['listen.port'], backlog: BACKLOG })
        await admin.listen({ host: config['admin.host'], port: config['admin.port'] })
      } catch (error) {
        await app.close()
        await release()
        throw error
      }
      const exposed = whyExposed(admin, access)
      if (exposed !== undefined) log.warn(exposed)
      warnOfIdle()
    },
    async close() {
      closing = true
      rests.end()
      const leave = () => {
        passthrough.endWebSockets()
        listener.leave()
      }
      await retire(app, { leave, cut: listener.cut }, retirement(config))
      await release()
    },
    changeModes(rules, source) {
      const problem = migration.modes.change(rules, source)
      if (problem === undefined) warnOfIdle()
      return problem
    },
    idle: migration.idle,
    get url() {
      return urlOf(app.server, listener.protocol)
    },
    get adminUrl() {
      return urlOf(admin.server, 'http')
    },
  }
}

/**
 * The number of connections that may wait to be accepted; the system may lower it (`net.core.somaxconn`).
 * A connection beyond it is not refused: the client's system silently retries a second later. A sudden crowd would then wait for nothing.
 */
const BACKLOG = 4096

interface Carriers {
  readonly pool: Agent
  readonly gate: Gate
  readonly passthrough: Passthrough
  readonly listener: Listener
  readonly forwarded: Forwarded
  readonly begin: Begin
  readonly admit: Admit
  readonly rests: Rests
  readonly limits: TimeLimits<TimedRequest, ServerResponse>
  /** Takes an unexpected exception of a handler. */
  readonly failed: (error: unknown) => void
  readonly migration: Migration
  readonly metrics: Metrics
  readonly tracing: Tracing | undefined
}

/** The share of the connections to v2 that long lists may take. The rest is for requests with a waiting client. */
const BULK_SHARE = 3 / 4

/** Builds the server for v1 and native requests with all its parts. */
function createProxy(
  config: Config,
  v2: string,
  mappings: readonly Mapping[],
  { pool, gate, passthrough, listener, forwarded, begin, admit, rests, limits, failed, migration, metrics, tracing }: Carriers,
): FastifyInstance {
  const dropped = () => metrics.refused('connections')
  const listen = (handler: RequestListener) => {
    const request = createTimed(limits, createBounded(admit, rests, handler))
    return listener.create({ request, expectation: refuseExpectation, failed, dropped })
  }
  const app = createApp((request, reply) => serve(request, reply), listen, appLimits(config))
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const keep = { entries: config['keep.entries'], ttlMs: config['keep.ttlMs'] }
  const bulkCalls = Math.ceil(config['upstream.connections'] * BULK_SHARE)
  const sendFor = createSend({ pool, base: v2, answerBytes: config['limits.answerBytes'], keep, bulkCalls })
  const v1 = config['upstream.v1']
  const legacy =
    v1 === undefined
      ? undefined
      : createLegacy(app, pool, { base: v1, answerMs: config['limits.deadlineMs'], unrelayable: () => metrics.unrelayable('v1') })
  const announce = createAnnounce(app, announcement(config))
  const settings = compatSettings(config)
  const { endCall } = metrics
  const core = createCore({ operations, sendFor, modes: migration.modes, endCall, hasV1: legacy !== undefined, settings })
  const { limits: clients } = settings
  const compat = createCompat({ core, legacy, forwarded, announced: announce.headers, metrics, tracing, limits: clients })
  const serve = createServe({ begin, gate, passthrough, announce, compat })
  return app
}

export function createLog(config: Config): Logger {
  return pino({ level: config['log.level'], base: null }, pino.destination({ dest: 2, sync: true }))
}
