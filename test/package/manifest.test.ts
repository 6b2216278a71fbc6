import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'

interface Manifest {
  readonly private?: boolean
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  /** What one command needs, and says so. */
  readonly peerDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest

/** The page of the report is bundled: what it imports need not be installed. */
const PAGE = join('report', 'web')

const IMPORT = /(?:^(?:import|export|\}) ?.*from |\bimport\()'([\w@][\w@/.:-]*)'/gm

/** The printed text of a case imports it. */
const PRINTED = ['crosswalk']

it('installs what the program imports, and nothing else', () => {
  const sources = ['src', 'mappings'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith(PAGE) && !name.includes('engine/'))
      .map((name) => readFileSync(join(root, name), 'utf8')),
  )
  const specifiers = sources.flatMap((source) => [...source.matchAll(IMPORT)].map(([, name = '']) => name))
  const imported = new Set(specifiers.filter((name) => !isBuiltin(name)).map(packageOf))
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies })
  expect([...imported].filter((name) => !PRINTED.includes(name)).sort()).toEqual(installed.sort())
})

/** `@fastify/x/y` → `@fastify/x`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

it('runs no script where it is installed', () => {
  const run = ['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare', 'prepublish', 'dependencies']
  expect(Object.keys(manifest.scripts).filter((name) => run.includes(name))).toEqual([])
})

it('can be published', () => {
  expect(manifest.private).toBeUndefined()
})
