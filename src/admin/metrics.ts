import { readdirSync, readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import { type Aggregator, Counter, Gauge, type Metric, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import type { Agent } from 'undici'
import { liveIn } from '../fleet/exchange.ts'
import type { Fleet } from '../fleet/fleet.ts'
import type { Tallies } from '../migrate/evidence/evidence.ts'
import { accountsOf } from '../migrate/evidence/standing.ts'
import type { WholeVerdict } from '../migrate/evidence/whole.ts'
import type { EvidenceReport, MigrationReport } from '../migrate/migration.ts'
import type { Notes } from '../migrate/modes/journal.ts'
import type { Modes } from '../migrate/modes/modes.ts'
import type { OperationMode } from '../migrate/modes/select.ts'
import { NOTE_KINDS } from '../migrate/records/record.ts'
import { ROLLOUT_PHASES } from '../migrate/rollout/plan.ts'
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

interface Spread {
  /** The count of each bucket by itself; the last is for durations beyond every bound. */
  readonly counts: number[]
  /** The last trace of each bucket. */
  readonly exemplars: (Exemplar | undefined)[]
  sum: number
}

/**
 * A Prometheus histogram that counts by hand and is formatted on demand.
 * Every request and every call uses one; prom-client's own would build a key from its labels each time.
 */
export function createDurations(
  registry: Registry,
  {
    name,
    help,
    label,
    buckets,
    now = Date.now,
  }: {
    readonly name: string
    readonly help: string
    /** The name of the only label. */
    readonly label: string
    /** Upper bounds of the buckets in seconds, ascending. */
    readonly buckets: readonly number[]
    /** Milliseconds since 1970. The default is the machine's clock. */
    readonly now?: (() => number) | undefined
  },
) {
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
    /** `traceId` names a recorded trace of what took so long. Each bucket keeps the last one. */
    observe(value: string, seconds: number, traceId?: string): void {
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

/** One series: the values of its labels in the order of their names, and its value. */
type Row = readonly [...labels: string[], value: number]

/** The series of a metric, as they are now. */
type Read = () => Iterable<Row> | Promise<Iterable<Row>>

/** Declares metrics, whose values are read when somebody asks for them. Operations and all other labels are bounded sets. */
class Declare {
  readonly #registers: Registry[]

  constructor(registry: Registry) {
    this.#registers = [registry]
  }

  counter(name: string, help: string, labelNames: readonly string[], read: Read): void {
    const registers = this.#registers
    new Counter({
      ...{ name, help, labelNames, registers },
      async collect() {
        const rows = await read()
        this.reset()
        for (const row of rows) this.inc(labelsOf(labelNames, row), Number(row.at(-1)))
      },
    })
  }

  /** `aggregator` says how the values of several workers become one. */
  gauge(name: string, help: string, aggregator: Aggregator, labelNames: readonly string[], read: Read): void {
    const registers = this.#registers
    new Gauge({
      ...{ name, help, labelNames, registers, aggregator },
      async collect() {
        const rows = await read()
        this.reset()
        for (const row of rows) this.set(labelsOf(labelNames, row), Number(row.at(-1)))
      },
    })
  }

  /**
   * Counts by hand and updates on demand: under overload, a labelled counter would be a large part of a refusal's cost. Without a first
   * value of 0, the rate of a counter does not see its first event: `known` get one.
   */
  tally(name: string, help: string, label: string, known: readonly string[] = []): (value: string) => void {
    const counts = new Map(known.map((value) => [value, 0]))
    this.counter(name, help, [label], () => counts)
    return (value) => void counts.set(value, (counts.get(value) ?? 0) + 1)
  }
}

function labelsOf(names: readonly string[], row: Row): Record<string, string> {
  return Object.fromEntries(names.map((name, at) => [name, String(row[at])]))
}

/** The sums of one operation. */
interface OperationCounts {
  /** Requests by mode and outcome. */
  readonly requests: Map<string, Record<RequestOutcome, number>>
  calls: number
  parsedPages: number
  dropped: number
}

type Durations = (name: string, help: string, label: string) => ReturnType<typeof createDurations>

/** Counts requests by hand: see `createDurations`. */
function countRequests(declare: Declare, durations: Durations) {
  const counts = new Map<string, OperationCounts>()
  declare.counter('crosswalk_requests_total', 'Requests by operation, mode and outcome', ['operation', 'mode', 'outcome'], function* () {
    for (const [operation, { requests }] of counts) {
      for (const [mode, outcomes] of requests) {
        for (const [outcome, count] of Object.entries(outcomes)) if (count > 0) yield [operation, mode, outcome, count]
      }
    }
  })
  const sum = (name: string, help: string, of: (count: OperationCounts) => number) =>
    declare.counter(name, help, ['operation'], function* () {
      for (const [operation, count] of counts) if (of(count) > 0) yield [operation, of(count)]
    })
  sum('crosswalk_v2_calls_total', 'Calls made to v2', ({ calls }) => calls)
  sum(
    'crosswalk_parsed_pages_total',
    'Answers of v2 (pages of lists, single rows) that were not as the fast path expects them and were parsed instead',
    ({ parsedPages }) => parsedPages,
  )
  sum(
    'crosswalk_unknown_parameters_total',
    'Query parameters that were dropped because the operation does not know them',
    ({ dropped }) => dropped,
  )
  const duration = durations('crosswalk_request_duration_seconds', 'Time from the request to the last byte of its answer', 'operation')
  const end: Metrics['end'] = ({ operation, mode, calls, parsedPages, dropped, span }, status, seconds) => {
    requests.inFlight -= 1
    const count = counts.get(operation) ?? { requests: new Map(), calls: 0, parsedPages: 0, dropped: 0 }
    counts.set(operation, count)
    const outcomes = count.requests.get(mode) ?? { ok: 0, refused: 0, cancelled: 0, failed: 0 }
    count.requests.set(mode, outcomes)
    outcomes[outcomeOf(status)] += 1
    count.calls += calls
    count.parsedPages += parsedPages
    count.dropped += dropped.length
    duration.observe(operation, seconds, span?.recorded)
  }
  const requests = { inFlight: 0, end }
  return requests
}

/** The state of the migration. */
function watchMigration(declare: Declare, { report, totals }: MetricsSources): void {
  const counter = (name: string, help: string, labels: readonly string[], rows: (evidence: EvidenceReport) => Iterable<Row>) =>
    declare.counter(name, help, labels, () => rows(report.evidence()))
  // Without a first value of 0, the rate of a counter does not see its first event.
  const totalsWith = ({ operations }: EvidenceReport) => [...totals(operations.map(({ operation }) => operation))]
  const gauge = (name: string, help: string, rows: (evidence: EvidenceReport) => Iterable<Row>) =>
    declare.gauge(name, help, 'max', ['operation'], () => rows(report.evidence()))
  counter(
    'crosswalk_comparisons_total',
    'Observations that this process counted, by operation and what the comparison said; of workers the sum',
    ['operation', 'outcome'],
    (evidence) =>
      totalsWith(evidence).flatMap(([operation, { outcomes }]) =>
        Object.entries(outcomes).map(([outcome, count]): Row => [operation, outcome, count]),
      ),
  )
  counter(
    'crosswalk_uses_total',
    'Requests in a diff mode whose caller a side accepted, by operation and where each went; of workers the sum',
    ['operation', 'account'],
    (evidence) =>
      totalsWith(evidence).flatMap(([operation, total]) => {
        // What waits leaves its account again, and a counter never falls.
        const { uses: _, waiting: __, ...accounts } = accountsOf(total)
        return Object.entries(accounts).map(([account, count]): Row => [operation, account, count])
      }),
  )
  counter(
    'crosswalk_comparison_jobs_total',
    'Comparisons that were made, failed, or dropped for want of room',
    ['end'],
    ({ queue, skipped }) => [
      ['done', queue.done],
      ['failed', queue.failed],
      ['dropped', skipped.waiting + skipped.perSecond],
    ],
  )
  counter(
    'crosswalk_fallbacks_total',
    'Reads that v2 failed: answered by v1, not for want of budget, or not because they continue a list that v2 began',
    ['answered'],
    ({ fallbacks }) => [
      ['yes', fallbacks.taken],
      ['no', fallbacks.refused],
      ['list', fallbacks.walks],
    ],
  )
  counter('crosswalk_records_dropped_total', 'Records that could not be written', [], ({ records }) => [[records.dropped]])
  gauge('crosswalk_circuit_open', '1 where an operation is kept from its canary share because v2 answers it wrongly', ({ circuits }) =>
    Object.entries(circuits).map(([operation, { state }]) => [operation, state === 'open' ? 1 : 0]),
  )
  gauge(
    'crosswalk_evidence_bound',
    'Upper end of the 95 % confidence interval for the share of wrong answers of an operation, 0-1, by the observations of this process; of workers the highest',
    ({ operations }) => operations.map(({ operation, bound }) => [operation, bound]),
  )
  // A gauge without labels says 0 where nothing is known.
  const together = (name: string, help: string, value: (whole: WholeVerdict) => number | undefined) =>
    declare.gauge(name, help, 'max', ['target'], () => {
      const whole = report.whole()
      const known = whole && whole.requests > 0 ? value(whole) : undefined
      return whole && known !== undefined ? [[String(whole.target), known]] : []
    })
  together(
    'crosswalk_cutover_bound',
    'Upper end of the 95 % confidence interval for the share of wrong answers in all requests together, 0-1, by the observations of this process; of workers the highest',
    ({ bound }) => bound,
  )
  together(
    'crosswalk_cutover_needed',
    'Clean observations, spread like the requests, that all requests together still need, by the observations of this process; of workers the highest',
    ({ needed }) => needed,
  )
  together(
    'crosswalk_cutover_days',
    'Days until all requests together are proven and each operation was seen often enough, if every further observation is clean and the traffic stays. Absent while that is unknown',
    ({ days }) => days,
  )
  gauge(
    'crosswalk_evidence_needed',
    'Clean observations that an operation still needs, to be proven within the usual target, by the observations of this process; of workers the highest',
    ({ operations }) => operations.map(({ operation, needed }) => [operation, needed]),
  )
}

/** What is in force, and how often that changed. */
function watchModes(declare: Declare, { modes, currentModes, onNote }: MetricsSources): void {
  const note = declare.tally(
    'crosswalk_notes_total',
    'Events that changed what the proxy does, or what may be done next, by kind',
    'what',
    NOTE_KINDS,
  )
  onNote(({ what }) => note(what))
  const gauge = (name: string, help: string, labels: readonly string[], read: Read) => declare.gauge(name, help, 'first', labels, read)
  gauge('crosswalk_modes_version', 'Version of the active modes: 1 at the start, one more with each change', [], () => [
    [modes.state().version],
  ])
  gauge('crosswalk_modes_drift', '1 while other modes are active than the configuration file says', [], () => [
    [modes.state().drift === undefined ? 0 : 1],
  ])
  gauge(
    'crosswalk_mode_info',
    'The mode of each operation for the clients that no rule names, and that of its canary; always 1',
    ['operation', 'mode', 'canary_mode'],
    () => currentModes().map(({ operation, mode, canary }) => [operation, mode, canary?.mode ?? '', 1]),
  )
  gauge(
    'crosswalk_canary_share',
    'Share of the callers of an operation that get the mode of its canary, 0-1; 0 while its circuit is open',
    ['operation'],
    () => currentModes().flatMap(({ operation, canary }): readonly Row[] => (canary ? [[operation, canary.percent / 100]] : [])),
  )
  gauge('crosswalk_rollout_phase', '1 for the phase that a rollout is in, 0 for the others', ['rollout', 'phase'], () =>
    modes.rollouts().flatMap((one) => ROLLOUT_PHASES.map((phase): Row => [one.name, phase, one.phase === phase ? 1 : 0])),
  )
}

/** What became of the events for `notify.url`. Without one, all are 0. */
function watchNotify(declare: Declare, counts: MetricsSources['notified']): void {
  declare.counter('crosswalk_notifications_total', 'Events for notify.url by their end (sent, failed, dropped)', ['end'], () => {
    const { sent = 0, failed = 0, dropped = 0 } = counts?.() ?? {}
    return Object.entries({ sent, failed, dropped })
  })
  declare.gauge('crosswalk_notifications_waiting', 'Events that wait for notify.url to take them', 'sum', [], () => [
    [counts?.().waiting ?? 0],
  ])
}

/**
 * The state of the process. It is read on demand only and costs nothing otherwise. Of several workers, the worst value counts: each has
 * files and an event loop of its own.
 */
function watchProcess(declare: Declare): void {
  declare.counter('process_cpu_seconds_total', 'Processor time used', [], () => {
    const { user, system } = process.cpuUsage()
    return [[(user + system) / 1e6]]
  })
  const gauge = (name: string, help: string, read: () => number, aggregator: Aggregator = 'max') =>
    declare.gauge(name, help, aggregator, [], () => [[orUnknown(read)]])
  gauge('process_resident_memory_bytes', 'Memory that the process holds', () => process.memoryUsage.rss(), 'sum')
  gauge('crosswalk_memory_limit_bytes', 'Memory that the process may hold: the limit of its container, or that of the machine', () => {
    const container = process.constrainedMemory()
    return container > 0 ? Math.min(container, totalmem()) : totalmem()
  })
  gauge('process_start_time_seconds', 'When the process started, in seconds since 1970', () => performance.timeOrigin / 1000, 'first')
  gauge('process_open_fds', 'Open files and sockets', () => readdirSync('/proc/self/fd').length)
  gauge('process_max_fds', 'Files and sockets that may be open', () =>
    Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]),
  )
  let before = performance.eventLoopUtilization()
  gauge('crosswalk_event_loop_utilization', 'Share of time that the event loop was busy since it was last asked, 0 to 1', () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    return utilization
  })
}

/** `/proc` exists on Linux only, and is unreadable when the process can open no more files. */
function orUnknown(read: () => number): number {
  try {
    return read()
  } catch {
    return Number.NaN
  }
}

/** Seconds: from a store on the same machine to one that does not answer in time. */
const STORE_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

/** How this replica stands with the store. Only replicas of a fleet have these metrics. */
function watchStore(declare: Declare, { fleet, onExchange, needsMatch }: NonNullable<MetricsSources['joined']>, registry: Registry): void {
  const gauge = (name: string, help: string, aggregator: Aggregator, read: () => number) =>
    declare.gauge(name, help, aggregator, [], () => [[read()]])
  gauge('crosswalk_store_up', '1 while the store answers', 'min', () => {
    const { succeeded, problem } = fleet.state()
    return succeeded > 0 && problem === undefined ? 1 : 0
  })
  gauge('crosswalk_store_silent_seconds', 'Time since the store last answered', 'max', () => fleet.state().silentMs / 1000)
  gauge('crosswalk_store_waiting', 'Observations that the store does not have yet', 'sum', () => fleet.state().waiting)
  if (needsMatch) {
    const help = 'Replicas that the store heard from in the last seconds; not of a file, which one process has'
    gauge('crosswalk_replicas', help, 'first', () => liveIn(fleet))
  }
  declare.gauge(
    'crosswalk_store_foreign_key',
    '1 for the key that somebody else wrote in the store, so it takes nothing',
    'max',
    ['key'],
    () => {
      const { foreignKey } = fleet.state()
      return foreignKey === undefined ? [] : [[foreignKey, 1]]
    },
  )
  declare.counter(
    'crosswalk_store_dropped_total',
    'Observations that had no room while the store did not answer, by kind (clean, bad)',
    ['kind'],
    () => {
      const { dropped, lost } = fleet.state()
      return Object.entries({ clean: dropped, bad: lost })
    },
  )
  const durations = createDurations(registry, {
    name: 'crosswalk_store_exchange_duration_seconds',
    help: 'Time of an exchange with the store, by its end (answered, failed)',
    label: 'end',
    buckets: STORE_BUCKETS,
  })
  onExchange((isAnswered, seconds) => durations.observe(isAnswered ? 'answered' : 'failed', seconds))
}

const POOL_STATES = ['connected', 'free', 'pending', 'queued', 'running'] as const

/** The services that are called: the connections to them, their health, and their clocks, which they tell when their health is asked for. */
function watchUpstream(declare: Declare, { pool, health, clock }: MetricsSources): void {
  declare.gauge(
    'crosswalk_pool',
    'Connections (connected, free) and requests (pending, queued, running) of the pool, by origin',
    'sum',
    ['origin', 'state'],
    () =>
      Object.entries(pool.stats).flatMap(([origin, stats]) => {
        const known = stats as Partial<Record<(typeof POOL_STATES)[number], number | boolean>>
        return POOL_STATES.map((state): Row => [origin, state, Number(known[state] ?? 0)])
      }),
  )
  declare.gauge('crosswalk_upstream_up', '1 where the service answers its ping as it should', 'min', ['service'], async () =>
    (await health()).pulses.map(({ service, problem }) => [service, problem === undefined ? 1 : 0]),
  )
  declare.gauge(
    'crosswalk_clock_ahead_seconds',
    'Seconds by which the clock of v2, v1 or the store is ahead of that of this machine; below 0, it is behind',
    'first',
    ['of'],
    async () => {
      await health()
      return [...clock.ahead()].map(([of, ms]): Row => [of, ms / 1000])
    },
  )
}

/** The metrics of a process. */
export interface Metrics extends RequestMetrics {
  /** All of them as data: `metricsText` writes them. */
  values(): Promise<MetricValues>
}

/** What is read when the metrics are. */
interface MetricsSources {
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly pool: Agent
  readonly report: Pick<MigrationReport, 'evidence' | 'whole'>
  readonly totals: Tallies['totals']
  readonly modes: Pick<Modes, 'state' | 'rollouts'>
  /** The modes in force of every operation that v2 can serve. */
  readonly currentModes: () => readonly OperationMode[]
  readonly onNote: Notes['onNote']
  readonly health: () => Promise<Health>
  readonly clock: Pick<ClockWatch, 'ahead'>
  /** The address of the report page, if people know one. */
  readonly page?: string | undefined
  /** The certificate's expiry in seconds since 1970, with TLS. */
  readonly expiry: (() => number) | undefined
  /** What became of events; absent without `notify.url`. */
  readonly notified: (() => NotifyCounts) | undefined
  /** The fleet, if replicas share a store. */
  readonly joined?:
    | {
        readonly fleet: Pick<Fleet, 'state' | 'replicas' | 'unread'>
        /** Several processes of different machines may share the store. */
        readonly needsMatch: boolean
        onExchange(listener: (isAnswered: boolean, seconds: number) => void): void
      }
    | undefined
}

/** Seconds: from a call within one machine to a list that takes its whole deadline. */
const BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60]

/** Each server has its own registry, so that two servers in one process count separately. */
export function createMetrics(sources: MetricsSources): Metrics {
  const { now, page, expiry, notified, joined } = sources
  const registry = new Registry()
  const declare = new Declare(registry)
  const durations: Durations = (name, help, label) => createDurations(registry, { name, help, label, buckets: BUCKETS, now })
  const requests = countRequests(declare, durations)
  const callDuration = durations('crosswalk_v2_call_duration_seconds', 'Time from a v2 call to the last byte of its answer', 'outcome')
  const endGrpc = declare.tally('crosswalk_grpc_calls_total', 'gRPC calls by status', 'code')
  const refused = declare.tally(
    'crosswalk_refused_total',
    'Requests that were not let in, by the limit they met (overload, caller-in-flight, caller-rate, bodies, connections)',
    'reason',
  )
  const cut = declare.tally(
    'crosswalk_cut_total',
    'Clients that were cut off, by what they took too long for (body, write, call, stream), or because one with a credential needed the place',
    'reason',
  )
  const unrelayable = declare.tally(
    'crosswalk_unrelayable_total',
    'Answers of v2 or v1 whose head no client could be given, by carrier (native, v1, grpc)',
    'carrier',
  )
  declare.gauge('crosswalk_requests_in_flight', 'Requests being served', 'sum', [], () => [[requests.inFlight]])
  watchUpstream(declare, sources)
  watchMigration(declare, sources)
  watchModes(declare, sources)
  watchNotify(declare, notified)
  if (joined) watchStore(declare, joined, registry)
  watchProcess(declare)
  // Names the page, so that alerts and the dashboard can link to it without knowing the deployment.
  declare.gauge('crosswalk_page_info', '1 for the address (url) of the report page, if admin.publicUrl is set', 'first', ['url'], () =>
    page === undefined ? [] : [[page, 1]],
  )
  if (expiry !== undefined) {
    const help = 'When the certificate of the proxy ends, in seconds since 1970'
    declare.gauge('crosswalk_certificate_expiry_seconds', help, 'min', [], () => [[expiry()]])
  }
  return Object.assign(requests, {
    endCall: callDuration.observe,
    endGrpc,
    refused,
    cut,
    unrelayable,
    watchWebSockets(count: () => number) {
      declare.gauge('crosswalk_web_sockets', 'WebSockets that are open, handshakes among them', 'sum', [], () => [[count()]])
    },
    values: () => registry.getMetricsAsJSON() as Promise<MetricValues>,
  })
}
