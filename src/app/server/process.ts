import type { RequestListener } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import pino, { type Logger } from 'pino'
import { whyExposed } from '../../admin/admin.ts'
import type { Metrics, MetricValues } from '../../admin/metrics.ts'
import { type MetricsFormat, metricsText, unitOf } from '../../admin/metrics-text.ts'
import type { Report } from '../../admin/report/report.ts'
import { checkAtStart } from '../../grpc/check-at-start.ts'
import type { Client } from '../../migrate/clients.ts'
import type { DescribedDeclaration } from '../../migrate/compare/expected.ts'
import { type CutoverVerdict, judgeCutover, TARGET } from '../../migrate/evidence/cutover.ts'
import { many } from '../../migrate/evidence/evidence.ts'
import type { EvidenceReport, Migration } from '../../migrate/migration.ts'
import type { ModesState, OpenCircuit } from '../../migrate/modes/modes.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { RecordFile } from '../../migrate/records/record-file.ts'
import type { Certificate } from '../../serve/listen/listener.ts'
import { keepTickShape } from '../../serve/listen/times.ts'
import type { Dial } from '../../serve/upstream/dial.ts'
import type { MetricsExport, StartExport } from '../../serve/watch/metrics-export.ts'
import { operationsOf, type Tables } from '../../tables/tables.ts'
import { readTls } from '../config/certificates.ts'
import { adminSettings, adminTokens } from '../config/config.ts'
import { changeLive } from '../config/live.ts'
import type { Config } from '../config/settings.ts'
import type { JoinedFleet, JoinFleet } from './fleet.ts'
import { declarationsWith, wrongTermsOf } from './migration.ts'

/**
 * Opens the store of the settings: `createServer(config, mappings, { join: await openFleet(config) })`. Returns undefined without
 * `store.url`; then nothing of stores and fleets is loaded. Rejects with a sentence if the store cannot be used.
 */
export async function openFleet(config: Pick<Config, 'store.url' | 'store.name'>): Promise<JoinFleet | undefined> {
  const url = config['store.url']
  if (url === undefined) return undefined
  const [{ openStore }, { joinFleet }] = await Promise.all([import('../../fleet/store/open.ts'), import('./fleet.ts')])
  return joinFleet(await openStore(url, config['store.name']))
}

/** The most bytes of the log that wait for a disk that is full, or for a reader that stands still. */
const LOG_WAITS = 2 ** 20

/** Milliseconds after which lines that were not written are tried again. */
const LOG_AGAIN_MS = 100

/** Lines that cannot be written wait, and are tried again. They end no process, and nobody waits for them. */
export function createLog(config: Config, stream: { write(line: string): void } = standardError()): Logger {
  return pino({ level: config['log.level'], base: null }, stream)
}

function standardError() {
  let isWaiting = false
  // The library would stop the process until a reader has taken the line, and at a fatal one until the disk has room.
  const stderr = pino.destination({ dest: 2, sync: true, maxLength: LOG_WAITS, retryEAGAIN: () => false })
  const again = () => {
    isWaiting = false
    stderr.write('')
  }
  let lost = 0
  const tellLost = () => {
    const told = lost
    lost = 0
    pino({ base: null }, stderr).warn(`the log lost ${many(told, 'line')}: too many waited`)
  }
  stderr.on('drop', () => {
    if (lost === 0) stderr.once('drain', tellLost)
    lost += 1
  })
  stderr.on('error', () => {
    if (!isWaiting) setTimeout(again, LOG_AGAIN_MS).unref()
    isWaiting = true
  })
  return Object.assign(stderr, { flushSync: again })
}

/** Milliseconds after which a start is told as it goes, although it has not printed its addresses. */
const HELD_MS = 1000

/** A log for a person at a terminal, who reads the addresses first. Its lines wait until `release`, a second, or the end of the process. */
export function createHeldLog(config: Config): { readonly log: Logger; readonly release: () => void } {
  const stderr = standardError()
  let waiting: string[] | undefined = []
  const release = () => {
    for (const line of waiting ?? []) stderr.write(line)
    waiting = undefined
    clearTimeout(timer)
    process.off('exit', release)
  }
  const timer = setTimeout(release, HELD_MS).unref()
  process.once('exit', release)
  return { log: createLog(config, { write: (line) => (waiting ? waiting.push(line) : stderr.write(line)) }), release }
}

/** What clients reach: the server for v1 and native requests, or the workers that share its port. */
export interface Front {
  listen(): Promise<unknown>
  /** Serves a request of a server of somebody else, after `ready`. It cannot throw. Absent for workers. */
  readonly handler?: RequestListener
  /** Resolves when requests can be served without a port. Absent for workers. */
  ready?(): Promise<void>
  /** Stops at once, without waiting for a request. */
  stop(): Promise<void>
  /** Leaves the balancer and lets requests finish within the times of the settings. If it `givesWay`, another process listens in its place. */
  retire(givesWay: boolean): Promise<void>
  /** Shows another certificate to whoever connects from now on, and asks the others to connect again. Absent for workers, which are replaced, and for plain text. */
  certify?(certificate: Certificate): void
  /** Forgets how it read requests, because settings changed. Workers do it themselves. */
  forget?(): void
  /** Closes its connections to the services. */
  release(): void
  readonly url: string
}

/** How a server starts and ends. */
export type Lifecycle = ReturnType<typeof createLifecycle>

interface Living {
  readonly tables: Tables
  readonly front: Front
  readonly admin: FastifyInstance
  readonly hasAdmin: boolean
  readonly isWorker: boolean
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  readonly migration: Migration
  readonly joined: JoinedFleet | undefined
  /** Sends metrics to a collector. */
  readonly exported: MetricsExport | undefined
  readonly leaving: AbortController
  /** Logs what is wrong with the rules in force. */
  readonly warn: () => void
  readonly warned: (text: string) => void
  /** Closes what others use until the end. */
  readonly last: () => Promise<unknown>
}

export function createLifecycle(config: Config, living: Living) {
  const { tables, front, admin, hasAdmin, isWorker, file, migration, joined, exported, leaving, warn, warned, last } = living
  const release = async () => {
    // The last metrics are read from parts that are closed below.
    await exported?.close()
    await admin.close()
    front.release()
    await migration.close()
    await joined?.close()
    await last()
  }
  /** Opens the admin port, for a server that opens no port for clients or another time. `listen` does it unless the role has none. */
  const openAdmin = async () => {
    await admin.listen({ host: config['admin.host'], port: config['admin.port'] })
    const exposed = whyExposed(admin, adminSettings(config))
    if (exposed !== undefined) warned(exposed)
    warn()
  }
  const leave = async (givesWay: boolean) => {
    leaving.abort()
    await front.retire(givesWay)
    await release()
  }
  const prepare = async () => {
    keepTickShape()
    if (tables.hasGrpc) await checkAtStart(tables.mappings, tables.shapes)
    await migration.restore()
    if (!isWorker) migration.noteAcceptances({ source: 'start', ...(file !== undefined && { path: file }) })
    await joined?.modes.start()
    await front.ready?.()
  }
  let prepared: Promise<void> | undefined
  /** Makes everything ready to serve, without a port. Rejects as `listen` does. */
  const begin = () => {
    prepared ??= prepare()
    return prepared
  }
  const open = async () => {
    try {
      await begin()
      await front.listen()
      if (hasAdmin) await openAdmin()
    } catch (error) {
      await front.stop()
      await release()
      throw error
    }
  }
  let opened: Promise<void> | undefined
  return {
    begin,
    openAdmin,
    /**
     * Starts to listen, after `begin`: opens both ports, or none of them. A worker opens one. Rejects if a port is taken, `records.file`
     * cannot be written, or the facts of gRPC are wrong; then nothing listens. Later calls wait for the first.
     */
    async listen() {
      opened ??= open()
      await opened
    },
    /** Leaves the balancer (`limits.drainMs`, `limits.lingerMs`), lets requests finish for `limits.shutdownMs`, then closes every connection. */
    async close() {
      // A port that opens meanwhile would stay open.
      await opened?.catch(() => {})
      await leave(false)
    },
    /** Closes as `close` does, but another process listens in its place, so that no balancer needs time to notice. */
    giveWay: () => leave(true),
  }
}

/** How a running server takes other settings. */
export type Reload = ReturnType<typeof createReload>

interface Reloaded {
  /** The settings that every part reads. */
  readonly live: { -readonly [Key in keyof Config]: Config[Key] }
  readonly tables: Tables
  /** The declared differences that texts are read from. */
  readonly declarations: DescribedDeclaration[]
  readonly migration: Pick<Migration, 'journal' | 'noteAcceptances'>
  /** Its supervisor notes what persons decide. */
  readonly isWorker: boolean
  readonly log: Pick<Logger, 'level' | 'info'>
  readonly front: Pick<Front, 'certify' | 'forget'>
  readonly dial: Dial
  /** The certificate of the port. */
  readonly shown: () => Certificate | undefined
  /** Is told of a new one. */
  readonly certified: (certificate: Certificate) => void
}

const OPENS =
  'without admin.token, admin.tokens and admin.readToken, everybody could change modes from now on; restart to open the admin port'

export function createReload({ live, tables, declarations, migration, isWorker, log, front, dial, shown, certified }: Reloaded) {
  return {
    /**
     * Takes the values of live settings (`changedBetween`) from the next request on, or returns a sentence that says why it takes none of
     * them. Modes have a way of their own, `changeModes`. `by` is who changed them; a program, if nobody says so.
     */
    reload(changes: Partial<Config>, by: Actor = { source: 'program' }): string | undefined {
      const next = { ...live, ...changes }
      const isOpened = adminTokens(live).length > 0 && adminTokens(next).length === 0
      if (isOpened && next['admin.oidc.issuer'] === undefined) return `${OPENS}.`
      const declared = declarationsWith(next['diff.ignore'], tables)
      if ('problem' in declared) return declared.problem
      const unfit = wrongTermsOf(next, tables)
      if (unfit !== undefined) return unfit
      changeLive(live, changes)
      log.level = live['log.level']
      front.forget?.()
      if ('diff.ignore' in changes) {
        declarations.splice(0, declarations.length, ...declared.declarations)
        migration.journal.expected.declare(declarations)
      }
      if (!isWorker && 'cutover.operations' in changes) migration.noteAcceptances(by)
      return undefined
    },
    /** Takes what the files of TLS hold now for every connection from now on. Throws a sentence if one cannot be used. */
    certify() {
      const { port, identities } = readTls(live)
      dial.identify(identities)
      if (port && !isDeepStrictEqual(port, shown())) {
        front.certify?.(port)
        certified(port)
      }
      log.info('the certificates changed: new connections get them')
    },
  }
}

/** What one of several processes does differently (`workers`). */
export interface Role {
  /** A worker has no admin port: its supervisor has it. */
  readonly hasAdmin: boolean
  readonly isWorker?: boolean
  /** Takes the lines of the record file, if this process does not write it alone. */
  readonly records?: RecordFile | undefined
  /** The workers of a supervisor, which serves nobody itself. */
  readonly workers?: WorkersFront
}

/** The workers as one server. */
export interface WorkersFront extends Front {
  /** Somebody listens. */
  isServing(): boolean
  /** The metrics of all processes as those of one. */
  metricValues(supervisor: MetricValues): Promise<MetricValues>
}

/** A process without others does everything. */
export const ALONE: Role = { hasAdmin: true }

/** What `/metrics` tells, of this process or of a supervisor and its workers. */
export type ReportedMetrics = ReturnType<typeof metricsOf>

/** Returns what is told of the metrics of this process, together with those of its workers if it has any. */
export function metricsOf(own: Pick<Metrics, 'values'>, workers: Pick<WorkersFront, 'metricValues'> | undefined) {
  const values = workers ? async () => workers.metricValues(await own.values()) : own.values
  return { values, text: async (format: MetricsFormat) => metricsText(await values(), format) }
}

/** The units of OpenMetrics as UCUM writes them. */
const UCUM = { seconds: 's', bytes: 'By' } as const

/** Begins to send metrics to a collector, if that is wanted. */
export function exportOf(start: StartExport | undefined, { values }: ReportedMetrics, log: Logger): MetricsExport | undefined {
  const families = async () =>
    (await values()).map((one) => {
      const unit = unitOf(one.name)
      return { ...one, unit: unit === undefined ? '' : UCUM[unit] }
    })
  return start?.({ values: families, log })
}

interface ReadsParts {
  readonly migration: Migration
  readonly joined: JoinedFleet | undefined
  readonly reportNow: () => Report | Promise<Report>
  readonly tables: Pick<Tables, 'mappings'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export function createReads({ migration, joined, reportNow, tables, now }: ReadsParts): Reads {
  const own = migration.report
  const counted = async () => (await joined?.evidence.counted()) ?? own.counted()
  const clients = async () => (await joined?.answers.clients())?.answer ?? own.clients()
  return {
    modes: migration.modes.state,
    circuits: migration.modes.circuits,
    evidence: async () => own.evidence(await counted()),
    report: async () => reportNow(),
    clients,
    async cutover({ withoutV1 = false, target = TARGET, each = false } = {}) {
      const [known, uses] = await Promise.all([counted(), clients()])
      return judgeCutover({
        target,
        withoutV1,
        isStrict: each,
        evidence: known.evidence,
        traffic: known.traffic,
        strangers: known.strangers,
        clients: uses,
        openCircuits: new Map(Object.entries(own.openCircuits())),
        terms: { ...migration.terms(), now: now() },
        rollouts: migration.modes.rollouts(),
        operations: operationsOf(tables),
      })
    },
  }
}

/** What a program reads of a migration: what the admin port tells, as values. With a store, of all replicas. */
export interface Reads {
  /** The rules in force, and who put them there. */
  modes(): ModesState
  /** The open circuits: since when, why, of what, and what closes each. */
  circuits(): readonly OpenCircuit[]
  evidence(): Promise<EvidenceReport>
  report(): Promise<Report>
  clients(): Promise<readonly Client[]>
  /**
   * Whether v2 can serve what it has while v1 stays, or, `withoutV1`, whether v1 can be switched off. `each` holds the target against each
   * operation by itself.
   */
  cutover(question?: { readonly withoutV1?: boolean; readonly target?: number; readonly each?: boolean }): Promise<CutoverVerdict>
}
