import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { exchange } from '../../balancer/load.ts'
import { createProxy, type RestartableProxy, startSandbox } from '../../balancer/processes.ts'
import { startRedis, type TestRedis } from '../../stage/redis.ts'

/** One process of the fleet. */
export interface ReplicaProcess extends RestartableProxy {
  /** Its record file. */
  readonly records: string
  /** Sends a request of a client. Rejects if the connection breaks. */
  send(method: string, path: string, token: string, body?: unknown): Promise<{ readonly status: number; readonly body: string }>
  /** Asks the admin port. */
  ask(path: string, put?: { readonly body: unknown; readonly etag: string }): Promise<AdminAnswer>
  /** Starts it again after `kill -9`. */
  restart(): Promise<void>
}

interface AdminAnswer {
  readonly status: number
  readonly etag: string
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer
  readonly body: any
}

export interface StartedFleet {
  readonly redis: TestRedis
  /** Address of the sandbox, which is v1 and v2. */
  readonly sandbox: string
  readonly replicas: readonly [ReplicaProcess, ReplicaProcess, ReplicaProcess]
  /** Breaks answers of the sandbox from now on. */
  plant(fault: object): Promise<void>
  stop(): Promise<void>
}

/** Starts a Redis that writes to disk, the sandbox, and three proxies in front of it with these settings. */
export async function startFleet(env: Readonly<Record<string, string>> = {}): Promise<StartedFleet> {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-fleet-'))
  const redis = await startRedis({ settings: { appendonly: 'yes' } })
  const cli = inject('cli')
  const service = await startSandbox(cli)
  const shared = {
    CROSSWALK_UPSTREAM_V1: service.url,
    CROSSWALK_UPSTREAM_V2: service.url,
    CROSSWALK_STORE_URL: redis.url,
    CROSSWALK_LOG_LEVEL: 'warn',
    ...env,
  }
  const create = (name: string) => createReplica(cli, join(directory, `${name}.ndjson`), shared)
  const replicas = [await create('a'), await create('b'), await create('c')] as const
  const stop = async () => {
    for (const { stop } of replicas) await stop('SIGKILL')
    service.child.kill('SIGKILL')
    await redis.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  await Promise.all(replicas.map((one) => one.start())).catch(async (error: Error) => {
    await stop()
    throw error
  })
  const plant = async (fault: object) => {
    await fetch(`${service.url}/-/faults`, { method: 'POST', body: JSON.stringify(fault) })
  }
  return { redis, sandbox: service.url, replicas, plant, stop }
}

async function createReplica(cli: string, records: string, env: Readonly<Record<string, string>>): Promise<ReplicaProcess> {
  const proxy = await createProxy(cli, { ...env, CROSSWALK_RECORDS_FILE: records })
  const agent = new http.Agent({ keepAlive: true })
  return {
    ...proxy,
    records,
    send: (method, path, token, body) => exchange({ url: proxy.url + path, method, token, agent }, body),
    async ask(path, put) {
      const headers = { 'content-type': 'application/json', ...(put && { 'if-match': put.etag }) }
      const asked = put ? { method: 'PUT', body: JSON.stringify(put.body) } : {}
      const answer = await fetch(proxy.adminUrl + path, { headers, ...asked })
      return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: await answer.json() }
    },
    async restart() {
      await proxy.stop('SIGKILL')
      await proxy.start()
    },
  }
}
