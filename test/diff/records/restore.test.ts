import { describe, expect, it } from 'vitest'
import { createInventory } from '../../../src/migrate/clients.ts'
import { createExpected } from '../../../src/migrate/compare/expected.ts'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { Comparison, Entry } from '../../../src/migrate/records/record.ts'
import { restore } from '../../../src/migrate/records/record-file.ts'
import { operations } from '../given.ts'

const LIST = 'registry.repos.list'
const at = '2026-01-02T03:04:05Z'

function comparison(nth: number, outcome: ComparisonOutcome, totals: Comparison['totals'] = []): Comparison {
  const sides = { v1: { status: 200 }, v2: { status: 200 } }
  const who = { id: `${nth}`, at, operation: LIST, mode: 'diff-v1', caller: 'c', shape: `${nth}`, check: 'read', ...sides } as const
  return { kind: 'comparison', ...who, outcome, totals, examples: [] }
}

describe('restored records', () => {
  it('give the same evidence, inventory and declarations', () => {
    const evidence = createEvidence(() => 0)
    const inventory = createInventory(operations)
    const expected = createExpected([{ code: 'x', operations: ['*'], signs: [{ at: ['/a'], kinds: ['value'] }] }], () => 0)
    const entries: Entry[] = [
      { kind: 'traffic', at, caller: 'c', subject: 'alice', operation: LIST, mode: 'diff-v1', calls: 500 },
      comparison(1, 'match'),
      comparison(2, 'expected', [{ kind: 'value', where: '/a', code: 'x', count: 2 }]),
      comparison(3, 'mismatch', [{ kind: 'missing', where: '/b', count: 1 }]),
      comparison(4, 'inconclusive'),
      comparison(6, 'transient', [{ kind: 'missing', where: '/b', count: 1 }]),
      { kind: 'note', at, what: 'modes', text: 'x' },
      { ...comparison(5, 'match'), at: 'never' },
    ]
    const ledger = { evidence, inventory, expected }
    for (const entry of entries) restore(entry, ledger)
    const counts = { n: 4, matches: 1, expected: 1, mismatches: 1, transients: 1, inconclusive: 1 }
    expect(evidence.of(LIST)).toMatchObject({ ...counts, lastAt: Date.parse(at) })
    expect(inventory.clients()).toMatchObject([{ caller: 'c', subject: 'alice', calls: 500, mismatches: 2, lastSeen: Date.parse(at) }])
    expect(evidence.of(LIST)).toMatchObject({ comparisons: 5, repeats: { n: 0 } })
    const ofAnother: Entry = { ...comparison(3, 'match'), id: '7' }
    expect([restore(ofAnother, ledger), restore({ ...ofAnother, id: '8' }, ledger)]).toEqual([true, false])
    expect(evidence.of(LIST)).toMatchObject({ comparisons: 7, n: 4, matches: 2, repeats: { n: 2, bad: 0, requests: 2 } })
    expect(expected.report()).toEqual([{ code: 'x', state: 'matched', findings: 2, comparisons: 6 }])
  })
})
