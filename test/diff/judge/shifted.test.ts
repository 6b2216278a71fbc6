import { describe, expect, it } from 'vitest'
import { shiftedRows } from '../../../src/migrate/compare/expected.ts'
import { createMovement } from '../../../src/migrate/compare/judge.ts'
import { asked, child, findings, seen } from '../given.ts'

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

describe('the ends of a window', () => {
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
