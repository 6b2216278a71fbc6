import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const IMPORT = /(?:from|import\(|import) ?['"](\.[^'"]+)\.ts['"]/g

/** Removes the declarations of `folder` that no `types` of `exports` reaches. Most describe what nobody can import. */
export function keepReachable(folder) {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  const wanted = new Set()
  const want = (path) => {
    if (wanted.has(path)) return
    wanted.add(path)
    for (const [, specifier] of readFileSync(path, 'utf8').matchAll(IMPORT)) want(join(dirname(path), `${specifier}.d.ts`))
  }
  for (const { types } of Object.values(exports)) if (types !== undefined) want(join(types))
  for (const name of readdirSync(folder, { recursive: true })) {
    if (name.endsWith('.d.ts') && !wanted.has(join(folder, name))) rmSync(join(folder, name))
  }
}
