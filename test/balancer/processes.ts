import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { freePort } from '../stage/free-port.ts'
import { until } from '../stage/until.ts'

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
