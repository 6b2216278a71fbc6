import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import pino, { type Logger } from 'pino'
import type { Agent } from 'undici'
import { differencesOf } from '../mappings/differences.ts'
import type { Config } from './config/settings.ts'
import { describeOperations } from './explain/describe.ts'
import { checkMappings } from './mapping/check.ts'
import type { Mapping } from './mapping/operation.ts'
import { createAdmin } from './routes/admin.ts'
import { createApp, createServe } from './routes/app.ts'
import { createClassify } from './routes/classify.ts'
import { createCompat } from './routes/compat.ts'
import { type Begin, createEdge } from './routes/edge.ts'
import { createLegacy } from './routes/legacy.ts'
import { createMetrics } from './routes/metrics.ts'
import { createPassthrough, type Passthrough } from './routes/passthrough.ts'
import { whyNotReady } from './routes/ready.ts'
import { createRouter } from './translate/router.ts'
import { createPool } from './upstream/pool.ts'
import { createSend } from './upstream/send.ts'

/** The proxy with its admin endpoints. */
export interface Server {
  /** Begins to listen; rejects when a port is taken. */
  listen(): Promise<void>
  /** Stops accepting, lets requests finish for `limits.shutdownMs` milliseconds, and closes every connection. */
  close(): Promise<void>
  /** Address of the proxy, without a trailing slash; known once it listens. */
  readonly url: string
  readonly adminUrl: string
}

/**
 * Puts the proxy together. Throws a sentence when the tables are wrong or `upstream.v2` is missing. Log lines go to standard error
 * unless another logger is given.
 */
export function createServer(config: Config, mappings: readonly Mapping[], log: Logger = createLog(config)): Server {
  const v2 = config['upstream.v2']
  if (v2 === undefined) throw new Error('upstream.v2 is not set: give the base address of the v2 service')
  checkMappings(mappings)
  const pool = createPool(poolSettings(config))
  const metrics = createMetrics(pool)
  const passthrough = createPassthrough(v2)
  const app = createProxy(config, v2, mappings, { pool, passthrough, begin: createEdge(log, metrics) })
  let closing = false
  const notReady = async () => (closing ? 'the proxy is shutting down' : whyNotReady(pool, v2))
  const admin = createAdmin({ metrics, operations: describeOperations(mappings, differencesOf), notReady })
  return {
    async listen() {
      await app.listen({ host: config['listen.host'], port: config['listen.port'] })
      await admin.listen({ host: config['admin.host'], port: config['admin.port'] })
    },
    async close() {
      closing = true
      passthrough.endUpgrades()
      await drain(app, config['limits.shutdownMs'])
      await admin.close()
      passthrough.close()
      await pool.destroy()
    },
    get url() {
      return urlOf(app)
    },
    get adminUrl() {
      return urlOf(admin)
    },
  }
}

interface Carriers {
  readonly pool: Agent
  readonly passthrough: Passthrough
  readonly begin: Begin
}

/** The server for v1 and native requests, with everything that one of them may need. */
function createProxy(config: Config, v2: string, mappings: readonly Mapping[], { pool, passthrough, begin }: Carriers): FastifyInstance {
  const app = createApp((request, reply) => serve(request, reply))
  const router = createRouter(mappings.flatMap(({ operations }) => operations))
  const keep = { entries: config['keep.entries'], ttlMs: config['keep.ttlMs'] }
  const sendFor = createSend({ pool, base: v2, answerBytes: config['limits.answerBytes'], keep })
  const v1 = config['upstream.v1']
  const legacy = v1 === undefined ? undefined : createLegacy(app, pool, { base: v1, answerMs: config['limits.deadlineMs'] })
  const compat = createCompat(router, sendFor, legacy, compatSettings(config))
  const serve = createServe(begin, createClassify(mappings), passthrough, compat)
  passthrough.carryUpgrades(app.server)
  return app
}

export function createLog(config: Config): Logger {
  return pino({ level: config['log.level'], base: null }, pino.destination({ dest: 2, sync: true }))
}

function poolSettings(config: Config) {
  return {
    connections: config['upstream.connections'],
    connectTimeoutMs: config['limits.connectTimeoutMs'],
    callTimeoutMs: config['limits.callTimeoutMs'],
  }
}

function compatSettings(config: Config) {
  return {
    dialect: config['v1.dialect'],
    maskCase: config['v2.maskCase'],
    readmes: config['registry.readmes'],
    notFound: config['errors.notFound'],
    unknownParameters: config.unknownParameters,
    limits: {
      callsPerRequest: config['limits.callsPerRequest'],
      parallelCalls: config['limits.parallelCalls'],
      bufferedRows: config['limits.bufferedRows'],
      requestBytes: config['limits.requestBytes'],
      deadlineMs: config['limits.deadlineMs'],
    },
  }
}

/** Closes the app when its last request is over, or after `ms` milliseconds whatever is still under way. */
async function drain(app: FastifyInstance, ms: number): Promise<void> {
  const tidy = setInterval(() => app.server.closeIdleConnections(), 50)
  const force = setTimeout(() => app.server.closeAllConnections(), ms)
  await app.close()
  clearInterval(tidy)
  clearTimeout(force)
}

function urlOf(app: FastifyInstance): string {
  const address = app.server.address() as AddressInfo | null
  if (!address) return ''
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
