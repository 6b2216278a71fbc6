/** What stands behind the `--` of an npm script that runs vitest: ours, not vitest's. */
export function ownArguments(): string[] {
  const at = process.argv.indexOf('--')
  return at < 0 ? [] : process.argv.slice(at + 1)
}
