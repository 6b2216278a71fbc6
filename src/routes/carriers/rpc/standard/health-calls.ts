import { ApiError } from '../../../../errors.ts'
import { askedService, type HealthStatus, healthBytes, healthListBytes } from '../../../../rpc/standard/health-messages.ts'
import type { Signal } from '../../../../serve/signals.ts'
import type { Readiness } from '../../../../serve/upstream/health.ts'
import type { WireStreamCall, WireStreamHandler } from '../../../../wire/serve-grpc-stream.ts'

export interface HealthParts {
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
