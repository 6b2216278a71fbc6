import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { TestProject } from 'vitest/node'

/** Returns the path of the command line as shipped. Builds the program before, if a source is newer. */
export function buildCli(): string {
  execFileSync(process.execPath, ['scripts/build.js', '--if-older'], { stdio: 'inherit' })
  return resolve('dist/bundle/cli.js')
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the command line as shipped. */
    readonly cli: string
  }
}

/** Builds the program once, for every test file that starts it or shows its page. */
export function setup(project: TestProject): void {
  project.provide('cli', buildCli())
}
