import { describe, expect, it } from 'vitest'
import { capabilities } from '../../mappings/capabilities.ts'
import { mappings } from '../../mappings/index.ts'
import { checkMappings } from '../../src/mapping/check.ts'
import { DIALECTS } from '../../src/mapping/names.ts'
import type { Operation } from '../../src/mapping/operation.ts'
import type { Message } from '../../src/mapping/resource.ts'
import { createRouter } from '../../src/translate/router.ts'
import { deepFreeze } from './deep-freeze.ts'
import { sampleV2 } from './sample.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)

describe('the tables', () => {
  it('pass every check that the start makes', () => {
    expect(() => checkMappings(mappings)).not.toThrow()
    expect(() => createRouter(operations)).not.toThrow()
  })

  it('hold every operation of v1 in the mapped domains, in the kinds of the facts (facts §2)', () => {
    const count = (domain: string, kind: Operation['kind']) =>
      mappings.find((mapping) => mapping.domain === domain)?.operations.filter((operation) => operation.kind === kind).length
    const kinds = ['direct', 'composed', 'emulated', 'v1-only'] as const
    const counts = (domain: string) => kinds.map((kind) => count(domain, kind))
    expect(counts('iam')).toEqual([42, 3, 0, 0])
    expect(counts('registry')).toEqual([6, 3, 4, 39])
    expect(counts('ping')).toEqual([1, 0, 0, 0])
    expect(counts('vulnerabilities')).toEqual([1, 0, 1, 5])
    expect(counts('libraries')).toEqual([3, 0, 0, 24])
    expect(counts('advisory')).toEqual([3, 0, 0, 0])
    expect(counts('events')).toEqual([3, 0, 0, 0])
    expect(operations).toHaveLength(138)
  })

  it('pair 216 capabilities, words on the v1 side', () => {
    expect(capabilities.rows).toHaveLength(216)
    expect([...capabilities.toV2.keys()].every((key) => typeof key === 'string')).toBe(true)
  })
})

const writable = operations.filter(({ id, request }) => request && /\.(create|update)$/.test(id))
const resourceOf = (id: string) => id.slice(0, id.lastIndexOf('.'))

/** Writes whose answer must hold what was written: every replacement, and every create that answers in the words of its request. */
const writes = writable.filter(({ method, request, answer }) => method === 'PUT' || request === answer)

/** The largest oneof has four members (facts §3.2). */
const TURNS = [0, 1, 2, 3]

describe.each(DIALECTS)('v2 → v1 → v2 in the %s dialect', (dialect) => {
  it.each(writes.map(({ id, request, answer }) => [id, request as Message, answer as Message] as const))('%s', (_, request, answer) => {
    for (const turn of TURNS) {
      const v2 = deepFreeze(sampleV2(request.fields, turn))
      const v1 = deepFreeze(answer.show[dialect](v2))
      expect(request.read(v1)).toEqual(v2)
    }
  })
})

it('covers every resource that v1 can write, but the one that v1 asks for and shows in different words (facts §3.8)', () => {
  const covered = new Set(writes.map(({ id }) => resourceOf(id)))
  expect(writable.map(({ id }) => resourceOf(id)).filter((resource) => !covered.has(resource))).toEqual(['iam.group_invites'])
})
