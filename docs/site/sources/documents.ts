import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placeOf, type SourcePage } from '../page.ts'

/** The pages beside the folder `docs`. */
const ABOVE = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md']

/** Returns every document that people write, as it lies in the repository. */
export function documents(root: string): readonly SourcePage[] {
  const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .sort()
  return [...ABOVE, ...below].map((source) => ({ source, path: placeOf(source), markdown: readFileSync(join(root, source), 'utf8') }))
}
