import type { RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Agent } from 'undici'
import type { Metrics } from '../../admin/metrics.ts'
import { RETRY_AFTER } from '../../errors.ts'
import type { RpcParts } from '../../grpc/calls/calls.ts'
import { createCallLog, createGrpcRoute, createLazyRpc, createLazyStandard, createPairs, type GrpcParts } from '../../grpc/calls/carrier.ts'
import { createGrpc, noGrpc, refuseGrpc } from '../../grpc/relay/relay.ts'
import type { Migration } from '../../migrate/migration.ts'
import { createBudget } from '../../serve/bounds.ts'
import { type CoreSettings, createCore } from '../../serve/core.ts'
import { createAdmission, createBounded, createClientLimits } from '../../serve/http/admission.ts'
import { createAnnounce, createApp, createRequestChecks, createServe, serveAll } from '../../serve/http/app.ts'
import { createPassthrough, createV1Carrier } from '../../serve/http/carriers.ts'
import { createForwarded } from '../../serve/http/forwarded.ts'
import { createHosted, retire } from '../../serve/http/retire.ts'
import { type CompatParts, createCompat, refuseExpectation } from '../../serve/http/v1-surface.ts'
import { type Certificate, createListener, urlOf } from '../../serve/listen/listener.ts'
import { createRestedConnections, type RestedConnections } from '../../serve/listen/times.ts'
import type { Signal } from '../../serve/signals.ts'
import type { Dial } from '../../serve/upstream/dial.ts'
import { type ClockWatch, createHealth, ping, type Readiness } from '../../serve/upstream/health.ts'
import { createSend } from '../../serve/upstream/send.ts'
import { createAskRest } from '../../serve/upstream/v1.ts'
import { createAccessLog } from '../../serve/watch/access-log.ts'
import type { Tracing } from '../../serve/watch/spans.ts'
import { operationsOf, type Tables } from '../../tables/tables.ts'
import {
  admissionLimits,
  announcement,
  appLimits,
  callTimes,
  clientTimes,
  compatSettings,
  forwardedSettings,
  grpcSettings,
  passthroughSettings,
  retirement,
  streamPlaces,
  wayGiving,
} from '../config/config.ts'
import { listOf } from '../config/kinds.ts'
import { live } from '../config/live.ts'
import type { Config } from '../config/settings.ts'
import type { Front } from './process.ts'

/** Returns what asks v2, and v1 if there is one, whether they are well. */
export function healthOf(config: Config, v2: string, { probes }: Pick<Tables, 'probes'>, pool: Agent, clock: Pick<ClockWatch, 'hear'>) {
  return createHealth(
    { v2, v1: config['upstream.v1'] },
    (service, base) => ping(pool, service, base, { probe: probes?.[service], clock }),
    () => performance.now(),
  )
}

/** The parts that the proxy shares with the admin port. */
interface ProxyParts {
  readonly pool: Agent
  /** How connections to the services open. */
  readonly dial: Dial
  readonly certificate: Certificate | undefined
  readonly migration: Migration
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
  /** The same that `/readyz` tells. */
  readonly readiness: () => Promise<Readiness>
  /** Fires when the process begins to leave. */
  readonly leaving: Signal
}

/** The share of the connections to v2 that long lists may take. The rest is for requests with a waiting client. */
const BULK_SHARE = 3 / 4

/** Makes what serves v1 requests, and what their answers announce: `core` whatever the protocol, and `compat` over HTTP. */
function createV1Surface(
  app: FastifyInstance,
  config: Config,
  v2: string,
  tables: Tables,
  { pool, migration, metrics, tracing }: ProxyParts,
  given: Pick<CompatParts, 'forwarded' | 'budget' | 'signalOf'>,
) {
  const operations = operationsOf(tables)
  const keep = live(config, { entries: 'keep.entries', ttlMs: 'keep.ttlMs' })
  const bulkCalls = Math.ceil(config['upstream.connections'] * BULK_SHARE)
  const send = createSend({
    pool,
    base: v2,
    times: callTimes(config),
    answerBytes: config['limits.answerBytes'],
    keep,
    bulkCalls,
    errors: tables.errors,
  })
  const base = config['upstream.v1']
  const announce = createAnnounce(app, announcement(config))
  const passing = { answerMs: config['limits.deadlineMs'], announced: announce.headers, unrelayable: () => metrics.unrelayable('v1') }
  const v1 = base === undefined ? undefined : createV1Carrier(app, pool, { base, ...passing })
  const settings = compatSettings(config, tables)
  const { endCall } = metrics
  const core = createCore({ operations, send, modes: migration.modes, endCall, hasV1: v1 !== undefined, settings })
  const { limits } = settings
  return { announce, core, compat: createCompat({ core, v1, announced: announce.headers, tracing, limits, ...given }) }
}

type SurfaceParts = Pick<ProxyParts, 'pool' | 'dial' | 'metrics' | 'log' | 'tracing' | 'readiness' | 'leaving'> &
  Pick<RpcParts, 'core' | 'announced' | 'budget' | 'failed'> &
  Pick<GrpcParts, 'admit' | 'checks' | 'forwarded' | 'limits'> & {
    /** Tables translate the calls of v1's services. */
    readonly hasTables: boolean
    /** How they do it: as over REST, under the published names. */
    readonly translation: CoreSettings
  }

/**
 * The maximum bytes of a question of health or reflection. Its stream has no deadline, so that it must not take the budget that all bodies
 * share. A probe must also be answered when that budget is full.
 */
const QUESTION_BYTES = 16 * 1024

/** Makes what serves gRPC calls. */
function createGrpcSurface(config: Config, v2: string, parts: SurfaceParts) {
  const { pool, dial, metrics, log, checks, forwarded, hasTables, translation } = parts
  const base = config['upstream.v1']
  const isRest = config['upstream.v2Grpc'] === 'rest'
  const toV2 = isRest ? noGrpc : createGrpc(v2, { service: 'v2', dial, ...grpcSettings(config) })
  const ask = isRest ? createAskRest({ service: 'v2', pool, base: v2, answerMs: config['limits.deadlineMs'] }) : undefined
  const toV1 = base === undefined ? undefined : createGrpc(base, { service: 'v1', dial, ...grpcSettings(config) })
  const v1 = toV1 && (config['upstream.v1Grpc'] === 'rest' ? 'rest' : toV1)
  const settings = {
    requestBytes: config['limits.requestBytes'],
    deadlineMs: config['limits.deadlineMs'],
    limits: live(config, {
      messageBytes: 'limits.messageBytes',
      rowsPerRequest: 'limits.rowsPerRequest',
      headerBytes: 'limits.headerBytes',
    }),
    messagesBytes: config['limits.messagesBytes'],
    translation,
    asV2: config['grpc.v2beta1'] === 'v2',
    corsOrigins: listOf(config['grpc.corsOrigins']),
  }
  const rpc = createLazyRpc(hasTables, { ...parts, v1, v2: ask ? { ask } : toV2, classify: checks.classify, settings })
  const standard = createLazyStandard({
    ...parts,
    operations: parts.core.operations,
    rpc,
    wire: { ...parts, requestBytes: QUESTION_BYTES, budget: createBudget(Number.POSITIVE_INFINITY) },
    settings: { hasV1: base !== undefined, asV2: settings.asV2 || isRest, reflection: hasTables && config['grpc.reflection'] },
  })
  const begin = createCallLog(log, metrics, forwarded)
  return {
    rpc,
    route: createGrpcRoute({ ...parts, grpc: toV2, rpc, standard, begin, places: streamPlaces(config) }),
    /** Answers the calls under way, because the process stops. */
    stop() {
      rpc.stop()
      toV2.stop()
    },
    /** Closes its connections to the services. */
    close() {
      toV2.close()
      toV1?.close()
    },
  }
}

/**
 * The number of connections that may wait to be accepted; the system may lower it (`net.core.somaxconn`).
 * A connection beyond it is not refused: the client's system silently retries a second later. A sudden crowd would then wait for nothing.
 */
const BACKLOG = 4096

/** A connection of another server carries requests of others too, so it must not rest. */
const NEVER_RESTED: RestedConnections = { refused() {}, end() {} }

/** Makes the server for v1 and native requests. */
export function createProxy(config: Config, v2: string, tables: Tables, parts: ProxyParts): Front {
  const { mappings } = tables
  const { certificate, dial, metrics, log } = parts
  const forwarded = createForwarded(forwardedSettings(config))
  const passthrough = createPassthrough({ base: v2, dial, ...passthroughSettings(config) }, { forwarded, metrics, log })
  const rests = createRestedConnections({ perSecond: config['limits.refusalsPerSecond'], longestMs: 1000 * RETRY_AFTER }, () =>
    performance.now(),
  )
  const limits = createClientLimits(clientTimes(config), metrics.cut, refuseGrpc)
  const admit = createAdmission(admissionLimits(config), metrics.refused, () => performance.now(), limits.giveUpOne)
  const checks = createRequestChecks(mappings, v2)
  const listener = createListener((...call) => grpc.route(...call), { certificate, ...appLimits(config) })
  const failed = (error: unknown) => log.error({ err: error }, 'a handler failed')
  const dropped = () => metrics.refused('connections')
  const bounded = (rested: RestedConnections, handler: RequestListener) => createBounded(limits, admit, rested, handler)
  const listen = (handler: RequestListener) =>
    listener.create({ request: bounded(rests, handler), expectation: refuseExpectation, failed, dropped })
  const app = createApp((request, reply) => serve(request, reply), listen, appLimits(config))
  const hosted = createHosted(bounded(NEVER_RESTED, app.routing), failed)
  const begin = createAccessLog(log, metrics, forwarded)
  const budget = createBudget(config['limits.bodiesBytes'], () => metrics.refused('bodies'))
  const { announce, core, compat } = createV1Surface(app, config, v2, tables, parts, { forwarded, budget, signalOf: limits.signalOf })
  const grpc = createGrpcSurface(config, v2, {
    hasTables: tables.hasGrpc === true,
    translation: compatSettings(config, tables, 'published'),
    ...parts,
    core,
    announced: announce.headers,
    budget,
    failed,
    admit,
    checks,
    forwarded,
    limits,
  })
  const native = createPairs(grpc.rpc, forwarded, passthrough)
  const serve = createServe({ begin, checks, native, announce, compat, reads: core.reads })
  serveAll(app, serve)
  const { isShared = false } = appLimits(config)
  const leave = () => {
    passthrough.endWebSockets()
    listener.leave()
  }
  return {
    listen: () => app.listen({ host: config['listen.host'], port: config['listen.port'], backlog: BACKLOG }),
    stop: () => app.close(),
    ready: async () => void (await app.ready()),
    handler: hosted.handler,
    async retire(givesWay) {
      rests.end()
      const times = givesWay ? wayGiving(config) : retirement(config)
      const drained = hosted.drain(times.shutdownMs)
      if (!app.server.listening) await drained
      await retire(
        app,
        { leave, giveUp: grpc.stop, tidy: listener.tidy, cut: listener.cut },
        app.server.listening ? times : { ...times, drainMs: 0, lingerMs: 0 },
        isShared && !givesWay,
      )
      await drained
    },
    ...(certificate && { certify: listener.certify }),
    forget: () => core.reads.forget(),
    release() {
      passthrough.close()
      grpc.close()
    },
    get url() {
      return urlOf(app.server, listener.protocol)
    },
  }
}
