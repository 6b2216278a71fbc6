import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { parse } from 'yaml'
import { until } from '../../stage/clocks.ts'
import { type Program, startProgram } from '../../stage/programs.ts'
import { freePort } from '../../stage/upstream.ts'

/** Starts Crosswalk with no other environment than this. */
const start = (cli: string, argv: readonly string[], env: Readonly<Record<string, string>>) =>
  startProgram(process.execPath, [cli, ...argv], { env: { PATH: process.env.PATH ?? '', ...env } })

/** Starts the sandbox: v2 and genuine v1 on one port. */
export async function startSandbox(cli: string) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const sandbox = start(cli, ['sandbox', '--port', String(port)], {})
  await until(async () => (await fetch(`${url}/ping/v2/ping`)).ok, 'the sandbox answers')
  return Object.assign(sandbox, { url })
}

export type RestartableProxy = Awaited<ReturnType<typeof createProxy>>

/** Creates a proxy that can be stopped and started again on the same ports. It is not running yet. */
export async function createProxy(cli: string, env: Readonly<Record<string, string>>) {
  const [port, adminPort] = [await freePort(), await freePort()]
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const ports = { CROSSWALK_PORT: String(port), CROSSWALK_ADMIN_PORT: String(adminPort) }
  const lives: Program[] = []
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    adminUrl,
    /** Lines of the log, since the first start. */
    log: (): readonly string[] => lives.flatMap(({ errors }) => errors),
    /** The process id of the last start. */
    pid: () => lives.at(-1)?.pid ?? 0,
    /** Resolves with the exit code, or the signal that ended it. */
    ended: async () => lives.at(-1)?.ended ?? null,
    stop: async (signal: NodeJS.Signals) => lives.at(-1)?.stop(signal) ?? null,
    /** Resolves when the path of the admin port answers with success. */
    async start(path = '/readyz') {
      lives.push(start(cli, ['serve'], { ...env, ...ports }))
      await until(async () => (await fetch(adminUrl + path)).ok, 'a proxy is there')
    },
    /** The sum of a metric over all its labels; 0 if the metric is missing. */
    async metric(name: string) {
      const token = env.CROSSWALK_ADMIN_READ_TOKEN
      const answer = await fetch(`${adminUrl}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
      if (!answer.ok) throw new Error(`/metrics answers ${answer.status}`)
      const text = await answer.text()
      const values = text.split('\n').filter((line) => line.startsWith(name) && /[ {]/.test(line[name.length] ?? ''))
      return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    },
  }
}

/** A request that the sandbox received. */
interface Entry {
  readonly method: string
  readonly path: string
  readonly body: { readonly name?: string; readonly description?: string } | null
}

export async function journalOf(sandbox: string): Promise<readonly Entry[]> {
  return (await (await fetch(`${sandbox}/-/journal`)).json()) as readonly Entry[]
}

/** Counts how often v2 received each write, by its mark: `POST name`, `PATCH description`, `DELETE uid`. */
export function writesIn(entries: readonly Entry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { method, path, body } of entries) {
    const uid = /^\/registry\/v2\/repos\/(.+)$/.exec(path)?.[1]
    if (uid === undefined || method === 'GET') continue
    const mark = `${method} ${method === 'POST' ? body?.name : method === 'PATCH' ? body?.description : uid}`
    counts.set(mark, (counts.get(mark) ?? 0) + 1)
  }
  return counts
}

/**
 * Runs mixed traffic of v1 clients for at least so many requests, and until the signal fires. Each client keeps one connection alive and
 * sends one request at a time. Every round creates, reads, changes, lists and deletes a repo of the organization, and checks each answer.
 * Each round has a credential of its own: nginx keeps a credential at one proxy, and those of eight clients may all be at the same.
 */
export async function runLoad(options: {
  url: string
  token: string
  organization: string
  clients: number
  atLeast: number
  until: AbortSignal
}) {
  const { url, token, organization, clients, atLeast, until } = options
  const load = {
    /** Number of answered requests. */
    requests: 0,
    /** What went wrong, one line for each request. */
    failures: [] as string[],
    /** Marks of the writes that were sent. The service must have received each exactly once. */
    writes: [] as string[],
  }
  const client = async (at: number) => {
    const name = `load-${at}`
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const sendAs = (credential: string) => async (method: string, path: string, body?: unknown, mark?: string) => {
      if (mark !== undefined) load.writes.push(mark)
      const answer = await exchange({ url: url + path, method, token: credential, agent }, body).catch((error: Error) => ({
        status: 0,
        body: error.message,
      }))
      load.requests += 1
      if (answer.status !== 200) load.failures.push(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 200)}`)
      return answer.status === 200 ? JSON.parse(answer.body) : {}
    }
    const check = (path: string, right: boolean) => {
      if (!right) load.failures.push(`${path}: a wrong answer`)
    }
    for (let round = 0; load.requests < atLeast || !until.aborted; round += 1) {
      const mark = `${name}-${round}`
      const send = sendAs(`${token}-${(round * clients + at) % 10_000}`)
      const { id } = await send('POST', `/registry/v1/repos/${organization}`, { name: mark }, `POST ${mark}`)
      const repo = `/registry/v1/repos/${encodeURIComponent(id)}`
      const byId = `/registry/v1/repos?id=${encodeURIComponent(id)}`
      check(repo, (await send('GET', byId)).items?.[0]?.name === mark)
      await send('PUT', repo, { name: mark, description: mark }, `PATCH ${mark}`)
      check(byId, (await send('GET', byId)).items?.[0]?.description === mark)
      check('groups', (await send('GET', '/iam/v1/groups')).items?.length > 0)
      await send('DELETE', repo, undefined, `DELETE ${id}`)
      await turn()
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, at) => client(at)))
  return load
}

/** Sends one request without a retry and returns its whole answer. Rejects if the connection breaks. */
export function exchange(
  ask: { url: string; method: string; token: string; agent?: http.Agent; headers?: Readonly<Record<string, string>> },
  body?: unknown,
): Promise<{ readonly status: number; readonly body: string; readonly headers: http.IncomingHttpHeaders }> {
  const { url, method, token, agent, headers } = ask
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const framing = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const request = http.request(
      url,
      { method, agent, headers: { authorization: `Bearer ${token}`, ...headers, ...framing } },
      (answer) => {
        let received = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          received += chunk
        })
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: received, headers: answer.headers }))
        answer.once('error', reject)
      },
    )
    request.once('error', reject)
    request.end(text)
  })
}

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>
}

/** The settings of a proxy in docker/compose.yaml, except that it trusts this machine's nginx instead of that of its network. */
export function proxyEnvironment(): Readonly<Record<string, string>> {
  const { services } = parse(readFileSync('docker/compose.yaml', 'utf8'), { merge: true }) as Compose
  const shipped = Object.entries(services['crosswalk-1']?.environment ?? {})
  const environment = Object.fromEntries(shipped.map(([name, value]) => [name, withDefault(String(value))]))
  return { ...environment, CROSSWALK_TRUSTED_PROXIES: '127.0.0.1' }
}

/** Compose puts the default of a variable that is not set into its place: `${NAME:-default}`. */
function withDefault(value: string): string {
  return value.replace(/^\$\{\w+:-(.*)\}$/, '$1')
}
