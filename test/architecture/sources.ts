import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface Source {
  readonly path: string
  readonly layer: string
  readonly text: string
  readonly imports: readonly string[]
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/g

/** Every TypeScript file of the program and its tables, by path. */
export const sources: readonly Source[] = ['src', 'mappings', 'site'].flatMap((root) =>
  (readdirSync(root, { recursive: true }) as string[])
    // AssemblyScript is a language of its own, with other imports.
    .filter((name) => /[.]tsx?$/.test(name) && !name.includes('/engine/'))
    .sort()
    .map((name) => {
      const path = join(root, name)
      const text = readFileSync(path, 'utf8')
      return { path, layer: layerOf(path), text, imports: [...text.matchAll(IMPORT)].map(([, from, dynamic]) => from ?? dynamic ?? '') }
    }),
)

/** `src/routes/app.ts` → routes; `src/server.ts` and `src/cli.ts` are layers of their own, `mappings/…` is one. */
export function layerOf(path: string): string {
  const [root = '', second = ''] = path.split('/')
  return root === 'src' ? second.replace(/\.ts$/, '') : root
}

/** The files that a source imports from this repository. */
export const local = (source: Source) =>
  source.imports.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(source.path), name)))
