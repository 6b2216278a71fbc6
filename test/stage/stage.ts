import { setImmediate } from 'node:timers/promises'
import pino from 'pino'
import { tables as ours } from '../../mappings/index.ts'
import { configWith } from '../../src/app/config/config.ts'
import type { Config } from '../../src/app/config/settings.ts'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createServer, type Server, type ServerOptions } from '../../src/app/server/server.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import type { EvidenceReport } from '../../src/migrate/migration.ts'
import { ALL_V2, type ModeRules } from '../../src/migrate/modes/rules.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'
import type { Mode } from '../../src/serve/sides.ts'
import type { Tables } from '../../src/tables/tables.ts'
import { closedLater, type Handler, startUpstream, type Upstream } from './upstream.ts'

/**
 * A sandbox on a free port without the demo's subscription. Nothing listens where that leads, and the sandbox would try to announce each
 * write there six times, over TLS.
 */
export async function startQuietSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { close, ...sandbox } = await startSandbox({ port: 0, ...options })
  const subscriptions = `${sandbox.url}/events/v1/subscriptions`
  const headers = { authorization: `Bearer ${sandbox.tokens.admin}` }
  const { items } = (await (await fetch(subscriptions, { headers })).json()) as { items: { id: string }[] }
  for (const { id } of items) await fetch(`${subscriptions}/${id}`, { method: 'DELETE', headers })
  await fetch(`${sandbox.url}/-/journal`, { method: 'DELETE' })
  return { ...sandbox, close: closedLater(close) }
}

export interface LogLine {
  readonly [member: string]: unknown
}

export interface TestProxy extends Omit<Server, 'listen'> {
  readonly log: readonly LogLine[]
  /** Resolves with the next log line that matches. */
  logged(fits: (line: LogLine) => boolean): Promise<LogLine>
}

interface ProxyOptions extends Omit<ServerOptions, 'log'> {
  /** The tables that it serves; those of this package unless they are given. */
  readonly tables?: Tables
}

/** Starts the proxy on free ports and keeps its log. */
export async function startProxy(values: Partial<Config>, { tables = ours, ...options }: ProxyOptions = {}): Promise<TestProxy> {
  const log: LogLine[] = []
  const waiting = new Set<() => void>()
  const write = (line: string) => {
    log.push(JSON.parse(line))
    for (const look of waiting) look()
  }
  const server = createServer(
    // Tests look at every comparison.
    configWith({ 'listen.port': 0, 'admin.port': 0, 'diff.perSecond': 0, ...values }),
    tables,
    { ...options, log: pino({ base: null, level: values['log.level'] ?? 'info' }, { write }) },
  )
  await server.listen()
  const close = closedLater(server.close)
  const logged = (fits: (line: LogLine) => boolean) =>
    new Promise<LogLine>((resolve) => {
      const look = () => {
        const found = log.find(fits)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return { ...server, url: server.url, adminUrl: server.adminUrl, log, logged, close }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A service where nothing listens. */
export const NOWHERE = 'http://127.0.0.1:1'

/** Who plays v1 or v2: the sandbox unless it is said, a small server with a handler, a service that runs elsewhere, or nobody. */
export type Player = Handler | string | null | undefined

interface Cast<V1, V2, Stores> extends ProxyOptions {
  readonly v1?: V1
  readonly v2?: V2
  /** The sandbox that plays who is not said, or its options. One that runs already is not closed. */
  readonly sandbox?: Sandbox | SandboxOptions
  /** Settings of the proxy. */
  readonly proxy?: Partial<Config>
  /** The mode of every operation: `modes` without rules. */
  readonly mode?: Mode
  /** What replicas share: one replica for each handle of a store. */
  readonly stores?: Stores
  /** The handlers get the pings of the proxy too. */
  readonly pings?: 'seen'
}

/** What a stage has whoever plays: the first replica, and ways to ask it. */
interface Asked<Stores> extends TestProxy {
  /** Every replica. */
  readonly servers: { readonly [One in keyof Stores]: TestProxy }
  /** Resolves when every answer is over: a client may have the last byte before the proxy knows. */
  over(): Promise<void>
  /** Resolves when every answer is over and compared. */
  settled(): Promise<void>
  /** Sends one v1 request through the proxy, as the owner unless a token is given. */
  request(method: string, path: string, options?: RequestOptions): Promise<Reply>
  evidence(): Promise<EvidenceReport>
  setModes(rules: Partial<ModeRules>): Promise<void>
}

/** The sandbox, and what it does when it is told. */
interface Played {
  readonly sandbox: Sandbox
  fault(fault: object): Promise<void>
  clearFaults(): Promise<void>
  journal(): Promise<readonly Entry[]>
  clearJournal(): Promise<void>
}

/** The proxy between a v1 and a v2. `Stage` has the sandbox as both, `Stage<null, Handler>` no v1 and a small server as v2. */
export type Stage<V1 extends Player = undefined, V2 extends Player = undefined, Stores = readonly [Store]> = Asked<Stores> &
  (V1 extends Handler ? { readonly v1: Upstream } : unknown) &
  (V2 extends Handler ? { readonly v2: Upstream } : unknown) &
  (undefined extends V1 | V2 ? Played : unknown)

export interface RequestOptions {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Another replica than the first. */
  readonly through?: TestProxy
}

export interface Reply {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the tests
  readonly body: any
  readonly headers: Headers
}

/** A request that the sandbox received. */
export interface Entry {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

/**
 * Starts who plays and the proxy between them. A stage of a test is closed after it, and one of `beforeAll` after its file.
 *
 * @example
 * const stage = await startStage({ v1: null, v2: answering({ groups: [] }), proxy: { 'keep.ttlMs': 60_000 } })
 * expect((await stage.request('GET', '/iam/v1/groups')).status).toBe(200)
 * expect(stage.v2.seen).toHaveLength(1)
 */
export async function startStage<V1 extends Player, V2 extends Player, const Stores extends readonly Store[] = readonly [Store]>({
  v1,
  v2,
  sandbox: given = {},
  proxy = {},
  mode,
  stores,
  pings,
  ...options
}: Cast<V1, V2, Stores> = {}): Promise<Stage<V1, V2, Stores>> {
  const opened: { close(): Promise<unknown> }[] = []
  const opening = <T extends { close(): Promise<unknown> }>(one: T): T => {
    opened.unshift(one)
    return one
  }
  const isShared = 'url' in given
  const start = async () => opening(await startQuietSandbox({ v1Dialect: proxy['v1.dialect'], ...(given as SandboxOptions) }))
  const sandbox = isShared ? given : v1 === undefined || v2 === undefined ? await start() : undefined
  const play = async (player: Player): Promise<{ readonly url?: string | undefined }> => {
    if (typeof player === 'function') return opening(await startUpstream(player, pings))
    return { url: player === undefined ? sandbox?.url : (player ?? undefined) }
  }
  const one = await play(v1)
  // A handler of both is one server.
  const two = typeof v2 === 'function' && v1 === v2 ? one : await play(v2)
  const settings: Partial<Config> = {
    ...{ 'upstream.v1': one.url, 'upstream.v2': two.url },
    ...(mode && { modes: { ...ALL_V2, default: mode } }),
    ...proxy,
  }
  const servers: TestProxy[] = []
  if (!stores) servers.push(opening(await startProxy(settings, options)))
  for (const store of stores ?? []) servers.push(opening(await startProxy(settings, { ...options, join: joinFleet(store) })))
  const [server] = servers as [TestProxy]
  const stage = {
    ...server,
    ...asking(server, servers, sandbox),
    ...controlling(sandbox?.url),
    ...{ servers, sandbox, v1: one, v2: two },
    async close() {
      for (const each of opened) await each.close()
    },
  }
  return stage as unknown as Stage<V1, V2, Stores>
}

function asking(server: TestProxy, servers: readonly TestProxy[], sandbox: Sandbox | undefined) {
  const sent = new Map<TestProxy, number>()
  const isOver = (one: TestProxy) => one.log.filter(({ msg }) => msg === 'request').length >= (sent.get(one) ?? 0)
  const over = async () => {
    while (!servers.every(isOver)) await setImmediate()
  }
  return {
    over,
    async settled() {
      await over()
      await Promise.all(servers.map((one) => one.idle()))
    },
    async request(method: string, path: string, options: RequestOptions = {}) {
      const { token = sandbox?.tokens.owner ?? 'a-token', body, headers = {}, through = server } = options
      sent.set(through, (sent.get(through) ?? 0) + 1)
      const answer = await fetch(through.url + path, {
        method,
        headers: { ...bearer(token), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: decode(text), headers: answer.headers }
    },
    evidence: async () => (await fetch(`${server.adminUrl}/evidence`)).json() as Promise<EvidenceReport>,
    async setModes(rules: Partial<ModeRules>) {
      const problem = server.changeModes({ ...ALL_V2, ...rules }, { source: 'file', path: 'test' })
      if (problem !== undefined) throw new Error(problem)
    },
  }
}

function controlling(url: string | undefined) {
  const control = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}/-/${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  return {
    fault: async (fault: object) => void (await control('POST', 'faults', fault)),
    clearFaults: async () => void (await control('DELETE', 'faults')),
    journal: () => control('GET', 'journal') as Promise<readonly Entry[]>,
    clearJournal: async () => void (await control('DELETE', 'journal')),
  }
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
