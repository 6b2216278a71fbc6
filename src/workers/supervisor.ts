import type { MetricValues } from '../admin/metrics.ts'
import { migrationSettings } from '../config/parts.ts'
import { settingsOfWorker } from '../config/process/worker-totals.ts'
import type { Config, SettingKey } from '../config/settings.ts'
import type { KeptModes } from '../fleet/modes.ts'
import { hostStore } from '../fleet/store/ipc.ts'
import type { Store } from '../fleet/store/store.ts'
import { createRecordFile, RECORD_FILE } from '../migrate/records/record-file.ts'
import { CLOCKS } from '../serve/bounds.ts'
import type { Role, WorkersFront } from '../server/process/role.ts'
import { createCollectedMetrics, type MeasuredWorker } from './collected-metrics.ts'
import { createCrew } from './crew.ts'
import { type ForkedWorker, forkWorker } from './fork-worker.ts'
import { inTime } from './in-time.ts'
import { watchPulse } from './pulse.ts'
import type { SentLines } from './sent-records.ts'
import { createTakenRecords } from './taken-records.ts'
import { TOPICS, type WorkerOrders } from './worker-orders.ts'

export interface SupervisorSettings {
  readonly config: Config
  readonly workers: number
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  /** Opens the store of this machine for one more process. */
  readonly openStore: () => Store
  /** The modes that a worker starts with while the store does not answer. */
  readonly kept: () => KeptModes | undefined
  readonly warn: (text: string) => void
}

/** The process that has the admin port, the store and the record file, while its workers serve. */
export interface Supervisor {
  /** What makes a server of it: `createServer(config, mappings, { role })`. */
  readonly role: Role
  /** Replaces the workers one by one, so that they read the certificate again. Rejects if a new one cannot listen. */
  roll(): Promise<void>
  /** Gives the workers other values of live settings, and those that come later too. */
  reload(changes: Partial<Config>): void
  /** Resolves with a sentence when workers die again and again. None is replaced from then on. */
  readonly givenUp: Promise<string>
}

/** Milliseconds between two looks at what workers have counted: a worker that is killed takes no more than that along. */
const COLLECT_MS = 1000

/** Lines of all workers that may be on their way to the disk. The record file has room for them. */
const UNDER_WAY = RECORD_FILE.waiting / 2

export function createSupervisor({ config, workers, file, openStore, kept, warn }: SupervisorSettings): Supervisor {
  const target = migrationSettings(config).records.file
  const records = target && createTakenRecords(createRecordFile({ ...target, waiting: RECORD_FILE.waiting }))
  let current = config
  // The supervisor has the file.
  const ofWorker = (): Config => ({ ...settingsOfWorker(current, workers), 'records.file': undefined })
  const orders: Omit<WorkerOrders, 'place' | 'kept' | 'config'> = {
    file,
    records: target && { window: Math.max(1, Math.floor(UNDER_WAY / workers)), waiting: RECORD_FILE.waiting },
  }
  const measured = new Map<ForkedWorker, MeasuredWorker>()
  const metrics = createCollectedMetrics({ workers: () => [...measured.values()], listening: () => crew.listening().length, inTime })
  const forked = new Set<ForkedWorker>()
  const fork = (place: number): ForkedWorker => {
    const worker = forkWorker(place)
    const { line } = worker
    forked.add(worker)
    const store = openStore()
    const lines = records?.fromWorker()
    const one: MeasuredWorker = { place, metrics: () => line.ask(TOPICS.metrics) as Promise<MetricValues> }
    let isDone = false
    hostStore(store, line)
    line.on(TOPICS.orders, (): WorkerOrders => ({ ...orders, config: ofWorker(), place, kept: kept() }))
    line.on(TOPICS.records, (sent) => lines?.take(sent as SentLines))
    line.on(TOPICS.done, (values) => {
      isDone = true
      metrics.said(one, values as MetricValues)
    })
    watchPulse(worker, { ping: () => line.ask(TOPICS.ping), repeat: CLOCKS.repeat, warn })
    worker.listens.then(
      () => void measured.set(worker, one),
      () => {},
    )
    void worker.ended.then(() => {
      measured.delete(worker)
      forked.delete(worker)
      metrics.ended(one, !isDone)
      if (!isDone) lines?.died()
      return store.close()
    })
    return worker
  }
  let giveUp: (sentence: string) => void = () => {}
  const givenUp = new Promise<string>((resolve) => {
    giveUp = resolve
  })
  const crew = createCrew<ForkedWorker>({ workers, fork, ticks: () => performance.now(), warn, givenUp: giveUp })
  const timer = setInterval(() => void metrics.collect(), COLLECT_MS).unref()
  const front: WorkersFront = {
    listen: crew.start,
    stop: crew.stop,
    retire: crew.retire,
    release: () => clearInterval(timer),
    isServing: () => crew.listening().length > 0,
    metricValues: metrics.values,
    get url() {
      return crew.listening()[0]?.url() ?? ''
    },
  }
  const reload = (changes: Partial<Config>) => {
    current = { ...current, ...changes }
    const part = ofWorker()
    const told = Object.fromEntries((Object.keys(changes) as SettingKey[]).map((key) => [key, part[key]]))
    for (const { line } of forked) line.tell(TOPICS.settings, told)
  }
  return { role: { hasAdmin: true, records, workers: front }, roll: crew.roll, reload, givenUp }
}
