import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Mapping } from '../tables/operation.ts'
import type { Shapes } from './check.ts'
import { factsFile, readFacts } from './facts.ts'

/** The SHA-256 sums of the facts that the tests have compared with the tables and with messages of the vendor's own library. */
export const TESTED = {
  v1: 'cd8df53f6cd09270aa508c7475842d01bc6ffc0147f46c59bb59e4e7b33bc546',
  v2: 'f29e076ec4179a034f3bc23de8b2e25484610cc25721e3ce5d9de8651f7ba341',
} as const

/** Returns the SHA-256 sum of the facts of a version. */
export function sumOf(api: keyof typeof TESTED, folder?: URL): string {
  return createHash('sha256')
    .update(readFileSync(factsFile(api, folder)))
    .digest('hex')
}

/**
 * Checks at start that the facts are those that the tests have checked: a sum takes half a millisecond, the whole check thirty.
 * Other facts are checked whole, so that the sentence names what is wrong. Rejects with it even if all of them fit: no table has the
 * number of a field.
 */
export async function checkAtStart(mappings: readonly Mapping[], shapes: Shapes, folder?: URL): Promise<void> {
  const other = (['v1', 'v2'] as const).filter((api) => sumOf(api, folder) !== TESTED[api])
  if (other.length === 0) return
  const { checkFacts } = await import('./check.ts')
  checkFacts(readFacts(folder), mappings, shapes)
  const files = other.map((api) => `mappings/grpc/${api}.json`).join(' and ')
  throw new Error(`${files}: not what the tests have checked, so the number of a field may be wrong; install Crosswalk anew`)
}
