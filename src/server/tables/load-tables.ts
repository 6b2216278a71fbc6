import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Tables } from '../../tables/tables.ts'

/**
 * Returns the tables that the module at a path exports as `tables`, or those of this package without a path. Rejects with a sentence if
 * there is no such module, or if it exports something else.
 */
export async function loadTables(path: string | undefined): Promise<Tables> {
  if (path === undefined) return (await import('../../../mappings/index.ts')).tables
  const { tables } = await importFrom(path)
  if (!isTables(tables)) throw new Error(`${path} exports no tables; export them as: export const tables: Tables = { name, mappings, … }`)
  return tables
}

async function importFrom(path: string): Promise<{ readonly tables?: unknown }> {
  try {
    return await import(pathToFileURL(resolve(path)).href)
  } catch (error) {
    const problem = existsSync(path) ? problemIn(error as NodeJS.ErrnoException) : 'there is no such file'
    throw new Error(`${path} cannot be loaded as tables: ${problem}`, { cause: error })
  }
}

function problemIn({ code, message }: NodeJS.ErrnoException): string {
  if (/outside a module/.test(message)) return `${message}; name it .mjs, or write "type": "module" into package.json`
  if (code !== 'ERR_UNKNOWN_FILE_EXTENSION') return message
  return `Node ${process.versions.node} loads JavaScript alone: compile it, or use Node 22.18 or newer for TypeScript`
}

/** Whether the tables are right is checked when they are used. */
function isTables(value: unknown): value is Tables {
  return typeof value === 'object' && value !== null && 'name' in value && 'mappings' in value && Array.isArray(value.mappings)
}
