import { describe, expect, it } from 'vitest'
import { createEvidence, type Evidence } from '../../../src/migrate/evidence/evidence.ts'
import { reasonOf, standingOf } from '../../../src/migrate/evidence/standing.ts'

const LIST = 'registry.repos.list'
const TARGET = 0.01
const HOUR = 3_600_000

function evidence(clean: number): Evidence {
  const all = createEvidence(() => 0)
  for (let nth = 0; nth < clean; nth++) all.observe({ operation: LIST, caller: 'c', shape: `s${nth}`, outcome: 'match' })
  return all
}

function judged(all: Evidence) {
  const seen = all.of(LIST)
  return seen && { standing: standingOf(seen, TARGET), reason: reasonOf(seen, TARGET) }
}

describe('the standing of an operation', () => {
  it('is outside if one busy caller gets wrong answers, however many others get right ones', () => {
    const all = evidence(5_700)
    all.observe({ operation: LIST, caller: 'busy', shape: 'poll', outcome: 'mismatch' })
    expect(judged(all)?.standing).toBe('inside')
    all.add(LIST, { comparisons: 15, repeats: { n: 15, bad: 15, requests: 300, wrong: 300 } })
    expect(judged(all)).toEqual({
      standing: 'outside',
      reason: `${LIST}: OUTSIDE: 1 mismatch; 1 of 5,701 observations and 5.02 % of the requests were wrong. Fix them, then further requests until at most 1 % of all are wrong.`,
    })
  })

  it('is that of the repeats as soon as they are enough', () => {
    const all = evidence(1_000)
    all.add(LIST, { repeats: { n: 300, bad: 2, requests: 300, wrong: 2 } })
    expect(judged(all)?.standing).toBe('inside')
    all.add(LIST, { repeats: { n: 100, bad: 0, requests: 100, wrong: 0 } })
    const needed = 904 - 400
    expect(judged(all)).toMatchObject({
      standing: 'inconclusive',
      reason: expect.stringContaining(`${needed} more clean repeats until ≤ 1 %`),
    })
    all.add(LIST, { repeats: { n: needed, bad: 0, requests: needed, wrong: 0 } })
    expect(judged(all)?.standing).toBe('inside')
  })

  it('says how long it takes, what was not compared and what to change', () => {
    const all = createEvidence(() => 48 * HOUR)
    for (let nth = 0; nth <= 48; nth++) all.observe({ operation: LIST, caller: 'c', shape: `s${nth}`, outcome: 'match' }, nth * HOUR)
    all.add(LIST, { uncompared: { answerBytes: 2, pageToken: 1 } })
    expect(judged(all)?.reason).toBe(
      [
        `${LIST}: INCONCLUSIVE after 49 observations (bound 6.7 %); 280 more clean observations until ≤ 1 %, about 12 days at today's pace.`,
        '2 requests had an answer larger than diff.answerBytes: raise diff.answerBytes.',
        '1 request continued a list of which the page before was not compared.',
      ].join(' '),
    )
  })

  it('is inconclusive if more than a small share of the uses is unknown, and names why', () => {
    const all = evidence(5_700)
    all.add(LIST, { uncompared: { v1Failed: 50, perSecond: 900, refused: 900 } })
    expect(judged(all)?.standing).toBe('inside')
    all.add(LIST, { uncompared: { gone: 50 } })
    expect(judged(all)).toMatchObject({
      standing: 'inconclusive',
      reason: expect.stringMatching(
        /because 1\.72 % of its uses could not be compared; at most 1 % may be unknown\..* 50 requests got an error of v1/,
      ),
    })
  })

  it.each([
    ['refuses writes', 'writeRefused', /50 requests wrote and were refused by v2, .*: give diff-v1 a share/],
    ['gives answers that find no room', 'heldBytes', /50 requests got an answer of v2 that found no room: raise/],
    ['gives answers that are too large', 'v2Bytes', /50 requests had an answer larger than diff\.answerBytes of v2 alone: raise/],
    ['differs in very many places', 'manyPlaces', /50 requests had answers that differ in too many places/],
  ] as const)('is inconclusive, and never outside, if v2 alone %s so often that it would be outside', (_, why, text) => {
    const all = evidence(5_700)
    // Less than the share that may be unknown.
    all.add(LIST, { uncompared: { [why]: 50 } })
    expect(judged(all)).toMatchObject({ standing: 'inconclusive', reason: expect.stringMatching(text) })
    expect(judged(all)?.reason).toMatch(/^registry\.repos\.list: INCONCLUSIVE, because up to 1\.\d+ % may be wrong, as [^.]*50 requests/)
    expect(judged(all)?.reason.match(/50 requests/g)).toHaveLength(1)
  })

  it('is inside if it would be inside with all wrong that v2 did alone', () => {
    const all = evidence(5_700)
    all.add(LIST, { uncompared: { writeRefused: 5 } })
    expect(judged(all)?.standing).toBe('inside')
  })

  it('leaves out a pace that is not known', () => {
    expect(judged(evidence(1))?.reason).toBe(
      `${LIST}: INCONCLUSIVE after 1 observation (bound 100 %); 328 more clean observations until ≤ 1 %.`,
    )
  })
})
