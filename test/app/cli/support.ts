import { execFile, execFileSync } from 'node:child_process'
import { run } from '../../../src/app/cli/run.ts'

/** The output and exit code of a command. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Never resolves: no exception escapes. */
export const untilEscaped = () => new Promise<never>(() => {})

/** Runs a command in this process until it ends by itself. */
export async function runCommand(argv: readonly string[], env: Record<string, string> = {}, stdin = ''): Promise<Ran> {
  const [out, err]: [string[], string[]] = [[], []]
  const code = await run(argv, {
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    env,
    stdin: async () => stdin,
    untilStopped: () => Promise.resolve(),
    untilEscaped,
  })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

/** Returns false and prints a reason if curl is missing. */
export function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'])
    return true
  } catch {
    console.warn('skipped: these tests paste curl lines into sh, and there is no curl')
    return false
  }
}

/** Pastes lines into `sh` and resolves with their output. */
export function paste(lines: string, env: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', lines], { env: { PATH: process.env.PATH ?? '', ...env } }, (error, out, err) => {
      if (error && typeof error.code !== 'number') reject(error)
      else resolve(out + err)
    })
  })
}
