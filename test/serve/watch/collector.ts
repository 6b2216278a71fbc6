import { startUpstream } from '../../stage/upstream.ts'

/** A span as a collector receives it, with its attributes as one object. */
export interface Received {
  readonly service: unknown
  readonly name: string
  readonly kind: number
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, unknown>>
  /** 2 is an error. */
  readonly status: number | undefined
}

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<Received, 'attributes' | 'status'> & { attributes: readonly Attribute[]; status: { code: number } })[]
    }[]
  }[]
}

const entriesOf = (attributes: readonly Attribute[]) => attributes.map(({ key, value }) => [key, Object.values(value)[0]] as const)

const objectOf = (attributes: readonly Attribute[]) => Object.fromEntries(entriesOf(attributes))

/** Starts an OTLP collector that keeps the spans that it receives. */
export async function startCollector() {
  const received: Received[] = []
  const server = await startUpstream((request, response, text) => {
    if (request.url !== '/v1/traces') return void response.writeHead(404).end()
    for (const { resource, scopeSpans } of (JSON.parse(text) as Body).resourceSpans) {
      const service = objectOf(resource.attributes)['service.name']
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        received.push({ ...span, service, attributes: objectOf(span.attributes), status: span.status.code })
      }
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return { url: server.url, received, seen: server.seen, close: server.close }
}

interface Point {
  readonly attributes: readonly Attribute[]
  readonly startTimeUnixNano: string
  readonly timeUnixNano: string
}

interface NumberPoint extends Point {
  readonly asDouble: number
}

interface HistogramPoint extends Point {
  readonly count: number | string
  readonly sum: number
  readonly bucketCounts: readonly (number | string)[]
  readonly explicitBounds: readonly number[]
}

interface Metric {
  readonly name: string
  readonly unit: string
  readonly sum?: { readonly dataPoints: readonly NumberPoint[]; readonly isMonotonic: boolean; readonly aggregationTemporality: number }
  readonly gauge?: { readonly dataPoints: readonly NumberPoint[] }
  readonly histogram?: { readonly dataPoints: readonly HistogramPoint[]; readonly aggregationTemporality: number }
}

export interface ReceivedMetrics {
  readonly resource: Readonly<Record<string, unknown>>
  readonly metrics: readonly Metric[]
}

interface MetricsBody {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeMetrics: readonly { readonly metrics: readonly Metric[] }[]
  }[]
}

/** Starts an OTLP collector that keeps the metrics that it receives. */
export async function startMetricsCollector() {
  const received: ReceivedMetrics[] = []
  let status = 200
  const server = await startUpstream((request, response, text) => {
    if (request.url?.split('?')[0] !== '/v1/metrics') return void response.writeHead(404).end()
    const isTaken = status === 200
    for (const { resource, scopeMetrics } of isTaken ? (JSON.parse(text) as MetricsBody).resourceMetrics : []) {
      received.push({
        resource: objectOf(resource.attributes),
        metrics: scopeMetrics.flatMap(({ metrics }) => metrics),
      })
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  return {
    ...{ url: server.url, received, seen: server.seen, close: server.close },
    answer: (next: number) => {
      status = next
    },
  }
}

/** Writes an export as the lines of Prometheus that say the same, as its rules of compatibility want them. */
export function seriesOf({ metrics }: ReceivedMetrics): string[] {
  return metrics.flatMap(({ name, sum, gauge, histogram }) => [
    ...[...(sum?.dataPoints ?? []), ...(gauge?.dataPoints ?? [])].map(({ attributes, asDouble }) =>
      line(name, entriesOf(attributes), asDouble),
    ),
    ...(histogram?.dataPoints ?? []).flatMap((point) => histogramLines(name, point)),
  ])
}

function histogramLines(name: string, { attributes, bucketCounts, explicitBounds, sum, count }: HistogramPoint): string[] {
  const labels = entriesOf(attributes)
  let below = 0
  const buckets = [...explicitBounds, '+Inf'].map((le, at) => {
    below += Number(bucketCounts[at])
    return line(`${name}_bucket`, [['le', le], ...labels], below)
  })
  return [...buckets, line(`${name}_sum`, labels, sum), line(`${name}_count`, labels, Number(count))]
}

function line(name: string, labels: readonly (readonly [string, unknown])[], value: number): string {
  const text = labels.map(([label, one]) => `${label}="${one}"`).join(',')
  return `${name}${text === '' ? '' : `{${text}}`} ${value}`
}
