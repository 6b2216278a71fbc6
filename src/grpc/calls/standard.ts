import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../errors.ts'
import type { Signal } from '../../serve/signals.ts'
import type { Readiness } from '../../serve/upstream/health.ts'
import type { Operation } from '../../tables/operation.ts'
import { methodIn, readFacts, serviceIn } from '../facts.ts'
import type { Rpc } from '../proto-files.ts'
import { askedService, createReflection, HEALTH, type HealthStatus, healthBytes, healthListBytes, servedServices } from '../standard.ts'
import type { WireSettings } from '../wire/framing.ts'
import { createServeGrpcStream, type WireStreamCall, type WireStreamHandler } from '../wire/grpc.ts'
import type { OnEnd } from '../wire/status.ts'
import type { RpcCalls } from './calls.ts'
import type { LazyRpc } from './carrier.ts'

interface HealthParts {
  /** The services that the process serves. */
  readonly services: readonly string[]
  /** The same that `/readyz` tells. */
  readonly readiness: () => Promise<Readiness>
  /** Fires when the process begins to leave. */
  readonly leaving: Signal
  /** Calls `look` once, after the time between two looks; the result stops that. */
  readonly later?: (look: () => void) => () => void
}

/** Milliseconds between two looks at the readiness, for clients that watch it. */
const LOOK_EVERY = 1000

function afterAWhile(look: () => void): () => void {
  const timer = setTimeout(look, LOOK_EVERY).unref()
  return () => clearTimeout(timer)
}

/** Returns what answers a method of grpc.health.v1.Health; undefined for a method that it does not have. */
export function createHealthCalls({ services, readiness, leaving, later = afterAWhile }: HealthParts) {
  const known = new Set(['', ...services])
  const now = async (): Promise<HealthStatus> => ((await readiness()).notReady === undefined ? 'SERVING' : 'NOT_SERVING')
  const check: WireStreamHandler = async function* (call) {
    const service = await askedIn(call)
    if (!known.has(service)) throw new ApiError('NOT_FOUND', 'unknown service')
    yield healthBytes(await now())
  }
  const list: WireStreamHandler = async function* (call) {
    await askedIn(call)
    yield healthListBytes([...known], await now())
  }
  // A service that is unknown now can be known after an update, so that gRPC keeps its watchers.
  const watch: WireStreamHandler = async function* (call) {
    const service = await askedIn(call)
    for (let told: HealthStatus | undefined; !call.signal.aborted; await nextLook(later, [call.signal, leaving])) {
      const status = known.has(service) ? await now() : 'SERVICE_UNKNOWN'
      if (status !== told) yield healthBytes(status)
      told = status
      if (leaving.aborted) throw new ApiError('UNAVAILABLE', 'the proxy is shutting down')
    }
  }
  const methods: Readonly<Record<string, WireStreamHandler>> = { Check: check, List: list, Watch: watch }
  return (method: string): WireStreamHandler | undefined => (Object.hasOwn(methods, method) ? methods[method] : undefined)
}

/** The service in the one message of a call. */
async function askedIn({ messages }: WireStreamCall): Promise<string> {
  let service: string | undefined
  for await (const message of messages) {
    if (service !== undefined) throw new ApiError('UNIMPLEMENTED', 'the request holds more than one message, and the method takes one')
    service = askedService(message)
  }
  if (service === undefined) throw new ApiError('UNIMPLEMENTED', 'the request holds no message, and the method takes one')
  return service
}

/** Resolves when it is time to look again, or a signal fires. */
function nextLook(later: NonNullable<HealthParts['later']>, signals: readonly Signal[]): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      stop()
      for (const signal of signals) signal.removeEventListener('abort', look)
      resolve()
    }
    const stop = later(look)
    for (const signal of signals) signal.addEventListener('abort', look)
    if (signals.some(({ aborted }) => aborted)) look()
  })
}

/** Returns what answers `ServerReflectionInfo` of a package: an answer for each question. */
function createReflectionCalls(services: readonly string[], opened: () => Promise<Rpc>): (packageName: string) => WireStreamHandler {
  return (packageName) =>
    async function* ({ messages }) {
      const { registry } = await opened()
      const reflect = createReflection(registry, services, packageName)
      const sent = new Set<string>()
      for await (const message of messages) yield reflect(message, sent)
    }
}

export interface StandardParts extends Pick<HealthParts, 'readiness' | 'leaving'> {
  readonly operations: readonly Operation[]
  readonly rpc: LazyRpc
  readonly wire: Omit<WireSettings, 'deadlines'>
  readonly settings: Parameters<typeof servedServices>[2]
}

/** Serves one call on a bare stream. `ended` is called once. */
export type ServeStandard = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: OnEnd) => void

/** Milliseconds. A client of reflection asks what it wants to know at once. */
const REFLECTION_MS = 60_000

/** Creates what serves the methods that gRPC has for itself. */
export function createStandardCalls({ operations, rpc, wire, settings, ...parts }: StandardParts): ServeStandard {
  const services = servedServices(operations, readFacts(), settings)
  const health = createHealthCalls({ ...parts, services })
  const opened = () => new Promise<RpcCalls>((resolve, reject) => rpc.use(resolve, reject))
  const reflection = createReflectionCalls(services, async () => (await opened()).rpc)
  const [serveHealth, serveReflection] = [createServeGrpcStream(wire), createServeGrpcStream(wire, REFLECTION_MS)]
  return (stream, headers, ended) => {
    const path = headers[':path'] ?? ''
    const service = serviceIn(path)
    const method = methodIn(path)
    const packageName = service.slice(0, service.lastIndexOf('.'))
    const found = packageName === HEALTH ? health(method) : method === 'ServerReflectionInfo' ? reflection(packageName) : undefined
    const serve = packageName === HEALTH ? serveHealth : serveReflection
    serve(stream, headers, found ?? missing(service, method), ended)
  }
}

function missing(service: string, method: string): WireStreamHandler {
  // biome-ignore lint/correctness/useYield: it has no messages.
  return async function* () {
    throw new ApiError('UNIMPLEMENTED', `unknown method ${method} for service ${service}`)
  }
}
