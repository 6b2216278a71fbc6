import { describe, expect, it } from 'vitest'
import type { ExampleReport } from '../../src/admin/report/difference.ts'
import { type AlignedLine, alignedLines, alignedRows, differingSpan } from '../../src/admin/web/aligned.ts'
import { isMasked, said } from '../../src/admin/web/words.ts'

const SIGN = { same: ' ', place: '!', other: '~' }

/** Returns each line as `v1 | v2`, with the marks before and the numbers of rows. */
function drawn(lines: readonly AlignedLine[]): readonly string[] {
  const cell = (one: AlignedLine['v1']) => one && `${one.row ?? ''}${SIGN[one.mark]}${' '.repeat(one.depth)}${one.text}`
  return lines.map(({ v1, v2 }) => `${cell(v1) ?? ''} | ${cell(v2) ?? ''}`)
}

const both = (v1: unknown, v2: unknown, path: readonly string[]) => drawn(alignedLines({ value: v1 }, { value: v2 }, { depth: 0, path }))

describe('lines of two objects', () => {
  it('stand side by side whatever the order of their members', () => {
    expect(both({ id: 1, name: 'a', size: 2 }, { size: 2, name: 'b', id: 1 }, ['name'])).toEqual([
      ' { |  {',
      '  "id": 1 |   "id": 1',
      '! "name": "a" | ! "name": "b"',
      '  "size": 2 |   "size": 2',
      ' } |  }',
    ])
  })

  it('mark what differs besides the place in another way', () => {
    expect(both({ a: 1, b: 1 }, { a: 2, b: 2 }, ['b']).slice(1, 3)).toEqual(['~ "a": 1 | ~ "a": 2', '! "b": 1 | ! "b": 2'])
  })

  it('leave a gap where one side has no such member', () => {
    expect(both({ a: 1 }, { a: 1, b: '' }, ['b']).slice(1, 3)).toEqual(['  "a": 1 |   "a": 1', ' | ! "b": ""'])
  })

  it('lead to the place through objects and lists, and mark what differs there', () => {
    const value = (text: string) => ({ a: { list: [{ c: 'c'.repeat(80), d: text }] } })
    expect(both(value('x'), value('y'), ['a']).filter((line) => line.includes('!'))).toEqual(['!    "d": "x" | !    "d": "y"'])
    const short = (text: string) => ({ a: [text] })
    expect(both(short('x'), short('y'), ['a'])[1]).toBe('! "a": ["x"] | ! "a": ["y"]')
  })

  it('count members and items that were left out', () => {
    expect(both({ list: [1, '… 4 more'], '…': '2 more' }, { list: [1, '… 4 more'], '…': '3 more' }, ['x']).slice(1, 3)).toEqual([
      '  "list": [1, … 4 more] |   "list": [1, … 4 more]',
      ' … 2 more members |   … 2 more members'.replace(' …', '  …'),
    ])
  })

  it('mark the place even if it is hidden on both sides', () => {
    expect(both({ a: '[hidden]' }, { a: '[hidden]' }, ['a'])[1]).toBe('! "a": "[hidden]" | ! "a": "[hidden]"')
  })

  it('show the place as the example has it, which is longer than its neighbours', () => {
    const whole = { v1: { value: 'long' }, v2: { value: 'longer' } }
    const lines = alignedLines({ value: { a: 'l…' } }, { value: { a: 'l…' } }, { depth: 0, path: ['a'], whole })
    expect(drawn(lines)[1]).toBe('! "a": "long" | ! "a": "longer"')
  })
})

const example = (members: Partial<ExampleReport>) => ({ v2Side: { status: 200 }, v1Side: { status: 200 }, ...members }) as ExampleReport
const rows = (...ids: readonly string[]) => ids.map((id) => ({ id }))

describe('lines of two lists', () => {
  it('show the row that one side lacks in full, between its neighbours', () => {
    const around = {
      at: '/items',
      v1: rows('a', 'b', 'c'),
      v2: rows('a', 'c'),
      rows: { v1: { from: 4, of: 9, at: 5 }, v2: { from: 4, of: 8 } },
    }
    expect(drawn(alignedRows(around, example({ v1: { id: 'b', size: 1 } }), false))).toEqual([
      '5 a | 5 a',
      '6!{ "id": "b", "size": 1 } | ',
      '7 c | 6 c',
    ])
  })

  it('tell neighbours that only one side has', () => {
    const around = {
      at: '/items',
      v1: rows('a', 'b'),
      v2: rows('x', 'a', 'y'),
      rows: { v1: { from: 0, of: 2, at: 1 }, v2: { from: 0, of: 3 } },
    }
    expect(drawn(alignedRows(around, example({ v1: { id: 'b' } }), false))).toEqual([' | 1~x', '1 a | 2 a', '2!{ "id": "b" } | ', ' | 3~y'])
  })

  it('mark the row that moved in an order, and no other', () => {
    const around = {
      at: '/items',
      v1: rows('a', 'b', 'c'),
      v2: rows('b', 'c', 'a'),
      rows: { v1: { from: 0, of: 3, at: 0 }, v2: { from: 0, of: 3, at: 2 } },
    }
    expect(drawn(alignedRows(around, example({ v1: 'a', v2: 'b' }), true))).toEqual(['1!a | 1 b', '2 b | 2 c', '3 c | 3!a'])
  })
})

describe('what differs in one sentence', () => {
  const list = { at: '/items', v1: [], v2: [], rows: { v1: { from: 0, of: 7, at: 2 }, v2: { from: 0, of: 6, at: 4 } } }
  it.each([
    ['value', { v1: 'BASE', v2: 'OTHER' }, 'v1 has "BASE", v2 has "OTHER".'],
    ['value', { v1: 1, v2: 2 }, 'v1 has the number 1, v2 has the number 2.'],
    [
      'value',
      { v1: 'x'.repeat(99), v2: 'y', differsAt: 1_203 },
      'v1 has a long text, v2 has "y". They begin to differ at character 1,204.',
    ],
    ['type', { v1: [], v2: null }, 'v1 has an empty list, v2 has null.'],
    ['missing', { v1: '' }, 'v1 has an empty text, v2 leaves it out.'],
    ['extra', { v2: {} }, 'v1 leaves it out, v2 has an empty object.'],
    ['status', { v1: 404, v2: 200, v1Side: { status: 404 } }, 'v1 answered HTTP 404, v2 HTTP 200.'],
    ['missing', { v1: {}, around: list }, 'v1 has 7 rows, and number 3 is not among the 6 of v2.'],
    ['order', { v1: 'a', around: list }, 'Row a is number 3 in v1 and number 5 in v2.'],
    ['race', {}, ''],
  ] as const)('is said of %s %j', (kind, members, sentence) => {
    expect(said(kind, example(members))).toBe(sentence)
  })

  it('comes with a hint if texts are masked', () => {
    expect(isMasked(example({ v1: 'text-6-81f0aa21' }))).toBe(true)
    expect(isMasked(example({ v1: 'a text' }))).toBe(false)
  })

  it('shows the part of two texts that differs, unless they are masked', () => {
    const long = 'the same beginning of a long text '.repeat(2)
    expect(differingSpan(`${long}one end`, `${long}two end`)).toEqual([long, 'one', ' end'])
    expect(differingSpan('"APPLICATION"', '"UNKNOWN"')).toEqual(['"APPLICATION"', '', ''])
    expect(differingSpan('"name": "text-6-81f0aa21"', '"name": "text-6-99f0aa21"')).toEqual(['"name": "text-6-81f0aa21"', '', ''])
    expect(differingSpan('a', undefined)).toEqual(['a', '', ''])
  })
})
