import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTracing } from '../../src/serve/watch/spans.ts'
import { startProxy } from '../stage/proxy.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'
import { startCollector } from './collector.ts'

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

afterAll(async () => {
  await v2.close()
  await collector.close()
})

beforeEach(() => {
  v2.seen.length = 0
  collector.received.length = 0
})

/** Serves one request with tracing. Its spans have arrived once the proxy is closed. */
async function traced(path: string, headers: Record<string, string> = {}, env: Record<string, string> = {}, init: RequestInit = {}) {
  const tracing = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
  const proxy = await startProxy({ 'upstream.v2': v2.url }, { tracing })
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

  it('begins a trace if the client sent none', async () => {
    const { spans } = await traced(PATH)
    expect(spans).toHaveLength(2)
    expect(spans.every(({ traceId }) => traceId === spans[0]?.traceId && /^[0-9a-f]{32}$/.test(traceId))).toBe(true)
  })

  it('is passed on but not sent if the client did not sample it', async () => {
    const { spans } = await traced(PATH, { traceparent: `00-${TRACE}-${PARENT}-00` })
    expect(spans).toEqual([])
    expect(v2.seen[0]?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  })

  it('begins a trace if its traceparent is broken', async () => {
    const { spans } = await traced(PATH, { traceparent: `00-${'0'.repeat(32)}-${PARENT}-01` })
    expect(spans).toHaveLength(2)
    expect(spans[0]?.traceId).not.toMatch(/^0+$/)
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
    const proxy = await startProxy({ 'upstream.v2': v2.url })
    await fetch(proxy.url + PATH, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } })
    expect(v2.seen[0]?.headers.traceparent).toBe(`00-${TRACE}-${PARENT}-01`)
    expect(await proxy.logged(() => true)).toMatchObject({ trace: TRACE })
    await proxy.close()
  })

  it('delays no answer if the collector is down', async () => {
    const { log } = await traced(PATH, {}, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
    expect(log[0]).toMatchObject({ status: 200 })
  })
})
