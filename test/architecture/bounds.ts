import { readdirSync } from 'node:fs'
import type { Source } from './sources.ts'

/** Lines of a file. */
export const MAX_LINES = 150

/** Files of a folder. */
export const MAX_FILES = 15

/** Files that may be as long as what they list, and why. */
const DATA: readonly (readonly [path: string, because: string])[] = [
  ['mappings/', 'tables'],
  ['src/sandbox/data/', 'rows of the sandbox'],
  ['src/sandbox/auth/rights/capabilities.ts', 'every capability with its number'],
  ['src/config/settings.ts', 'the table of the settings'],
]

export function isData(path: string): boolean {
  return DATA.some(([start]) => path.startsWith(start))
}

/**
 * Whether no other file may have the name of this one. The tables and the sandbox have a form of every resource, for v1 and for v2, and a
 * command has the name that its user types.
 */
export function isNamedAlone({ path }: Source): boolean {
  return path.startsWith('src/') && !path.startsWith('src/sandbox/') && !path.startsWith('src/cli/commands/')
}

/** The name of an exported type. */
export const TYPE = /^export (?:interface|type|class|abstract class) (\w+)/gm

export function lineCount(text: string): number {
  return text.replace(/\n$/, '').split('\n').length
}

/** The folders below a root with more files than `MAX_FILES`. */
export function crowded(root: string): readonly string[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const folders = grouped(files.map(({ parentPath, name }) => [parentPath, name]))
  return folders.filter(([, names]) => names.length > MAX_FILES).map(([folder, names]) => `${folder}: ${names.length} files`)
}

/** The names that stand for more than one path, with these paths. */
export function namesTwice(named: readonly (readonly [name: string, path: string])[]): readonly string[] {
  return grouped(named)
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

function grouped(pairs: readonly (readonly [key: string, value: string])[]): readonly (readonly [key: string, values: string[]])[] {
  const groups = new Map<string, string[]>()
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value])
  return [...groups]
}
