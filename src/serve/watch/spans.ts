import type { IncomingHttpHeaders } from 'node:http'
import { misuse } from '../../errors.ts'

/** OpenTelemetry's own variables. */
export type OtelVariables = Readonly<Record<string, string | undefined>>

/** Where it is said that a collector does not take what is sent. */
export interface CollectorLog {
  warn(text: string): void
  info(text: string): void
}

const UNHEARD: CollectorLog = { warn() {}, info() {} }

/** Returns the address of a signal as it is, or the general address with OTLP's path for the signal. Throws a misuse if it is none. */
export function collectorIn(env: OtelVariables, signal: 'traces' | 'metrics'): string | undefined {
  const { [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`]: own, OTEL_EXPORTER_OTLP_ENDPOINT: all } = env
  const url = own || (all ? `${all.replace(/(?<!\/)\/+$/, '')}/v1/${signal}` : undefined)
  // An address may hold a password.
  if (url !== undefined && !(/^https?:\/\/./.test(url) && URL.canParse(url)))
    throw misuse(`The address of the collector of ${signal} must be one such as http://collector:4318; see OTEL_EXPORTER_OTLP_ENDPOINT.`)
  return url
}

/** The end of a v1 request. */
interface Ending {
  /** Operation id, which names the span. */
  readonly operation: string
  readonly mode: string
  readonly method: string
  readonly status: number
  readonly failed: boolean
  /** Undefined for a request of REST. */
  readonly rpc: RpcEnding | undefined
}

/** The end of a call of a gRPC service. */
export interface RpcEnding {
  readonly protocol: 'grpc' | 'grpc-web' | 'connect'
  /** `/package.Service/Method`. */
  readonly path: string
  /** The number of its status. */
  readonly code: number
}

/** One v2 call of a traced request. */
export interface CallSpan {
  /** Passes the parent span on to v2. */
  readonly traceparent: string
  /** What vendors added to this trace. */
  readonly tracestate: string | undefined
  /** The id of its trace, for metrics to name it. Undefined if the trace is not recorded, or metrics shall name none. */
  readonly recorded: string | undefined
  /** `status` is undefined if no answer came. */
  end(status: number | undefined): void
}

/** One traced v1 request. */
export interface RequestSpan {
  readonly traceId: string
  /** The same, for metrics to name it. Undefined if the trace is not recorded, or metrics shall name none. */
  readonly recorded: string | undefined
  /** `path` has no query, because a query may hold secrets. */
  call(method: string, path: string): CallSpan
  end(ending: Ending): void
}

/** Creates spans for requests and for the v2 calls that they make. */
export interface Tracing {
  /** Begins the span of a request, as a child of the one that its `traceparent` names. */
  begin(headers: IncomingHttpHeaders): RequestSpan
  /** Sends the spans that are not sent yet. */
  close(): Promise<void>
}

/**
 * Returns tracing if OpenTelemetry's own variables name a destination for spans. Otherwise no OpenTelemetry package is loaded.
 * Throws a sentence if a variable is wrong, or if these optional packages are not installed.
 */
export async function openTracing(env: OtelVariables, log: CollectorLog = UNHEARD): Promise<Tracing | undefined> {
  const url = env.OTEL_SDK_DISABLED === 'true' ? undefined : collectorIn(env, 'traces')
  if (url === undefined) return undefined
  const { exportTo } = await import('./otlp-spans.ts').catch((cause) => {
    throw new Error('traces are to go to a collector, but OpenTelemetry cannot be loaded; run npm install with its optional packages', {
      cause,
    })
  })
  return exportTo(url, env.OTEL_METRICS_EXEMPLAR_FILTER !== 'always_off', log)
}
