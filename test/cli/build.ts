import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Build {
  /** Path of the command line as shipped. */
  readonly cli: string
  remove(): void
}

/** Compiles the sources to a new directory, so that a test never runs a stale build. */
export function buildCli(): Build {
  const root = process.cwd()
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-build-'))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  cpSync(join(root, 'package.json'), join(directory, 'package.json'))
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', root, '--outDir', join(directory, 'dist')])
  return { cli: join(directory, 'dist/src/cli.js'), remove: () => rmSync(directory, { recursive: true }) }
}
