import { describe, expect, it } from 'vitest'
import { MOST_FINDINGS } from '../../../src/migrate/compare/compare.ts'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { asked, child, court, seen } from '../given.ts'

const { judge } = court()
const question = asked('registry.repos.list')
const body = { items: [] }
const error = { code: 7, message: 'no', details: [] }

describe('the outcome of two answers', () => {
  const statuses: [v1: number, v2: number, ComparisonOutcome][] = [
    [200, 200, 'match'],
    [200, 404, 'mismatch'],
    [403, 403, 'match'],
    [501, 501, 'match'],
    [200, 501, 'mismatch'],
    [200, 500, 'error'],
    [200, 504, 'error'],
    [404, 503, 'error'],
    [200, 429, 'error'],
    [503, 200, 'inconclusive'],
    [500, 500, 'inconclusive'],
    [429, 200, 'inconclusive'],
    [499, 200, 'inconclusive'],
    [200, 499, 'mismatch'],
    [404, 499, 'inconclusive'],
    [401, 401, 'inconclusive'],
    [401, 400, 'inconclusive'],
    [401, 200, 'inconclusive'],
    [401, 500, 'inconclusive'],
    [200, 401, 'mismatch'],
    [404, 401, 'inconclusive'],
    [500, 401, 'inconclusive'],
    [403, 400, 'mismatch'],
  ]
  it.each(statuses)('for HTTP %i and HTTP %i: %s', (v1, v2, outcome) => {
    const answer = (status: number) => seen(status < 400 ? body : error, status)
    const judged = judge(question, answer(v1), answer(v2))
    expect(judged.outcome).toBe(outcome)
    if (outcome === 'error' || outcome === 'inconclusive') expect(judged.reason).toMatch(/HTTP \d|client|caller/)
  })

  const unasked: [v1: number, v2: number, ComparisonOutcome][] = [
    [401, 400, 'inconclusive'],
    [403, 400, 'inconclusive'],
    [403, 200, 'inconclusive'],
    [200, 400, 'mismatch'],
    [400, 400, 'match'],
  ]
  it.each(unasked)('for HTTP %i of v1 and HTTP %i of the tables without a call to v2: %s', (v1, v2, outcome) => {
    const given = seen(v2 < 400 ? body : error, v2)
    expect(judge(question, seen(v1 < 400 ? body : error, v1), { ...given, unasked: true }).outcome).toBe(outcome)
  })
})

describe('answers that differ in very many places', () => {
  const items = (name: string) => ({ items: Array.from({ length: MOST_FINDINGS + 10 }, (_, nth) => ({ id: child(nth), name })) })

  it('are a mismatch by the first ones', () => {
    const judgement = court().judge(asked('iam.groups.list'), seen(items('a')), seen(items('b')))
    expect([judgement.outcome, judgement.findings.length]).toEqual(['mismatch', MOST_FINDINGS])
  })

  it('are inconclusive if the first ones are explained, because the others are unknown', () => {
    const sign = { at: ['/items/*/name'], kinds: ['value' as const], v1: 'a', v2: 'b' }
    const { judge } = court([{ code: 'renamed', operations: ['iam.groups.list'], signs: [sign] }])
    const judgement = judge(asked('iam.groups.list'), seen(items('a')), seen(items('b')))
    expect(judgement).toMatchObject({ outcome: 'inconclusive', reason: expect.stringContaining('10000 places') })
  })
})
