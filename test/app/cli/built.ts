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

/** The files of tests that start the program as it is shipped, or show its page. */
const STARTING = [
  'admin/live',
  'admin/page',
  'app/cli/case',
  'app/cli/process',
  'app/library/exit',
  'docs/journeys',
  'grpc/relay/secure-upstream',
  'serve/path',
  'serve/upstream/undici',
].map((name) => `/test/${name}.test.ts`)

/** Builds the program once for the programs that test, and for the tests only if one of these files runs. */
export function setup(project: TestProject): void {
  const starts = project.vitest.state.getPaths().some((path) => STARTING.some((file) => path.endsWith(file)))
  if (starts || project.name !== 'together') project.provide('cli', buildCli())
}
