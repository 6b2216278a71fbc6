import { describe, expect, it } from 'vitest'
import { capabilities } from '../../mappings/capabilities.ts'
import { mappings } from '../../mappings/index.ts'
import { checkMappings } from '../../src/tables/compile/check.ts'
import type { Operation } from '../../src/tables/language/operation.ts'
import { createRouter } from '../../src/translate/router.ts'

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
    expect(counts('events')).toEqual([3, 0, 0, 1])
    const elsewhere = { policies: 13, argos: 10, actions: 6, auth: 3, skills: 3, apk: 2, apko: 2, packages: 1, 'image-recommendation': 1 }
    for (const [domain, all] of Object.entries(elsewhere)) expect([domain, ...counts(domain)]).toEqual([domain, 0, 0, 0, all])
    expect(operations).toHaveLength(138 + 1 + 41)
  })

  it('pair 216 capabilities, words on the v1 side', () => {
    expect(capabilities.rows).toHaveLength(216)
    expect([...capabilities.toV2.keys()].every((key) => typeof key === 'string')).toBe(true)
  })
})
