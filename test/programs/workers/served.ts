import { execFileSync } from 'node:child_process'
import http from 'node:http'
import { onTestFinished } from 'vitest'
import { createProxy, startSandbox } from '../balancer/processes.ts'

export type ServedByWorkers = Awaited<ReturnType<typeof startWorkers>>

/** Starts the sandbox and a proxy with workers in front of it, as programs; the test ends them. */
export async function startWorkers(cli: string, env: Readonly<Record<string, string>> = {}) {
  const sandbox = await startSandbox(cli)
  onTestFinished(() => void sandbox.stop('SIGKILL'))
  const proxy = await createProxy(cli, {
    CROSSWALK_UPSTREAM_V2: sandbox.url,
    CROSSWALK_UPSTREAM_V1: sandbox.url,
    CROSSWALK_WORKERS: '2',
    ...env,
  })
  onTestFinished(async () => void (await proxy.stop('SIGKILL')))
  await proxy.start()
  /** The process ids of the workers. */
  const workers = () => pids(['--ppid', String(proxy.pid())])
  return Object.assign(proxy, { workers })
}

export const isAlive = (pid: number): boolean => pids(['-p', String(pid)]).length > 0

function pids(argv: readonly string[]): readonly number[] {
  try {
    return execFileSync('ps', ['-o', 'pid=,stat=', ...argv], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.trim() !== '' && !/Z/.test(line))
      .map((line) => Number.parseInt(line, 10))
  } catch {
    return []
  }
}

/** Sends reads over connections that stay open, until the signal. Returns how many were answered, and what went wrong. */
export async function readUntil(url: string, clients: number, signal: AbortSignal): Promise<{ answered: number; failures: string[] }> {
  const seen = { answered: 0, failures: [] as string[] }
  const client = async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    while (!signal.aborted) {
      const problem = await read(url, agent)
      if (problem === undefined) seen.answered += 1
      else seen.failures.push(problem)
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, client))
  return seen
}

/** Reads once, over a connection of its own unless there is an agent. Resolves with what went wrong. */
export function read(url: string, agent = new http.Agent()): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = http.get(`${url}/iam/v1/groups`, { agent, headers: { authorization: 'Bearer demo-owner' } }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode === 200 ? undefined : `status ${answer.statusCode}`))
      answer.once('error', ({ message }) => resolve(message))
    })
    request.once('error', ({ message }) => resolve(message))
  })
}
