import { collectorIn, type OtelVariables } from './collector-address.ts'
import type { Tracing } from './tracing.ts'

/**
 * Returns tracing if OpenTelemetry's own variables name a destination for spans. Otherwise no OpenTelemetry package is loaded.
 * Throws a sentence if these optional packages are not installed.
 */
export async function openTracing(env: OtelVariables): Promise<Tracing | undefined> {
  const url = env.OTEL_SDK_DISABLED === 'true' ? undefined : collectorIn(env, 'traces')
  if (url === undefined) return undefined
  const { exportTo } = await import('./otlp.ts').catch((cause) => {
    throw new Error('traces are to go to a collector, but OpenTelemetry cannot be loaded; run npm install with its optional packages', {
      cause,
    })
  })
  return exportTo(url, env.OTEL_METRICS_EXEMPLAR_FILTER !== 'always_off')
}
