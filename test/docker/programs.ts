import { execFileSync, spawnSync } from 'node:child_process'

/** Whether a program is installed; says why tests are skipped if it is not. */
export function hasProgram(program: string, ...version: readonly string[]): boolean {
  if (spawnSync(program, version, { stdio: 'ignore' }).status === 0) return true
  console.warn(`SKIPPED: ${program} is not installed`)
  return false
}

/** Returns what a program prints. Throws with its complaints if it fails. */
export function printed(program: string, ...argv: readonly string[]): string {
  return execFileSync(program, argv, { encoding: 'utf8', stdio: 'pipe', timeout: 60_000 })
}
