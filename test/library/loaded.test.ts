import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'
import { sources } from '../architecture/sources.ts'

/** Imports that are loaded with the file: neither types nor those of `import()`. */
const LOADED = /^(?:import|export) (?!type )[^'"]*?from '([^']+)'|^import '([^']+)'/gm

function loadedBy(start: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const texts = new Map(sources.map(({ path, text }) => [path, text]))
  const [files, packages] = [new Set<string>(), new Set<string>()]
  const load = (path: string) => {
    if (files.has(path)) return
    files.add(path)
    for (const [, from = '', bare = ''] of (texts.get(path) ?? '').matchAll(LOADED)) {
      const name = from || bare
      if (name.startsWith('.')) load(normalize(join(dirname(path), name)))
      else packages.add(name)
    }
  }
  load(start)
  return { files, packages }
}

/** Commands, workers, what only commands use, the sandbox, and the tables of this package. */
const APART = /^src\/(app\/(cli|server\/worker)|sandbox|tools\/(draft|guide|replay))|^mappings\//

it('loads neither commands nor the sandbox, the tables of this package or optional packages', () => {
  const { files, packages } = loadedBy('src/index.ts')
  expect(files).toContain('src/serve/serve.ts')
  expect(packages).toContain('fastify')
  expect([...files].filter((path) => APART.test(path))).toEqual([])
  expect([...packages].filter((name) => /opentelemetry|ioredis|redocly|protobuf/.test(name))).toEqual([])
})
