import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import type { SeenAnswer } from '../../../src/migrate/compare/compare.ts'
import { collectStamps, NO_WRITES, type Stamps, shiftedRows } from '../../../src/migrate/compare/expected.ts'
import { type ComparisonOutcome, createMovement, type Judgement, type Trial, unexplained } from '../../../src/migrate/compare/judge.ts'
import { asked, child, court, findings, ROOT_UID, seen } from '../given.ts'

describe('race', () => {
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

  /** v2 answers otherwise each time, in its first answer, or both sides from the second answer on. */
  const always = (v1: Answer, v2: Answer) => [v1, v2, v1, v2, v1]
  const once = (v1: Answer, v2: Answer) => [v1, v2, v1, v1, v1]
  const since = (first: Answer, then: Answer) => [first, then, then, then, then]

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
      ['a wrong value', always(right, wrong), 'mismatch'],
      ['a lost row', always(right, first), 'mismatch'],
      ['another lost row each time', [right, first, right, last, right], 'mismatch'],
      ['another order', always(right, swapped), 'mismatch'],
      ['a row that v1 never has', always(first, list(row(1), fresh(2))), 'mismatch'],
      ['a wrong value in another row than v1 writes', [right, wrong, right, wrong, list(row(1), row(2, written))], 'mismatch'],
      ['a wrong value while rows are added', [right, wrong, right, wrong, list(row(0), row(1), row(2))], 'mismatch'],
      ['a wrong value while v1 sorts at random', [right, wrong, right, wrong, swapped], 'mismatch'],
      ['a wrong value, though the caller writes', always(right, wrong), 'mismatch', { wrote: true }],
      // What is gone, and nothing explains it.
      ['a value that was wrong once', once(right, wrong), 'transient'],
      ['a row that was lost once', once(right, first), 'transient'],
      ['all rows lost once', once(right, list()), 'transient'],
      ['a row that v2 doubled once', once(right, list(row(1), row(2), row(2))), 'transient'],
      ['a row that is old and v1 never has', once(first, right), 'transient'],
      ['another order once', once(right, swapped), 'transient'],
      ['a list without ids that lacked an element once', once(list(bare(1)), list(bare(1, { bundles: ['x'] }))), 'transient'],
      ['a list without ids that was empty once', once(list(bare(1)), list(bare(1, { bundles: [] }))), 'transient'],
      ['a row lost once while v1 writes it', [right, last, after, after, after], 'transient'],
      [
        'a member lost once while v1 writes it',
        [right, list(row(1, { description: undefined }), row(2)), after, after, after],
        'transient',
      ],
      [
        'a wrong value once, of another row than v1 writes',
        [right, wrong, list(row(1), row(2, written)), list(row(1), row(2, written)), list(row(1), row(2, written))],
        'transient',
      ],
      // What v1 explains.
      ['a row written between v1 and v2', since(right, after), 'race'],
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
      ['a row created between v1 and v2', since(first, right), 'race'],
      ['a row deleted between v1 and v2', since(right, first), 'race'],
      ['a row that is sorted at random by v1', [right, swapped, right, swapped, swapped], 'race'],
      // What no answer of v1 shows.
      ['a row that came and went', once(first, list(row(1), fresh(2))), 'race'],
      ['a row without times that came and went', once(list(bare(1)), list(bare(1), bare(2))), 'race'],
      ['rows that come and go each time', [first, list(row(1), fresh(2)), first, list(row(1), fresh(3)), first, first, first], 'race'],
      [
        'rows that come and go up to the last answer',
        [first, list(row(1), fresh(2)), first, list(row(1), fresh(3)), first, list(row(1), fresh(4)), first],
        'race',
      ],
      ['a wrong value once, while the caller wrote', once(right, wrong), 'race', { wrote: true }],
      [
        'a role renamed there and back, as v2 shows',
        once(list(bare(1)), list(bare(1, { name: 'b' }))),
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
        once(list(bare(1)), list(bare(1, { name: 'b' }))),
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
      ['a value that was wrong once', since(wrong, right), 'transient'],
      ['a row that was lost once', since(first, right), 'transient'],
      ['another order once', since(swapped, right), 'transient'],
      ['a row that v2 doubled once', since(list(row(1), row(1), row(2)), right), 'transient'],
      ['a row written before v1 was asked', since(right, after), 'race'],
      ['a row created before v1 was asked', since(first, list(row(1), fresh(2))), 'race'],
      ['a row deleted before v1 was asked', since(right, first), 'race'],
      ['a row written once while v2 lost it', since(first, list(row(1), row(2, written))), 'transient'],
      ['a wrong value in another row than was written', since(wrong, list(row(1), row(2, written))), 'transient'],
      [
        'a row without times, created as v2 shows',
        since(list(bare(1)), list(bare(1), bare(2))),
        'race',
        { stamps: new Map([[child(2), { created: NOW }]]) },
      ],
      ['a row without times, and nobody created one', since(bares(1), bares(1, 2)), 'transient'],
      ['a row without times that a known create made', since(bares(1), bares(1, 2)), 'race', creates([ROOT_UID, 1])],
      ['two rows without times, and one create is known', since(bares(1), bares(1, 2, 3)), 'transient', creates([ROOT_UID, 1])],
      [
        'three rows without times of a batch and a create',
        since(bares(1), bares(1, 2, 3, 4)),
        'race',
        creates([ROOT_UID, 1], [ROOT_UID, 25]),
      ],
      [
        'a row without times, and a create below another parent is known',
        since(bares(1), bares(1, 2)),
        'transient',
        creates(['b'.repeat(40), 1]),
      ],
      [
        'a row that v2 says is old, though a create is known',
        since(bares(1), bares(1, 2)),
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
      expect(settled(once(right, wrong)).reason).toMatch(/^v2 answered rightly/)
      expect(settled(since(first, right)).reason).toMatch(/^v1 changed/)
      expect(settled(once(first, list(row(1), fresh(2)))).reason).toMatch(/^a row came and went/)
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
      expect(settled(since(all({}), all(written))).outcome).toBe('race')
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
      expect(settled(since(right, gone)).outcome).toBe('race')
      expect(settled(once(gone, fresh(1))).outcome).toBe('race')
      expect(settled(once(gone, row(1))).outcome).toBe('transient')
      expect(settled(once(right, gone)).outcome).toBe('transient')
    })
  })
})

describe('a window of a list that v1 paged by token', () => {
  const { judge } = court(differences)

  /** The artifacts from one position to another, with what the answer says beside them. */
  function page(
    from: number,
    to: number,
    { total = 90, token = '', change = {} }: { total?: number; token?: string; change?: object } = {},
  ) {
    const items = Array.from({ length: Math.max(0, to - from) }, (_, nth) => ({ id: `a-${from + nth}`, name: `n-${from + nth}` }))
    return { items, next_page_token: token, total_artifacts: total, skipped: from, ...change }
  }

  function judged(operation: string, query: string, v1: object, v2: object) {
    return judge(asked(operation, query), seen(v1), seen(v2))
  }

  /** What v1 shows of 90 artifacts if it ignores the window. */
  const FIRST = page(0, 50, { token: 'v1' })

  it.each([
    ['limit=3', page(0, 3, { token: 'v2' })],
    ['limit=3&offset=1', page(1, 4, { token: 'v2' })],
    ['offset=1', page(1, 51, { token: 'v2' })],
    ['limit=500', page(0, 90)],
    ['offset=88', page(88, 90)],
    ['offset=200', page(200, 200)],
    ['page_number=2&per_page=20', page(20, 40, { token: 'v2' })],
  ])('is expected to have the rows of %s', (query, v2) => {
    const { outcome, findings } = judged('libraries.artifacts.list', query, FIRST, v2)
    expect([outcome, ...new Set(findings.map(({ code }) => code))]).toEqual(['expected', 'token-lists-take-windows'])
  })

  it('begins where the own skip of the list begins', () => {
    const v1 = page(2, 52, { token: 'v1' })
    expect(judged('libraries.artifacts.list', 'skip=2&limit=3', v1, page(2, 5, { token: 'v2' })).outcome).toBe('expected')
    expect(judged('libraries.artifacts.list', 'skip=2&limit=3', v1, page(0, 3, { token: 'v2' })).outcome).toBe('mismatch')
  })

  it('ends where v1 ended its own page', () => {
    const v1 = page(0, 2, { token: 'v1' })
    expect(judged('libraries.artifacts.list', 'page=2&page_size=2', v1, page(2, 4, { token: 'v2' })).outcome).toBe('expected')
    expect(judged('libraries.artifacts.list', 'page=1&page_size=2', v1, page(0, 3, { token: 'v2' })).outcome).toBe('mismatch')
  })

  it('matches a v1 that follows it too', () => {
    const window = page(1, 4, { token: 'either' })
    expect(judged('libraries.artifacts.list', 'limit=3&offset=1', window, window).outcome).toBe('match')
  })

  const lost = page(1, 4, { token: 'v2' })
  it.each([
    ['its first row', 'limit=3&offset=1', { ...lost, items: lost.items.slice(1) }],
    ['its last row', 'limit=3&offset=1', { ...lost, items: lost.items.slice(0, 2) }],
    ['all rows', 'limit=3&offset=1', { ...lost, items: [] }],
    ['the value of a row', 'limit=3&offset=1', { ...lost, items: [{ ...lost.items[0], name: 'x' }, ...lost.items.slice(1)] }],
    ['its order', 'limit=3&offset=1', { ...lost, items: [...lost.items].reverse() }],
    ['its beginning', 'limit=3&offset=1', page(2, 5, { token: 'v2' })],
    ['the total', 'limit=3&offset=1', page(1, 4, { token: 'v2', total: 3 })],
    ['a row that no list has', 'limit=3', { ...page(0, 3), items: [...page(0, 2).items, { id: 'new', name: 'new' }] }],
    ['a window that nobody asked for', '', page(1, 50, { token: 'v2' })],
    ['the token, without a window', 'limit=0', page(0, 50)],
    ['a wrong window that is followed', 'limit=3&page=2', page(0, 3, { token: 'v2' })],
  ])('does not excuse %s', (_, query, v2) => {
    expect(judged('libraries.artifacts.list', query, FIRST, v2).outcome).toBe('mismatch')
  })

  it('is no excuse for a list that v1 did not page', () => {
    const rows = (count: number) => ({ items: Array.from({ length: count }, (_, nth) => ({ id: `g-${nth}` })) })
    expect(judged('iam.groups.list', 'limit=3', rows(5), rows(3)).outcome).toBe('mismatch')
  })

  it('is all that there is of a list without a page of its own', () => {
    const tags = (from: number, to: number) => ({ items: page(from, to).items, next_page_token: '' })
    expect(judged('registry.eol_tags.list', 'limit=2', tags(0, 5), { ...tags(0, 2), next_page_token: 'v2' }).outcome).toBe('expected')
    expect(judged('registry.eol_tags.list', 'offset=4', tags(0, 5), tags(4, 6)).outcome).toBe('mismatch')
  })
})

describe('a change of v1 in a list without ids', () => {
  const ID = 'iam.roles.list'
  const list = (name: string, ...capabilities: readonly string[]) => ({ items: [{ id: child(1), name, capabilities }] })
  const changed = (...to: Parameters<typeof list>) => findings(ID, list('n', 'a', 'b'), list(...to))

  it('explains each difference in that list, and none beside it', () => {
    const { explains } = createMovement(changed('n', 'x', 'b'))
    expect(changed('n', 'a', 'y').map(explains)).toEqual([true])
    expect(changed('n', 'a').map(explains)).toEqual([true])
    expect(changed('m', 'a', 'b').map(explains)).toEqual([false])
  })
})

describe('the ends of a window', () => {
  const ID = 'registry.repos.list'
  const windowed = asked(ID, 'limit=4')
  const list = (...rows: readonly number[]) => ({ items: rows.map((nth) => ({ id: child(nth) })) })

  interface Known {
    readonly v2First?: boolean
    readonly isRepeated?: boolean
    /** v1's rows when it was asked again. */
    readonly later?: readonly number[]
    /** Creates that the replicas know of. */
    readonly creates?: number
  }

  /** Returns the kind and number of each row that is explained. */
  function shifted(v1: readonly number[], v2: readonly number[], known: Known = {}, question = windowed) {
    const { v2First = false, isRepeated = false, later = v1, creates = 0 } = known
    const [left, right] = [list(...v1), list(...v2)]
    const movement = createMovement(findings(ID, left, list(...later)))
    const writes = { count: creates, creates: Array.from({ length: creates }, () => ({ parent: undefined, most: 1 })), names: () => false }
    const answers = { v1: seen(left), v2: seen(right), v2First, movement, writes }
    const rows = shiftedRows(question, findings(ID, left, right), answers, isRepeated)
    return [...rows].map(({ kind, path }) => `${kind} ${Number.parseInt(path.slice(-17, -1), 16)}`).sort()
  }

  /** A window of ten rows from a list, before and after some came in front of it. */
  const window = (from: number) => Array.from({ length: 10 }, (_, nth) => from + nth)

  it.each([
    ['a row came in the window', [1, 2, 3, 4], [1, 9, 2, 3], ['missing 4']],
    ['a row came before the window', [1, 2, 3, 4], [9, 1, 2, 3], ['extra 9', 'missing 4']],
    ['a row came before a window that is not full', [1, 2], [9, 1, 2], ['extra 9']],
    ['a row came before a window that was empty', [], [9], ['extra 9']],
    ['two rows came before a window that was empty', [], [8, 9], ['extra 8', 'extra 9']],
    ['three rows are in a window that was empty', [], [7, 8, 9], []],
    ['another row came for one that went', [1, 2, 9, 3], [1, 2, 3, 4], ['extra 4']],
    ['a row is lost, and nothing came', [1, 2, 3, 4], [1, 2, 3], []],
    ['a row is lost in the middle', [1, 2, 3, 4], [9, 1, 3, 4], ['extra 9']],
    ['the first row is lost', [1, 2, 3, 4], [2, 3, 4, 5], ['extra 5']],
    ['no row stays', [1, 2, 3, 4], [5, 6, 7, 8], []],
  ] as const)('are explained as far as they can be: %s', (_, v1, v2, explained) => {
    expect(shifted(v1, v2)).toEqual(explained)
  })

  it('may have lost a row before the window if v1 was not asked before', () => {
    expect(shifted([1, 2, 3, 4], [2, 3, 4, 5], { v2First: true })).toEqual(['extra 5', 'missing 1'])
    expect(shifted([1, 2, 3, 4], [2, 3, 4, 5], { isRepeated: true })).toEqual(['extra 5', 'missing 1'])
    expect(shifted([1, 2, 3, 4], [2, 3, 4], { v2First: true })).toEqual([])
  })

  it.each([
    [0, ['extra 17', 'extra 18', 'extra 19', 'missing 27', 'missing 28', 'missing 29']],
    [1, ['extra 17', 'extra 18', 'missing 27', 'missing 28']],
    [2, ['extra 17', 'missing 27']],
    [3, []],
  ])('are tested with the rows that v1 itself lost, when three rows came and v1 shows %i of them', (moved, explained) => {
    expect(shifted(window(20), window(17), { later: window(20 - moved) })).toEqual(explained)
    expect(shifted(window(17), window(20), { v2First: true, later: window(17 + moved) })).toHaveLength(6 - 2 * moved)
  })

  it('do not hide a row that v2 lost where v1 itself lost another', () => {
    expect(shifted([1, 2, 3, 4], [9, 1, 3, 5], { later: [9, 1, 2, 3] })).toEqual(['extra 5'])
    expect(shifted([1, 2, 3, 4], [1, 4], { later: [1, 2, 4] })).toEqual([])
  })

  it('may hold as many rows from before the window as writes are known, though the list ends in it', () => {
    expect(shifted([1, 2, 3], [2, 3], { v2First: true, creates: 1 })).toEqual(['missing 1'])
    expect(shifted([1, 2, 3], [3], { v2First: true, creates: 1 })).toEqual([])
    expect(shifted([1, 2, 3], [1, 3], { v2First: true, creates: 1 })).toEqual([])
    expect(shifted([1, 2, 3], [2, 3], { creates: 1 })).toEqual([])
    expect(shifted([1, 2, 3, 4], [2, 3, 4, 5], { creates: 2 })).toEqual(['extra 5', 'missing 1'])
  })

  it('may all be others if as many writes are known', () => {
    expect(shifted([1, 2], [8, 9], { creates: 4 })).toEqual(['extra 8', 'extra 9', 'missing 1', 'missing 2'])
    expect(shifted([1, 2], [8, 9], { creates: 1 })).toEqual([])
  })

  it('explain nothing in a whole list', () => {
    expect(shifted([1, 2, 3, 4], [9, 1, 2, 3], {}, asked(ID))).toEqual([])
  })
})
