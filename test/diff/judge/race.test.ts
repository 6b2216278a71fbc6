import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/diff/judge/judge.ts'
import { asked, child, court, findings, seen } from '../given.ts'

const ID = 'registry.repos.list'
const question = asked(ID)
const row = (nth: number, members: object = {}) => ({
  id: child(nth),
  name: 'a',
  description: 'x',
  updated_at: '2026-01-01T00:00:00Z',
  ...members,
})
const list = (...rows: object[]) => ({ items: rows })
const written = { description: 'y', updated_at: '2026-01-01T00:00:01Z' }

/** The five answers in the order of the requests: v1 and v2, then v1, v2 and v1 again. */
type Answers = readonly [v1: object, v2: object, v1Again: object, v2Again: object, v1Last: object]

function settled([v1, v2, ...again]: Answers, parts = court()) {
  const [a, b, c] = again.map((body) => seen(body))
  const judgement = parts.judge(question, seen(v1), seen(v2))
  expect(judgement.outcome).toBe('mismatch')
  return parts.settle(question, { v1: seen(v1), v2: seen(v2), judgement }, { v1: a!, v2: b!, v1Again: c! })
}

const right = list(row(1), row(2))
const wrong = list(row(1, { name: 'b' }), row(2))

describe('a mismatch that is asked again', () => {
  const cases: [string, Answers, ComparisonOutcome][] = [
    ['v2 is wrong each time and v1 stands still', [right, wrong, right, wrong, right], 'mismatch'],
    ['v2 was wrong once and v1 stands still', [right, wrong, right, right, right], 'transient'],
    ['v2 lost a row once', [right, list(row(1)), right, right, right], 'transient'],
    ['v2 doubled a row once', [right, list(row(1), row(2), row(2)), right, right, right], 'transient'],
    ['v2 sorted otherwise once', [right, list(row(2), row(1)), right, right, right], 'transient'],
    [
      'the row was written between v1 and v2',
      [right, list(row(1, written), row(2)), list(row(1, written), row(2)), list(row(1, written), row(2)), list(row(1, written), row(2))],
      'race',
    ],
    [
      'the row is written all the time',
      [right, list(row(1, written)), right, list(row(1, written), row(2)), list(row(1, { ...written, description: 'z' }), row(2))],
      'race',
    ],
    [
      'a row was changed and restored while v2 was asked',
      [
        right,
        list(row(1, written), row(2)),
        right,
        list(row(1, written), row(2)),
        list(row(1, { updated_at: '2026-01-01T00:00:02Z' }), row(2)),
      ],
      'race',
    ],
    ['one row is written, and v2 is wrong in another', [right, wrong, right, wrong, list(row(1), row(2, written))], 'mismatch'],
    ['rows are added, and v2 is wrong in another', [right, wrong, right, wrong, list(row(0), row(1), row(2))], 'mismatch'],
    ['a row was created between v1 and v2', [list(row(1)), right, right, right, right], 'race'],
    ['a row was created and deleted in between', [list(row(1)), right, list(row(1)), list(row(1)), list(row(1))], 'race'],
    ['v2 never shows a row', [right, list(row(1)), right, list(row(1)), right], 'mismatch'],
    ['v2 sorts differently each time', [right, list(row(2), row(1)), right, list(row(2), row(1)), right], 'mismatch'],
    ['v1 sorts at random', [right, list(row(2), row(1)), right, list(row(2), row(1)), list(row(2), row(1))], 'race'],
    ['v1 sorts at random and v2 is wrong', [right, wrong, right, wrong, list(row(2), row(1))], 'mismatch'],
  ]
  it.each(cases)('%s', (_, answers, outcome) => {
    expect(settled(answers).outcome).toBe(outcome)
  })

  it('gives its reason', () => {
    expect(settled([right, wrong, right, right, right]).reason).toMatch(/^v2 answered rightly/)
    expect(settled([list(row(1)), right, right, right, right]).reason).toMatch(/^v1 changed/)
  })

  it('finds a change of v1 among as many as there are rows', () => {
    const many = Array.from({ length: 20_000 }, (_, nth) => nth)
    const all = (members: object) => list(...many.map((nth) => row(nth, members)))
    const answers = [all({}), all({ name: 'b' }), all({}), all({ name: 'b' }), all(written)] as const
    expect(settled(answers).outcome).toBe('race')
  })

  it('does not take noise for a change of v1', () => {
    const parts = court()
    const [one, other] = [list(row(1, { active_tags: ['a'] })), list(row(1, { active_tags: ['b'] }))]
    for (let ask = 0; ask < 3; ask++) parts.noise.learn(ID, findings(ID, one, other))
    const bad = list(row(1, { name: 'b', active_tags: ['a'] }))
    expect(settled([one, bad, one, bad, other], parts).outcome).toBe('mismatch')
  })

  it('is an error if v2 now fails, and inconclusive if v1 does', () => {
    const { judge, settle } = court()
    const judgement = judge(question, seen(right), seen(wrong))
    const first = { v1: seen(right), v2: seen(wrong), judgement }
    const failed = seen({}, 503)
    expect(settle(question, first, { v1: seen(right), v2: failed, v1Again: seen(right) }).outcome).toBe('error')
    expect(settle(question, first, { v1: seen(right), v2: seen(wrong), v1Again: failed }).outcome).toBe('inconclusive')
    expect(settle(question, first, { v1: failed, v2: seen(wrong), v1Again: seen(right) }).outcome).toBe('inconclusive')
  })

  it('is a race if v1 meanwhile says not found', () => {
    const { judge, settle } = court()
    const gone = seen({ code: 5, message: 'gone', details: [] }, 404)
    const first = { v1: seen(right), v2: gone, judgement: judge(question, seen(right), gone) }
    expect(first.judgement.outcome).toBe('mismatch')
    expect(settle(question, first, { v1: gone, v2: gone, v1Again: gone }).outcome).toBe('race')
  })
})
