import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { type CutoverQuestion, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { UncomparedCounts } from '../../../src/migrate/evidence/standing.ts'
import { createAcceptanceMemory, type OperationTerms } from '../../../src/migrate/evidence/terms.ts'
import { operations } from '../given.ts'

const LIST = 'registry.repos.list'
const RARE = 'iam.groups.list'
const NOW = Date.parse('2026-11-27T12:00:00Z')
const ACCEPT = { reason: 'a lawyer reads it once a year', until: '2027-01-31' }

interface Seen {
  readonly counts: readonly (readonly [count: number, outcome?: ComparisonOutcome, operation?: string])[]
  /** Outcomes of a kind that repeats. */
  readonly repeats?: readonly ComparisonOutcome[]
  readonly uncompared?: UncomparedCounts
}

/** Many observations of the list, and these of the rare operation. */
function judge({ counts, repeats = [], uncompared }: Seen, terms: readonly OperationTerms[], members: Partial<CutoverQuestion> = {}) {
  const all = createEvidence(() => 0)
  for (const [count, outcome = 'match', operation = RARE] of [[2_000, 'match', LIST] as const, ...counts]) {
    for (let nth = 0; nth < count; nth++) {
      all.observe({ operation, caller: `c${nth % 2}`, shape: `${operation}?a=${outcome}&b=${nth % 4}`, outcome }, 700_000 * nth)
    }
  }
  for (const outcome of repeats) {
    const [n, bad] = [1, outcome === 'match' ? 0 : 1]
    all.add(RARE, { comparisons: 1, repeats: { n, bad, requests: n, wrong: bad } })
  }
  if (uncompared) all.add(RARE, { uncompared })
  const traffic = new Map([
    [LIST, 99_000],
    [RARE, 1_000],
  ])
  const seen = { evidence: all.all(), traffic, clients: [], operations, terms: { each: 3, operations: terms, now: NOW } }
  return judgeCutover({ target: 0.01, withoutV1: false, ...seen, ...members })
}

const RARELY: Seen = { counts: [[5]] }
const WHOLE = { isStrict: false } as const
const STRICT = { isStrict: true } as const
const rowOf = ({ operations }: ReturnType<typeof judge>) => operations.find(({ operation }) => operation === RARE)

describe('a target by name', () => {
  it('takes the place of the general one for its operations, and the first entry that has one counts', () => {
    const terms = [
      { operations: ['iam.groups.*', 'iam.roles.*'], target: 0.8 },
      { operations: 'iam.*', target: 0.0001 },
    ]
    expect(judge(RARELY, [], STRICT)).toMatchObject({ ready: false })
    const verdict = judge(RARELY, terms, STRICT)
    expect(verdict).toMatchObject({ ready: true, target: 0.01 })
    expect(rowOf(verdict)).toMatchObject({ standing: 'inside', blocks: false, needed: 0, target: 0.8 })
    expect(verdict.operations.find(({ operation }) => operation === LIST)).not.toHaveProperty('target')
  })

  it('may be stricter than the general one', () => {
    const verdict = judge(RARELY, [{ operations: LIST, target: 0.0001 }], STRICT)
    expect(verdict.reasons.join(' ')).toMatch(/registry\.repos\.list: INCONCLUSIVE after 2,000 observations .* until ≤ 0\.01 %/)
  })

  it('lets all together have the mean of the targets, by the requests', () => {
    const { whole } = judge(RARELY, [{ operations: RARE, target: 0.5 }], WHOLE)
    expect(whole?.target).toBeCloseTo(0.99 * 0.01 + 0.01 * 0.5, 12)
    expect(judge(RARELY, [], WHOLE).whole?.target).toBe(0.01)
  })

  it('bounds what is known to be wrong, also among all together', () => {
    const wrong: Seen = { counts: [[99], [1, 'transient']] }
    expect(judge(wrong, [{ operations: RARE, target: 0.001 }], WHOLE).reasons[0]).toMatch(/1 transient difference/)
    expect(rowOf(judge(wrong, [{ operations: RARE, target: 0.2 }], WHOLE))).toMatchObject({ standing: 'inside' })
  })
})

describe.each([
  ['each operation by itself', STRICT],
  ['all together', WHOLE],
] as const)('an accepted operation, judging %s', (_, members) => {
  const accepted = (seen: Seen, more: Partial<CutoverQuestion> = {}, accept = ACCEPT) =>
    judge(seen, [{ operations: 'iam.groups.*', accept }], { ...members, ...more })

  it('is not in the way, and is said', () => {
    expect(judge(RARELY, [], { ...members, terms: { each: 9, operations: [], now: NOW } }).ready).toBe(false)
    for (const seen of [RARELY, { counts: [] }]) {
      const verdict = accepted(seen)
      expect(verdict.ready).toBe(true)
      expect(rowOf(verdict)).toMatchObject({
        blocks: false,
        accepted: ACCEPT,
        reason: expect.stringMatching(
          /^iam\.groups\.list is accepted without proof until 2027-01-31 \(1,000 calls by 0 clients\): a lawyer reads it once a year\. iam\.groups/,
        ),
      })
      expect(verdict.reasons.join(' ')).toMatch(/1 more with 1,000 requests is accepted without proof\.$/)
      if (verdict.whole) expect(verdict.whole.requests).toBe(99_000)
    }
  })

  it('is in the way again the day after, and the verdict says since when', () => {
    const day = (now: string) =>
      accepted(RARELY, { terms: { each: 9, operations: [{ operations: RARE, accept: ACCEPT }], now: Date.parse(now) } })
    expect(rowOf(day('2027-01-31T23:59:59Z'))).toMatchObject({ blocks: false })
    const over = rowOf(day('2027-02-01T00:00:00Z'))
    expect(over).not.toHaveProperty('accepted')
    expect(over).toMatchObject({ blocks: true, reason: expect.stringMatching(/ Its acceptance is over since 2027-01-31: a lawyer/) })
  })

  it.each<[string, Seen, Partial<CutoverQuestion>]>([
    ['a mismatch', { counts: [[5], [1, 'mismatch']] }, {}],
    ['a transient difference within the target', { counts: [[200], [1, 'transient']] }, {}],
    ['an error', { counts: [[1, 'error']] }, {}],
    ['a wrong repeat', { counts: [[5]], repeats: ['match', 'mismatch'] }, {}],
    ['a write that v2 alone refused', { counts: [[5]], uncompared: { writeRefused: 1 } }, {}],
    ['an open circuit', RARELY, { openCircuits: new Map([[RARE, 'errors: all failed']]) }],
    [
      'a rollout that turned back',
      RARELY,
      { rollouts: [{ name: 'x', reach: [RARE], phase: 'turned-back', percent: 0, reason: 'it failed' }] },
    ],
  ])('never hides %s', (_, seen, more) => {
    const verdict = accepted(seen, more)
    expect(rowOf(verdict)).not.toHaveProperty('accepted')
    // Its requests count among all together.
    if (verdict.whole) expect(verdict.whole.requests).toBe(100_000)
    const plain = judge(seen, [], { ...members, ...more })
    expect(verdict.ready).toBe(plain.ready)
    if (rowOf(plain)?.blocks) expect(rowOf(verdict)?.reason).toContain('Its acceptance until 2027-01-31 does not hold, because v2 is known')
  })

  it('still needs v1 if only v1 answers it', () => {
    const traffic = new Map([
      [LIST, 1],
      ['registry.vuln_reports.list', 1],
    ])
    const terms = { each: 3, operations: [{ operations: 'registry.vuln*', accept: ACCEPT }], now: NOW }
    expect(judge({ counts: [] }, [], { ...members, traffic, terms, withoutV1: true })).toMatchObject({
      ready: false,
      reasons: [expect.stringMatching(/needs a v1 service .* An acceptance cannot let v2 answer it\.$/)],
    })
  })
})

describe('what is noted of acceptances', () => {
  const terms = {
    operations: [
      { operations: ['iam.terms.*', 'iam.groups.list'], accept: ACCEPT },
      { operations: 'iam.*', target: 0.01 },
    ],
  }
  const text = 'iam.terms.*, iam.groups.list may move without proof until 2027-01-31: a lawyer reads it once a year'
  const begins = { what: 'acceptance', text, from: 'not accepted', to: 'accepted' }
  const ends = { what: 'acceptance', text: `No longer: ${text}`, from: 'accepted', to: 'not accepted' }

  it('is that one begins, once, and that it ends by its date or by a change', () => {
    const memory = createAcceptanceMemory()
    expect(memory.news(terms, NOW)).toEqual([begins])
    expect(memory.news(terms, NOW)).toEqual([])
    expect(memory.news(terms, Date.parse('2027-02-01'))).toEqual([ends])
    expect(memory.news(terms, NOW)).toEqual([begins])
    expect(memory.news({ operations: [] }, NOW)).toEqual([ends])
  })

  it('is not noted again after a restart', () => {
    const memory = createAcceptanceMemory()
    for (const note of [begins, ends, begins]) memory.recall({ ...note, what: 'acceptance' })
    expect(memory.news(terms, NOW)).toEqual([])
    memory.recall({ ...ends, what: 'acceptance' })
    expect(memory.news(terms, NOW)).toEqual([begins])
  })
})
