import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/tables/text/parse-json.ts'

describe('parsed JSON', () => {
  it.each([
    ['{"size":9007199254740993}', { size: '9007199254740993' }],
    ['[-9223372036854775808 ,18446744073709551615]', ['-9223372036854775808', '18446744073709551615']],
    [' 1234567890123456', '1234567890123456'],
    ['{"a":{"b":[{"c":9007199254740993}]},"d":1}', { a: { b: [{ c: '9007199254740993' }] }, d: 1 }],
    ['{"text":"\\\\\\"9007199254740993","size":9007199254740993}', { text: '\\"9007199254740993', size: '9007199254740993' }],
  ])('keeps the digits of integers: %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  it.each(['123456789012345', '1e300', '1234567890123456.5', '1234567890123456e2', '0.1234567890123456789', '"1234567890123456"', '{}'])(
    'leaves every other value unchanged: %s',
    (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text))
      expect(parseJson(`[9007199254740993,${text}]`)).toEqual(['9007199254740993', JSON.parse(text)])
    },
  )

  it('is refused if it is invalid', () => {
    expect(() => parseJson('[9007199254740993')).toThrow(SyntaxError)
  })

  it('has the same values with and without long numbers beside them', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const [, value] = parseJson(`[9007199254740993,${text}]`) as [string, unknown]
        expect(value).toEqual(parseJson(text))
      }),
      { numRuns: 500, seed: 1 },
    )
  })
})
