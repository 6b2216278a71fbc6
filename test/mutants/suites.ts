import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { mappings } from '../../mappings/index.ts'
import { createRouter } from '../../src/serve/route.ts'
import { checkMappings } from '../../src/tables/check.ts'
import { DIALECTS } from '../../src/tables/uid.ts'
import { expected, play } from '../mappings/transcript.ts'
import { transcripts } from '../mappings/transcripts.ts'
import { agreements } from '../properties/genuine/agreement.ts'
import { pairs } from '../properties/genuine/pairs.ts'
import { contract, declared } from './contract.ts'
import type { Mutant } from './mutant.ts'

/** One way to notice a fault that is in place; says what it noticed. */
export type Suite = (mutant: Pick<Mutant, 'operations'>) => Promise<string | undefined>

const operations = mappings.flatMap((mapping) => mapping.operations)
const router = createRouter(operations)

/** The checks that every start makes. */
const start: Suite = async () => {
  try {
    checkMappings(mappings)
    return undefined
  } catch (error) {
    return `start: ${(error as Error).message}`
  }
}

/** The conversations of the faulty operations. */
const conversations: Suite = async ({ operations: ids }) => {
  for (const one of transcripts) {
    if (!ids.includes(one.operation)) continue
    for (const dialect of DIALECTS) {
      const played = await play(one, router, dialect)
      if (!isDeepStrictEqual(played, expected(one, dialect))) return `transcript: ${one.operation}: ${one.title}`
    }
  }
  return undefined
}

/** The genuine twins of the faulty operations' tables, tried with few values: a fault shows soon or never. */
const twins: Suite = async ({ operations: ids }) => {
  const faulty = operations.filter(({ id }) => ids.includes(id))
  const tables = new Set(faulty.flatMap(({ request, answer, envelope }) => [request, answer, envelope]))
  for (const pair of pairs.filter(({ table }) => tables.has(table))) {
    for (const { what, drawn, check } of agreements(pair)) {
      const { failed } = fc.check(fc.property(drawn, check), { seed: 1, numRuns: 200, endOnFailure: true })
      if (failed) return `property: ${pair.table.name} ${what}`
    }
  }
  return undefined
}

/** Without a service; and the one that starts services, for what the others let pass. */
export const quick: readonly Suite[] = [declared, start, conversations, twins]
export const thorough: readonly Suite[] = [contract]

/** What the first suite that notices the fault says; a suite that breaks down over it has noticed it as well. */
export async function noticed(mutant: Mutant, suites: readonly Suite[]): Promise<string | undefined> {
  const restore = mutant.apply()
  try {
    for (const suite of suites) {
      const told = await suite(mutant)
      if (told !== undefined) return told
    }
    return undefined
  } catch (error) {
    return `broke down: ${(error as Error).message}`
  } finally {
    restore()
  }
}
