import { asApiError } from '../../../../errors.ts'
import { refuseGrpc } from '../../../../upstream/grpc/client-answer.ts'
import type { ServeStandard, StandardParts } from './standard-calls.ts'

/** What serves health and reflection, loaded by the first such call. */
export interface LazyStandard {
  isHealth(path: string): boolean
  /** False where reflection is turned off: v2 then gets its calls, as it gets those of every service that is not known. */
  isReflection(path: string): boolean
  readonly serve: ServeStandard
}

const HEALTH = '/grpc.health.v1.Health/'
const REFLECTION = /^\/grpc\.reflection\.v1(?:alpha)?\.ServerReflection\//

export function createLazyStandard(parts: StandardParts): LazyStandard {
  let loading: Promise<ServeStandard> | undefined
  const load = async () => (await import('./standard-calls.ts')).createStandardCalls(parts)
  return {
    isHealth: (path) => path.startsWith(HEALTH),
    isReflection: (path) => parts.settings.reflection && REFLECTION.test(path),
    serve(stream, headers, ended) {
      loading ??= load()
      loading
        .then((serve) => serve(stream, headers, ended))
        .catch((thrown) => refuseGrpc(stream, asApiError(thrown), ({ code }) => ended(code)))
    },
  }
}
