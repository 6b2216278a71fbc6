import { describe, expect, it } from 'vitest'
import type { SeenAnswer } from '../../../src/migrate/compare/compare.ts'
import { collectStamps, NO_WRITES, type Stamps } from '../../../src/migrate/compare/expected.ts'
import { type ComparisonOutcome, type Judgement, type Trial, unexplained } from '../../../src/migrate/compare/judge.ts'
import { asked, child, court, findings, ROOT_UID, seen } from '../given.ts'

const ID = 'registry.repos.list'
const question = asked(ID)
const OLD = '2026-01-01T00:00:00Z'
const NOW = Date.parse('2026-06-01T00:00:00Z')
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString()
const row = (nth: number, members: object = {}) => ({
  id: child(nth),
  name: 'a',
  description: 'x',
  created_at: OLD,
  updated_at: OLD,
  ...members,
})
const list = (...rows: object[]) => ({ items: rows })
/** A repo without the times of the service, as the published contract has it. */
const bare = (nth: number, members: object = {}) => ({ id: child(nth), name: 'a', bundles: ['x', 'y'], ...members })

type Known = Partial<Pick<Trial, 'v2First' | 'stamps' | 'wrote' | 'writes'>>
type Answer = object | SeenAnswer

type Case = [name: string, answers: readonly Answer[], outcome: ComparisonOutcome, known?: Known]

const answer = (given: Answer): SeenAnswer => ('status' in given && 'headers' in given ? (given as SeenAnswer) : seen(given))

const bares = (...nths: readonly number[]) => list(...nths.map((nth) => bare(nth)))

/** Creates of so many rows below a parent, which the replicas know. */
const creates = (...all: readonly (readonly [parent: string, most: number])[]): Known => ({
  writes: { ...NO_WRITES, count: all.length, creates: all.map(([parent, most]) => ({ parent, most })) },
})

/**
 * Settles as comparing does, which takes further answers until it knows. The answers are in the order of asking: v1 and v2 by turns.
 * With `v2First`, the first two change places. Returns how many answers were taken.
 */
function settled(given: readonly Answer[], known: Known = {}, parts = court()): Judgement & { readonly taken: number } {
  const all = given.map(answer)
  const [one, two, ...others] = all as [SeenAnswer, SeenAnswer, ...SeenAnswer[]]
  const v1 = [known.v2First ? two : one, others.shift()!]
  const v2 = [known.v2First ? one : two]
  expect(parts.judge(question, v1[0]!, v2[0]!).outcome).toBe('mismatch')
  for (;;) {
    v2.push(others.shift()!)
    v1.push(others.shift()!)
    const period = { from: NOW, to: NOW + 1000 }
    const trial = {
      v2First: false,
      stamps: new Map(),
      wrote: false,
      writes: NO_WRITES,
      ...known,
      v1,
      v2,
      period,
      isLast: others.length === 0,
    }
    const judgement = parts.settle(question, trial)
    if (judgement) return { ...judgement, taken: all.length - others.length }
  }
}

const right = list(row(1), row(2))
const wrong = list(row(1, { name: 'b' }), row(2))
const written = { description: 'y', updated_at: at(0) }
const after = list(row(1, written), row(2))
const [first, last] = [list(row(1)), list(row(2))]
const fresh = (nth: number) => row(nth, { created_at: at(0), updated_at: at(0) })
const swapped = list(row(2), row(1))

describe('a difference after an answer of v1', () => {
  const cases: Case[] = [
    // What stays.
    ['a wrong value', [right, wrong, right, wrong, right], 'mismatch'],
    ['a lost row', [right, first, right, first, right], 'mismatch'],
    ['another lost row each time', [right, first, right, last, right], 'mismatch'],
    ['another order', [right, swapped, right, swapped, right], 'mismatch'],
    ['a row that v1 never has', [first, list(row(1), fresh(2)), first, list(row(1), fresh(2)), first], 'mismatch'],
    ['a wrong value in another row than v1 writes', [right, wrong, right, wrong, list(row(1), row(2, written))], 'mismatch'],
    ['a wrong value while rows are added', [right, wrong, right, wrong, list(row(0), row(1), row(2))], 'mismatch'],
    ['a wrong value while v1 sorts at random', [right, wrong, right, wrong, swapped], 'mismatch'],
    ['a wrong value, though the caller writes', [right, wrong, right, wrong, right], 'mismatch', { wrote: true }],
    // What is gone, and nothing explains it.
    ['a value that was wrong once', [right, wrong, right, right, right], 'transient'],
    ['a row that was lost once', [right, first, right, right, right], 'transient'],
    ['all rows lost once', [right, list(), right, right, right], 'transient'],
    ['a row that v2 doubled once', [right, list(row(1), row(2), row(2)), right, right, right], 'transient'],
    ['a row that is old and v1 never has', [first, right, first, first, first], 'transient'],
    ['another order once', [right, swapped, right, right, right], 'transient'],
    [
      'a list without ids that lacked an element once',
      [list(bare(1)), list(bare(1, { bundles: ['x'] })), list(bare(1)), list(bare(1)), list(bare(1))],
      'transient',
    ],
    [
      'a list without ids that was empty once',
      [list(bare(1)), list(bare(1, { bundles: [] })), list(bare(1)), list(bare(1)), list(bare(1))],
      'transient',
    ],
    ['a row lost once while v1 writes it', [right, last, after, after, after], 'transient'],
    ['a member lost once while v1 writes it', [right, list(row(1, { description: undefined }), row(2)), after, after, after], 'transient'],
    [
      'a wrong value once, of another row than v1 writes',
      [right, wrong, list(row(1), row(2, written)), list(row(1), row(2, written)), list(row(1), row(2, written))],
      'transient',
    ],
    // What v1 explains.
    ['a row written between v1 and v2', [right, after, after, after, after], 'race'],
    ['a row written all the time', [right, after, right, after, list(row(1, { ...written, description: 'z' }), row(2))], 'race'],
    [
      'a row written there and back',
      [
        right,
        after,
        list(row(1, { updated_at: at(1) }), row(2)),
        list(row(1, { updated_at: at(1) }), row(2)),
        list(row(1, { updated_at: at(1) }), row(2)),
      ],
      'race',
    ],
    ['a row created between v1 and v2', [first, right, right, right, right], 'race'],
    ['a row deleted between v1 and v2', [right, first, first, first, first], 'race'],
    ['a row that is sorted at random by v1', [right, swapped, right, swapped, swapped], 'race'],
    // What no answer of v1 shows.
    ['a row that came and went', [first, list(row(1), fresh(2)), first, first, first], 'race'],
    [
      'a row without times that came and went',
      [list(bare(1)), list(bare(1), bare(2)), list(bare(1)), list(bare(1)), list(bare(1))],
      'race',
    ],
    ['rows that come and go each time', [first, list(row(1), fresh(2)), first, list(row(1), fresh(3)), first, first, first], 'race'],
    [
      'rows that come and go up to the last answer',
      [first, list(row(1), fresh(2)), first, list(row(1), fresh(3)), first, list(row(1), fresh(4)), first],
      'race',
    ],
    ['a wrong value once, while the caller wrote', [right, wrong, right, right, right], 'race', { wrote: true }],
    [
      'a role renamed there and back, as v2 shows',
      [list(bare(1)), list(bare(1, { name: 'b' })), list(bare(1)), list(bare(1)), list(bare(1))],
      'race',
      { stamps: new Map([[child(1), { updated: NOW }]]) },
    ],
    ...(
      [
        ['a wrong value in a role that v2 rewrites each time', 'race', { updated: NOW, rewritten: true }],
        ['a wrong value in a role that v2 wrote once', 'mismatch', { updated: NOW }],
      ] as const
    ).map(([name, outcome, stamps]): Case => {
      const [back, there] = [bares(1), list(bare(1, { name: 'b' }))]
      return [name, [back, there, back, there, back, there, back, there, back], outcome, { stamps: new Map([[child(1), stamps]]) }]
    }),
    [
      'a wrong value once, of a row that v2 wrote long ago',
      [list(bare(1)), list(bare(1, { name: 'b' })), list(bare(1)), list(bare(1)), list(bare(1))],
      'transient',
      { stamps: new Map([[child(1), { updated: NOW - 60_000 }]]) },
    ],
  ]
  it.each(cases)('is settled: %s', (_, answers, outcome, known) => {
    expect(settled(answers, known).outcome).toBe(outcome)
  })
})

describe('a difference after an answer of v2', () => {
  const cases: Case[] = [
    ['a wrong value', [wrong, right, right, wrong, right], 'mismatch'],
    ['a lost row', [first, right, right, first, right], 'mismatch'],
    ['a value that was wrong once', [wrong, right, right, right, right], 'transient'],
    ['a row that was lost once', [first, right, right, right, right], 'transient'],
    ['another order once', [swapped, right, right, right, right], 'transient'],
    ['a row that v2 doubled once', [list(row(1), row(1), row(2)), right, right, right, right], 'transient'],
    ['a row written before v1 was asked', [right, after, after, after, after], 'race'],
    [
      'a row created before v1 was asked',
      [first, list(row(1), fresh(2)), list(row(1), fresh(2)), list(row(1), fresh(2)), list(row(1), fresh(2))],
      'race',
    ],
    ['a row deleted before v1 was asked', [right, first, first, first, first], 'race'],
    [
      'a row written once while v2 lost it',
      [first, list(row(1), row(2, written)), list(row(1), row(2, written)), list(row(1), row(2, written)), list(row(1), row(2, written))],
      'transient',
    ],
    [
      'a wrong value in another row than was written',
      [wrong, list(row(1), row(2, written)), list(row(1), row(2, written)), list(row(1), row(2, written)), list(row(1), row(2, written))],
      'transient',
    ],
    [
      'a row without times, created as v2 shows',
      [list(bare(1)), list(bare(1), bare(2)), list(bare(1), bare(2)), list(bare(1), bare(2)), list(bare(1), bare(2))],
      'race',
      { stamps: new Map([[child(2), { created: NOW }]]) },
    ],
    ['a row without times, and nobody created one', [bares(1), bares(1, 2), bares(1, 2), bares(1, 2), bares(1, 2)], 'transient'],
    [
      'a row without times that a known create made',
      [bares(1), bares(1, 2), bares(1, 2), bares(1, 2), bares(1, 2)],
      'race',
      creates([ROOT_UID, 1]),
    ],
    [
      'two rows without times, and one create is known',
      [bares(1), bares(1, 2, 3), bares(1, 2, 3), bares(1, 2, 3), bares(1, 2, 3)],
      'transient',
      creates([ROOT_UID, 1]),
    ],
    [
      'three rows without times of a batch and a create',
      [bares(1), bares(1, 2, 3, 4), bares(1, 2, 3, 4), bares(1, 2, 3, 4), bares(1, 2, 3, 4)],
      'race',
      creates([ROOT_UID, 1], [ROOT_UID, 25]),
    ],
    [
      'a row without times, and a create below another parent is known',
      [bares(1), bares(1, 2), bares(1, 2), bares(1, 2), bares(1, 2)],
      'transient',
      creates(['b'.repeat(40), 1]),
    ],
    [
      'a row that v2 says is old, though a create is known',
      [bares(1), bares(1, 2), bares(1, 2), bares(1, 2), bares(1, 2)],
      'transient',
      { ...creates([ROOT_UID, 1]), stamps: new Map([[child(2), { created: NOW - 60_000 }]]) },
    ],
    [
      'a row that is always lost, though creates are known',
      [bares(1), bares(1, 2), bares(1, 2), bares(1), bares(1, 2)],
      'mismatch',
      creates([ROOT_UID, 9]),
    ],
    [
      'a value of a row without times that a known write names',
      [list(bare(1)), list(bare(1, { name: 'b' })), ...Array.from({ length: 3 }, () => list(bare(1, { name: 'b' })))],
      'race',
      { writes: { ...NO_WRITES, names: (uid) => uid === child(1) } },
    ],
    [
      'a value of a row without times, and a known write names another',
      [list(bare(1)), list(bare(1, { name: 'b' })), ...Array.from({ length: 3 }, () => list(bare(1, { name: 'b' })))],
      'transient',
      { writes: { ...NO_WRITES, names: (uid) => uid === child(2) } },
    ],
  ]
  it.each(cases)('is settled: %s', (_, answers, outcome, known) => {
    expect(settled(answers, { v2First: true, ...known }).outcome).toBe(outcome)
  })
})

it('knows from the answers of v2 what it wrote while it was asked', () => {
  const stamps = new Map<string, Stamps>()
  const role = (nth: number, seconds: number) => ({ roles: [{ uid: child(nth), updateTime: at(seconds) }] })
  for (const [nth, seconds] of [
    [1, 0],
    [2, 0],
    [1, 0],
    [2, 1],
    [2, 1],
  ] as const)
    collectStamps(role(nth, seconds), stamps)
  expect([stamps.get(child(1)), stamps.get(child(2))]).toEqual([{ updated: NOW }, { updated: NOW + 1000, rewritten: true }])
})

describe('a settled difference', () => {
  it('gives its reason', () => {
    expect(settled([right, wrong, right, right, right]).reason).toMatch(/^v2 answered rightly/)
    expect(settled([first, right, right, right, right]).reason).toMatch(/^v1 changed/)
    expect(settled([first, list(row(1), fresh(2)), first, first, first]).reason).toMatch(/^a row came and went/)
  })

  it('names no place in which v1 moved', () => {
    const moving = (second: number, members: object = {}) => list(row(1, { updated_at: at(second), ...members }), row(2))
    const answers = [moving(1), moving(9, { name: 'b' }), moving(2), moving(9, { name: 'b' }), moving(3)]
    expect(settled(answers).outcome).toBe('race')
    const parts = court()
    for (let ask = 0; ask < 10; ask++) parts.noise.learn(ID, findings(ID, moving(1), moving(2)))
    const found = settled(answers, {}, parts)
    expect(found.outcome).toBe('mismatch')
    expect(unexplained(found.findings).map(({ where }) => where)).toEqual(['/items/*/name'])
    const lost = settled([moving(1), last, moving(2), last, moving(3)])
    expect(lost.findings.map(({ kind, path }) => [kind, path])).toEqual([['missing', `/items/[${child(1).replaceAll('/', '~1')}]`]])
  })

  it('asks no longer than it must', () => {
    const rest = Array.from({ length: 6 }, () => right)
    expect(settled([right, wrong, right, wrong, right, ...rest]).taken).toBe(5)
    expect(settled([right, wrong, right, right, right, ...rest]).taken).toBe(5)
    expect(settled([first, list(row(1), fresh(2)), first, list(row(1), fresh(3)), first, first, first, first, first]).taken).toBe(7)
  })

  it('finds a change of v1 among as many as there are rows', () => {
    const many = Array.from({ length: 20_000 }, (_, nth) => nth)
    const all = (members: object) => list(...many.map((nth) => row(nth, members)))
    expect(settled([all({}), all(written), all(written), all(written), all(written)]).outcome).toBe('race')
  })

  it('does not take noise for a change of v1', () => {
    const parts = court()
    const [one, other] = [list(row(1, { active_tags: ['a'] })), list(row(1, { active_tags: ['b'] }))]
    for (let ask = 0; ask < 3; ask++) parts.noise.learn(ID, findings(ID, one, other))
    const bad = list(row(1, { name: 'b', active_tags: ['a'] }))
    expect(settled([one, bad, one, bad, other], {}, parts).outcome).toBe('mismatch')
  })

  it('is an error if v2 now fails, and inconclusive if v1 does', () => {
    const failed = seen({}, 503)
    expect(settled([right, wrong, right, failed, right]).outcome).toBe('error')
    expect(settled([right, wrong, right, wrong, failed]).outcome).toBe('inconclusive')
    expect(settled([right, wrong, failed, wrong, right]).outcome).toBe('inconclusive')
  })

  it('is a race if a resource was deleted, or created and deleted', () => {
    const gone = seen({ code: 5, message: 'gone', details: [] }, 404)
    expect(settled([right, gone, gone, gone, gone]).outcome).toBe('race')
    expect(settled([gone, fresh(1), gone, gone, gone]).outcome).toBe('race')
    expect(settled([gone, row(1), gone, gone, gone]).outcome).toBe('transient')
    expect(settled([right, gone, right, right, right]).outcome).toBe('transient')
  })
})
