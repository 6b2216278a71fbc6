import type { RpcCalls, RpcParts } from './rpc-calls.ts'

/** What serves calls of v1 over gRPC, loaded when the first one arrives: a process that sees none keeps 16 MB. */
export interface LazyRpc {
  /** True if a path may be one of ours, so that it is worth loading. */
  concerns(path: string): boolean
  /** Calls `then` with the loaded parts, at once when they are loaded. */
  use(then: (calls: RpcCalls) => void, failed: (thrown: unknown) => void): void
  /** Answers every call under way, because the process stops. */
  stop(): void
}

/** All services of v1 begin so. */
const OURS = '/chainguard.platform.'

/** Without tables for gRPC, it concerns no path: every call passes to v2. */
export function createLazyRpc(hasTables: boolean, parts: RpcParts): LazyRpc {
  let loaded: RpcCalls | undefined
  let loading: Promise<RpcCalls> | undefined
  const load = async (): Promise<RpcCalls> => {
    const { createRpcCalls } = await import('./rpc-calls.ts')
    loaded = createRpcCalls(parts)
    return loaded
  }
  return {
    concerns: (path) => hasTables && path.startsWith(OURS),
    use(then, failed) {
      if (loaded) return then(loaded)
      loading ??= load()
      loading.then(then).catch(failed)
    },
    stop: () => loaded?.stop(),
  }
}
