import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Counter, Gauge, Registry } from 'prom-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDurations, type MetricValues } from '../../../src/admin/metrics.ts'
import { mergedMetrics, metricsText, withEnded } from '../../../src/admin/metrics-text.ts'
import { configWith } from '../../../src/app/config/config.ts'
import { settingsOfWorker, WORKER_TOTALS } from '../../../src/app/config/live.ts'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createSentRecords, type SentLines } from '../../../src/app/server/line.ts'
import { createCollectedMetrics, createTakenRecords, type MeasuredWorker } from '../../../src/app/server/workers.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import { createRecordFile, type RecordFile } from '../../../src/migrate/records/record-file.ts'
import { NOWHERE, startStage } from '../../stage/stage.ts'
import { breakableStore } from '../../stage/stores.ts'

describe('records', () => {
  /** A supervisor that writes nothing before it is told to. */
  function slowSupervisor() {
    const got: SentLines[] = []
    const held: ((problem?: string) => void)[] = []
    const ask = (_: string, sent: unknown) => {
      got.push(sent as SentLines)
      return new Promise((resolve) => void held.push(resolve))
    }
    return { ask, got, release: (problem?: string) => held.shift()?.(problem) }
  }

  const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

  it('sends the lines of one turn together, at the end of it', async () => {
    const { ask, got } = slowSupervisor()
    const records = createSentRecords({ ask }, { window: 10, waiting: 10 })
    records.add('a')
    records.add('b')
    expect(got).toEqual([])
    await turn()
    expect(got).toEqual([{ lines: ['a', 'b'], waiting: 0 }])
  })

  it('holds lines back while too many are under way, and drops what it has no room for', async () => {
    const { ask, got, release } = slowSupervisor()
    const records = createSentRecords({ ask }, { window: 2, waiting: 3 })
    for (const line of ['a', 'b', 'c', 'd']) records.add(line)
    expect(records.dropped()).toBe(1)
    await turn()
    expect(got).toEqual([{ lines: ['a', 'b'], waiting: 1 }])
    let isFlushed = false
    const flushed = records.flush().then(() => {
      isFlushed = true
    })
    release('the disk is full')
    await turn()
    expect(got.slice(1)).toEqual([{ lines: ['c'], waiting: 0 }])
    expect(records.problem()).toBe('the disk is full')
    expect(isFlushed).toBe(false)
    release()
    await flushed
    expect(records.problem()).toBeUndefined()
  })

  it('counts what a worker that died still held', async () => {
    const file: RecordFile = { add: () => {}, flush: async () => {}, dropped: () => 1, problem: () => undefined }
    const taken = createTakenRecords(file)
    const worker = taken.fromWorker()
    await worker.take({ lines: ['a'], waiting: 7 })
    await worker.take({ lines: ['b'], waiting: 5 })
    worker.died()
    expect(taken.dropped()).toBe(1 + 5)
  })

  it('loses no line of four workers through 25 rotations', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-records-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [workers, each, length] = [4, 1000, 100]
    const path = join(folder, 'records.ndjson')
    const bytes = (workers * each * length) / 40
    const taken = createTakenRecords(createRecordFile({ path, bytes, files: 100, waiting: 1000 }))
    const lines = Array.from({ length: workers }, (_, worker) =>
      Array.from({ length: each }, (_, nth) => `${worker}-${nth}`.padEnd(length - 1, '.')),
    )
    const sent = lines.map(() => {
      const { take } = taken.fromWorker()
      return createSentRecords({ ask: (_, some) => take(some as SentLines) }, { window: 10, waiting: each })
    })
    for (const [worker, records] of sent.entries()) for (const line of lines[worker] ?? []) records.add(line)
    await Promise.all(sent.map((records) => records.flush()))
    const files = readdirSync(folder)
    const written = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
    expect(files.length).toBeGreaterThan(25)
    expect(written.sort()).toEqual(lines.flat().sort())
  })
})

describe('collected metrics', () => {
  /** A worker that counts to a number. */
  function counting() {
    const registry = new Registry()
    const counter = new Counter({ name: 'requests_total', help: 'Requests', registers: [registry] })
    // Between processes, values are copied.
    const metrics = async () => structuredClone(await registry.getMetricsAsJSON())
    return { place: 1, metrics, count: (requests: number) => counter.inc(requests) }
  }

  function collected(...present: MeasuredWorker[]) {
    const inTime = <T>(promise: Promise<T>) =>
      Promise.race([promise, new Promise<undefined>((resolve) => void setImmediate(() => resolve(undefined)))])
    const metrics = createCollectedMetrics({ workers: () => present, listening: () => present.length, inTime })
    const text = async () => metricsText(await metrics.values([]), 'prometheus')
    const requests = async () => /^requests_total (\d+)$/m.exec(await text())?.[1]
    const leave = (worker: MeasuredWorker, end: string) => {
      present.splice(present.indexOf(worker), 1)
      metrics.ended(worker, end)
    }
    return Object.assign(metrics, { present, text, requests, leave })
  }

  it('counts what a worker said last, when it has died', async () => {
    const [one, other] = [counting(), counting()]
    const { collect, leave, requests, text } = collected(one, other)
    one.count(3)
    other.count(4)
    await collect()
    one.count(100)
    leave(one, 'signal SIGKILL')
    expect(await requests()).toBe('7')
    expect(await text()).toContain('crosswalk_worker_deaths_total 1')
  })

  it('counts all that a worker served which was let go', async () => {
    const [one, other] = [counting(), counting()]
    const { said, leave, requests, text } = collected(one, other)
    one.count(3)
    const late = requests()
    one.count(4)
    said(one, await one.metrics())
    await late
    leave(one, 'exit code 0')
    expect(await requests()).toBe('7')
    expect(await text()).toContain('crosswalk_worker_deaths_total 0')
  })

  it('counts the death of a worker that said its last word because an exception escaped', async () => {
    const one = counting()
    const { said, leave, text } = collected(one)
    said(one, await one.metrics())
    leave(one, 'exit code 1')
    expect(await text()).toContain('crosswalk_worker_deaths_total 1')
  })

  it('does not wait for a worker that does not answer', async () => {
    const hanging = counting()
    hanging.count(5)
    let isHanging = false
    const worker = { place: 1, metrics: () => (isHanging ? new Promise<never>(() => {}) : hanging.metrics()) }
    const { requests } = collected(worker)
    expect(await requests()).toBe('5')
    isHanging = true
    expect(await requests()).toBe('5')
  })
})

describe('merged metrics', () => {
  interface Seen {
    readonly requests: number
    readonly seconds?: number
    readonly open?: number
    readonly version?: number
    readonly busy?: number
  }

  /** The metrics of one process, of every kind. */
  function process({ requests, seconds, open = 0, version = 1, busy = 0 }: Seen): Promise<MetricValues> {
    const registry = new Registry()
    const registers = [registry]
    new Counter({ name: 'requests_total', help: 'Requests', labelNames: ['operation'], registers }).inc({ operation: 'list' }, requests)
    new Gauge({ name: 'circuit_open', help: 'Open', aggregator: 'max', registers }).set(open)
    new Gauge({ name: 'version', help: 'Version', aggregator: 'first', registers }).set(version)
    new Gauge({ name: 'crosswalk_event_loop_utilization', help: 'Busy', aggregator: 'max', registers }).set(busy)
    const durations = createDurations(registry, { name: 'seconds', help: 'Seconds', label: 'operation', buckets: [1, 2] })
    if (seconds !== undefined) durations.observe('list', seconds)
    return registry.getMetricsAsJSON()
  }

  const lines = async (values: Promise<MetricValues>) =>
    (await metricsText(await values, 'prometheus')).split('\n').filter((line) => line !== '' && !line.startsWith('#'))

  it('adds up what workers count, takes the highest of what they are, and the word of the supervisor', async () => {
    const supervisor = await process({ requests: 0, version: 7, busy: 0.1 })
    const workers = [
      { place: 1, values: await process({ requests: 3, seconds: 0.5, open: 1, version: 6, busy: 0.9 }) },
      { place: 2, values: await process({ requests: 4, seconds: 1.5, busy: 0.4 }) },
    ]
    expect(await lines(mergedMetrics({ supervisor, workers, ended: [], listening: 2, deaths: 0 }))).toEqual([
      'requests_total{operation="list"} 7',
      'circuit_open 1',
      'version 7',
      'crosswalk_event_loop_utilization 0.9',
      'seconds_bucket{le="1",operation="list"} 1',
      'seconds_bucket{le="2",operation="list"} 2',
      'seconds_bucket{le="+Inf",operation="list"} 2',
      'seconds_sum{operation="list"} 2',
      'seconds_count{operation="list"} 2',
      'crosswalk_worker_event_loop_utilization{worker="1"} 0.9',
      'crosswalk_worker_event_loop_utilization{worker="2"} 0.4',
      'crosswalk_workers 2',
      'crosswalk_worker_deaths_total 0',
    ])
  })

  it('keeps what workers counted that have ended, and nothing else of them', async () => {
    const supervisor = await process({ requests: 0 })
    const first = await withEnded([], await process({ requests: 3, seconds: 0.5, open: 1 }))
    const ended = await withEnded(first, await process({ requests: 2, seconds: 0.5 }))
    const workers = [{ place: 1, values: await process({ requests: 1, seconds: 5 }) }]
    const text = await lines(mergedMetrics({ supervisor, workers, ended, listening: 1, deaths: 2 }))
    expect(text).toContain('requests_total{operation="list"} 6')
    expect(text).toContain('seconds_bucket{le="1",operation="list"} 2')
    expect(text).toContain('seconds_count{operation="list"} 3')
    expect(text).toContain('circuit_open 0')
  })
})

describe('given modes', () => {
  const REASON = '2 of 20 answers were wrong'
  const canary = { operations: '*', clients: '*', mode: 'v1', canary: { percent: 50, mode: 'v2' } } as const
  const PUT: ModeRules = { default: 'v1', rules: [canary], testers: [] }

  /** A process that starts while the store does not answer. */
  async function startAlone(options: Parameters<typeof joinFleet>[1]) {
    const { store } = Object.assign(breakableStore(createMemory(Date.now).open()), { broken: 'refuses' as const })
    return startStage({ v1: NOWHERE, v2: NOWHERE, mode: 'v2', join: joinFleet(store, options) })
  }

  it('gives a process that starts without the store the modes and open circuits that its supervisor knows', async () => {
    const supervisor = await startStage({ v1: NOWHERE, v2: NOWHERE, proxy: { modes: PUT }, stores: [createMemory(Date.now).open()] })
    const known = supervisor.keptModes()
    expect(known).toMatchObject({ document: { version: 1 }, open: {} })
    const kept = known && { ...known, open: { 'iam.groups.list': REASON } }
    const worker = await startAlone({ kept: structuredClone(kept) })
    const since = expect.stringMatching(new RegExp(`^${REASON}, open since `))
    expect(worker.keptModes()).toEqual({ ...kept, open: { 'iam.groups.list': since } })
    expect(await (await fetch(`${worker.adminUrl}/modes`)).json()).toMatchObject({ default: 'v1', rules: [expect.anything()] })
    expect(await (await fetch(`${worker.url}/iam/v1/groups`)).text()).not.toContain('does not know the modes')
    expect(worker.log.map(({ msg }) => msg)).toContain(
      'the store does not answer: the last known modes are active, those of the supervisor',
    )
  })

  it('gives nothing of modes that nobody knows', async () => {
    const supervisor = await startAlone({})
    expect(supervisor.keptModes()).toBeUndefined()
    expect(await (await fetch(`${supervisor.url}/iam/v1/groups`)).text()).toContain('does not know the modes')
  })
})

describe('worker totals', () => {
  it('divides each total among the workers, and nothing else', () => {
    const whole = configWith({})
    const worker = settingsOfWorker(whole, 2)
    const changed = Object.keys(whole).filter((key) => worker[key as keyof typeof worker] !== whole[key as keyof typeof whole])
    expect(changed.sort()).toEqual([...WORKER_TOTALS].sort())
    expect(worker['limits.requestsInFlight']).toBe(whole['limits.requestsInFlight'] / 2)
  })

  it.each([1, 2, 3, 7, 64, 256])('never gives %i workers more than the setting, unless that is less than one each', (workers) => {
    const whole = configWith({})
    for (const key of WORKER_TOTALS) {
      const one = settingsOfWorker(whole, workers)[key]
      const least =
        { 'limits.bodiesBytes': whole['limits.requestBytes'], 'limits.messagesBytes': whole['limits.messageBytes'] }[key as string] ?? 1
      expect(one, key).toBeGreaterThanOrEqual(Math.min(least, whole[key]))
      if (one > least) expect(workers * one, key).toBeLessThanOrEqual(whole[key])
    }
  })

  it('leaves 0 as it is: none, or unlimited', () => {
    expect(settingsOfWorker(configWith({ 'diff.perSecond': 0, 'limits.requestsInFlight': 0 }), 4)).toMatchObject({
      'diff.perSecond': 0,
      'limits.requestsInFlight': 0,
    })
  })
})
