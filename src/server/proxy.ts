import type { RequestListener } from 'node:http'
import { admissionLimits, appLimits, clientTimes, forwardedSettings, passthroughSettings } from '../config/parts.ts'
import { retirement, wayGiving } from '../config/process/retirement.ts'
import type { Config } from '../config/settings.ts'
import { RETRY_AFTER } from '../errors.ts'
import { createPairs } from '../grpc/calls/carrier.ts'
import { createRoom } from '../serve/bounds.ts'
import { createAdmission, createBounded, createClientLimits, createTimed } from '../serve/http/admission.ts'
import { createApp, createGate, createServe } from '../serve/http/app.ts'
import { createPassthrough } from '../serve/http/carriers.ts'
import { createForwarded } from '../serve/http/forwarded.ts'
import { createHosted, retire } from '../serve/http/retire.ts'
import { refuseExpectation } from '../serve/http/v1-surface.ts'
import { createListener, urlOf } from '../serve/listen/listener.ts'
import { createRestedConnections, type RestedConnections } from '../serve/listen/times.ts'
import { createAccessLog } from '../serve/watch/access-log.ts'
import type { Tables } from '../tables/tables.ts'
import { createGrpcSurface } from './grpc-surface.ts'
import type { Front } from './process/front.ts'
import type { ProxyParts } from './proxy-parts.ts'
import { createV1Surface } from './v1-surface.ts'

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
  const { certificate, metrics, log } = parts
  const forwarded = createForwarded(forwardedSettings(config))
  const passthrough = createPassthrough({ base: v2, ...passthroughSettings(config) }, { forwarded, metrics, log })
  const rests = createRestedConnections({ perSecond: config['limits.refusalsPerSecond'], longestMs: 1000 * RETRY_AFTER }, () =>
    performance.now(),
  )
  const admit = createAdmission(admissionLimits(config), metrics.refused, () => performance.now())
  const limits = createClientLimits(clientTimes(config), metrics.cut)
  const gate = createGate(mappings, v2)
  const listener = createListener((...call) => grpc.route(...call), { certificate, ...appLimits(config) })
  const failed = (error: unknown) => log.error({ err: error }, 'a handler failed')
  const dropped = () => metrics.refused('connections')
  const bounded = (rested: RestedConnections, handler: RequestListener) => createTimed(limits, createBounded(admit, rested, handler))
  const listen = (handler: RequestListener) =>
    listener.create({ request: bounded(rests, handler), expectation: refuseExpectation, failed, dropped })
  const app = createApp((request, reply) => serve(request, reply), listen, appLimits(config))
  const hosted = createHosted(bounded(NEVER_RESTED, app.routing), failed)
  const begin = createAccessLog(log, metrics, forwarded)
  const room = createRoom(config['limits.bodiesBytes'], () => metrics.refused('bodies'))
  const { announce, core, compat } = createV1Surface(app, config, v2, tables, { ...parts, forwarded, room })
  const grpc = createGrpcSurface(config, v2, {
    hasTables: tables.hasGrpc === true,
    ...parts,
    core,
    announced: announce.headers,
    room,
    failed,
    admit,
    gate,
    forwarded,
    limits,
  })
  const native = createPairs({ rpc: grpc.rpc, forwarded, passthrough })
  const serve = createServe({ begin, gate, native, announce, compat })
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
        { leave, giveUp: grpc.stop, cut: listener.cut },
        app.server.listening ? times : { ...times, drainMs: 0, lingerMs: 0 },
      )
      await drained
    },
    ...(certificate && { certify: listener.certify }),
    forget: core.reads.forget,
    release() {
      passthrough.close()
      grpc.close()
    },
    get url() {
      return urlOf(app.server, listener.protocol)
    },
  }
}
