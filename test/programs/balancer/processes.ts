import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as turn } from 'node:timers/promises'
import { parse } from 'yaml'
import { until } from '../../stage/clocks.ts'
import { freePort } from '../../stage/upstream.ts'

export interface Process {
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>
  readonly child: ChildProcess
  /** Lines of standard error: the log. */
  readonly log: string[]
}

function start(cli: string, argv: readonly string[], env: Readonly<Record<string, string>>): Process {
  const child = spawn(process.execPath, [cli, ...argv], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line))
  const ended = new Promise<number | string | null>((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
  return { child, ended, log }
}

export interface Served extends Process {
  readonly url: string
}

/** Starts the sandbox: v2 and genuine v1 on one port. */
export async function startSandbox(cli: string): Promise<Served> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const sandbox = start(cli, ['sandbox', '--port', String(port)], {})
  await until(async () => (await fetch(`${url}/ping/v2/ping`)).ok, 'the sandbox answers')
  return { ...sandbox, url }
}

export interface RestartableProxy {
  readonly url: string
  readonly port: number
  readonly adminUrl: string
  /** Lines of the log, since the first start. */
  readonly log: () => readonly string[]
  /** The process id of the last start. */
  pid(): number
  /** Resolves with the exit code, or the signal that ended it. */
  ended(): Promise<number | string | null>
  stop(signal: NodeJS.Signals): Promise<number | string | null>
  /** Resolves when the path of the admin port answers with success; the default is `/readyz`. */
  start(path?: string): Promise<void>
  /** The sum of a metric over all its labels; 0 if the metric is missing. */
  metric(name: string): Promise<number>
}

/** Creates a proxy that can be stopped and started again on the same ports. It is not running yet. */
export async function createProxy(cli: string, env: Readonly<Record<string, string>>): Promise<RestartableProxy> {
  const [port, adminPort] = [await freePort(), await freePort()]
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const ports = { CROSSWALK_PORT: String(port), CROSSWALK_ADMIN_PORT: String(adminPort) }
  const lives: Process[] = []
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    adminUrl,
    log: () => lives.flatMap(({ log }) => log),
    pid: () => lives.at(-1)?.child.pid ?? 0,
    ended: async () => lives.at(-1)?.ended ?? null,
    async stop(signal) {
      const life = lives.at(-1)
      life?.child.kill(signal)
      return life?.ended ?? null
    },
    async start(path = '/readyz') {
      lives.push(start(cli, ['serve'], { ...env, ...ports }))
      await until(async () => (await fetch(adminUrl + path)).ok, 'a proxy is there')
    },
    async metric(name) {
      const token = env.CROSSWALK_ADMIN_READ_TOKEN
      const answer = await fetch(`${adminUrl}/metrics`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })
      if (!answer.ok) throw new Error(`/metrics answers ${answer.status}`)
      const text = await answer.text()
      const values = text.split('\n').filter((line) => line.startsWith(name) && /[ {]/.test(line[name.length] ?? ''))
      return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
    },
  }
}

const SHIPPED = 'docker/nginx'

/** False, with a printed reason, if nginx is missing. */
export function hasNginx(): boolean {
  try {
    execFileSync('nginx', ['-v'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn('SKIPPED: nginx is not installed')
    return false
  }
}

/** Replaces texts of the shipped files on this machine. Each text must occur. */
export type Changes = Readonly<Record<string, readonly (readonly [shipped: string, here: string])[]>>

export interface Nginx {
  readonly url: string
  /** Where gRPC goes. */
  readonly rpcUrl: string
  /** The output of `nginx -t`. */
  readonly test: string
  stop(): Promise<void>
}

/** Runs this machine's nginx on the shipped files. Only addresses and the given texts are changed. */
export async function startNginx(crosswalk: readonly [number, number], v1: string, changes: Changes = {}): Promise<Nginx> {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-nginx-'))
  const port = await freePort()
  const rpcPort = await freePort()
  const here: Changes = {
    'nginx.conf': [
      ['/tmp/nginx', join(directory, 'nginx')],
      ['listen 8000;', `listen 127.0.0.1:${port};`],
      ['listen 8001 http2;', `listen 127.0.0.1:${rpcPort} http2;`],
      ['access_log /dev/stdout', `access_log ${directory}/access.log`],
    ],
    'upstreams.conf': [
      ['crosswalk-1:8080', `127.0.0.1:${crosswalk[0]}`],
      ['crosswalk-2:8080', `127.0.0.1:${crosswalk[1]}`],
      ['v1:8090', new URL(v1).host],
    ],
  }
  for (const name of readdirSync(SHIPPED)) {
    const edits = [...(here[name] ?? []), ...(changes[name] ?? [])]
    writeFileSync(join(directory, name), edits.reduce(replaced(name), readFileSync(join(SHIPPED, name), 'utf8')))
  }
  // Workers of a master that runs as root could not read the directory.
  const global = process.getuid?.() === 0 ? ['-g', 'user root;'] : []
  const argv = ['-c', join(directory, 'nginx.conf'), '-e', 'stderr']
  const test = spawnText('nginx', [...argv, ...global, '-t'])
  const child = spawn('nginx', [...argv, '-g', `${global[1] ?? ''} daemon off;`], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(url)).status > 0, 'nginx answers')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  return { url, rpcUrl: `http://127.0.0.1:${rpcPort}`, test, stop }
}

const replaced =
  (name: string) =>
  (text: string, [shipped, here]: readonly [string, string]) => {
    if (!text.includes(shipped)) throw new Error(`${SHIPPED}/${name} does not contain "${shipped}"`)
    return text.replaceAll(shipped, here)
  }

/** `nginx -t` writes to standard error. */
function spawnText(program: string, argv: readonly string[]): string {
  return execFileSync('sh', ['-c', '"$0" "$@" 2>&1', program, ...argv], { encoding: 'utf8' })
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

export interface Load {
  /** Number of answered requests. */
  readonly requests: number
  /** What went wrong, one line for each request. */
  readonly failures: readonly string[]
  /** Marks of the writes that were sent. The service must have received each exactly once. */
  readonly writes: readonly string[]
}

interface Answer {
  readonly status: number
  readonly body: string
}

export interface LoadOptions {
  readonly url: string
  readonly token: string
  /** Uid of the organization in which repos are created. */
  readonly organization: string
  /** Number of clients. Each has a credential of its own, keeps one connection alive and sends one request at a time. */
  readonly clients: number
  /** The load lasts for at least this many requests, and until the signal fires. */
  readonly atLeast: number
  readonly until: AbortSignal
}

/** Runs mixed traffic of v1 clients. Every round creates, reads, changes, lists and deletes a repo, and checks each answer. */
export async function runLoad({ url, token, organization, clients, atLeast, until }: LoadOptions): Promise<Load> {
  const load = { requests: 0, failures: [] as string[], writes: [] as string[] }
  const client = async (at: number) => {
    const name = `load-${at}`
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    const send = async (method: string, path: string, body?: unknown, mark?: string) => {
      if (mark !== undefined) load.writes.push(mark)
      const answer = await exchange({ url: url + path, method, token: `${token}-${at}`, agent }, body).catch((error: Error) => ({
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

interface Ask {
  readonly url: string
  readonly method: string
  readonly token: string
  readonly agent?: http.Agent
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends one request without a retry and returns its whole answer. Rejects if the connection breaks. */
export function exchange(
  { url, method, token, agent, headers }: Ask,
  body?: unknown,
): Promise<Answer & { readonly headers: http.IncomingHttpHeaders }> {
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
