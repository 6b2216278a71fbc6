/**
 * The program: settings, the server put together, workers, the library and the commands.
 *
 * 1. `config/settings.ts` is the table of settings; `config/config.ts` reads them, `config/live.ts` applies those that change.
 * 2. This file puts a server together: `proxy.ts` its port for clients, `migration.ts` its migration, `process.ts` its life.
 * 3. `fleet.ts` joins replicas; `workers.ts` keeps several processes on one port.
 * 4. `library/` is Crosswalk in a program of somebody else.
 * 5. `cli/` is the command line: one file a command, each loaded when it is called.
 *
 * It decides nothing itself: what it joins is written in the other rooms. Only `cli/` knows the sandbox.
 */
import type { RequestListener } from 'node:http'
import type { Logger } from 'pino'
import { createAdmin } from '../../admin/admin.ts'
import { createMetrics } from '../../admin/metrics.ts'
import { rehearsalOf } from '../../admin/routes.ts'
import type { KeptModes } from '../../fleet/modes.ts'
import type { ModeRules } from '../../migrate/modes/rules.ts'
import type { Actor } from '../../migrate/records/record.ts'
import { CLOCKS, type Clocks } from '../../serve/bounds.ts'
import { type Certificate, expiryOf, urlOf } from '../../serve/listen/listener.ts'
import { createLivePool, createPool } from '../../serve/upstream/exchange.ts'
import { createClockWatch, createReady } from '../../serve/upstream/health.ts'
import type { StartExport } from '../../serve/watch/metrics-export.ts'
import type { Tracing } from '../../serve/watch/spans.ts'
import { operationsOf, type Tables } from '../../tables/tables.ts'
import { describeOperations } from '../../tools/explore.ts'
import { dialOf } from '../config/certificates.ts'
import { adminSettings, poolSettings } from '../config/config.ts'
import { live } from '../config/live.ts'
import type { Config } from '../config/settings.ts'
import type { JoinFleet } from './fleet.ts'
import {
  assembleMigration,
  type Checked,
  checked,
  contractOf,
  currentModesOf,
  openNotifier,
  reportNowOf,
  ruleWarningsOf,
} from './migration.ts'
import {
  ALONE,
  createLifecycle,
  createLog,
  createReads,
  createReload,
  exportOf,
  type Lifecycle,
  metricsOf,
  type Reads,
  type Reload,
  type ReportedMetrics,
  type Role,
} from './process.ts'
import { createProxy, healthOf } from './proxy.ts'

/** The proxy and its admin endpoints. */
export interface Server extends Lifecycle, Reload {
  /** Serves a request of a server of somebody else, after `begin`. It cannot throw. Undefined for a supervisor. */
  readonly handler: RequestListener | undefined
  readonly reads: Reads
  /** What `/metrics` tells. */
  readonly metrics: ReportedMetrics
  /** Why requests would fail, as `/readyz` tells it; undefined if they would not. */
  notReady(): Promise<string | undefined>
  /**
   * Applies other rules to every request from now on, or returns a sentence that says why it cannot. A replica of a fleet proposes them to
   * all: they are in force once the store has them.
   */
  changeModes(rules: ModeRules, by: Actor): string | undefined
  /** Closes the open circuit of an operation, or returns a sentence that says why it cannot. */
  closeCircuit(operation: string, by: Actor): string | undefined
  /** Replicas share the modes, so that `changeModes` only proposes them. */
  readonly sharesModes: boolean
  /** The modes and open circuits that a replica of a fleet knows, for a process that it starts; undefined if it knows none. */
  keptModes(): KeptModes | undefined
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
  /** Metrics are sent only with it, until the server is closed. */
  readonly exportMetrics?: StartExport | undefined
  /** The path of the configuration file: the server tells when other modes than its are in force. */
  readonly file?: string | undefined
  readonly clocks?: Clocks | undefined
  /** What `checked` returned for the same settings and tables. Who opens a store calls it before, because an open store keeps a process. */
  readonly known?: Checked
  /** Makes the server one of the replicas that share a store; see `openFleet`. The server closes the store. */
  readonly join?: JoinFleet | undefined
  /** What this process does of a server that several make (`workers`). */
  readonly role?: Role | undefined
}

/**
 * Builds the proxy: `createServer(config, tables, { log, file: 'crosswalk.json' })`. Throws a sentence if the tables are wrong or
 * `upstream.v2` is missing.
 */
export function createServer(started: Config, tables: Tables, options: ServerOptions = {}): Server {
  // Its parts read the settings that may change where they need them.
  const config = { ...started }
  const { log = createLog(config), known = checked(config, tables), tracing, file, clocks = CLOCKS, join } = options
  const { hasAdmin, isWorker = false, records, workers } = options.role ?? ALONE
  const { mappings } = tables
  const { v2, tls } = known
  const declarations = [...known.declarations]
  let certificate = tls.port
  const dial = dialOf(config, tls)
  const pool = createPool({ ...poolSettings(config), dial })
  const askPool = createLivePool({ ...poolSettings(config), dial }, live(config, { parallel: 'diff.parallel' }))
  const asking = { pool, askPool, log, file, clocks, records, replica: join?.replica }
  const migration = assembleMigration(config, v2, tables, declarations, asking)
  const joined = join?.join({ config, migration, operations: operationsOf(tables), log, clocks, file })
  const notifier = openNotifier(config, joined?.onTell ?? migration.onNote, log)
  const clock = createClockWatch(clocks.now, (text, differs) => migration.note({ what: 'clock', text, to: differs ? 'differs' : 'agrees' }))
  joined?.onExchange(() => {
    const ms = joined.fleet.aheadMs()
    if (ms !== undefined) clock.heard('the store', ms)
  })
  const health = healthOf(config, v2, tables, pool, clock)
  const { report, modes, onNote } = migration
  const { totals } = migration.journal.tallies
  const currentModes = currentModesOf(migration, mappings, config)
  const expiry = certificate && !workers ? () => (certificate ? expiryOf(certificate) : 0) : undefined
  // What workers share in memory is no store of an operator.
  const stored = config['store.url'] === undefined ? undefined : joined
  const watched = { pool, report, totals, modes, currentModes, onNote, health, clock, expiry, joined: stored }
  const metrics = createMetrics({ ...watched, page: adminSettings(config).page, now: clocks.now, notified: notifier?.counts })
  const leaving = new AbortController()
  const readiness = createReady(health, () => leaving.signal.aborted, workers?.isServing, joined?.standing, clock)
  const shared = { pool, dial, certificate, migration, metrics, log, tracing, readiness, leaving: leaving.signal }
  const proxy = workers ?? createProxy(config, v2, tables, shared)
  const warnings = ruleWarningsOf(migration, operationsOf(tables))
  const reportNow = reportNowOf(migration, mappings, declarations, config, joined?.answers)
  const told = metricsOf(metrics, workers)
  const exported = exportOf(options.exportMetrics, told, log)
  const operations = () => describeOperations(tables)
  const asked = { metrics: told, operations, readiness, reportNow, contract: contractOf(config, tables), proxyUrl: () => proxy.url }
  const rehearse = rehearsalOf(migration, tables)
  const admin = createAdmin({ ...asked, notifier, ...migration, rehearse, warnings, log, joined }, adminSettings(config))
  const warn = () => {
    for (const warning of warnings()) log.warn(warning)
  }
  const last = () => Promise.all([pool.destroy(), askPool.destroy(), tracing?.close(), notifier?.close()])
  const warned = (text: string) => log.warn(text)
  const living = { tables, front: proxy, admin, isWorker, file, migration }
  const lifecycle = createLifecycle(config, { ...living, exported, hasAdmin, joined, leaving, warn, warned, last })
  const reloaded = { live: config, tables, declarations, migration, isWorker, log, dial, front: proxy }
  const certified = (now: Certificate) => {
    certificate = now
  }
  return {
    ...lifecycle,
    ...createReload({ ...reloaded, shown: () => certificate, certified }),
    changeModes(rules, by) {
      const problem = (joined ?? migration).modes.change(rules, by)
      if (problem === undefined) warn()
      return problem
    },
    closeCircuit: modes.closeCircuit,
    sharesModes: joined !== undefined,
    handler: proxy.handler,
    reads: createReads({ migration, joined, reportNow, tables, now: clocks.now }),
    notReady: async () => (await readiness()).notReady,
    keptModes: () => joined?.modes.kept(),
    idle: migration.idle,
    metrics: told,
    get url() {
      return proxy.url
    },
    get adminUrl() {
      return urlOf(admin.server, 'http')
    },
  }
}
