import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'

/** Returns the path of the command line as shipped. Builds the program before, if a source is newer. */
export function buildCli(): string {
  execFileSync(process.execPath, ['scripts/build.js', '--if-older'], { stdio: 'inherit' })
  return resolve('dist/bundle/cli.js')
}
