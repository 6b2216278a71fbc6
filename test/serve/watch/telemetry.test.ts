import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { metricsTargetIn, openMetricsExport } from '../../../src/serve/watch/metrics-export.ts'
import { metricDataOf } from '../../../src/serve/watch/otlp-metrics.ts'
import { openTracing } from '../../../src/serve/watch/spans.ts'
import { until } from '../../stage/clocks.ts'
import { NOWHERE, startStage } from '../../stage/stage.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { type ReceivedMetrics, seriesOf, startCollector, startMetricsCollector } from './collector.ts'

describe('otlp metrics', () => {
  let v2: Upstream
  let collector: Awaited<ReturnType<typeof startMetricsCollector>>

  beforeEach(async () => {
    v2 = await startUpstream(answering({ groups: [] }))
    collector = await startMetricsCollector()
  })

  afterEach(() => void vi.unstubAllEnvs())

  const open = async (env: Record<string, string> = {}) => {
    const exportMetrics = await openMetricsExport({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/metrics`, ...env })
    return startStage({ v1: null, v2: v2.url, exportMetrics })
  }
  const ask = async (url: string, ...paths: readonly string[]) => {
    for (const path of paths) await (await fetch(url + path)).text()
  }

  /** What moves by itself between two readings. */
  const MOVES = /^(process_|crosswalk_(event_loop|pool|clock))/

  describe('exported metrics', () => {
    it('are those of /metrics when the proxy closes: names, labels, values and buckets', async () => {
      const proxy = await open()
      await ask(proxy.url, '/iam/v1/groups', '/iam/v1/groups?name=a', '/iam/v1/roles', '/nowhere')
      const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
      await proxy.close()
      const told = text.split('\n').filter((line) => line !== '' && !line.startsWith('#') && !MOVES.test(line))
      const sent = seriesOf(collector.received.at(-1) as ReceivedMetrics).filter((line) => !MOVES.test(line))
      expect(told.some((line) => line.startsWith('crosswalk_request_duration_seconds_bucket{le="0.1",operation="iam.groups.list"} '))).toBe(
        true,
      )
      expect(sent.sort()).toEqual(told.sort())
    })

    it('are cumulative since the process started, and have units', async () => {
      const proxy = await open()
      await ask(proxy.url, '/iam/v1/groups')
      await proxy.close()
      const { metrics } = collector.received.at(-1) as ReceivedMetrics
      const of = (wanted: string) => metrics.find(({ name }) => name === wanted)
      expect(of('crosswalk_requests_total')?.sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 })
      expect(of('crosswalk_request_duration_seconds')).toMatchObject({ unit: 's', histogram: { aggregationTemporality: 2 } })
      expect(of('process_resident_memory_bytes')).toMatchObject({ unit: 'By', gauge: { dataPoints: [{}] } })
      const [point] = of('crosswalk_requests_total')?.sum?.dataPoints ?? []
      expect(Number(BigInt(point?.startTimeUnixNano ?? 0) / 1_000_000n)).toBe(Math.trunc(performance.timeOrigin))
      expect(BigInt(point?.timeUnixNano ?? 0)).toBeGreaterThan(BigInt(point?.startTimeUnixNano ?? 0))
    })

    it('say which service and which instance of it they are of', async () => {
      vi.stubEnv('OTEL_SERVICE_NAME', 'edge')
      vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test')
      vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20secret')
      await (await open()).close()
      expect(collector.received.at(-1)?.resource).toEqual({
        'service.name': 'edge',
        'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
        'deployment.environment.name': 'test',
      })
      expect(collector.seen.at(-1)?.headers).toMatchObject({ authorization: 'Bearer secret', 'content-type': 'application/json' })
    })

    it('come at an interval', async () => {
      const proxy = await open({ OTEL_METRIC_EXPORT_INTERVAL: '100' })
      await until(async () => collector.received.length >= 2)
      await ask(proxy.url, '/iam/v1/groups')
      const sent = collector.received.length
      await until(async () => collector.received.length > sent + 1)
      expect(seriesOf(collector.received.at(-1) as ReceivedMetrics)).toContain(
        'crosswalk_requests_total{operation="iam.groups.list",mode="v2",outcome="ok"} 1',
      )
    })
  })

  describe('a collector', () => {
    it('that takes nothing is told of once, and once that it takes metrics again, without a token', async () => {
      vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20secret')
      collector.answer(400)
      const url = `${collector.url.replace('//', '//user:secret@')}/v1/metrics?key=secret`
      const proxy = await open({ OTEL_METRIC_EXPORT_INTERVAL: '100', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url })
      await until(async () => collector.seen.length >= 3)
      collector.answer(200)
      await until(async () => collector.received.length >= 2)
      await ask(proxy.url, '/iam/v1/groups')
      await proxy.close()
      const said = proxy.log.filter(({ msg }) => String(msg).startsWith('metrics '))
      expect(said.map(({ level, msg }) => [level, msg])).toEqual([
        [40, `metrics cannot be sent to ${collector.url}/v1/metrics: it answers 400; they are tried again, and /metrics has them`],
        [30, `metrics are taken again at ${collector.url}/v1/metrics`],
      ])
      expect(JSON.stringify(proxy.log)).not.toContain('secret')
    })

    it('that is not there disturbs nothing, and ends nothing late', async () => {
      const proxy = await open({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${NOWHERE}/v1/metrics`, OTEL_METRIC_EXPORT_INTERVAL: '100' })
      expect((await fetch(`${proxy.url}/iam/v1/groups`)).status).toBe(200)
      await proxy.logged(({ level }) => level === 40)
      await proxy.close()
      const said = proxy.log.filter(({ msg }) => String(msg).startsWith('metrics '))
      expect(said.map(({ msg }) => msg)).toEqual([
        'metrics cannot be sent to http://127.0.0.1:1/v1/metrics: nothing listens (127.0.0.1:1); they are tried again, and /metrics has them',
      ])
    })
  })

  describe('what is sent where', () => {
    const ALL = 'http://collector:4318'
    it.each([
      [{}, undefined],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: ALL }, undefined],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: ALL, OTEL_METRICS_EXPORTER: 'otlp' }, `${ALL}/v1/metrics`],
      [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${ALL}//`, OTEL_METRICS_EXPORTER: 'prometheus, otlp' }, `${ALL}/v1/metrics`],
      [{ OTEL_METRICS_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/metrics'],
      [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${ALL}/x` }, `${ALL}/x`],
      [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${ALL}/x`, OTEL_METRICS_EXPORTER: 'none' }, undefined],
      [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${ALL}/x`, OTEL_SDK_DISABLED: 'true' }, undefined],
    ])('with %j: %s', (env, url) => {
      expect(metricsTargetIn(env)?.url).toBe(url)
    })

    it.each([
      [{ OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '5' }, /^OTEL_METRIC_EXPORT_INTERVAL is "5", but it must be a whole/],
      [{ OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '1m' }, /^OTEL_METRIC_EXPORT_INTERVAL is "1m", but/],
      [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'collector:4318' }, /^The address of the collector of metrics must be one such as/],
    ])('is refused in a sentence with %j', async (env, sentence) => {
      await expect(openMetricsExport(env)).rejects.toThrow(sentence)
    })
  })

  it('leaves out what is not known, and keeps the labels of histograms apart', () => {
    const times = { started: 1500, now: 2000.5 }
    const gauge = { name: 'open', help: 'Open', type: 'gauge', unit: '', values: [{ labels: {}, value: Number.NaN }] }
    const bucket = (of: string, le: string | number, value: number) => ({ metricName: 'wait_bucket', labels: { le, of }, value })
    const rest = (of: string, sum: number, count: number) => [
      { metricName: 'wait_sum', labels: { of }, value: sum },
      { metricName: 'wait_count', labels: { of }, value: count },
    ]
    const values = [
      ...[bucket('a', 1, 2), bucket('a', 5, 3), bucket('a', '+Inf', 7), ...rest('a', 40, 7)],
      ...[bucket('b', 1, 0), bucket('b', 5, 1), bucket('b', '+Inf', 1), ...rest('b', 2, 1)],
    ]
    const found = metricDataOf([gauge, { name: 'wait', help: 'Wait', type: 'histogram', unit: 's', values }], times)
    expect(found).toHaveLength(1)
    expect(found[0]?.dataPoints).toEqual([
      {
        ...{ startTime: [1, 500_000_000], endTime: [2, 500_000], attributes: { of: 'a' } },
        value: { buckets: { boundaries: [1, 5], counts: [2, 1, 4] }, sum: 40, count: 7 },
      },
      {
        ...{ startTime: [1, 500_000_000], endTime: [2, 500_000], attributes: { of: 'b' } },
        value: { buckets: { boundaries: [1, 5], counts: [0, 1, 0] }, sum: 2, count: 1 },
      },
    ])
  })
})

describe('tracing', () => {
  const TRACE = 'a'.repeat(32)
  const PARENT = 'b'.repeat(16)
  const PATH = '/iam/v1/groups?name=hidden'

  let v2: Upstream
  let collector: Awaited<ReturnType<typeof startCollector>>

  beforeAll(async () => {
    v2 = await startUpstream((request, response, body) => {
      const status = request.url?.includes('teapot') ? 500 : 200
      answering(status === 200 ? { groups: [] } : { code: 13, message: 'boom', details: [] }, status)(request, response, body)
    })
    collector = await startCollector()
  })

  beforeEach(() => {
    v2.seen.length = 0
    collector.received.length = 0
  })

  /** Serves one request with tracing. Its spans have arrived once the proxy is closed. */
  async function traced(path: string, headers: Record<string, string> = {}, env: Record<string, string> = {}, init: RequestInit = {}) {
    const tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
    const proxy = await startStage({ v1: null, v2: v2.url, tracing })
    await (await fetch(proxy.url + path, { headers, ...init })).text()
    await proxy.close()
    return { spans: collector.received, log: proxy.log }
  }

  describe('a traced request', () => {
    it('is a span named after its operation, with its v2 calls as children', async () => {
      const { spans, log } = await traced(PATH, {
        traceparent: `00-${TRACE}-${PARENT}-01`,
        tracestate: 'vendor=1',
        authorization: 'Bearer secret',
      })
      const [request, call] = ['iam.groups.list', 'GET /iam/v2/groups'].map((name) => spans.find((span) => span.name === name))
      expect(spans).toHaveLength(2)
      expect(request).toMatchObject({ service: 'crosswalk', traceId: TRACE, parentSpanId: PARENT, kind: 2 })
      expect(request?.attributes).toMatchObject({ 'http.response.status_code': 200, 'crosswalk.mode': 'v2' })
      expect(call).toMatchObject({ traceId: TRACE, parentSpanId: request?.spanId, kind: 3 })
      expect(v2.seen[0]?.headers).toMatchObject({ traceparent: `00-${TRACE}-${call?.spanId}-01`, tracestate: 'vendor=1' })
      expect(log[0]).toMatchObject({ operation: 'iam.groups.list', trace: TRACE })
      expect(JSON.stringify(spans)).not.toMatch(/hidden|secret/)
    })

    it('names the method and the status of a call', async () => {
      const init = { method: 'POST', body: '{"name":"hidden"}' }
      const { spans } = await traced('/chainguard.platform.iam.Groups/List', { 'content-type': 'application/json' }, {}, init)
      expect(spans.find(({ name }) => name === 'iam.groups.list')?.attributes).toMatchObject({
        'http.response.status_code': 200,
        'rpc.system': 'connect_rpc',
        'rpc.service': 'chainguard.platform.iam.Groups',
        'rpc.method': 'List',
        'rpc.grpc.status_code': 0,
      })
      expect(JSON.stringify(spans)).not.toContain('hidden')
    })

    it.each<[what: string, headers: Record<string, string>]>([
      ['the client sent none', {}],
      ['its traceparent is broken', { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` }],
    ])('begins a trace if %s', async (_, headers) => {
      const { spans } = await traced(PATH, { ...headers, tracestate: 'vendor=of-another-trace' })
      expect(spans).toHaveLength(2)
      expect(v2.seen[0]?.headers).not.toHaveProperty('tracestate')
      expect(spans.map(({ traceId }) => traceId)).toEqual(Array(2).fill(expect.stringMatching(/^(?!0+$)[0-9a-f]{32}$/)))
      expect(spans[1]?.traceId).toBe(spans[0]?.traceId)
    })

    it('is passed on but not sent if the client did not sample it', async () => {
      const { spans } = await traced(PATH, { traceparent: `00-${TRACE}-${PARENT}-00` })
      expect(spans).toEqual([])
      expect(v2.seen[0]?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
    })

    it('reports its failure', async () => {
      const { spans } = await traced('/iam/v1/groups?name=teapot')
      expect(spans.map(({ status }) => status)).toEqual([2, 2])
    })

    it('keeps its name if it is native or unknown', async () => {
      const { spans } = await traced('/iam/v2/groups', { traceparent: `00-${TRACE}-${PARENT}-01` })
      expect(spans).toEqual([])
      expect(v2.seen[0]?.headers.traceparent).toBe(`00-${TRACE}-${PARENT}-01`)
      expect((await traced('/iam/v1/nothing')).spans.map(({ name }) => name)).toEqual(['unknown'])
    })
  })

  describe('without a collector', () => {
    it.each([{}, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x', OTEL_SDK_DISABLED: 'true' }])(
      'traces nothing with %j',
      async (env) => {
        expect(await openTracing(env)).toBeUndefined()
      },
    )

    it('passes on and logs the trace of the client', async () => {
      const proxy = await startStage({ v1: null, v2: v2.url })
      await fetch(proxy.url + PATH, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } })
      expect(v2.seen[0]?.headers.traceparent).toBe(`00-${TRACE}-${PARENT}-01`)
      expect(await proxy.logged(() => true)).toMatchObject({ trace: TRACE })
    })

    it('delays no answer if the collector is down', async () => {
      const { log } = await traced(PATH, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: NOWHERE })
      expect(log[0]).toMatchObject({ status: 200 })
    })

    it('tells once that a collector takes no spans, without a password', async () => {
      const said: string[] = []
      const log = { warn: (text: string) => void said.push(text), info: (text: string) => void said.push(text) }
      const tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:secret@127.0.0.1:1' }, log)
      tracing?.begin({}).end({ operation: 'a', mode: 'v2', method: 'GET', status: 200, failed: false, rpc: undefined })
      await tracing?.close()
      expect(said).toEqual(['traces cannot be sent to http://127.0.0.1:1/v1/traces: nothing listens (127.0.0.1:1); they are lost'])
    })

    it.each(['collector:4318', 'grpc://user:secret@collector:4317', 'http://user:secret@a b'])(
      'refuses the address %s',
      async (address) => {
        await expect(openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: address })).rejects.toThrow(
          'The address of the collector of traces must be one such as http://collector:4318; see OTEL_EXPORTER_OTLP_ENDPOINT.',
        )
      },
    )
  })
})
