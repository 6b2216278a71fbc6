import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** `go install` puts programs there, and its own installer leaves `go` here. */
const PATH = [process.env.PATH, join(homedir(), 'go/bin'), '/usr/local/go/bin'].join(delimiter)

/** False, with a printed reason, if a program is missing: `hasProgram('go', 'version')`. */
export function hasProgram(name: string, argument: string): boolean {
  try {
    const version = execFileSync(name, [argument], { encoding: 'utf8', env: { ...process.env, PATH }, stdio: 'pipe' })
    console.log(`${name} ${version.trim()}`)
    return true
  } catch {
    console.warn(`SKIPPED: ${name} is not installed`)
    return false
  }
}

interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  /** The default is the folder of the Go module. */
  readonly cwd?: string
  /** Milliseconds; two minutes unless set. */
  readonly limitMs?: number
}

/** Runs a program within its limit and returns its exit code and what it printed. */
export async function run(
  name: string,
  args: readonly string[],
  { env, cwd = 'test/interop/go', limitMs = 120_000 }: RunOptions = {},
): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn(name, args, { cwd, env: { ...process.env, PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, text }
}
