import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type net from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** Debian keeps servers in a folder that only root searches, `go install` puts programs into the second, and Go's own installer leaves `go` in the third. */
export const PATH = [process.env.PATH, '/usr/sbin', join(homedir(), 'go/bin'), '/usr/local/go/bin'].join(delimiter)

/** False, with a printed reason, if a program is missing: `hasProgram('go')`. With the argument that asks for its version, this is printed. */
export function hasProgram(name: string, ...version: readonly string[]): boolean {
  const env = { ...process.env, PATH }
  try {
    execFileSync('sh', ['-c', 'command -v "$0"', name], { stdio: 'ignore', env })
    if (version.length > 0) console.log(`${name} ${execFileSync(name, version, { encoding: 'utf8', stdio: 'pipe', env }).trim()}`)
    return true
  } catch {
    console.warn(`SKIPPED: ${name} is not installed`)
    return false
  }
}

/** A new folder of temporary files. */
export function temporaryFolder(name: string) {
  const path = mkdtempSync(join(tmpdir(), `crosswalk-${name}-`))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** What runs, and the signal that ends it with this process. */
const running = new Map<ChildProcess, NodeJS.Signals>()
process.once('exit', () => {
  for (const [child, signal] of running) child.kill(signal)
})

interface ProgramOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** The signal that ends it if this process ends first. */
  readonly end?: NodeJS.Signals
}

export type Program = ReturnType<typeof startProgram>

/** Starts a program, which ends with this process at the latest. */
export function startProgram(name: string, argv: readonly string[], { env = process.env, cwd, end = 'SIGKILL' }: ProgramOptions = {}) {
  const child = spawn(name, argv, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const errors: string[] = []
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line)
      if (stream === child.stderr) errors.push(line)
      for (const look of waiting) look()
    })
  }
  running.set(child, end)
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', (code, signal) => resolve(code ?? signal))
  })
  void ended.then(() => running.delete(child))
  let seen = 0
  return {
    pid: child.pid ?? 0,
    /** The lines on both outputs so far, and those on standard error. */
    lines,
    errors,
    /** Resolves with its exit code, or the signal that ended it. */
    ended,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    /** Sends a signal without waiting. */
    signal: (signal: NodeJS.Signals) => void child.kill(signal),
    /** Sends a signal and resolves as `ended`. */
    stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      return ended
    },
    /** Resolves with the next line on either output that matches. */
    line: (fits: RegExp) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          const at = lines.findIndex((line, nth) => nth >= seen && fits.test(line))
          if (at < 0) return
          seen = at + 1
          waiting.delete(look)
          resolve(lines[at] ?? '')
        }
        waiting.add(look)
        look()
        void ended.then((code) => reject(new Error(`the process ended with ${code} after:\n${lines.join('\n')}`)))
      }),
  }
}

/** Lets a server of TCP, HTTP or HTTP/2 listen on a free port of this machine, and returns where. */
export async function listening(server: net.Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as net.AddressInfo
  return { port, url: `http://127.0.0.1:${port}` }
}
