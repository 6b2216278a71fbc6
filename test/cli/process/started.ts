import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { inject } from 'vitest'

/** Starts a command of the program as it is shipped. */
export const start = (...argv: string[]): ChildProcess =>
  spawn(process.execPath, [inject('cli'), ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })

/** Returns the code with which a process ends. */
export const exit = (child: ChildProcess) => new Promise<number | null>((resolve) => child.once('exit', resolve))

/** Reads the lines of a process up to and including the first line that fits. */
export async function linesUntil(child: ChildProcess, fits: (lines: readonly string[]) => boolean): Promise<readonly string[]> {
  const lines: string[] = []
  if (!child.stdout) return lines
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (fits(lines)) break
  }
  return lines
}

export const ANY_PORT = ['--port', '0', '--admin-port', '0', '--sandbox-port', '0']
