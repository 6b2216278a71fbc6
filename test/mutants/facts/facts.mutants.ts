import { isDeepStrictEqual } from 'node:util'
import type { DescEnum } from '@bufbuild/protobuf'
import { expect, inject, test } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { v1OnlyShapes } from '../../../mappings/v1-only-shapes.ts'
import { checkFacts } from '../../../src/grpc/check.ts'
import { type Facts, readFacts, readFieldType } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import { pinned, signatureOf, valuesOf, vectorFault } from '../../rpc/vectors/vectors.ts'
import { shuffled } from '../shuffle.ts'
import { explainedFacts } from './explained-facts.ts'
import { type FactMutant, factMutants } from './fact-mutants.ts'

const facts = readFacts()
const vectors = { v1: pinned('v1'), v2: pinned('v2') }
const all = factMutants(facts)

/** What the check at start says of the facts, or the first vector that they write otherwise. */
function noticed(mutant: Pick<FactMutant, 'api' | 'types' | 'apply'>): string | undefined {
  const restore = mutant.apply()
  try {
    checkFacts(facts, mappings, v1OnlyShapes)
    return vectorsOf(mutant)
  } catch (error) {
    return (error as Error).message
  } finally {
    restore()
  }
}

function vectorsOf({ api, types }: Pick<FactMutant, 'api' | 'types'>): string | undefined {
  const vendor = vectors[api]
  if (types.length === 0) {
    const own = openRpc([], facts).methods.filter(({ version }) => version === api)
    const signatures = Object.fromEntries(own.map((method) => [method.path.slice(1), signatureOf(method)]))
    return isDeepStrictEqual(signatures, vendor.methods) ? undefined : 'a method'
  }
  const some = { ...facts[api], messages: reachable(facts[api], types), services: {} }
  const { registry } = openRpc([], { v1: NOTHING, v2: NOTHING, [api]: some })
  for (const type of types) {
    const fault = vectorFault(registry.getMessage(type), vendor.messages[type]!, registry)
    if (fault !== undefined) return `${type}: ${fault}`
  }
  return [...registry].flatMap((type) => (type.kind === 'enum' ? [type] : [])).find((type) => isOther(type, vendor.enums))?.typeName
}

function isOther(type: DescEnum, enums: Readonly<Record<string, unknown>>): boolean {
  return type.typeName in enums && !isDeepStrictEqual(valuesOf(type), enums[type.typeName])
}

const NOTHING: Facts = { services: {}, messages: {}, enums: {} }

/** The messages that these messages are made of, with what encloses them. */
function reachable({ messages }: Facts, types: readonly string[]): Facts['messages'] {
  const found = new Map<string, Facts['messages'][string]>()
  const add = (type: string) => {
    const fields = messages[type]
    if (!fields || found.has(type)) return
    found.set(type, fields)
    add(type.slice(0, type.lastIndexOf('.')))
    for (const [, text] of Object.values(fields)) add(readFieldType(text)?.of ?? '')
  }
  for (const type of types) add(type)
  return Object.fromEntries(found)
}

test('every fault in the facts stops the start or is noticed by a vector', () => {
  const { seconds, seed } = inject('mutants')
  const chosen = seconds === undefined ? all : shuffled(all, seed)
  const end = performance.now() + 1000 * (seconds ?? Number.POSITIVE_INFINITY)
  const survivors: string[] = []
  const stale: string[] = []
  let [tried, stopped, equal] = [0, 0, 0]
  for (const mutant of chosen) {
    if (performance.now() > end) break
    tried += 1
    const told = noticed(mutant)
    if (told?.startsWith('mappings/grpc/')) stopped += 1
    const isExplained = explainedFacts.some(({ name }) => name.test(mutant.name))
    if (isExplained && told !== undefined) stale.push(`${mutant.name}: ${told}`)
    if (isExplained) equal += 1
    else if (told === undefined) survivors.push(mutant.name)
  }
  for (const name of survivors) console.log(`survived: ${name}`)
  const killed = tried - equal - survivors.length
  const sample = seconds === undefined ? '' : `, a sample of ${all.length} with seed ${seed}`
  console.log(`facts: killed ${killed} of ${tried}, ${stopped} by the start, ${equal} explained, ${survivors.length} survived${sample}`)
  expect({ survivors, stale }).toEqual({ survivors: [], stale: [] })
})

test('without a fault, nothing is noticed', () => {
  const apply = () => () => {}
  for (const api of ['v1', 'v2'] as const) expect(noticed({ api, types: Object.keys(facts[api].messages), apply })).toBeUndefined()
})

test('every explanation of a fact explains something', () => {
  expect(explainedFacts.filter(({ name }) => !all.some((mutant) => name.test(mutant.name)))).toEqual([])
})
