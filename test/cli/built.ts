import type { TestProject } from 'vitest/node'
import { buildCli } from './build.ts'

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
