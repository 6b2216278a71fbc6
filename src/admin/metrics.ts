import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import {
  type Aggregator,
  Counter,
  type CounterConfiguration,
  Gauge,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { Agent } from 'undici'
import { liveIn } from '../fleet/exchange.ts'
import type { Fleet, FleetState } from '../fleet/fleet.ts'
import { accountsOf } from '../migrate/evidence/standing.ts'
import type { WholeVerdict } from '../migrate/evidence/whole.ts'
import type { EvidenceReport, MigrationReport, OperationProgress } from '../migrate/migration.ts'
import type { Notes } from '../migrate/modes/journal.ts'
import type { Modes } from '../migrate/modes/modes.ts'
import type { OperationMode } from '../migrate/modes/select.ts'
import type { Note } from '../migrate/records/record.ts'
import { ROLLOUT_PHASES } from '../migrate/rollout/plan.ts'
import type { RequestRecord } from '../serve/core.ts'
import type { Refused } from '../serve/http/admission.ts'
import type { ClockWatch, Health } from '../serve/upstream/health.ts'
import { outcomeOf, type RequestMetrics, type RequestOutcome } from '../serve/watch/access-log.ts'
import type { NotifyCounts } from './notify.ts'

/** The trace of one observation, as prom-client writes it behind a bucket. */
export interface Exemplar {
  readonly labelSet: { readonly trace_id: string }
  /** Seconds that the observation took. */
  readonly value: number
  /** When it was made, in seconds since 1970. */
  readonly timestamp: number
}

/** One series. Those of a histogram have names of their own: `_bucket`, `_sum` and `_count`. */
export type Series = MetricValue<string> & { readonly metricName?: string; readonly exemplar?: Exemplar | undefined }

/** The metrics of one process as data, which processes can send to each other. */
export type MetricValues = MetricObjectWithValues<Series>[]

/** The durations of one kind of thing. */
export interface Durations {
  /** `traceId` names a recorded trace of what took so long. Each bucket keeps the last one. */
  observe(label: string, seconds: number, traceId?: string): void
}

interface Spread {
  /** The count of each bucket by itself; the last is for durations beyond every bound. */
  readonly counts: number[]
  /** The last trace of each bucket. */
  readonly exemplars: (Exemplar | undefined)[]
  sum: number
}

export interface DurationsOptions {
  readonly name: string
  readonly help: string
  /** The name of the only label. */
  readonly label: string
  /** Upper bounds of the buckets in seconds, ascending. */
  readonly buckets: readonly number[]
  /** Milliseconds since 1970. The default is the machine's clock. */
  readonly now?: (() => number) | undefined
}

/**
 * A Prometheus histogram that counts by hand and is formatted on demand.
 * Every request and every call uses one; prom-client's own would build a key from its labels each time.
 */
export function createDurations(registry: Registry, { name, help, label, buckets, now = Date.now }: DurationsOptions): Durations {
  const spreads = new Map<string, Spread>()
  const values = () => [...spreads].flatMap(([value, spread]) => valuesOf(name, { [label]: value }, buckets, spread))
  const metric = {
    name,
    help,
    type: 'histogram',
    get: async () => ({ name, help, type: 'histogram', values: values(), aggregator: 'sum' }),
  }
  // A registry only asks a metric for its values.
  registry.registerMetric(metric as unknown as Metric)
  return {
    observe(value, seconds, traceId) {
      const spread = spreads.get(value) ?? { counts: new Array<number>(buckets.length + 1).fill(0), exemplars: [], sum: 0 }
      spreads.set(value, spread)
      let at = 0
      while (at < buckets.length && seconds > (buckets[at] ?? 0)) at += 1
      spread.counts[at] = (spread.counts[at] ?? 0) + 1
      spread.sum += seconds
      if (traceId !== undefined) spread.exemplars[at] = { labelSet: { trace_id: traceId }, value: seconds, timestamp: now() / 1000 }
    },
  }
}

function valuesOf(name: string, labels: Readonly<Record<string, string>>, buckets: readonly number[], { counts, exemplars, sum }: Spread) {
  let count = 0
  const below = [...buckets, '+Inf'].map((le, at) => {
    count += counts[at] ?? 0
    const exemplar = exemplars[at]
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count, ...(exemplar && { exemplar }) }
  })
  return [...below, { metricName: `${name}_sum`, labels, value: sum }, { metricName: `${name}_count`, labels, value: count }]
}

/** Seconds: from a call within one machine to a list that takes its whole deadline. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60]

/** Times requests and calls; `now` tells milliseconds since 1970. */
export function createClocks(registry: Registry, now: () => number) {
  return {
    duration: createDurations(registry, {
      name: 'crosswalk_request_duration_seconds',
      help: 'Time from the request to the last byte of its answer',
      label: 'operation',
      buckets: BUCKETS,
      now,
    }),
    callDuration: createDurations(registry, {
      name: 'crosswalk_v2_call_duration_seconds',
      help: 'Time from a v2 call to the last byte of its answer',
      label: 'outcome',
      buckets: BUCKETS,
      now,
    }),
  }
}

/** The sums of one operation. */
interface OperationCounts {
  /** Requests by mode and outcome. */
  readonly requests: Map<string, Record<RequestOutcome, number>>
  calls: number
  parsedPages: number
  dropped: number
}

/** Counts requests by hand and updates the counters on demand: see `createDurations`. */
export function createRequestCounters(registry: Registry) {
  const counts = new Map<string, OperationCounts>()
  const registers = [registry]
  const labelNames = ['operation'] as const
  new Counter({
    name: 'crosswalk_requests_total',
    help: 'Requests by operation, mode and outcome',
    labelNames: ['operation', 'mode', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [operation, { requests }] of counts) {
        for (const [mode, outcomes] of requests) {
          for (const [outcome, count] of Object.entries(outcomes)) if (count > 0) this.inc({ operation, mode, outcome }, count)
        }
      }
    },
  })
  const sum = (name: string, help: string, of: (count: OperationCounts) => number) => {
    const collect: CounterConfiguration<'operation'>['collect'] = function () {
      this.reset()
      for (const [operation, count] of counts) if (of(count) > 0) this.inc({ operation }, of(count))
    }
    new Counter({ name, help, labelNames, registers, collect })
  }
  sum('crosswalk_v2_calls_total', 'Calls made to v2', ({ calls }) => calls)
  sum('crosswalk_parsed_pages_total', PARSED, ({ parsedPages }) => parsedPages)
  sum('crosswalk_unknown_parameters_total', DROPPED, ({ dropped }) => dropped)
  return {
    add({ operation, mode, calls, parsedPages, dropped }: RequestRecord, outcome: RequestOutcome) {
      const count = counts.get(operation) ?? { requests: new Map(), calls: 0, parsedPages: 0, dropped: 0 }
      counts.set(operation, count)
      const outcomes = count.requests.get(mode) ?? { ok: 0, refused: 0, cancelled: 0, failed: 0 }
      count.requests.set(mode, outcomes)
      outcomes[outcome] += 1
      count.calls += calls
      count.parsedPages += parsedPages
      count.dropped += dropped.length
    },
  }
}

const PARSED = 'Answers of v2 (pages of lists, single rows) that were not as the fast path expects them and were parsed instead'

const DROPPED = 'Query parameters that were dropped because the operation does not know them'

/** Exposes the state of the migration as series. Operations and all other labels are bounded sets. */
export function watchMigration(report: Pick<MigrationReport, 'evidence' | 'whole'>, registers: Registry[]): void {
  type Rows = (evidence: EvidenceReport) => readonly (readonly [labels: Record<string, string>, value: number])[]

  const counter = (name: string, help: string, labelNames: readonly string[], rows: Rows) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const [labels, value] of rows(report.evidence())) this.inc(labels, value)
      },
    })
  counter('crosswalk_comparisons_total', COMPARISONS, ['operation', 'outcome'], (evidence) =>
    evidence.operations.flatMap((one) =>
      OUTCOMES.map(([outcome, member]) => [{ operation: one.operation, outcome }, one[member]] as const),
    ),
  )
  counter('crosswalk_uses_total', USES, ['operation', 'account'], (evidence) =>
    evidence.operations.flatMap((one) => {
      const { uses: _, ...accounts } = accountsOf(one)
      return Object.entries(accounts).map(([account, count]) => [{ operation: one.operation, account }, count] as const)
    }),
  )
  counter(
    'crosswalk_comparison_jobs_total',
    'Comparisons that were made, failed, or dropped for want of room',
    ['end'],
    ({ queue, skipped }) => [
      [{ end: 'done' }, queue.done],
      [{ end: 'failed' }, queue.failed],
      [{ end: 'dropped' }, skipped.waiting + skipped.perSecond],
    ],
  )
  const FALLBACKS = 'Reads that v2 failed: answered by v1, not for want of budget, or not because they continue a list that v2 began'
  counter('crosswalk_fallbacks_total', FALLBACKS, ['answered'], ({ fallbacks }) => [
    [{ answered: 'yes' }, fallbacks.taken],
    [{ answered: 'no' }, fallbacks.refused],
    [{ answered: 'list' }, fallbacks.walks],
  ])
  counter('crosswalk_records_dropped_total', 'Records that could not be written', [], ({ records }) => [[{}, records.dropped]])
  const gauge = (
    name: string,
    help: string,
    rows: (evidence: EvidenceReport) => readonly (readonly [operation: string, value: number])[],
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ['operation'],
      registers,
      aggregator: 'max',
      collect() {
        this.reset()
        for (const [operation, value] of rows(report.evidence())) this.set({ operation }, value)
      },
    })
  gauge('crosswalk_circuit_open', OPEN, ({ circuits }) =>
    Object.entries(circuits).map(([operation, { state }]) => [operation, state === 'open' ? 1 : 0] as const),
  )
  gauge('crosswalk_evidence_bound', BOUND, ({ operations }) => operations.map(({ operation, bound }) => [operation, bound] as const))
  const together = (name: string, help: string, value: (whole: WholeVerdict) => number | undefined) =>
    new Gauge({
      name,
      help,
      // A gauge without labels says 0 where nothing is known.
      labelNames: ['target'],
      registers,
      aggregator: 'max',
      collect() {
        this.reset()
        const whole = report.whole()
        const known = whole && whole.requests > 0 ? value(whole) : undefined
        if (whole && known !== undefined) this.set({ target: String(whole.target) }, known)
      },
    })
  together('crosswalk_cutover_bound', ALL_BOUND, ({ bound }) => bound)
  together('crosswalk_cutover_needed', ALL_NEEDED, ({ needed }) => needed)
  together('crosswalk_cutover_days', ALL_DAYS, ({ days }) => days)
  gauge('crosswalk_evidence_needed', NEEDED, ({ operations }) => operations.map(({ operation, needed }) => [operation, needed] as const))
}

const COMPARISONS = 'Observations that this process counted, by operation and what the comparison said; of workers the sum'

const USES = 'Requests in a diff mode whose caller a side accepted, by operation and where each went; of workers the sum'

const OPEN = '1 where an operation is kept from its canary share because v2 answers it wrongly'

const BOUND =
  'Upper end of the 95 % confidence interval for the share of wrong answers of an operation, 0-1, by the observations of this process; of workers the highest'

const NEEDED =
  'Clean observations that an operation still needs, to be proven within the usual target, by the observations of this process; of workers the highest'

const ALL_BOUND =
  'Upper end of the 95 % confidence interval for the share of wrong answers in all requests together, 0-1, by the observations of this process; of workers the highest'

const ALL_NEEDED =
  'Clean observations, spread like the requests, that all requests together still need, by the observations of this process; of workers the highest'

const ALL_DAYS =
  'Days until all requests together are proven and each operation was seen often enough, if every further observation is clean and the traffic stays. Absent while that is unknown'

const OUTCOMES: readonly (readonly [outcome: string, member: keyof OperationProgress & Member])[] = [
  ['match', 'matches'],
  ['expected', 'expected'],
  ['noise', 'noise'],
  ['race', 'races'],
  ['mismatch', 'mismatches'],
  ['transient', 'transients'],
  ['error', 'errors'],
  ['inconclusive', 'inconclusive'],
]

type Member = 'matches' | 'expected' | 'noise' | 'races' | 'mismatches' | 'transients' | 'errors' | 'inconclusive'

export interface ModesMetricsSources {
  readonly modes: Pick<Modes, 'state' | 'rollouts'>
  /** The modes in force of every operation that v2 can serve. */
  readonly currentModes: () => readonly OperationMode[]
  readonly onNote: Notes['onNote']
}

const WHATS: readonly Note['what'][] = [
  'modes',
  'circuit',
  'circuit-closed',
  'rollout',
  'ready',
  'not-ready',
  'restart',
  'epoch',
  'store-lost',
  'conflict',
  'clock',
  'acceptance',
]

type Rows = readonly (readonly [labels: Record<string, string>, value: number])[]

/** Exposes what is in force, and how often that changed. Labels are operations, modes and the rollouts of the rules: a bounded set. */
export function watchModes({ modes, currentModes, onNote }: ModesMetricsSources, registers: Registry[]): void {
  countNotes(onNote, registers)
  const gauge = (name: string, help: string, labelNames: readonly string[], rows: () => Rows) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      aggregator: 'first',
      collect() {
        this.reset()
        for (const [labels, value] of rows()) this.set(labels, value)
      },
    })
  gauge('crosswalk_modes_version', VERSION, [], () => [[{}, modes.state().version]])
  gauge('crosswalk_modes_drift', DRIFT, [], () => [[{}, modes.state().drift === undefined ? 0 : 1]])
  gauge('crosswalk_mode_info', INFO, ['operation', 'mode', 'canary_mode'], () =>
    currentModes().map(({ operation, mode, canary }) => [{ operation, mode, canary_mode: canary?.mode ?? '' }, 1] as const),
  )
  gauge('crosswalk_canary_share', SHARE, ['operation'], () =>
    currentModes().flatMap(({ operation, canary }) => (canary ? [[{ operation }, canary.percent / 100] as const] : [])),
  )
  gauge('crosswalk_rollout_phase', PHASE, ['rollout', 'phase'], () =>
    modes.rollouts().flatMap((one) => ROLLOUT_PHASES.map((phase) => [{ rollout: one.name, phase }, one.phase === phase ? 1 : 0] as const)),
  )
}

function countNotes(onNote: Notes['onNote'], registers: Registry[]): void {
  const notes = new Counter({
    name: 'crosswalk_notes_total',
    help: 'Events that changed what the proxy does, or what may be done next, by kind',
    labelNames: ['what'],
    registers,
  })
  // Without a first value of 0, the rate of a counter does not see its first event.
  for (const what of WHATS) notes.inc({ what }, 0)
  onNote(({ what }) => notes.inc({ what }))
}

const VERSION = 'Version of the active modes: 1 at the start, one more with each change'

const DRIFT = '1 while other modes are active than the configuration file says'

const INFO = 'The mode of each operation for the clients that no rule names, and that of its canary; always 1'

const SHARE = 'Share of the callers of an operation that get the mode of its canary, 0-1; 0 while its circuit is open'

const PHASE = '1 for the phase that a rollout is in, 0 for the others'

/** Exposes what became of the events for `notify.url`. Without one, all are 0. */
export function watchNotify(counts: (() => NotifyCounts) | undefined, registers: Registry[]): void {
  new Counter({
    name: 'crosswalk_notifications_total',
    help: 'Events for notify.url by their end (sent, failed, dropped)',
    labelNames: ['end'],
    registers,
    collect() {
      this.reset()
      const { sent = 0, failed = 0, dropped = 0 } = counts?.() ?? {}
      for (const [end, value] of Object.entries({ sent, failed, dropped })) this.inc({ end }, value)
    },
  })
  new Gauge({
    name: 'crosswalk_notifications_waiting',
    help: 'Events that wait for notify.url to take them',
    registers,
    collect() {
      this.set(counts?.().waiting ?? 0)
    },
  })
}

/**
 * Exposes the state of the process. It is read on demand only and costs nothing otherwise. Of several workers, the worst value counts:
 * each has files and an event loop of its own.
 */
export function watchProcess(registers: Registry[]): void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  gauge('process_resident_memory_bytes', 'Memory that the process holds', () => process.memoryUsage.rss(), 'sum')
  gauge('crosswalk_memory_limit_bytes', 'Memory that the process may hold: the limit of its container, or that of the machine', memoryLimit)
  gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', () => performance.timeOrigin / 1000, 'first')
  gauge('process_open_fds', 'Open files and sockets', () => readdirSync('/proc/self/fd').length)
  gauge('process_max_fds', 'Files and sockets that may be open', maxFiles)
  gauge('crosswalk_event_loop_utilization', 'Share of time that the event loop was busy since it was last asked, 0 to 1', busySince())

  function gauge(name: string, help: string, read: () => number, aggregator: Aggregator = 'max'): void {
    new Gauge({
      name,
      help,
      registers,
      aggregator,
      collect() {
        this.set(orUnknown(read))
      },
    })
  }
}

function busySince(): () => number {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  }
}

function memoryLimit(): number {
  const container = process.constrainedMemory()
  return container > 0 ? Math.min(container, totalmem()) : totalmem()
}

function maxFiles(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1])
}

/** `/proc` exists on Linux only, and is unreadable when the process can open no more files. */
function orUnknown(read: () => number): number {
  try {
    return read()
  } catch {
    return Number.NaN
  }
}

export interface StoreMetricsSources {
  readonly fleet: Pick<Fleet, 'state' | 'replicas' | 'unread'>
  onExchange(listener: (isAnswered: boolean, seconds: number) => void): void
}

/** Seconds: from a store on the same machine to one that does not answer in time. */
const STORE_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

/** Exposes how this replica stands with the store. Only replicas of a fleet have these metrics. */
export function watchStore({ fleet, onExchange }: StoreMetricsSources, registry: Registry): void {
  const registers = [registry]
  const gauge = (name: string, help: string, aggregator: Aggregator, read: (state: FleetState) => number) =>
    new Gauge({
      name,
      help,
      aggregator,
      registers,
      collect() {
        this.set(read(fleet.state()))
      },
    })
  gauge('crosswalk_store_up', '1 while the store answers', 'min', ({ succeeded, problem }) =>
    succeeded > 0 && problem === undefined ? 1 : 0,
  )
  gauge('crosswalk_store_silent_seconds', 'Time since the store last answered', 'max', ({ silentMs }) => silentMs / 1000)
  gauge('crosswalk_store_waiting', 'Observations that the store does not have yet', 'sum', ({ waiting }) => waiting)
  gauge('crosswalk_replicas', 'Replicas that the store heard from in the last seconds', 'first', () => liveIn(fleet))
  new Gauge({
    name: 'crosswalk_store_foreign_key',
    help: '1 for the key that somebody else wrote in the store, so it takes nothing',
    labelNames: ['key'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset()
      const { foreignKey } = fleet.state()
      if (foreignKey !== undefined) this.set({ key: foreignKey }, 1)
    },
  })
  new Counter({
    name: 'crosswalk_store_dropped_total',
    help: 'Observations that had no room while the store did not answer, by kind (clean, bad)',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset()
      const { dropped, lost } = fleet.state()
      this.inc({ kind: 'clean' }, dropped)
      this.inc({ kind: 'bad' }, lost)
    },
  })
  const durations = createDurations(registry, {
    name: 'crosswalk_store_exchange_duration_seconds',
    help: 'Time of an exchange with the store, by its end (answered, failed)',
    label: 'end',
    buckets: STORE_BUCKETS,
  })
  onExchange((isAnswered, seconds) => durations.observe(isAnswered ? 'answered' : 'failed', seconds))
}

const POOL_STATES = ['connected', 'free', 'pending', 'queued', 'running'] as const

export function watchPool(pool: Agent, registers: Registry[]): void {
  new Gauge({
    name: 'crosswalk_pool',
    help: 'Connections (connected, free) and requests (pending, queued, running) of the pool, by origin',
    labelNames: ['origin', 'state'],
    registers,
    collect() {
      this.reset()
      for (const [origin, stats] of Object.entries(pool.stats)) {
        const known = stats as Partial<Record<(typeof POOL_STATES)[number], number | boolean>>
        for (const state of POOL_STATES) this.set({ origin, state }, Number(known[state] ?? 0))
      }
    },
  })
}

export function watchHealth(health: () => Promise<Health>, registers: Registry[]): void {
  new Gauge({
    name: 'crosswalk_upstream_up',
    help: '1 where the service answers its ping as it should',
    labelNames: ['service'],
    registers,
    aggregator: 'min',
    async collect() {
      const { pulses } = await health()
      for (const { service, problem } of pulses) this.set({ service }, problem === undefined ? 1 : 0)
    },
  })
}

/** A service tells its clock when its health is asked for. */
function watchClocks(clock: Pick<ClockWatch, 'ahead'>, health: () => Promise<Health>, registers: Registry[]): void {
  new Gauge({
    name: 'crosswalk_clock_ahead_seconds',
    help: CLOCK,
    labelNames: ['of'],
    registers,
    aggregator: 'first',
    async collect() {
      await health()
      this.reset()
      for (const [of, ms] of clock.ahead()) this.set({ of }, ms / 1000)
    },
  })
}

const CLOCK = 'Seconds by which the clock of v2, v1 or the store is ahead of that of this machine; below 0, it is behind'

/** The metrics of a process. */
export interface Metrics extends RequestMetrics {
  /** All of them as data: `metricsText` writes them. */
  values(): Promise<MetricValues>
}

/** The sources that are read when the metrics are. */
export interface MetricsSources extends ModesMetricsSources {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly pool: Agent
  readonly report: Pick<MigrationReport, 'evidence' | 'whole'>
  readonly health: () => Promise<Health>
  readonly clock: Pick<ClockWatch, 'ahead'>
  /** The address of the report page, if people know one. */
  readonly page?: string | undefined
  /** The certificate's expiry in seconds since 1970, with TLS. */
  readonly expiry: (() => number) | undefined
  /** What became of events; absent without `notify.url`. */
  readonly notified: (() => NotifyCounts) | undefined
  /** The fleet, if replicas share a store. */
  readonly joined?: StoreMetricsSources | undefined
}

/** Each server has its own registry, so that two servers in one process count separately. Labels are operation ids: a bounded set. */
export function createMetrics({ now, page, pool, report, health, clock, expiry, notified, joined, ...sources }: MetricsSources): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const requests = createRequestCounters(registry)
  const { duration, callDuration } = createClocks(registry, now)
  const grpc = new Counter({ name: 'crosswalk_grpc_calls_total', help: 'gRPC calls by status', labelNames: ['code'], registers })
  const refused = countRefusals(registers)
  const cut = new Counter({ name: 'crosswalk_cut_total', help: CUT, labelNames: ['reason'], registers })
  const unrelayable = new Counter({ name: 'crosswalk_unrelayable_total', help: UNRELAYABLE, labelNames: ['carrier'], registers })
  let inFlight = 0
  gauge('crosswalk_requests_in_flight', 'Requests being served', () => inFlight, registers)
  watchPool(pool, registers)
  watchHealth(health, registers)
  watchClocks(clock, health, registers)
  watchMigration(report, registers)
  watchModes(sources, registers)
  watchNotify(notified, registers)
  if (joined) watchStore(joined, registry)
  watchProcess(registers)
  watchPage(page, registers)
  if (expiry !== undefined) gauge('crosswalk_certificate_expiry_seconds', CERTIFICATE, expiry, registers, 'max')
  return {
    begin() {
      inFlight += 1
    },
    end(record, status, seconds) {
      inFlight -= 1
      requests.add(record, outcomeOf(status))
      duration.observe(record.operation, seconds, record.span?.recorded)
    },
    endCall: (status, seconds, traceId) => callDuration.observe(status === undefined ? 'unanswered' : outcomeOf(status), seconds, traceId),
    endGrpc: (code) => grpc.inc({ code }),
    refused,
    cut: (reason) => cut.inc({ reason }),
    unrelayable: (carrier) => unrelayable.inc({ carrier }),
    watchWebSockets: (count) => gauge('crosswalk_web_sockets', 'WebSockets that are open, handshakes among them', count, registers),
    values: () => registry.getMetricsAsJSON(),
  }
}

/** Names the page, so that alerts and the dashboard can link to it without knowing the deployment. */
function watchPage(page: string | undefined, registers: Registry[]): void {
  const info = new Gauge({ name: 'crosswalk_page_info', help: PAGE_INFO, labelNames: ['url'], registers, aggregator: 'first' })
  if (page !== undefined) info.set({ url: page }, 1)
}

const PAGE_INFO = '1 for the address (url) of the report page, if admin.publicUrl is set'

const CUT =
  'Clients that were cut off, by what they took too long for (body, write, call, stream), or because one with a credential needed the place'

const UNRELAYABLE = 'Answers of v2 or v1 whose head no client could be given, by carrier (native, v1, grpc)'

const CERTIFICATE = 'When the certificate of the proxy ends, in seconds since 1970'

function gauge(name: string, help: string, read: () => number, registers: Registry[], aggregator: Aggregator = 'sum'): void {
  new Gauge({
    name,
    help,
    registers,
    aggregator,
    collect() {
      this.set(read())
    },
  })
}

/** Counts by hand and updates on demand: under overload, a labelled counter would be a large part of a refusal's cost. */
function countRefusals(registers: Registry[]): (why: Refused) => void {
  const counts = new Map<Refused, number>()
  new Counter({
    name: 'crosswalk_refused_total',
    help: 'Requests that were not let in, by the limit they met (overload, caller-in-flight, caller-rate, bodies, connections)',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset()
      for (const [reason, count] of counts) this.inc({ reason }, count)
    },
  })
  return (why) => void counts.set(why, (counts.get(why) ?? 0) + 1)
}
