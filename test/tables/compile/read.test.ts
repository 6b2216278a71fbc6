import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { compileRead } from '../../../src/tables/compile.ts'
import {
  choice,
  choices,
  duration,
  elsewhere,
  enumMap,
  type Fields,
  flag,
  int,
  jsonName,
  long,
  nested,
  object,
  objectMap,
  objects,
  readOnly,
  refused,
  text,
  textMap,
  texts,
  time,
  writeOnly,
} from '../../../src/tables/fields.ts'
import { deepFreeze } from '../../mappings/deep-freeze.ts'

const tier = enumMap('Tier', [
  ['UNKNOWN', 'TIER_UNSPECIFIED', 0],
  ['BASE', 'TIER_BASE', 5],
])
const word = enumMap('word', [['a.b', 'WORD_A_B']])

function violations(fields: Fields, v1: unknown): unknown {
  try {
    compileRead(fields)(v1)
  } catch (error) {
    return error instanceof ApiError ? error.message : error
  }
  return 'nothing thrown'
}

describe('a v1 body', () => {
  it('is read in either spelling, and in both at once', () => {
    const read = compileRead({ group_id: text('groupId'), claim_match: object('claimMatch', { issuer_pattern: text('issuerPattern') }) })
    const v2 = { groupId: 'x', claimMatch: { issuerPattern: '^' } }
    expect(read({ group_id: 'x', claim_match: { issuer_pattern: '^' } })).toStrictEqual(v2)
    expect(read({ groupId: 'x', claimMatch: { issuerPattern: '^' } })).toStrictEqual(v2)
    expect(read({ group_id: 'x', claimMatch: { issuer_pattern: '^' } })).toStrictEqual(v2)
  })

  it('may have a published name of its own', () => {
    const read = compileRead({ sync_config: jsonName('sync_config', object('sync_config', { unique_tags: flag('uniqueTags') })) })
    expect(read({ sync_config: { uniqueTags: true } })).toStrictEqual({ sync_config: { uniqueTags: true } })
    expect(read({ syncConfig: { uniqueTags: true } })).toStrictEqual({})
  })

  it('is the empty message when absent or null', () => {
    expect(compileRead({ a: text('a') })(undefined)).toStrictEqual({})
    expect(compileRead({ a: text('a') })(null)).toStrictEqual({})
  })

  it.each([[[]], ['text'], [7], [true]])('is refused when it is %j', (body) => {
    expect(violations({ a: text('a') }, body)).toBe('Invalid argument: body: must be a JSON object')
  })

  it('loses unknown, output-only and elsewhere members; null is unset', () => {
    const read = compileRead({
      id: readOnly('uid'),
      readme: elsewhere(text('content')),
      name: text('name'),
      secret: writeOnly(text('secret')),
    })
    expect(read({ id: 'x', readme: 'r', name: null, secret: 's', colour: 'red' })).toStrictEqual({ secret: 's' })
  })

  it('keeps no member that v2 cannot write, unless it is stored', () => {
    const read = compileRead({
      name: text('name'),
      inner: object('in', { ends: refused('is set by v2', time('endTime')), many: refused('is set by v2', texts('many')) }),
      flat: nested({ tier: refused('is set by v2', choice('tier', tier)) }),
    })
    const stored = { in: { endTime: '2026-01-01T00:00:00Z', many: ['a'] }, tier: 'TIER_BASE' }
    const said = (v1: object, row?: object) => {
      try {
        return read(v1, row as typeof stored)
      } catch (error) {
        return error instanceof ApiError ? error.message : error
      }
    }
    const repeated = { inner: { ends: '2026-01-01T02:00:00.0+02:00', many: ['a'] }, flat: { tier: 5 } }
    expect(said(repeated, stored)).toStrictEqual({ in: {} })
    expect(said({ inner: { ends: null, many: [] }, flat: { tier: 'UNKNOWN' } }, stored)).toStrictEqual({ in: {} })
    expect(said({ inner: { ends: '2026-01-01T00:00:00.000000001Z' } }, stored)).toBe('Invalid argument: inner.ends: is set by v2')
    expect(said(repeated)).toBe('Invalid argument: inner.ends: is set by v2; inner.many: is set by v2; flat.tier: is set by v2')
    expect(said({ inner: { ends: 'soon' } }, stored)).toBe('Invalid argument: inner.ends: must be an RFC 3339 timestamp')
  })

  it('is flat where v2 is flat, and nested where v2 nests', () => {
    const read = compileRead({
      inner: nested({ a_b: text('aB') }),
      identity: text('roleBinding.identityUid'),
      role: text('roleBinding.roleUid'),
    })
    expect(read({ inner: { a_b: 'x' }, identity: 'i', role: 'r' })).toStrictEqual({
      aB: 'x',
      roleBinding: { identityUid: 'i', roleUid: 'r' },
    })
  })

  it('is never mutated', () => {
    const v1 = deepFreeze({ a: [{ b: 'x' }], m: { k: 'v' } })
    expect(() => compileRead({ a: objects('a', { b: text('b') }), m: textMap('m') })(v1)).not.toThrow()
  })

  it('keeps a key named __proto__ as data and reaches no prototype', () => {
    const v1 = JSON.parse('{"m":{"__proto__":"x"},"o":{"__proto__":{"a":"y"}},"__proto__":{"name":"z"}}')
    const v2 = compileRead({ m: textMap('m'), o: objectMap('o', { a: text('a') }), name: text('name') })(v1)
    expect(JSON.stringify(v2)).toBe('{"m":{"__proto__":"x"},"o":{"__proto__":{"a":"y"}}}')
    expect(({} as { name?: string }).name).toBeUndefined()
  })
})

describe('a value in a v1 body', () => {
  it('keeps text of any script', () => {
    expect(compileRead({ a: text('a') })({ a: 'Grüße 漢字 \u{1f600}' })).toStrictEqual({ a: 'Grüße 漢字 \u{1f600}' })
  })

  it('stays exact with 64 bits and becomes a number with 32 (facts §16.5)', () => {
    const read = compileRead({ l: long('l'), i: int('i') })
    expect(read({ l: '9223372036854775807', i: '42' })).toStrictEqual({ l: '9223372036854775807', i: 42 })
    expect(read({ l: 7, i: -1 })).toStrictEqual({ l: '7', i: -1 })
  })

  it('may be the name or the v1 number of an enum value (facts §18)', () => {
    const read = compileRead({ tier: choice('tier', tier) })
    expect(read({ tier: 'BASE' })).toStrictEqual({ tier: 'TIER_BASE' })
    expect(read({ tier: 5 })).toStrictEqual({ tier: 'TIER_BASE' })
    expect(read({ tier: 0 })).toStrictEqual({ tier: 'TIER_UNSPECIFIED' })
  })

  it('must be a name for an enum without numbers', () => {
    expect(compileRead({ words: choices('words', word) })({ words: ['a.b'] })).toStrictEqual({ words: ['WORD_A_B'] })
    expect(violations({ words: choices('words', word) }, { words: [0] })).toBe('Invalid argument: words[0]: must be one of a.b')
  })

  it('may be a time with any offset and stays as it is (facts §19)', () => {
    expect(compileRead({ t: time('t') })({ t: '2025-01-02T03:04:05.120+05:30' })).toStrictEqual({ t: '2025-01-02T03:04:05.120+05:30' })
  })

  it.each<[string, Fields, unknown, string]>([
    ['text', { a: text('a') }, { a: 1 }, 'a: must be a string'],
    ['flag', { a: flag('a') }, { a: 'true' }, 'a: must be true or false'],
    ['int', { a: int('a') }, { a: 1.5 }, 'a: must be a 32-bit integer'],
    ['int that is too large', { a: int('a') }, { a: 2 ** 32 }, 'a: must be a 32-bit integer'],
    ['int as empty text', { a: int('a') }, { a: '' }, 'a: must be a 32-bit integer'],
    ['long', { a: long('a') }, { a: '1e3' }, 'a: must be a 64-bit integer, as a string'],
    ['time', { a: time('a') }, { a: '2025-13-01T00:00:00Z' }, 'a: must be an RFC 3339 timestamp'],
    ['duration', { a: duration('a') }, { a: '1h' }, 'a: must be a duration in seconds such as "3600s"'],
    ['choice', { a: choice('a', tier) }, { a: 'TIER_BASE' }, 'a: must be one of UNKNOWN, BASE'],
    ['object', { a: object('a', {}) }, { a: [] }, 'a: must be an object'],
    ['nested object', { a: nested({ b: text('b') }) }, { a: 'x' }, 'a: must be an object'],
    ['list', { a: texts('a') }, { a: 'x' }, 'a: must be a list'],
    ['map', { a: textMap('a') }, { a: ['x'] }, 'a: must be an object'],
    ['item of a list', { a: texts('a') }, { a: ['x', null] }, 'a[1]: must be a string'],
    ['item of a map', { a: textMap('a') }, { a: { 'k"': 1 } }, 'a["k""]: must be a string'],
    ['member of an object', { a: object('a', { b_c: text('b') }) }, { a: { bC: 1 } }, 'a.b_c: must be a string'],
  ])('%s is reported under its v1 name when it has the wrong type', (_, fields, v1, message) => {
    expect(violations(fields, v1)).toBe(`Invalid argument: ${message}`)
  })

  it('is reported together with all others of a wrong type', () => {
    const fields = { a: text('a'), b: object('b', { c: flag('c') }) }
    expect(violations(fields, { a: 1, b: { c: 1 } })).toBe('Invalid argument: a: must be a string; b.c: must be true or false')
  })

  it('is reported up to the hundredth of a wrong type', () => {
    const named = String(violations({ a: texts('a') }, { a: Array(300_000).fill(1) }))
    expect(named.match(/must be a string/g)).toHaveLength(100)
    expect(named).toMatch(/; a\[99\]: must be a string$/)
  })
})
