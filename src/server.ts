import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { differencesOf } from '../mappings/differences.ts'
import { v1OnlyShapes } from '../mappings/v1-only-shapes.ts'
import { adminSettings, poolSettings } from './config/parts.ts'
import type { Config } from './config/settings.ts'
import type { Actor } from './diff/records/actor.ts'
import { describeOperations } from './explain/operation-rows.ts'
import { expiryOf, readCertificate } from './listen/certificate.ts'
import { urlOf } from './listen/listener.ts'
import { keepTickShape } from './listen/ticks.ts'
import type { ModeRules } from './modes/choose/rules.ts'
import { createAdmin, whyExposed } from './routes/admin/admin.ts'
import { createReady } from './routes/admin/ready.ts'
import { createMetrics } from './routes/watch/metrics.ts'
import { checkAtStart } from './rpc/check/check-at-start.ts'
import { checked } from './server/checked.ts'
import { contractOf } from './server/contract.ts'
import { currentModesOf } from './server/current-modes.ts'
import { ruleWarningsOf } from './server/current-warnings.ts'
import { healthOf } from './server/health-of.ts'
import { createLog } from './server/log.ts'
import { assembleMigration, CLOCKS, type Clocks, reportOf } from './server/migration.ts'
import { openNotifier } from './server/notifications.ts'
import { createProxy } from './server/proxy.ts'
import type { Mapping } from './tables/operations/operation.ts'
import type { Tracing } from './tracing/tracing.ts'
import { createPool } from './upstream/v2/pool.ts'

/** The proxy and its admin endpoints. */
export interface Server {
  /**
   * Starts to listen. Rejects if a port is taken, `records.file` cannot be written, or the facts of gRPC are wrong; then nothing listens.
   */
  listen(): Promise<void>
  /**
   * Leaves the balancer (`limits.drainMs`, `limits.lingerMs`), lets requests finish for `limits.shutdownMs`, then closes every connection.
   */
  close(): Promise<void>
  /** Applies other rules to every request from now on, or returns a sentence that says why it cannot. */
  changeModes(rules: ModeRules, by: Actor): string | undefined
  /** Resolves when no comparison waits or runs. */
  idle(): Promise<void>
  /** The proxy's address without a trailing slash, known once the proxy listens. */
  readonly url: string
  readonly adminUrl: string
}

/** What a server can do without. */
export interface ServerOptions {
  /** Standard error gets the log unless another logger is given. */
  readonly log?: Logger
  /** Spans are sent only with it. The server closes it. */
  readonly tracing?: Tracing | undefined
  /** The path of the configuration file: the server tells when other modes than its are in force. */
  readonly file?: string | undefined
  readonly clocks?: Clocks | undefined
}

/**
 * Builds the proxy: `createServer(config, mappings, { log, file: 'crosswalk.json' })`. Throws a sentence if the tables are wrong or
 * `upstream.v2` is missing.
 */
export function createServer(config: Config, mappings: readonly Mapping[], options: ServerOptions = {}): Server {
  const { log = createLog(config), tracing, file, clocks = CLOCKS } = options
  const { v2, declarations } = checked(config, mappings)
  const certificate = readCertificate(config['tls.key'], config['tls.cert'])
  const pool = createPool(poolSettings(config))
  const askPool = createPool({ ...poolSettings(config), connections: 2 * config['diff.parallel'] })
  const migration = assembleMigration(config, v2, mappings, declarations, { pool, askPool, log, file, clocks })
  const notifier = openNotifier(config, migration, log)
  const health = healthOf(config, v2, pool)
  const { report, modes, onNote } = migration
  const currentModes = currentModesOf(migration, mappings, config)
  const expiry = certificate && expiryOf(certificate)
  const metrics = createMetrics({ pool, report, modes, currentModes, onNote, health, expiry, notified: notifier?.counts })
  const leaving = new AbortController()
  const readiness = createReady(health, () => leaving.signal.aborted)
  const proxy = createProxy(config, v2, mappings, {
    pool,
    certificate,
    migration,
    metrics,
    log,
    tracing,
    readiness,
    leaving: leaving.signal,
  })
  const operations = describeOperations(mappings, differencesOf)
  const warnings = ruleWarningsOf(migration, operations)
  const access = adminSettings(config)
  const reportNow = reportOf(migration, mappings, declarations, config)
  const asked = { metrics, operations, readiness, reportNow, contract: contractOf(config, mappings), proxyUrl: () => proxy.url }
  const admin = createAdmin({ ...asked, notifier, ...migration, warnings, log }, access)
  const warn = () => {
    for (const warning of warnings()) log.warn(warning)
  }
  const release = async () => {
    await admin.close()
    proxy.release()
    await migration.close()
    await Promise.all([pool.destroy(), askPool.destroy(), tracing?.close(), notifier?.close()])
  }
  return {
    async listen() {
      keepTickShape()
      await checkAtStart(mappings, v1OnlyShapes)
      await migration.restore()
      await listenOn(config, proxy, admin, release)
      const exposed = whyExposed(admin, access)
      if (exposed !== undefined) log.warn(exposed)
      warn()
    },
    async close() {
      leaving.abort()
      await proxy.retire()
      await release()
    },
    changeModes(rules, by) {
      const problem = migration.modes.change(rules, by)
      if (problem === undefined) warn()
      return problem
    },
    idle: migration.idle,
    get url() {
      return proxy.url
    },
    get adminUrl() {
      return urlOf(admin.server, 'http')
    },
  }
}

/** Opens both ports, or none of them. */
async function listenOn(
  config: Config,
  proxy: ReturnType<typeof createProxy>,
  admin: FastifyInstance,
  release: () => Promise<void>,
): Promise<void> {
  try {
    await proxy.listen()
    await admin.listen({ host: config['admin.host'], port: config['admin.port'] })
  } catch (error) {
    await proxy.stop()
    await release()
    throw error
  }
}
