import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Config } from '../../src/app/config/settings.ts'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { openStore } from '../../src/fleet/store/open.ts'
import { type Batch, type Store, StoreDown } from '../../src/fleet/store/store.ts'
import { until } from './clocks.ts'
import { startProxy, type TestProxy } from './stage.ts'
import { freePort } from './upstream.ts'

/** What a store does wrong: it refuses at once, loses its answers, or takes everything and answers nothing. */
export type Broken = 'refuses' | 'loses answers' | 'is silent'

/** A store that a test can break. */
export interface BreakableStore {
  readonly store: Store
  /** Every batch that was sent, whatever became of it. */
  readonly sent: readonly Batch[]
  /** Undefined: it is well. */
  broken: Broken | undefined
  /** Milliseconds that each answer takes longer. */
  slowMs: number
  /** Another store in its place, as after a loss. */
  inner: Store
}

export function breakableStore(given: Store): BreakableStore {
  const sent: Batch[] = []
  const unanswered = new Set<() => void>()
  let broken: Broken | undefined
  const ask = async <T>(call: () => Promise<T>): Promise<T> => {
    if (broken === 'refuses') throw new StoreDown('nothing listens there')
    if (broken === 'is silent') {
      await new Promise<void>((resolve) => unanswered.add(resolve))
      throw new StoreDown('the connection was lost')
    }
    if (breakable.slowMs > 0) await delay(breakable.slowMs)
    const found = await call()
    if (broken === 'loses answers') throw new StoreDown('the answer was lost')
    return found
  }
  const store: Store = {
    exchange(batch) {
      sent.push(batch)
      return ask(() => breakable.inner.exchange(batch))
    },
    read: (reads) => ask(() => breakable.inner.read(reads)),
    replace: (...document) => ask(() => breakable.inner.replace(...document)),
    onNews: (listener) => breakable.inner.onNews(listener),
    close: () => breakable.inner.close(),
  }
  const breakable: BreakableStore = {
    ...{ store, sent, inner: given, slowMs: 0 },
    get broken() {
      return broken
    },
    set broken(next) {
      broken = next
      for (const resolve of unanswered) resolve()
      unanswered.clear()
    },
  }
  return breakable
}

/** False, with a printed reason, if Redis is missing. */
export function hasRedis(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn('SKIPPED: redis-server is not installed')
    return false
  }
}

/** A Redis of a test, on a port of its own. */
export interface TestRedis {
  readonly port: number
  readonly url: string
  /** It takes connections and answers nothing. */
  freeze(): void
  thaw(): void
  /** Ends it as `kill -9` does. */
  kill(): Promise<void>
  /** Starts it again on its port, with what it had written to disk. */
  start(): Promise<void>
  /** Runs a command: `await redis.command('CONFIG', 'SET', 'maxmemory', '1mb')`. */
  command(...words: string[]): Promise<string>
  stop(): Promise<void>
}

interface RedisOptions {
  /** Settings of redis.conf: `{ appendonly: 'yes' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Lines of a file, if it is a Sentinel. */
  readonly sentinel?: readonly string[]
  /** It takes TLS alone. */
  readonly tls?: boolean
  /** Arguments of `redis-cli`, for a password or TLS. */
  readonly cli?: readonly string[]
}

/** Starts a Redis that keeps nothing on disk, or a Sentinel. */
export async function startRedis({ settings = {}, sentinel, tls = false, cli = [] }: RedisOptions = {}): Promise<TestRedis> {
  const at = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-redis-'))
  const all = { [tls ? 'tls-port' : 'port']: at, bind: '127.0.0.1', dir: directory, save: '', 'enable-debug-command': 'yes', ...settings }
  const options = Object.entries(all).flatMap(([name, value]) => [`--${name}`, ...String(value).split(' ')])
  const file = join(directory, 'sentinel.conf')
  if (sentinel) writeFileSync(file, [`port ${at}`, 'bind 127.0.0.1', `dir ${directory}`, ...sentinel].join('\n'))
  let child: ChildProcess | undefined
  const command: TestRedis['command'] = async (...words) => {
    const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(at), ...cli, ...words], { timeout: 10_000 })
    return stdout.trim()
  }
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGCONT')
    child.kill(signal)
    await ended
  }
  const redis: TestRedis = {
    port: at,
    url: `redis://127.0.0.1:${at}`,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
    async start() {
      child = spawn('redis-server', sentinel ? [file, '--sentinel'] : options, { stdio: 'ignore' })
      await until(async () => (await command('PING')) === 'PONG', 'Redis answers')
    },
    command,
    async stop() {
      await end('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    },
  }
  await redis.start()
  return redis
}

/** A primary, its replica, and a Sentinel that makes the replica the primary when the other is gone. */
export interface Failover {
  readonly first: TestRedis
  readonly second: TestRedis
  readonly sentinel: TestRedis
  /** The address of the store. A Sentinel that is not there is passed over. */
  readonly url: string
  stop(): Promise<void>
}

export async function startFailover(password = 'some-password'): Promise<Failover> {
  const cli = ['-a', password, '--no-auth-warning']
  const auth = { requirepass: password, masterauth: password }
  const first = await startRedis({ settings: auth, cli })
  const second = await startRedis({ settings: { ...auth, replicaof: `127.0.0.1 ${first.port}` }, cli })
  await until(async () => (await second.command('INFO', 'replication')).includes('master_link_status:up'), 'the replica has all')
  const watching = [
    `sentinel monitor main 127.0.0.1 ${first.port} 1`,
    `sentinel auth-pass main ${password}`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
    `requirepass ${password}`,
  ]
  const sentinel = await startRedis({ cli, sentinel: watching })
  await until(async () => (await sentinel.command('SENTINEL', 'replicas', 'main')).includes(String(second.port)), 'the Sentinel knows both')
  return {
    ...{ first, second, sentinel, url: `redis+sentinel://:${password}@127.0.0.1:1,127.0.0.1:${sentinel.port}/main` },
    async stop() {
      for (const one of [sentinel, second, first]) await one.stop()
    },
  }
}

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
