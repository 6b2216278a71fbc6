import { describe, expect, it } from 'vitest'
import { shiftedRows } from '../../../src/migrate/compare/expected.ts'
import { createMovement } from '../../../src/migrate/compare/judge.ts'
import { asked, child, findings, seen } from '../given.ts'

const ID = 'registry.repos.list'
const windowed = asked(ID, 'limit=4')
const list = (...rows: readonly number[]) => ({ items: rows.map((nth) => ({ id: child(nth) })) })

/** Returns the kind and number of each row that is explained. */
function shifted(v1: readonly number[], v2: readonly number[], { v2First = false, isRepeated = false } = {}, question = windowed) {
  const [left, right] = [list(...v1), list(...v2)]
  const rows = shiftedRows(
    question,
    findings(ID, left, right),
    { v1: seen(left), v2: seen(right), v2First, movement: createMovement([]) },
    isRepeated,
  )
  return [...rows].map(({ kind, path }) => `${kind} ${Number.parseInt(path.slice(-17, -1), 16)}`).sort()
}

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

  it('explain nothing in a whole list', () => {
    expect(shifted([1, 2, 3, 4], [9, 1, 2, 3], {}, asked(ID))).toEqual([])
  })
})
