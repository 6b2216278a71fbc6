import type { Contract } from '../contract/public-contract.ts'
import { lossesOf } from './draft-losses.ts'
import { pairOperations } from './pair-operations.ts'
import { type Draft, writeTables } from './write-tables.ts'

/**
 * Drafts a first table of two contracts: `draftTables(v1, v2, 'resourcemanager')`. It holds only what can be defended: the same method and
 * path, and of each message the members with the same parent, the same type and the same or a similar name. All else is left to a person.
 * It is TypeScript with the types of both contracts, or JavaScript. Throws a sentence if v1 has no operation.
 */
export function draftTables(v1: Contract, v2: Contract, domain: string, isTyped = true): Draft {
  if (v1.operations.length === 0) throw new Error('the document of v1 has no operation under paths; give its OpenAPI document with --v1')
  const pairs = pairOperations(v1, v2)
  const form = { domain, prefix: prefixOf(v1.operations.map(({ path }) => path)), isTyped }
  return writeTables(form, pairs, lossesOf(v1, v2, pairs))
}

/** Returns the segments with which all paths begin, up to the version if there is one. */
function prefixOf(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.slice(1).split('/'))
  const end = first.findIndex((segment, at) => /[{:]/.test(segment) || others.some((other) => other[at] !== segment))
  const shared = end < 0 ? first : first.slice(0, end)
  const version = shared.findIndex((segment) => /^v\d/.test(segment))
  return shared.slice(0, version < 0 ? Math.max(1, shared.length) : version + 1).join('/')
}
