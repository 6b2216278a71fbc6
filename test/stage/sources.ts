import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface Source {
  readonly path: string
  readonly room: string
  readonly text: string
  readonly imports: readonly Import[]
}

export interface Import {
  /** A package, or the path of a file of this repository. */
  readonly target: string
  readonly isLocal: boolean
  /** Only types are imported, so nothing is loaded. */
  readonly isType: boolean
  /** Loaded where it is asked for, not at the start. */
  readonly isLazy: boolean
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\s([^'"]*?)from\s+'([^']+)'|(?:^|\n)import '([^']+[.]tsx?)'|import\('([^']+)'\)/g

/** Every TypeScript file of the program, its tables and its site, by path. */
export const sources: readonly Source[] = ['src', 'mappings', 'docs/site'].flatMap((root) =>
  (readdirSync(root, { recursive: true }) as string[])
    // AssemblyScript is a language of its own, with other imports.
    .filter((name) => /[.]tsx?$/.test(name) && !/engine\/|[.]d[.]ts$/.test(name))
    .sort()
    .map((name) => {
      const path = join(root, name)
      const text = readFileSync(path, 'utf8')
      return { path, room: roomOf(path), text, imports: importsOf(path, text) }
    }),
)

function importsOf(path: string, text: string): readonly Import[] {
  return [...text.matchAll(IMPORT)].map(([, names = '', from, bare, lazy]) => {
    const name = from ?? bare ?? lazy ?? ''
    const isLocal = name.startsWith('.')
    const target = isLocal ? normalize(join(dirname(path), name)) : name
    return { target, isLocal, isType: isTypes(names), isLazy: lazy !== undefined }
  })
}

/** `type { A, B }` and `{ type A, type B }` name only types. */
function isTypes(names: string): boolean {
  if (/^type\b/.test(names)) return true
  const [, list] = /\{([^}]*)\}/.exec(names) ?? []
  return list !== undefined && !/^\s*\w/.test(names) && list.split(',').every((name) => /^\s*(type\s|$)/.test(name))
}

/** `src/serve/core.ts` → serve; `src/errors.ts`, `src/heads.ts`, `src/index.ts` and `src/cli.ts` are rooms of their own; `mappings/…` and `docs/site/…` are rooms. */
export function roomOf(path: string): string {
  const [root = '', second = ''] = path.split('/')
  if (root === 'docs') return second
  return root === 'src' ? second.replace(/\.ts$/, '') : root
}

/** The files that a source imports from this repository. */
export const local = (source: Source): readonly string[] => source.imports.filter(({ isLocal }) => isLocal).map(({ target }) => target)
