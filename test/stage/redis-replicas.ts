import type { Config } from '../../src/app/config/settings.ts'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { openStore } from '../../src/fleet/store/open.ts'
import { startProxy, type TestProxy } from './proxy.ts'

/** A replica in this process whose store is a Redis. */
export interface RedisReplica extends TestProxy {
  /** Its id in the fleet. */
  readonly replica: string
  /** Asks the admin port; with a body, it is a PUT. */
  ask(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<AdminReply>
}

export interface AdminReply {
  readonly status: number
  readonly etag: string
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the tests
  readonly body: any
}

const NOWHERE = { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' }

interface ReplicaOptions {
  /** No news of other replicas reaches it. */
  readonly isDeaf?: boolean
}

export async function startRedisReplica(
  url: string,
  values: Partial<Config> = {},
  { isDeaf = false }: ReplicaOptions = {},
): Promise<RedisReplica> {
  const settings = { ...NOWHERE, 'store.url': url, ...values }
  const store = await openStore(url, 'default')
  const join = joinFleet(isDeaf ? { ...store, onNews: () => {} } : store)
  const proxy = await startProxy(settings, { join, file: 'crosswalk.json' })
  return {
    ...proxy,
    replica: join.replica,
    async ask(path, body, headers = {}) {
      const answer = await fetch(proxy.adminUrl + path, {
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { method: 'PUT', body: JSON.stringify(body) }),
      })
      return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: await answer.json() }
    },
  }
}
