import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'vite'

export interface Build {
  /** Path of the command line as shipped. */
  readonly cli: string
  remove(): void
}

/** Builds the program into a new directory, so that a test never runs a stale build. */
export async function buildCli(): Promise<Build> {
  const root = process.cwd()
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-build-'))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  cpSync(join(root, 'package.json'), join(directory, 'package.json'))
  const dist = join(directory, 'dist')
  await Promise.all([
    promisify(execFile)(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', root, '--outDir', dist]),
    buildPage(join(dist, 'web')),
  ])
  return { cli: join(dist, 'src/cli.js'), remove: () => rmSync(directory, { recursive: true }) }
}

/** Builds the page of the report alone, as it is in the sources now. */
export async function buildPage(directory: string): Promise<void> {
  const root = 'src/report/web'
  await build({ root, configFile: `${root}/vite.config.js`, build: { outDir: directory }, logLevel: 'error' })
}
