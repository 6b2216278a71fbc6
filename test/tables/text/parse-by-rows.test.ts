import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLongList, parseByRows, parseJson } from '../../../src/tables/text/parse-json.ts'

/** Parses to the end. */
function parsed(pieces: readonly Uint8Array[]): unknown {
  const parsing = parseByRows(pieces, (what) => new RangeError(what))
  for (;;) {
    const { done, value } = parsing.next()
    if (done) return value
  }
}

/** The pieces of a text, of so many bytes each. */
function piecesOf(text: string | Buffer, size: number): readonly Buffer[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

/** What both parsers make of a text: the value as text, so that the order of members and of doubled ones counts, or that they refuse it. */
function said(parse: () => unknown): string {
  try {
    return JSON.stringify(parse()) ?? 'nothing'
  } catch (error) {
    if (error instanceof SyntaxError) return 'no JSON'
    throw error
  }
}

const same = (text: string, size: number) =>
  expect(said(() => parsed(piecesOf(text, size)))).toBe(said(() => (text.trim() === '' ? undefined : parseJson(text))))

describe('an answer that is parsed row by row', () => {
  it('has the value of one that is parsed at once', () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.bigInt().map(String), fc.boolean(), fc.constant(null))
    const member = fc.oneof(fc.constantFrom('groups', '__proto__', 'nextPageToken', '"', '\\'), fc.string({ unit: 'binary' }))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value')), fc.dictionary(member, tie('value'))),
    }))
    const answer = fc.dictionary(member, fc.oneof(value, fc.array(value)))
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 1), (body, size, spaces) => {
        same(JSON.stringify(body, undefined, spaces), size)
      }),
      { numRuns: 300 },
    )
  })

  it('is refused where one that is parsed at once is', () => {
    const letters = fc.constantFrom(...'{}[],:"\\ 1a-', '"a"', '"a":', '[1]', '{}', '123456789012345678', 'null', '\u00e9')
    const damaged = fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(''))
    const around = fc.constantFrom(
      (text: string) => text,
      (text: string) => `{"a":[${text}]}`,
      (text: string) => `{"a":[1,${text}`,
    )
    fc.assert(
      fc.property(damaged, around, fc.integer({ min: 1, max: 9 }), (text, wrap, size) => {
        same(wrap(text), size)
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    '{"a":[]}',
    '{"a":[ ]}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1}',
    '{"a":[1]',
    '{"a":[1],"a":2}',
    '{"a":[1],"a":[2,3]}',
    '{"a":2,"a":[1]}',
    '{"__proto__":[1]}',
    '[[1],[2]]',
    '[1,2]',
    ' ',
    '\ufeff{}',
    '{"a":[[0],[1]]}',
    '{"a":[12345678901234567890, 1]}',
  ])('reads %s alike', (text) => same(text, 3))

  it('joins the batches of a long list', () => {
    const rows = Array.from({ length: 5000 }, (_, nth) => ({ uid: String(nth), texts: ['é"\\'.repeat(nth % 40)] }))
    for (const size of [1000, 65_536, 2 ** 24]) {
      const value = parsed(piecesOf(JSON.stringify({ rows, more: [1] }), size)) as { rows: object; more: object }
      expect(value).toEqual({ rows, more: [1] })
      expect([isLongList(value.rows), isLongList(value.more), isLongList([])]).toEqual([true, true, false])
    }
    same(`{"a":[${'"abcdefgh",'.repeat(4000)}]}`, 65_536)
  })

  it('is bounded in one row, beside the rows, and in all', () => {
    const values = (count: number) => Array.from({ length: count }, () => 1).join()
    const refused = (text: string, why: string) => expect(() => parsed(piecesOf(text, 65_536))).toThrow(new RangeError(`more than ${why}`))
    const place = 'in one row, or beside its rows'
    refused(`{"a":[1,[${values(20_002)}]]}`, `20000 values ${place}`)
    refused(`{"a":{"b":[${values(20_002)}]}}`, `20000 values ${place}`)
    refused('['.repeat(30_000), `20000 values ${place}`)
    refused(`{"a":["${'x'.repeat(2 ** 22)}"]}`, `4194304 bytes ${place}`)
    refused(`{"a":"${'x'.repeat(2 ** 22)}"}`, `4194304 bytes ${place}`)
    const rows = (count: number) => `{"a":[${Array.from({ length: count }, () => `[${values(19_000)}]`).join()}]}`
    expect(parsed(piecesOf(rows(26), 65_536))).toEqual(JSON.parse(rows(26)))
    refused(rows(27), '500000 values')
  })

  it('is refused if it is not UTF-8', () => {
    const bytes = Buffer.from('{"a":["é"]}')
    const at = bytes.indexOf(0xc3)
    expect(() => parsed([Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])])).toThrow(TypeError)
    expect(parsed([bytes.subarray(0, at + 1), bytes.subarray(at + 1)])).toEqual({ a: ['é'] })
  })
})
