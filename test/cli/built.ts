import type { TestProject } from 'vitest/node'
import { buildCli } from './build.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the command line as shipped. */
    readonly cli: string
  }
}

/** Builds the program once, for every test file that starts it. */
export async function setup(project: TestProject): Promise<() => void> {
  const { cli, remove } = await buildCli()
  project.provide('cli', cli)
  return remove
}
