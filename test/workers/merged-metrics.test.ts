import { Counter, Gauge, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createDurations, type MetricValues } from '../../src/admin/metrics.ts'
import { mergedMetrics, metricsText, withEnded } from '../../src/admin/metrics-text.ts'

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
