import { spawnSync } from 'node:child_process'

/** Whether promtool is there; tells why tests are skipped when it is not. */
export function hasPromtool(): boolean {
  if (spawnSync('promtool', ['--version']).status === 0) return true
  console.warn("SKIPPED: rules are not checked by promtool, which comes with Debian's package prometheus")
  return false
}

/** Runs promtool; what it says when it is not content, else nothing. */
export function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}
