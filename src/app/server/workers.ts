import cluster, { type Worker } from 'node:cluster'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { MetricValues } from '../../admin/metrics.ts'
import { mergedMetrics, withEnded } from '../../admin/metrics-text.ts'
import { atMost } from '../../fleet/exchange.ts'
import type { KeptModes } from '../../fleet/modes.ts'
import { hostStore } from '../../fleet/store/ipc.ts'
import type { Store } from '../../fleet/store/store.ts'
import { createRecordFile, RECORD_FILE, type RecordFile } from '../../migrate/records/record-file.ts'
import { CLOCKS, type Clocks } from '../../serve/bounds.ts'
import { quiet } from '../../serve/http/retire.ts'
import { migrationSettings } from '../config/config.ts'
import { settingsOfWorker } from '../config/live.ts'
import type { Config, SettingKey } from '../config/settings.ts'
import { createLine, errorOf, type MessagePort, SENT, type SentLines, TOPICS, type WorkerOrders } from './line.ts'
import type { Role, WorkersFront } from './process.ts'

/** So many deaths in so many milliseconds are no accident. */
export const DEATHS = { most: 5, withinMs: 60_000 }

/** Returns a function that counts a death, and tells whether there were too many of late. `ticks` is a monotonic clock in milliseconds. */
function createDeaths(ticks: () => number): () => boolean {
  let deaths: number[] = []
  return () => {
    const now = ticks()
    deaths = [...deaths.filter((at) => now - at < DEATHS.withinMs), now]
    return deaths.length >= DEATHS.most
  }
}

/** Milliseconds in which a worker answers, if nothing blocks it. */
const IN_TIME_MS = 1000

/** Returns what a promise resolves with; undefined if that takes too long. */
function inTime<T>(promise: Promise<T>): Promise<T | undefined> {
  return atMost(promise, undefined, IN_TIME_MS, CLOCKS)
}

/** One worker as its supervisor sees it. */
export interface WorkerProcess {
  /** Its place among the workers, from 1. The worker that replaces it has the same. */
  readonly place: number
  /** Resolves when it accepts connections. Rejects with the reason if it never will. */
  readonly listens: Promise<void>
  /** Resolves when it accepts no more connections: it has ended, with `signal SIGKILL` or `exit code 1`, or a fault makes it leave. */
  readonly left: Promise<string>
  readonly ended: Promise<string>
  /** Lets it finish its requests. With `isReplaced`, others serve meanwhile, so that no balancer needs time to notice. */
  leave(isReplaced: boolean): void
  /** Takes it off the port, which closes with the last of them. Connections that are on their way to it still reach it. */
  offPort(): void
  /** Resolves when it answers. */
  ping(): Promise<unknown>
  /** Ends it at once. */
  kill(): void
}

/** A worker that runs as a process of its own. */
type ForkedWorker = ReturnType<typeof forkWorker>

/** The program of a worker lies beside this file, as source or as built. */
const PROGRAM = fileURLToPath(import.meta.url).replace(/workers(\.\w+)$/, 'worker-main$1')

/** A message that comes too late is no error: the end of the process is told by its exit. */
const IGNORED = () => {}

/** Starts the process of a worker. Flags may hold tokens, so that it gets none: it asks for its orders. */
function forkWorker(place: number, warn: (text: string) => void) {
  cluster.setupPrimary({ exec: PROGRAM, args: [], serialization: 'advanced' })
  const worker = cluster.fork()
  const port: MessagePort = {
    send: (message) => worker.process.send?.(message as object, IGNORED),
    on: (event, listener) => worker.on(event, listener),
  }
  const line = createLine(port, (topic) => warn(`worker ${place} sent a message (${topic}) that nobody understands`))
  const ended = endOf(worker)
  let url = ''
  const listens = new Promise<void>((resolve, reject) => {
    line.on(TOPICS.listens, (at) => {
      url = SENT.listens.parse(at)
      resolve()
    })
    line.on(TOPICS.failed, (failure) => reject(errorOf(SENT.failed.parse(failure))))
    void ended.then((end) => reject(new Error(`worker ${place} ended with ${end}`)))
  })
  listens.catch(() => {})
  const left = new Promise<string>((resolve) => {
    line.on(TOPICS.leaves, () => resolve('an uncaught exception'))
    void ended.then(resolve)
  })
  void ended.then(line.end)
  return {
    ...{ place, line, listens, left, ended },
    /** The address that it listens at; empty before. */
    url: () => url,
    // A worker that is still starting hears nothing yet.
    leave: (isReplaced: boolean) => void listens.then(() => line.tell(TOPICS.leave, isReplaced), IGNORED),
    // The second time, node:cluster would close the channel.
    offPort: () => void (worker.exitedAfterDisconnect || worker.disconnect()),
    ping: () => line.ask(TOPICS.ping),
    kill: () => void worker.process.kill('SIGKILL'),
  }
}

function endOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
    worker.on('error', (error) => resolve(error.message))
  })
}

/** Milliseconds between two pings. */
const PING_MS = 1000

/**
 * Pings in a row without an answer after which a worker is killed. Its event loop then stood for ten seconds, and nobody was served: the
 * longest work of a healthy one takes less than one. Pings are counted, and not the time: a supervisor that stood still itself sent none.
 */
export const UNANSWERED = 10

/** Kills a worker whose event loop stands. It is watched from when it listens: a start may take long. */
export function watchPulse(
  worker: Pick<WorkerProcess, 'place' | 'listens' | 'ended' | 'ping' | 'kill'>,
  { repeat, warn }: { repeat: Clocks['repeat']; warn: (text: string) => void },
): void {
  const watch = () => {
    let unanswered = 0
    const beat = () => {
      if (unanswered >= UNANSWERED) {
        end()
        warn(
          `worker ${worker.place} has answered no ping for ${(UNANSWERED * PING_MS) / 1000} seconds: its event loop stands, so it is killed`,
        )
        return worker.kill()
      }
      unanswered += 1
      worker.ping().then(() => {
        unanswered = 0
      }, IGNORED)
    }
    const end = repeat(beat, PING_MS)
    void worker.ended.then(end)
  }
  worker.listens.then(watch, IGNORED)
}

/** How often workers are asked before their port closes: so many connections may wait for each of them. */
const ROUNDS = 50

/**
 * Closes the port that workers share. node:cluster gives a worker the next connection when it has taken the one before, and resets those that
 * still wait when the last worker leaves. So they are asked again and again first: each answer is a connection that waits no longer. That
 * takes milliseconds, at most a second. If the last one stopped listening by itself, connections on their way to it would be lost.
 */
async function closePort(workers: readonly WorkerProcess[]): Promise<void> {
  const last = workers.at(-1)
  const asked = async () => {
    for (let round = 0; round < ROUNDS; round += 1) await Promise.all(workers.map((worker) => worker.ping()))
    for (const worker of workers) if (worker !== last) worker.offPort()
    await quiet(() => delay(1).then(last?.ping))
  }
  await inTime(asked()).catch(IGNORED)
  for (const worker of workers) worker.offPort()
}

interface CrewSettings<W extends WorkerProcess> {
  readonly workers: number
  readonly fork: (place: number) => W
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Milliseconds that those who leave wait before they close the port (`limits.drainMs`). */
  readonly drainMs: () => number
  readonly warn: (text: string) => void
  /** Is told, in a sentence, that workers die again and again. None is replaced from then on. */
  readonly givenUp: (sentence: string) => void
}

/** Keeps a number of workers alive. A worker that dies is replaced at once, in its place. */
export function createCrew<W extends WorkerProcess>({ workers, fork, ticks, drainMs, warn, givenUp }: CrewSettings<W>) {
  /** The worker of each place. One that leaves has none, and is not replaced. */
  const crew = new Map<number, W>()
  const present = new Set<W>()
  const starting = new Set<W>()
  const ready = new Set<W>()
  const areTooMany = createDeaths(ticks)
  let isOver = false

  const begin = (place: number): W => {
    const worker = fork(place)
    present.add(worker)
    starting.add(worker)
    const settled = () => starting.delete(worker)
    void worker.listens.then(() => settled() && ready.add(worker), settled)
    void worker.left.then((ending) => left(worker, ending))
    void worker.ended.then(() => void present.delete(worker))
    return worker
  }
  const left = (worker: W, ending: string) => {
    ready.delete(worker)
    if (isOver || crew.get(worker.place) !== worker) return
    if (areTooMany()) {
      isOver = true
      return givenUp(`${DEATHS.most} workers ended within a minute, the last with ${ending}`)
    }
    warn(`worker ${worker.place} ended with ${ending} and is replaced`)
    crew.set(worker.place, begin(worker.place))
  }
  const release = (worker: W, isReplaced: boolean) => {
    ready.delete(worker)
    worker.leave(isReplaced)
  }
  const ended = async () => {
    await Promise.all([...present].map(({ ended }) => ended))
  }
  /** Ends them at once. */
  const stop = () => {
    isOver = true
    for (const worker of present) worker.kill()
    return ended()
  }
  const succeed = async (place: number) => {
    const successor = begin(place)
    try {
      await successor.listens
    } catch (error) {
      if (isOver) return
      throw new Error(`worker ${place} was not replaced: ${(error as Error).message}`)
    }
    const before = crew.get(place)
    crew.set(place, successor)
    if (!before) return
    release(before, true)
    await before.ended
  }
  return {
    /** Starts them. Resolves when all listen. If one cannot, it rejects with the reason, and none is left. */
    async start() {
      for (let place = 1; place <= workers; place += 1) begin(place)
      const first = [...present]
      const died = first.map(async ({ place, left }) => {
        throw new Error(`worker ${place} ended with ${await left}`)
      })
      try {
        await Promise.race([Promise.all(first.map(({ listens }) => listens)), ...died])
      } catch (error) {
        await stop()
        throw error
      }
      for (const worker of first) crew.set(worker.place, worker)
    },
    /**
     * Replaces them one by one: a worker leaves when its successor listens. Rejects, and stops there, if a successor cannot listen. Returns
     * false if all of them leave meanwhile.
     */
    async roll() {
      for (let place = 1; place <= workers && !isOver; place += 1) await succeed(place)
      return !isOver
    },
    /** Lets all of them finish, but for one that has not begun. Resolves when they have ended. */
    async retire() {
      isOver = true
      const serving = [...ready]
      for (const worker of serving) release(worker, false)
      for (const worker of starting) worker.kill()
      const closed = delay(drainMs(), undefined, { ref: false }).then(() => closePort(serving))
      await Promise.race([closed, ended()])
      await ended()
    },
    stop,
    /** Those that listen now. */
    listening: (): readonly W[] => [...ready],
  }
}

function metricsIn(values: unknown): MetricValues {
  SENT.metrics.parse(values)
  return values as MetricValues
}

/** A worker that can be asked for its metrics. */
export interface MeasuredWorker {
  readonly place: number
  metrics(): Promise<MetricValues>
}

interface CollectedSettings {
  /** The workers that are there. */
  readonly workers: () => readonly MeasuredWorker[]
  /** How many of them listen. */
  readonly listening: () => number
  /** Returns what a promise resolves with; undefined if that takes too long. */
  readonly inTime: <T>(promise: Promise<T>) => Promise<T | undefined>
}

/** The end of a worker that was let go. */
const LET_GO = 'exit code 0'

/** The metrics of all workers, those that have ended among them. */
export function createCollectedMetrics({ workers, listening, inTime }: CollectedSettings) {
  const last = new Map<MeasuredWorker, MetricValues>()
  /** Workers that have said their last word: an answer that comes later is older. */
  const final = new Set<MeasuredWorker>()
  let ofEnded: MetricValues = []
  let deaths = 0
  /** Ends are added one after the other. */
  let adding = Promise.resolve()
  const ask = async (worker: MeasuredWorker) => {
    const values = await inTime(worker.metrics()).catch(() => undefined)
    if (values && workers().includes(worker) && !final.has(worker)) last.set(worker, values)
  }
  /** Asks all workers, so that little is lost of one that dies. A worker that does not answer in time counts with what it said last. */
  const collect = async () => {
    await Promise.all(workers().map(ask))
  }
  return {
    collect,
    /** A worker leaves, and says its last word. */
    said(worker: MeasuredWorker, values: MetricValues) {
      final.add(worker)
      last.set(worker, values)
    },
    /** A worker has ended, as `end` says. One in which an exception escaped has said its last word, and died all the same. */
    ended(worker: MeasuredWorker, end: string) {
      if (!final.has(worker) || end !== LET_GO) deaths += 1
      adding = adding.then(async () => {
        ofEnded = await withEnded(ofEnded, last.get(worker) ?? [])
        last.delete(worker)
        final.delete(worker)
      })
    },
    /** All of them as those of one process, together with what the supervisor itself counts. */
    async values(supervisor: MetricValues) {
      await collect()
      await adding
      const measured = [...last].map(([{ place }, values]) => ({ place, values }))
      return mergedMetrics({ supervisor, workers: measured, ended: ofEnded, listening: listening(), deaths })
    },
  }
}

/** The record file of all workers. */
export function createTakenRecords(file: RecordFile) {
  let lost = 0
  return {
    ...file,
    dropped: () => file.dropped() + lost,
    /** Opens the way for the lines of one worker. */
    fromWorker() {
      let waiting = 0
      return {
        /** Writes lines. Resolves when they are written or dropped, with the reason why the file cannot be written. */
        async take(sent: SentLines) {
          for (const line of sent.lines) file.add(line)
          waiting = sent.waiting
          await file.flush()
          return file.problem()
        },
        /** The worker has died: what it still held is lost, as far as it has told. */
        died() {
          lost += waiting
        },
      }
    },
  }
}

interface SupervisorSettings {
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

/** Milliseconds between two looks at what workers have counted: a worker that is killed takes no more than that along. */
const COLLECT_MS = 1000

/** Lines of all workers that may be on their way to the disk. The record file has room for them. */
const UNDER_WAY = RECORD_FILE.waiting / 2

/**
 * Makes the process that has the admin port, the store and the record file, while its workers serve. `role` makes a server of it:
 * `createServer(config, mappings, { role })`. `givenUp` resolves with a sentence when workers die again and again: none is replaced then.
 */
export function createSupervisor({ config, workers, file, openStore, kept, warn }: SupervisorSettings) {
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
    const worker = forkWorker(place, warn)
    const { line } = worker
    forked.add(worker)
    const store = openStore()
    const lines = records?.fromWorker()
    const one: MeasuredWorker = { place, metrics: async () => metricsIn(await line.ask(TOPICS.metrics)) }
    let isDone = false
    hostStore(store, line)
    line.on(TOPICS.orders, (): WorkerOrders => ({ ...orders, config: ofWorker(), place, kept: kept() }))
    line.on(TOPICS.records, (sent) => lines?.take(SENT.records.parse(sent)))
    line.on(TOPICS.done, (values) => {
      metrics.said(one, metricsIn(values))
      isDone = true
    })
    watchPulse(worker, { repeat: CLOCKS.repeat, warn })
    worker.listens.then(() => void measured.set(worker, one), IGNORED)
    void worker.ended.then((end) => {
      measured.delete(worker)
      forked.delete(worker)
      metrics.ended(one, end)
      if (!isDone) lines?.died()
      return store.close()
    })
    return worker
  }
  let giveUp: (sentence: string) => void = () => {}
  const givenUp = new Promise<string>((resolve) => {
    giveUp = resolve
  })
  const drainMs = () => current['limits.drainMs']
  const crew = createCrew<ForkedWorker>({ workers, fork, ticks: () => performance.now(), drainMs, warn, givenUp: giveUp })
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
  /** Gives the workers other values of live settings, and those that come later too. */
  const reload = (changes: Partial<Config>) => {
    current = { ...current, ...changes }
    const part = ofWorker()
    const told = Object.fromEntries((Object.keys(changes) as SettingKey[]).map((key) => [key, part[key]]))
    for (const { line } of forked) line.tell(TOPICS.settings, told)
  }
  const role: Role = { hasAdmin: true, records, workers: front }
  return { role, roll: crew.roll, reload, givenUp }
}
