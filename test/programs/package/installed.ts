import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** An empty folder into which the tarball was installed, without its optional packages. */
export interface Installed {
  readonly folder: string
  /** The package itself in that folder. */
  readonly root: string
  readonly tarballBytes: number
  /** Paths of the files in the tarball. */
  readonly files: readonly string[]
  /** What the folder takes on the disk, as `du` counts it. */
  readonly installedBytes: number
}

declare module 'vitest' {
  interface ProvidedContext {
    readonly installed: Installed
  }
}

/** The environment of a user: this Node first, and nothing of the npm that runs the tests but where its registry is. */
export function userEnv(): NodeJS.ProcessEnv {
  const kept = ['npm_config_registry', 'npm_config_userconfig', 'npm_config_cache', 'npm_config_cafile']
  const entries = Object.entries(process.env).filter(([name]) => !/^(npm_|vitest|NODE_ENV$)/i.test(name) || kept.includes(name))
  return { ...Object.fromEntries(entries), PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }
}

/** A file of a source that is gone: the tarball must not hold it. */
const STALE = 'dist/src/stale-of-an-older-state.js'

export function setup(project: TestProject): () => void {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'crosswalk-installed-')))
  const run = (cwd: string, ...argv: string[]) =>
    execFileSync('npm', argv, { cwd, env: userEnv(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 })
  mkdirSync(dirname(STALE), { recursive: true })
  writeFileSync(STALE, '')
  const [packed] = JSON.parse(lastArray(run(process.cwd(), 'pack', '--json', '--pack-destination', folder))) as readonly Packed[]
  if (!packed) throw new Error('npm pack made no tarball')
  writeFileSync(join(folder, 'package.json'), '{}\n')
  run(folder, 'install', '--omit=optional', '--no-audit', '--no-fund', `./${packed.filename}`)
  project.provide('installed', {
    folder,
    root: join(folder, 'node_modules/crosswalk'),
    tarballBytes: packed.size,
    files: packed.files.map(({ path }) => path),
    installedBytes: bytesOf(join(folder, 'node_modules')),
  })
  return () => rmSync(folder, { recursive: true })
}

interface Packed {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** The JSON at the end of the output. The scripts of the package print before it. */
function lastArray(output: string): string {
  return output.slice(output.search(/^\[$/m))
}

function bytesOf(folder: string): number {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return [...paths, '.'].reduce((sum, path) => sum + statSync(join(folder, path)).blocks * 512, 0)
}
