import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

/** False, with a printed reason, if Go is missing. */
export function hasGo(): boolean {
  try {
    console.log(execFileSync('go', ['version'], { encoding: 'utf8' }).trim())
    return true
  } catch {
    console.warn('SKIPPED: go is not installed')
    return false
  }
}

/** Runs a command and returns its exit code and what it printed. */
export async function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = 'test/interop/go',
): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (text += part))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, text }
}
