/** OpenTelemetry's own variables. */
export type OtelVariables = Readonly<Record<string, string | undefined>>

/** Returns the address of a signal as it is, or the general address with OTLP's path for the signal. */
export function collectorIn(env: OtelVariables, signal: 'traces' | 'metrics'): string | undefined {
  const { [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`]: own, OTEL_EXPORTER_OTLP_ENDPOINT: all } = env
  return own || (all ? `${all.replace(/(?<!\/)\/+$/, '')}/v1/${signal}` : undefined)
}
