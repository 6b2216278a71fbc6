import { spawnSync } from 'node:child_process'

/** True if promtool is installed; otherwise says why tests are skipped. */
export function hasPromtool(): boolean {
  if (spawnSync('promtool', ['--version']).status === 0) return true
  console.warn("SKIPPED: rules are not checked by promtool, which comes with Debian's package prometheus")
  return false
}

/** Runs promtool; returns its complaints, or an empty text. */
export function promtool(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}
