import { spawnSync } from 'node:child_process'
import { Counter, Registry } from 'prom-client'
import { request } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { createDurations, type MetricValues } from '../../src/admin/metrics.ts'
import { mergedMetrics, metricsText, unitOf, withEnded } from '../../src/admin/metrics-text.ts'
import { metricsFormatOf } from '../../src/admin/routes.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { modesSchema } from '../../src/migrate/modes/rules.ts'
import { ROLLOUT_PHASES } from '../../src/migrate/rollout/plan.ts'
import { openTracing } from '../../src/serve/watch/spans.ts'
import { startCollector } from '../serve/watch/collector.ts'
import { type Stage, startStage, type TestProxy } from '../stage/stage.ts'
import { answering, type Handler } from '../stage/upstream.ts'

describe('metrics', () => {
  let proxy: Stage<null, Handler>

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: (request, response, body) => {
        const missing = request.url?.includes('/missing')
        answering(missing ? { code: 5, message: 'no', details: [] } : { groups: [] }, missing ? 404 : 200)(request, response, body)
      },
      proxy: { 'log.level': 'silent' },
    })
  })

  const metrics = async () =>
    (await (await fetch(`${proxy.adminUrl}/metrics`)).text()).split('\n').filter((line) => line && !line.startsWith('#'))

  /** The names and labels without values. */
  const series = (lines: readonly string[]) => lines.map((line) => line.slice(0, line.lastIndexOf(' '))).sort()

  const IDS = 3_000
  const AT_ONCE = 50

  /** Sends one request of every kind into which a client can put a word of its own. */
  const askAll = async (word: string) => {
    const to = async (path: string, init: Parameters<typeof request>[1] = {}) => (await request(proxy.url + path, init)).body.dump()
    await to(`/iam/v1/groups/${word}`, { method: 'DELETE', headers: { authorization: `Bearer ${word}`, 'x-request-id': word } })
    await to(`/iam/v1/groups?id=${word}&${word}=${word}`)
    await to(`/iam/v1/${word}`)
    await to(`/${word}/${word}`, { headers: { 'user-agent': word } })
  }

  describe('the series', () => {
    it(`are as many after ${IDS} different ids as after one`, async () => {
      await askAll('0'.repeat(40))
      const before = series(await metrics())
      const words = Array.from({ length: IDS / 4 }, (_, at) => at.toString(16).padStart(40, '0'))
      for (let at = 0; at < words.length; at += AT_ONCE) await Promise.all(words.slice(at, at + AT_ONCE).map(askAll))
      expect(series(await metrics())).toEqual(before)
    }, 60_000)

    it('show the time and the results of calls to v2', async () => {
      await askAll('0'.repeat(40))
      const text = (await metrics()).join('\n')
      expect(text).toMatch(/crosswalk_v2_call_duration_seconds_count\{outcome="ok"\} [1-9]/)
    })

    it('show the state of the process', async () => {
      const text = (await metrics()).join('\n')
      expect(text).toMatch(/process_resident_memory_bytes [1-9]\d{6,}/)
      expect(text).toMatch(/process_cpu_seconds_total \d/)
      expect(text).toMatch(/crosswalk_event_loop_utilization [01]/)
      expect(text).toMatch(/process_open_fds [1-9]/)
    })

    it('show the expiry of the certificate', async () => {
      const [key, cert] = ['test/certificates/localhost.key', 'test/certificates/localhost.crt']
      const secure = await startStage({ v1: null, v2: proxy.v2.url, proxy: { 'tls.key': key, 'tls.cert': cert } })
      const text = await (await fetch(`${secure.adminUrl}/metrics`)).text()
      const [, seconds] = /crosswalk_certificate_expiry_seconds (\d+)/.exec(text) ?? []
      expect(Number(seconds)).toBeGreaterThan(Date.now() / 1000)
      // A worker that could not be replaced still shows the old one.
      const [old, renewed] = [await secure.metrics.values(), structuredClone(await secure.metrics.values())]
      const expiryIn = (values: MetricValues) => values.find(({ name }) => name === 'crosswalk_certificate_expiry_seconds')?.values[0]
      Object.assign(expiryIn(renewed) ?? {}, { value: Number(seconds) + 1000 })
      const workers = [old, renewed].map((values, nth) => ({ place: nth + 1, values }))
      const merged = await mergedMetrics({ supervisor: [], workers, ended: [], listening: 2, deaths: 0 })
      expect(expiryIn(merged)?.value).toBe(Number(seconds))
    })

    it.each([
      [undefined, []],
      ['file:store', ['crosswalk_store_up']],
      ['redis://in.memory', ['crosswalk_store_up', 'crosswalk_replicas']],
    ])('tell of the store %s, and of replicas only if it has several', async (url, shown) => {
      const stores = [createMemory(Date.now).open()]
      const { adminUrl } = await startStage({ v1: null, v2: proxy.v2.url, stores, proxy: url === undefined ? {} : { 'store.url': url } })
      const text = await (await fetch(`${adminUrl}/metrics`)).text()
      expect(text.match(/^crosswalk_(?:store_up|replicas)\b/gm) ?? []).toEqual(shown)
    })
  })
})

describe('modes metrics', () => {
  const rollout = { name: 'iam', steps: [{ percent: 5, hold: '1h' }] }
  const rules = [
    { operations: 'iam.groups.*', mode: 'diff-v1', canary: { mode: 'diff-v2', rollout } },
    { operations: 'iam.roles.*', mode: 'v1', canary: { mode: 'v2', percent: 12.5 } },
  ]

  let proxy: TestProxy
  beforeAll(async () => {
    const nowhere = 'http://127.0.0.1:1'
    proxy = await startStage({ v1: nowhere, v2: nowhere, proxy: { modes: modesSchema.parse({ default: 'v2', rules }) } })
  })

  const series = async (name: string) => {
    const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    return text.split('\n').filter((line) => line.startsWith(`${name}{`))
  }

  it('shows the mode of each operation that v2 can serve, and that of its canary', async () => {
    const lines = await series('crosswalk_mode_info')
    expect(lines).toContain('crosswalk_mode_info{operation="iam.groups.list",mode="diff-v1",canary_mode="diff-v2"} 1')
    expect(lines).toContain('crosswalk_mode_info{operation="registry.repos.list",mode="v2",canary_mode=""} 1')
    expect(lines).toContain('crosswalk_mode_info{operation="registry.eol_tags.list",mode="v1",canary_mode=""} 1')
    expect(lines).toHaveLength(mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined).length)
  })

  it('shows the active share, fixed or of a rollout', async () => {
    const lines = await series('crosswalk_canary_share')
    expect(lines).toContain('crosswalk_canary_share{operation="iam.groups.list"} 0.05')
    expect(lines).toContain('crosswalk_canary_share{operation="iam.roles.list"} 0.125')
    expect(lines.filter((line) => line.includes('registry'))).toEqual([])
  })

  it('shows the phase of a rollout among all phases', async () => {
    const lines = await series('crosswalk_rollout_phase')
    expect(lines.filter((line) => line.endsWith(' 1'))).toEqual(['crosswalk_rollout_phase{rollout="iam",phase="running"} 1'])
    expect(lines.filter((line) => line.endsWith(' 0'))).toHaveLength(ROLLOUT_PHASES.length - 1)
  })
})

describe('openmetrics', () => {
  const OPEN = 'application/openmetrics-text'
  /** What Prometheus 2 and 3 send. */
  const PROMETHEUS_2 = `${OPEN};version=1.0.0,${OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`
  const PROMETHEUS_3 = `${OPEN};version=1.0.0;escaping=allow-utf-8;q=0.5,${OPEN};version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1`

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
  ])('the format for "%s" is %s', (accept, format) => {
    expect(metricsFormatOf(accept)).toBe(format)
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
    let collector: Awaited<ReturnType<typeof startCollector>>
    beforeAll(async () => {
      collector = await startCollector()
    })

    const open = async (env: Record<string, string> = {}) => {
      const tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
      return startStage({ v1: null, v2: answering({ groups: [] }), tracing })
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
})
