import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The proxy as a process of its own. */
export interface Child {
  readonly pid: number
  readonly url: string
  readonly adminUrl: string
  /** Resolves with the next line on either output that matches. */
  line(fits: RegExp): Promise<string>
  /** The lines on both outputs so far. */
  readonly lines: readonly string[]
  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void
  /** Resolves with the exit code when the process has ended by itself. */
  readonly ended: Promise<number | null>
  /** Sends a signal and resolves with the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>
  isAlive(): boolean
}

/** Returns the path of a built program, relative to this file. */
export const program = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const CLI = program('../../../../src/cli.js')
const READY = /serves v1 on (\S+) from v2 at \S+; admin on (\S+)\.$/

export interface Start {
  /** Shell commands that run first in the process, for instance `ulimit -n 60`. */
  readonly before?: string
  readonly nodeFlags?: readonly string[]
  /** The command line to run, if it is not built beside this program. */
  readonly cli?: string
}

/** Starts `crosswalk serve` on free ports. */
export async function serve(
  settings: Readonly<Record<string, string | number>>,
  { before = ':', nodeFlags = [], cli = CLI }: Start = {},
): Promise<Child> {
  const flags = Object.entries({ port: 0, 'admin-port': 0, 'log-level': 'silent', ...settings }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ])
  const argv = ['-c', `${before}; exec "$0" "$@"`, process.execPath, ...nodeFlags, cli, 'serve', ...flags]
  const child = spawn('bash', argv, { stdio: ['ignore', 'pipe', 'pipe'] })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  const lines = linesOf(child)
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.once('exit', () => process.off('exit', end))
  const [, url = '', adminUrl = ''] = READY.exec(await lines.next(READY)) ?? []
  return {
    pid: child.pid ?? 0,
    url,
    adminUrl,
    line: lines.next,
    lines: lines.all,
    signal: (signal) => void child.kill(signal),
    ended: exited,
    stop(signal) {
      child.kill(signal)
      return exited
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
  }
}

function linesOf(child: ChildProcess) {
  const lines: string[] = []
  const all: string[] = []
  const waiting = new Set<() => void>()
  const failing = new Set<(code: number | null) => void>()
  child.once('exit', (code) => {
    for (const fail of failing) fail(code)
  })
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream as NodeJS.ReadableStream }).on('line', (line) => {
      lines.push(line)
      all.push(line)
      for (const look of waiting) look()
    })
  }
  const next = (fits: RegExp) =>
    new Promise<string>((resolve, reject) => {
      const fail = (code: number | null) => reject(new Error(`the process ended with ${code} after:\n${lines.join('\n')}`))
      const look = () => {
        const at = lines.findIndex((line) => fits.test(line))
        if (at < 0) return
        waiting.delete(look)
        failing.delete(fail)
        const [line = ''] = lines.splice(0, at + 1).slice(-1)
        resolve(line)
      }
      waiting.add(look)
      failing.add(fail)
      look()
    })
  return { next, all }
}

/** Returns the value of a metric; its name includes its labels, if any. */
export async function metric({ adminUrl }: Pick<Child, 'adminUrl'>, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? Number.NaN)
}
