import { spawnSync } from 'node:child_process'
import { Counter, Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDurations, type MetricValues } from '../../src/admin/metrics.ts'
import { mergedMetrics, metricsText, unitOf, withEnded } from '../../src/admin/metrics-text.ts'
import { metricsFormatOf } from '../../src/admin/routes.ts'
import { openTracing } from '../../src/serve/watch/spans.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'
import { startCollector } from '../tracing/collector.ts'

const OPEN = 'application/openmetrics-text'
/** What Prometheus 2 and 3 send. */
const PROMETHEUS_2 = `${OPEN};version=1.0.0,${OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`
const PROMETHEUS_3 = `${OPEN};version=1.0.0;escaping=allow-utf-8;q=0.5,${OPEN};version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1`

describe('the format', () => {
  it.each([
    [PROMETHEUS_2, 'openmetrics'],
    [PROMETHEUS_3, 'openmetrics'],
    [OPEN, 'openmetrics'],
    [`${OPEN}; version=1.0.0; charset=utf-8`, 'openmetrics'],
    [`text/plain, ${OPEN}`, 'openmetrics'],
    [`text/plain, ${OPEN};q=0.5`, 'prometheus'],
    [`${OPEN};version=0.0.1`, 'prometheus'],
    [`${OPEN};q=0`, 'prometheus'],
    [`${OPEN};q=x`, 'prometheus'],
    ['*/*', 'prometheus'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'prometheus'],
    ['', 'prometheus'],
  ])('for "%s" is %s', (accept, format) => {
    expect(metricsFormatOf(accept)).toBe(format)
  })
})

/** One counter and one histogram, of which two observations have a trace. */
function measured(start = 1000) {
  const registry = new Registry()
  new Counter({ name: 'moves_total', help: 'Moves', labelNames: ['to'], registers: [registry] }).inc({ to: 'a"b\n' }, 2)
  let now = start
  const durations = createDurations(registry, { name: 'wait_seconds', help: 'Waits', label: 'of', buckets: [0.5, 2, 10], now: () => now })
  const observe = (seconds: number, traceId?: string) => {
    now += 1000
    durations.observe('list', seconds, traceId)
  }
  return { registry, observe, values: () => registry.getMetricsAsJSON() as Promise<MetricValues> }
}

describe('the text', () => {
  it('of Prometheus is what prom-client writes, byte for byte', async () => {
    const { registry, observe, values } = measured()
    observe(1, 'aa')
    expect(await metricsText(await values(), 'prometheus')).toBe(await registry.metrics())
  })

  it('of OpenMetrics has families, units, canonical bounds, the last trace of each bucket, and an end', async () => {
    const { observe, values } = measured()
    observe(1, 'aa')
    observe(1.5, 'bb')
    observe(1.6)
    observe(99, 'cc')
    expect(await metricsText(await values(), 'openmetrics')).toBe(
      [
        '# HELP moves Moves',
        '# TYPE moves counter',
        'moves_total{to="a\\"b\\n"} 2',
        '# UNIT wait_seconds seconds',
        '# HELP wait_seconds Waits',
        '# TYPE wait_seconds histogram',
        'wait_seconds_bucket{le="0.5",of="list"} 0',
        'wait_seconds_bucket{le="2.0",of="list"} 3 # {trace_id="bb"} 1.5 3',
        'wait_seconds_bucket{le="10.0",of="list"} 3',
        'wait_seconds_bucket{le="+Inf",of="list"} 4 # {trace_id="cc"} 99 5',
        'wait_seconds_sum{of="list"} 103.1',
        'wait_seconds_count{of="list"} 4',
        '# EOF',
        '',
      ].join('\n'),
    )
  })

  it('of several workers has the newest trace of each bucket, those of workers that ended among them', async () => {
    const [supervisor, old, young] = [measured(), measured(5000), measured(9000)]
    old.observe(1, 'old')
    old.observe(99, 'kept')
    young.observe(1, 'young')
    const sent = async ({ values }: typeof old) => structuredClone(await values())
    const ended = await withEnded([], await sent(old))
    const workers = [{ place: 1, values: await sent(young) }]
    const merged = await mergedMetrics({ supervisor: await supervisor.values(), workers, ended, listening: 1, deaths: 0 })
    const buckets = (await metricsText(merged, 'openmetrics')).split('\n').filter((line) => line.includes('trace_id'))
    expect(buckets).toEqual([
      'wait_seconds_bucket{le="2.0",of="list"} 2 # {trace_id="young"} 1 10',
      'wait_seconds_bucket{le="+Inf",of="list"} 3 # {trace_id="kept"} 99 7',
    ])
  })
})

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const traced = (flags: string) => ({ traceparent: `00-${TRACE}-00f067aa0ba902b7-${flags}` })
const scrape = async ({ adminUrl }: TestProxy, accept = PROMETHEUS_2) => fetch(`${adminUrl}/metrics`, { headers: { accept } })

describe('a proxy', () => {
  let v2: Upstream
  let collector: Awaited<ReturnType<typeof startCollector>>
  beforeAll(async () => {
    v2 = await startUpstream(answering({ groups: [] }))
    collector = await startCollector()
  })
  afterAll(async () => {
    await v2.close()
    await collector.close()
  })

  const open = async (env: Record<string, string> = {}) => {
    const tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
    return startProxy({ 'upstream.v2': v2.url }, { tracing })
  }
  const exemplarsOf = async (proxy: TestProxy, flags: string) => {
    await (await fetch(`${proxy.url}/iam/v1/groups`, { headers: traced(flags) })).text()
    await proxy.logged(({ msg }) => msg === 'request')
    const text = await (await scrape(proxy)).text()
    await proxy.close()
    return text.split('\n').flatMap((line) => /^(\w+)_bucket\{.*# (\{.*\}) /.exec(line)?.slice(1, 3).join(' ') ?? [])
  }

  it('tells the traces of requests and of v2 calls to a scraper that takes OpenMetrics', async () => {
    expect(await exemplarsOf(await open(), '01')).toEqual([
      `crosswalk_request_duration_seconds {trace_id="${TRACE}"}`,
      `crosswalk_v2_call_duration_seconds {trace_id="${TRACE}"}`,
    ])
  })

  it('tells no trace that is not recorded, or if metrics shall name none', async () => {
    expect(await exemplarsOf(await open(), '00')).toEqual([])
    expect(await exemplarsOf(await open({ OTEL_METRICS_EXEMPLAR_FILTER: 'always_off' }), '01')).toEqual([])
  })

  it('answers with the type and the text of the format', async () => {
    const proxy = await open()
    const [old, young] = await Promise.all([scrape(proxy, '*/*'), scrape(proxy)])
    const [plain, text] = await Promise.all([old.text(), young.text()])
    await proxy.close()
    expect(old.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    expect(young.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(plain).not.toMatch(/# (EOF|UNIT)|trace_id/)
    const families = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) =>
      type === 'counter' ? `${name}_total` : name,
    )
    expect(families).toEqual([...plain.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    expect(new Set(families).size).toBe(families.length)
    expect([...text.matchAll(/^# UNIT (\S+) (\S+)$/gm)].map(([, , unit]) => unit)).toEqual(families.flatMap((name) => unitOf(name) ?? []))
    // prom-client escapes quotes in values, but not in the help, where OpenMetrics wants it too.
    expect(text).not.toMatch(/^# HELP .*"/m)
    expect(text.endsWith('\n# EOF\n')).toBe(true)
  })

  it.runIf(hasParser())('writes what the parser of Prometheus for Python reads whole', async () => {
    const proxy = await open()
    for (const path of ['/iam/v1/groups', '/iam/v1/roles', '/nowhere'])
      await (await fetch(proxy.url + path, { headers: traced('01') })).text()
    const text = await (await scrape(proxy)).text()
    await proxy.close()
    const { status, stdout, stderr } = spawnSync('/usr/bin/python3', ['-c', PARSE], { input: text, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const read = JSON.parse(stdout) as { families: readonly (readonly [name: string, unit: string])[]; traces: readonly string[] }
    expect(read.families).toContainEqual(['crosswalk_requests', ''])
    expect(read.families).toContainEqual(['crosswalk_request_duration_seconds', 'seconds'])
    expect(new Set(read.traces)).toEqual(new Set([TRACE]))
  })
})

/** Fails at the first line that is not OpenMetrics. */
const PARSE = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(sys.stdin.read()))
traces = [sample.exemplar.labels['trace_id'] for family in families for sample in family.samples if sample.exemplar]
print(json.dumps({'families': [[family.name, family.unit] for family in families], 'traces': traces}))
`

function hasParser(): boolean {
  if (spawnSync('/usr/bin/python3', ['-c', 'import prometheus_client']).status === 0) return true
  console.warn("SKIPPED: OpenMetrics is not read by the parser of Debian's package python3-prometheus-client")
  return false
}
