import { startUpstream } from '../stage/upstream.ts'

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
    readonly scopeSpans: readonly { readonly spans: readonly (Omit<Received, 'attributes' | 'status'> & Raw)[] }[]
  }[]
}

interface Raw {
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code: number }
}

const objectOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

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
