import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const directory = process.env.CROSSWALK_REFERENCE ?? join('..', 'shared', 'reference')

/** A JSON document of the reference. */
export function read<T>(name: string): T {
  const file = join(directory, name)
  if (!existsSync(file)) throw new Error(`no reference at ${file}; set CROSSWALK_REFERENCE to the folder that holds ${name}`)
  return JSON.parse(readFileSync(file, 'utf8')) as T
}
