import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'

/** A process that is measured, or that runs beside the measured one. */
export interface Child {
  readonly pid: number
  /** The address in the line that it printed when it was ready. */
  readonly url: string
  /** The second address in that line, if there is one. */
  readonly adminUrl: string
  /** Milliseconds from its start to that line. */
  readonly startMs: number
  /** Asks the preloaded probe for the longest stall of its event loop since the last question, in milliseconds. */
  stall(): Promise<number>
  stop(): Promise<void>
}

/** Core of the measured process. Upstream and load share the other one, as in the reference measurements. */
export const PROXY_CORE = 0
export const LOAD_CORE = 1

/** True if the machine has two cores and a `taskset`; processes are then pinned. */
export const pinned = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

const children = new Set<ChildProcess>()

/** Ends every child that is still running. A run calls it last, however it ended. */
export function stopAll(): void {
  for (const child of children) child.kill('SIGKILL')
}

/** Starts a program on a core and waits for the line with its address. `node` is the Node of this process, whose version the run names. */
export async function start(core: number, command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Child> {
  const ofThisNode = command.map((word) => (word === 'node' ? process.execPath : word))
  const [file = '', ...args] = pinned ? ['taskset', '-c', String(core), ...ofThisNode] : ofThisNode
  const started = performance.now()
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], env: { ...process.env, ...env } })
  children.add(child)
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const [url = '', adminUrl = ''] = await readyLine(child, command.join(' '))
  return {
    pid: child.pid ?? 0,
    url,
    adminUrl,
    startMs: performance.now() - started,
    stall: () =>
      new Promise((resolve) => {
        child.once('message', (ms) => resolve(ms as number))
        child.send('stall')
      }),
    async stop() {
      child.kill('SIGTERM')
      await gone
      children.delete(child)
    },
  }
}

function readyLine(child: ChildProcess, name: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${name} ended with code ${code} before it was ready`)))
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const urls = line.match(/http:\/\/[\d.]+:\d+/g) ?? []
      if (urls.length > 0) resolve([urls[0] ?? '', urls.at(-1) ?? ''])
    })
  })
}

/** Lets a server listen on a free port, and returns its address. */
export async function listening(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Pins this process, which generates the load. */
export function pinSelf(core: number): void {
  if (pinned) spawnSync('taskset', ['-cp', String(core), String(process.pid)])
}

/** CPU time of a process and its children, in milliseconds. The scheduler counts nanoseconds of each thread. */
export function cpuMs(pid: number): number {
  const ran = (thread: string) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1e6
  const own = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ran(thread), 0)
  return childrenOf(pid).reduce((sum, child) => sum + cpuMs(child), own)
}

/** Resident memory of a process and its children, in MiB. Pages that they share count for each. */
export function rssMiB(pid: number): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')
  return childrenOf(pid).reduce((sum, child) => sum + rssMiB(child), (Number(pages) * 4096) / 2 ** 20)
}

export function childrenOf(pid: number): readonly number[] {
  const ofThread = (thread: string) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1').split(' ')
  return readdirSync(`/proc/${pid}/task`)
    .flatMap(ofThread)
    .filter((child) => child !== '')
    .map(Number)
}
