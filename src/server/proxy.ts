import type { RequestListener } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Agent } from 'undici'
import {
  admissionLimits,
  announcement,
  appLimits,
  clientTimes,
  compatSettings,
  forwardedSettings,
  grpcSettings,
  passthroughSettings,
  retirement,
} from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import { RETRY_AFTER } from '../errors/ask-again.ts'
import type { Certificate } from '../listen/certificate.ts'
import { createListener, urlOf } from '../listen/listener.ts'
import { createRestedConnections } from '../listen/rested-connections.ts'
import type { Migration } from '../modes/assemble.ts'
import { createAnnounce } from '../routes/announce.ts'
import { createApp, createServe } from '../routes/app.ts'
import { createGrpcRoute } from '../routes/carriers/grpc.ts'
import { createPassthrough } from '../routes/carriers/passthrough.ts'
import { createV1Carrier } from '../routes/carriers/v1.ts'
import { createCompat } from '../routes/compat.ts'
import { createForwarded, type Forwarded } from '../routes/forwarded/forwarded.ts'
import { createGate } from '../routes/gate.ts'
import { createAdmission, createBounded } from '../routes/lifetime/admission.ts'
import { retire } from '../routes/lifetime/retire.ts'
import { createClientLimits, createTimed } from '../routes/lifetime/timed.ts'
import { refuseExpectation } from '../routes/refusal.ts'
import { createAccessLog } from '../routes/watch/access-log.ts'
import type { Metrics } from '../routes/watch/metrics.ts'
import { createCore } from '../serve/core.ts'
import type { Mapping } from '../tables/operations/operation.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { createGrpc } from '../upstream/grpc/relay.ts'
import { createSend } from '../upstream/v2/send.ts'

/** The server for v1 and native requests. */
export interface Proxy {
  listen(): Promise<unknown>
  /** Stops at once, without waiting for a request. */
  stop(): Promise<void>
  /** Leaves the balancer and lets requests finish within the times of the settings. */
  retire(): Promise<void>
  /** Closes its connections to the services. */
  release(): void
  readonly url: string
}

/** The parts that the proxy shares with the admin port. */
export interface ProxyParts {
  readonly pool: Agent
  readonly certificate: Certificate | undefined
  readonly migration: Migration
  readonly metrics: Metrics
  readonly log: Logger
  readonly tracing: Tracing | undefined
}

/**
 * The number of connections that may wait to be accepted; the system may lower it (`net.core.somaxconn`).
 * A connection beyond it is not refused: the client's system silently retries a second later. A sudden crowd would then wait for nothing.
 */
const BACKLOG = 4096

export function createProxy(config: Config, v2: string, mappings: readonly Mapping[], parts: ProxyParts): Proxy {
  const { certificate, metrics, log } = parts
  const forwarded = createForwarded(forwardedSettings(config))
  const passthrough = createPassthrough({ base: v2, ...passthroughSettings(config) }, { forwarded, metrics, log })
  const rests = createRestedConnections({ perSecond: config['limits.refusalsPerSecond'], longestMs: 1000 * RETRY_AFTER }, () =>
    performance.now(),
  )
  const admit = createAdmission(admissionLimits(config), metrics.refused, () => performance.now())
  const limits = createClientLimits(clientTimes(config), metrics.cut)
  const gate = createGate(mappings, v2)
  const grpc = createGrpc(v2, { service: 'v2', ...grpcSettings(config) })
  const onGrpc = createGrpcRoute({ grpc, admit, gate, forwarded, log, metrics, limits })
  const listener = createListener(onGrpc, { certificate, ...appLimits(config) })
  const failed = (error: unknown) => log.error({ err: error }, 'a handler failed')
  const dropped = () => metrics.refused('connections')
  const listen = (handler: RequestListener) => {
    const request = createTimed(limits, createBounded(admit, rests, handler))
    return listener.create({ request, expectation: refuseExpectation, failed, dropped })
  }
  const app = createApp((request, reply) => serve(request, reply), listen, appLimits(config))
  const begin = createAccessLog(log, metrics, forwarded)
  const v1 = createV1(app, config, v2, mappings, { ...parts, forwarded })
  const serve = createServe({ begin, gate, passthrough, ...v1 })
  const leave = () => {
    passthrough.endWebSockets()
    listener.leave()
  }
  return {
    listen: () => app.listen({ host: config['listen.host'], port: config['listen.port'], backlog: BACKLOG }),
    stop: () => app.close(),
    retire() {
      rests.end()
      return retire(app, { leave, cut: listener.cut }, retirement(config))
    },
    release() {
      passthrough.close()
      grpc.close()
    },
    get url() {
      return urlOf(app.server, listener.protocol)
    },
  }
}

/** The share of the connections to v2 that long lists may take. The rest is for requests with a waiting client. */
const BULK_SHARE = 3 / 4

interface V1Parts extends Pick<ProxyParts, 'pool' | 'migration' | 'metrics' | 'tracing'> {
  readonly forwarded: Forwarded
}

/** Builds the handler of v1 requests, and what their answers announce. */
function createV1(
  app: FastifyInstance,
  config: Config,
  v2: string,
  mappings: readonly Mapping[],
  { pool, migration, metrics, tracing, forwarded }: V1Parts,
) {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const keep = { entries: config['keep.entries'], ttlMs: config['keep.ttlMs'] }
  const bulkCalls = Math.ceil(config['upstream.connections'] * BULK_SHARE)
  const sendFor = createSend({ pool, base: v2, answerBytes: config['limits.answerBytes'], keep, bulkCalls })
  const base = config['upstream.v1']
  const v1 =
    base === undefined
      ? undefined
      : createV1Carrier(app, pool, { base, answerMs: config['limits.deadlineMs'], unrelayable: () => metrics.unrelayable('v1') })
  const announce = createAnnounce(app, announcement(config))
  const settings = compatSettings(config)
  const { endCall } = metrics
  const core = createCore({ operations, sendFor, modes: migration.modes, endCall, hasV1: v1 !== undefined, settings })
  const { limits } = settings
  return { announce, compat: createCompat({ core, v1, forwarded, announced: announce.headers, metrics, tracing, limits }) }
}
