import type { FastifyInstance } from 'fastify'
import { CONTENT_TYPES, type MetricsFormat } from '../watch/metrics/exposition.ts'

export interface MetricsTexts {
  text(format: MetricsFormat): Promise<string>
}

/** `GET /metrics`: OpenMetrics for a scraper that asks for it, and the text format of Prometheus for everybody else. */
export function addMetrics(app: FastifyInstance, metrics: MetricsTexts): void {
  app.get('/metrics', async ({ headers }, reply) => {
    const format = metricsFormatOf(headers.accept ?? '')
    reply.type(CONTENT_TYPES[format])
    return metrics.text(format)
  })
}

/** Returns OpenMetrics if an `accept` header names its version 1.0.0 and likes it no less than plain text. `*` names nothing. */
export function metricsFormatOf(accept: string): MetricsFormat {
  const types = accept.split(',').map(mediaType)
  const likes = (fits: (one: MediaType) => boolean) => Math.max(0, ...types.filter(fits).map(({ quality }) => quality))
  const open = likes(({ type, version }) => type === 'application/openmetrics-text' && (version === undefined || version === '1.0.0'))
  return open > 0 && open >= likes(({ type }) => type === 'text/plain') ? 'openmetrics' : 'prometheus'
}

interface MediaType {
  readonly type: string
  readonly version: string | undefined
  readonly quality: number
}

function mediaType(text: string): MediaType {
  const [type = '', ...parts] = text.toLowerCase().split(';')
  const parameters = new Map(parts.map((part) => part.split('=', 2).map((word) => word.trim()) as [string, string]))
  return { type: type.trim(), version: parameters.get('version'), quality: Number(parameters.get('q') ?? 1) || 0 }
}
