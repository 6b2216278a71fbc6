import { describe, expect, it } from 'vitest'
import { createInventory } from '../../../src/migrate/clients.ts'
import { createExpected } from '../../../src/migrate/compare/expected.ts'
import { createEvidence, createTallies } from '../../../src/migrate/evidence/evidence.ts'
import type { Comparison, Entry } from '../../../src/migrate/records/record.ts'
import { restore } from '../../../src/migrate/records/record-file.ts'
import { seeded } from '../../stage/seeded.ts'

const START = Date.UTC(2026, 0, 2)
const OUTCOMES = ['match', 'match', 'match', 'expected', 'race', 'inconclusive', 'mismatch', 'transient', 'error'] as const

function ledger(now: () => number) {
  return { evidence: createEvidence(now), inventory: createInventory([]), expected: createExpected([], now) }
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

function comparison(nth: number, at: number, random: () => number): Comparison {
  const weight = pick(random, [undefined, undefined, 20])
  const who = { caller: pick(random, ['a', 'b', 'c']), shape: pick(random, ['x', 'y']), ...(weight !== undefined && { weight }) }
  const known = { kind: 'comparison', id: `${nth}`, at: new Date(at).toISOString(), mode: 'diff-v1', check: 'read' } as const
  return {
    ...known,
    ...who,
    operation: pick(random, ['one', 'two']),
    outcome: pick(random, OUTCOMES),
    totals: [],
    examples: [],
    v2: { status: 200 },
  }
}

describe('what is counted without records of its own', () => {
  it('is read back with them: the evidence is the same', () => {
    const random = seeded(15)
    let now = START
    const live = ledger(() => now)
    const entries: Entry[] = []
    const record = (entry: Entry) => void entries.push(JSON.parse(JSON.stringify(entry)))
    const tallies = createTallies(live.evidence, { record }, () => now)
    for (let nth = 0; nth < 2_000; nth++) {
      now += Math.floor(random() * 20_000)
      if (random() < 0.2) tallies.uncompared(pick(random, ['one', 'two']), pick(random, ['perSecond', 'answerBytes']))
      const counted = tallies.count(comparison(nth, now, random))
      if (counted) record(counted)
      if (nth % 50 === 49) tallies.flush()
    }
    tallies.flush()
    tallies.flush()
    expect(entries.filter(({ kind }) => kind === 'comparison').length).toBeLessThan(1_900)
    const again = ledger(() => now)
    for (const entry of entries) restore(entry, again)
    // Only the time of the last comparison is that of the tally.
    const counted = ({ evidence }: typeof live) => evidence.all().map(({ lastAt, ...counts }) => counts)
    expect(counted(again)).toEqual(counted(live))
    expect(counted(live)).toHaveLength(2)
  })
})
