import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const TABLES = fileURLToPath(new URL('../../../mappings', import.meta.url))

/** Returns a hash of the mapping tables of this process: what they answer is another matter than what others answer. */
export function tablesHash(): string {
  const files = readdirSync(TABLES, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(?:js|ts|json)$/.test(name))
  const hash = createHash('sha256')
  for (const name of files.sort()) hash.update(name).update(readFileSync(path.join(TABLES, name)))
  return hash.digest('hex').slice(0, 12)
}
