import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

const DIRECTORY = 'CROSSWALK_REFERENCE'

/**
 * A JSON document of the published contracts, which are not part of the repository. Without them the check that reads one is skipped, and
 * the reason is printed.
 */
export function read<T>({ skip }: TestContext, name: string): T {
  const directory = process.env[DIRECTORY] ?? ''
  const file = join(directory, name)
  if (directory === '') return skipped(skip, `${DIRECTORY} is not set`)
  if (!existsSync(file)) return skipped(skip, `there is no ${file}`)
  return JSON.parse(readFileSync(file, 'utf8')) as T
}

function skipped(skip: TestContext['skip'], why: string): never {
  const reason = `skipped: ${why}; set ${DIRECTORY} to the folder that holds crosswalk.json, openapi-v1.json and openapi-v2.json`
  console.log(reason)
  return skip(reason)
}
