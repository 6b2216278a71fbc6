import { setImmediate } from 'node:timers/promises'
import pino from 'pino'
import { tables as ours } from '../../mappings/index.ts'
import { configWith } from '../../src/app/config/config.ts'
import type { Config } from '../../src/app/config/settings.ts'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createServer, type Server, type ServerOptions } from '../../src/app/server/server.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import type { EvidenceReport } from '../../src/migrate/migration.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'
import type { Clocks } from '../../src/serve/bounds.ts'
import type { Tables } from '../../src/tables/tables.ts'

/**
 * A sandbox on a free port without the demo's subscription. Nothing listens where that leads, and the sandbox would try to announce each
 * write there six times, over TLS.
 */
export async function startQuietSandbox(options: SandboxOptions): Promise<Sandbox> {
  const sandbox = await startSandbox({ port: 0, ...options })
  const subscriptions = `${sandbox.url}/events/v1/subscriptions`
  const headers = { authorization: `Bearer ${sandbox.tokens.admin}` }
  const { items } = (await (await fetch(subscriptions, { headers })).json()) as { items: { id: string }[] }
  for (const { id } of items) await fetch(`${subscriptions}/${id}`, { method: 'DELETE', headers })
  await fetch(`${sandbox.url}/-/journal`, { method: 'DELETE' })
  return sandbox
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
  return { ...server, url: server.url, adminUrl: server.adminUrl, log, logged }
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** The sandbox as v1 and v2, and a replica of the proxy in front of it for each handle of a store. */
export async function startReplicas(stores: readonly Store[], values: Partial<Config> = {}) {
  const sandbox = await startQuietSandbox({})
  const settings = { 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, ...values }
  const start = (store: Store, more: Partial<Config> = {}) => startProxy({ ...settings, ...more }, { join: joinFleet(store) })
  const replicas: TestProxy[] = []
  for (const store of stores) replicas.push(await start(store))
  return {
    sandbox,
    replicas,
    /** Starts one more, which its caller closes. */
    start,
    /** Sends a v1 request through one of them. Resolves when that one knows that its answer is over. */
    async get({ url, log }: TestProxy, path: string, token: keyof Sandbox['tokens'] = 'owner') {
      const ended = () => log.filter(({ msg }) => msg === 'request').length
      const before = ended()
      await (await fetch(url + path, { headers: bearer(sandbox.tokens[token]) })).text()
      while (ended() === before) await setImmediate()
    },
    async close() {
      await Promise.all(replicas.map((replica) => replica.close()))
      await sandbox.close()
    },
  }
}

/** The sandbox as v1 and v2, and the proxy in front of it. */
export interface Stage {
  readonly sandbox: Sandbox
  readonly server: TestProxy
  /** Resolves when every answer is over and compared: a client may have the last byte before the proxy knows. */
  settled(): Promise<void>
  /** Sends one v1 request through the proxy. */
  request(method: string, path: string, options?: RequestOptions): Promise<Reply>
  evidence(): Promise<EvidenceReport>
  setModes(rules: Partial<ModeRules>): Promise<void>
  fault(fault: object): Promise<void>
  clearFaults(): Promise<void>
  journal(): Promise<readonly Entry[]>
  clearJournal(): Promise<void>
  close(): Promise<void>
}

export interface RequestOptions {
  readonly token?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
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

export async function startStage(values: Partial<Config> = {}, options: SandboxOptions = {}, clocks?: Clocks): Promise<Stage> {
  const sandbox = await startQuietSandbox({ v1Dialect: values['v1.dialect'], ...options })
  const server = await startProxy({ 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, ...values }, { clocks })
  let sent = 0
  const control = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${sandbox.url}/-/${path}`, { method, ...(body && { body: JSON.stringify(body) }) })
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  return {
    sandbox,
    server,
    async settled() {
      while (server.log.filter(({ msg }) => msg === 'request').length < sent) await setImmediate()
      await server.idle()
    },
    async request(method, path, { token = sandbox.tokens.owner, body, headers = {} } = {}) {
      sent += 1
      const answer = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, body: decode(text), headers: answer.headers }
    },
    evidence: async () => (await fetch(`${server.adminUrl}/evidence`)).json() as Promise<EvidenceReport>,
    async setModes(rules) {
      const problem = server.changeModes({ default: 'v2', rules: [], testers: [], ...rules }, { source: 'file', path: 'test' })
      if (problem !== undefined) throw new Error(problem)
    },
    fault: async (fault) => void (await control('POST', 'faults', fault)),
    clearFaults: async () => void (await control('DELETE', 'faults')),
    journal: () => control('GET', 'journal') as Promise<readonly Entry[]>,
    clearJournal: async () => void (await control('DELETE', 'journal')),
    async close() {
      await server.close()
      await sandbox.close()
    },
  }
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
