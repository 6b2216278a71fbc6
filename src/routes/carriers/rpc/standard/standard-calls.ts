import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../../../errors.ts'
import { readFacts } from '../../../../rpc/facts.ts'
import { methodIn, serviceIn } from '../../../../rpc/method-path.ts'
import { servedServices } from '../../../../rpc/standard/served-services.ts'
import { HEALTH } from '../../../../rpc/standard/standard-facts.ts'
import type { Operation } from '../../../../tables/operation.ts'
import { createServeGrpcStream, type WireStreamHandler } from '../../../../wire/serve-grpc-stream.ts'
import type { WireSettings } from '../../../../wire/wire-settings.ts'
import type { LazyRpc } from '../lazy-rpc.ts'
import { createHealthCalls, type HealthParts } from './health-calls.ts'
import { createReflectionCalls } from './reflection-calls.ts'

export interface StandardParts extends Pick<HealthParts, 'readiness' | 'leaving'> {
  readonly operations: readonly Operation[]
  readonly rpc: LazyRpc
  readonly wire: Omit<WireSettings, 'deadlines'>
  readonly settings: Parameters<typeof servedServices>[2]
}

/** Serves one call on a bare stream. `ended` is called once, with the code that the client sees. */
export type ServeStandard = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: (code: number) => void) => void

/** Creates what serves the methods that gRPC has for itself. */
export function createStandardCalls({ operations, rpc, wire, settings, ...parts }: StandardParts): ServeStandard {
  const services = servedServices(operations, readFacts(), settings)
  const health = createHealthCalls({ ...parts, services })
  const opened = () => new Promise<Parameters<Parameters<LazyRpc['use']>[0]>[0]>((resolve, reject) => rpc.use(resolve, reject))
  const reflection = createReflectionCalls({ services, opened: async () => (await opened()).rpc })
  const serve = createServeGrpcStream(wire)
  return (stream, headers, ended) => {
    const path = headers[':path'] ?? ''
    const service = serviceIn(path)
    const method = methodIn(path)
    const packageName = service.slice(0, service.lastIndexOf('.'))
    const found = packageName === HEALTH ? health(method) : method === 'ServerReflectionInfo' ? reflection(packageName) : undefined
    serve(stream, headers, found ?? missing(service, method), ended)
  }
}

function missing(service: string, method: string): WireStreamHandler {
  // biome-ignore lint/correctness/useYield: it has no messages.
  return async function* () {
    throw new ApiError('UNIMPLEMENTED', `unknown method ${method} for service ${service}`)
  }
}
