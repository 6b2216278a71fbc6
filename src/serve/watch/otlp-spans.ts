import {
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'
import { createTell, processResource, telling } from './otlp-resource.ts'
import type { CallSpan, CollectorLog, RequestSpan, RpcEnding, Tracing } from './spans.ts'

/** Milliseconds in which a batch must be accepted; a shutdown waits no longer. */
const TIMEOUT = 3000

/**
 * Sends spans to an OTLP collector at `url`. Service name, attributes, headers and sampling follow OpenTelemetry's own variables.
 * `hasExemplars` says whether metrics may name traces. It does not use the Fastify plugin, which sees one route for all requests: it could neither name them nor see v2 calls.
 */
export function exportTo(url: string, hasExemplars: boolean, log: CollectorLog): Tracing {
  const provider = new BasicTracerProvider({
    resource: processResource(),
    spanProcessors: [new BatchSpanProcessor(createExporter(url, log))],
  })
  const tracer = provider.getTracer('crosswalk')

  const begin: Tracing['begin'] = (headers) => {
    const remote = contextIn(headers.traceparent, headers.tracestate)
    const parent = remote ? trace.setSpanContext(ROOT_CONTEXT, remote) : ROOT_CONTEXT
    const span = tracer.startSpan('unknown', { kind: SpanKind.SERVER }, parent)
    const recorded = hasExemplars && span.spanContext().traceFlags & TraceFlags.SAMPLED ? span.spanContext().traceId : undefined
    return requestSpan(span, recorded, (name, attributes) => {
      return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, trace.setSpan(ROOT_CONTEXT, span))
    })
  }
  return { begin, close: () => provider.shutdown().catch(() => {}) }
}

function createExporter(url: string, log: CollectorLog): SpanExporter {
  const sender = new OTLPTraceExporter({ url, timeoutMillis: TIMEOUT })
  const tell = createTell('traces', 'they are lost', url, log)
  return { export: telling(sender, tell), shutdown: () => sender.shutdown() }
}

type StartChild = (name: string, attributes: Record<string, string>) => Span

function requestSpan(span: Span, recorded: string | undefined, startChild: StartChild): RequestSpan {
  return {
    traceId: span.spanContext().traceId,
    recorded,
    call(method, path) {
      return callSpan(startChild(callName(method, path), { 'http.request.method': method, 'url.path': path }), recorded)
    },
    end({ operation, mode, method, status, failed, rpc }) {
      span.updateName(operation)
      span.setAttributes({
        'http.request.method': method,
        'http.response.status_code': status,
        'crosswalk.operation': operation,
        'crosswalk.mode': mode,
        ...(rpc && rpcAttributes(rpc)),
      })
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Names of OpenTelemetry's conventions for RPC. gRPC-Web is gRPC in other frames. */
function rpcAttributes({ protocol, path, code }: RpcEnding) {
  const [service = '', method = ''] = path.slice(1).split('/')
  return {
    'rpc.system': protocol === 'connect' ? 'connect_rpc' : 'grpc',
    'rpc.service': service,
    'rpc.method': method,
    'rpc.grpc.status_code': code,
  }
}

function callSpan(span: Span, recorded: string | undefined): CallSpan {
  return {
    recorded,
    traceparent: headerOf(span.spanContext()),
    tracestate: span.spanContext().traceState?.serialize(),
    end(status) {
      if (status !== undefined) span.setAttribute('http.response.status_code', status)
      if (status === undefined || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** Returns one of few names: `/registry/v2/repos/{uid}/readme` becomes `/registry/v2/repos`. */
function callName(method: string, path: string): string {
  return `${method} ${path.split(/[/:]/, 4).join('/')}`
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Returns the span that a W3C trace context names. The SDK ignores one of zeros alone. */
function contextIn(traceparent: unknown, tracestate: unknown): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(String(traceparent)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const state = typeof tracestate === 'string' ? { traceState: createTraceState(tracestate) } : {}
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, ...state }
}

function headerOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}
