import type { Tracing } from './tracing.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Returns tracing if OpenTelemetry's own variables name a destination for spans. Otherwise no OpenTelemetry package is loaded.
 * Throws a sentence if these optional packages are not installed.
 */
export async function openTracing(env: Env): Promise<Tracing | undefined> {
  const url = collectorIn(env)
  if (url === undefined) return undefined
  const { exportTo } = await import('./otlp.ts').catch((cause) => {
    throw new Error(`traces are to go to ${url}, but OpenTelemetry cannot be loaded; run npm install with its optional packages`, { cause })
  })
  return exportTo(url, env.OTEL_METRICS_EXEMPLAR_FILTER !== 'always_off')
}

/** Returns the address for traces as it is, or the general address with OTLP's path for traces. */
function collectorIn(env: Env): string | undefined {
  if (env.OTEL_SDK_DISABLED === 'true') return undefined
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces, OTEL_EXPORTER_OTLP_ENDPOINT: all } = env
  return traces || (all ? `${all.replace(/(?<!\/)\/+$/, '')}/v1/traces` : undefined)
}
