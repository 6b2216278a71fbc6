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

/** Returns true if a range of `engines` takes the oldest Node that this package takes: `>=18`, `^20.19.0 || >=22.12.0`, `14 || 16 || >=18`. */
function takesOldest(range: string, [major, minor]: readonly [number, number]): boolean {
  return range.split('||').some((part) => {
    const [, sign = '', first = '0', second = '0'] = /(>=|\^|~|>)?\s*v?(\d+)(?:\.(\d+))?/.exec(part) ?? []
    const isOpen = sign === '>=' || sign === '>' || part.includes('*')
    return Number(first) === major ? Number(second) <= minor : isOpen && Number(first) < major
  })
}

/** What names a newer Node and works on Node 20. nock 15.0.0, the last that names no newer one, sees no request of undici. */
const NEWER = ['@mswjs/interceptors', 'nock']

it('installs nothing further that warns of the oldest Node, and nothing that runs a script', () => {
  const { engines, allowScripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? []
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockedPackage> }
  const oldest = [Number(major), Number(minor)] as const
  const others = Object.entries(packages).filter(([path]) => path !== '')
  const warned = others.filter(([, { engines: needed }]) => needed?.node !== undefined && !takesOldest(needed.node, oldest))
  expect(warned.map(([path]) => path.split('node_modules/').at(-1)).sort()).toEqual([...NEWER].sort())
  const scripted = others.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path.split('node_modules/').at(-1))
  expect(scripted.filter((name) => allowScripts[name ?? ''] !== false)).toEqual([])
  expect(others.length).toBeGreaterThan(100)
})

interface LockedPackage {
  readonly engines?: { readonly node?: string }
  readonly hasInstallScript?: boolean
}
