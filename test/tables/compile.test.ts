import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { compileRead, compileShow, fieldMask } from '../../src/tables/compile.ts'
import {
  bytes,
  choice,
  choices,
  converted,
  duration,
  elsewhere,
  enumMap,
  type Fields,
  firstOf,
  flag,
  gone,
  identical,
  int,
  intMap,
  jsonName,
  listOf,
  long,
  mapOf,
  nested,
  nullable,
  number,
  object,
  objectMap,
  objects,
  oneof,
  optional,
  optionalInV1,
  parentOf,
  readOnly,
  refused,
  text,
  textMap,
  texts,
  time,
  uint,
  writeOnly,
} from '../../src/tables/fields.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import { v1FieldName } from '../../src/tables/operations.ts'
import { message } from '../../src/tables/resource.ts'
import { deepFreeze } from '../mappings/transcript.ts'

it('keeps null inside a list and a map whose items may be null', () => {
  const { read, show, isAnswer } = message('item', {
    tags: listOf(nullable(text('tags'))),
    sizes: mapOf(nullable(int('sizes'))),
    parts: nullable(listOf(nullable(object('parts', { name: text('name') })))),
    states: listOf(nullable(choice('states', identical('State', ['UP', 'DOWN'])))),
  })
  const whole = { tags: ['a', null], sizes: { a: null, b: 1 }, parts: [null, { name: 'b' }], states: [null, 'UP'] }
  expect([read(whole), show.published(whole), isAnswer(whole)]).toEqual([whole, whole, true])
  expect([read({ parts: null }), show.published({ ...whole, parts: null }).parts]).toEqual([{ parts: null }, null])
  expect(() => read({ tags: null, sizes: null, states: [1.5] })).toThrow('states[0]: must be one of UP, DOWN')
})

it('keeps null where it is a value of its own, and absence beside it', () => {
  const { read, show } = message('item', {
    note: optional(nullable(text('remark.note'))),
    due: nullable(converted(time('due'), { show: String, read: String })),
    plain: optional(text('plain')),
    id: nullable(readOnly('uid')),
  })
  expect(read({ note: null, due: null, plain: null, id: null })).toEqual({ remark: { note: null }, due: null })
  expect(show.published({ remark: { note: null }, due: null, plain: null, uid: null })).toEqual({ note: null, due: null, id: null })
  expect([read({}), show.published({ uid: 'a' })]).toEqual([{}, { due: null, id: 'a' }])
})

describe('field name', () => {
  const request = message('request', {
    identity: text('identityUid'),
    claim_match: object('claimMatch', { issuer_pattern: text('issuerPattern') }),
    role_bindings: objects('requests', { identity: text('roleBinding.identityUid'), tags: objects('labels', { key: text('k') }) }),
    onboarding_questions: nested({ company_name: text('company') }),
  })
  const nameOf = v1FieldName({ group: 'parent_filter' }, request, message('answer', { id: text('uid') }))

  it.each([
    ['identityUid', 'identity'],
    ['identity_uid', 'identity'],
    ['claim_match.issuer_pattern', 'claim_match.issuer_pattern'],
    ['claimMatch.issuerPattern', 'claim_match.issuer_pattern'],
    ['company', 'onboarding_questions.company_name'],
    ['requests', 'role_bindings'],
    ['requests[2]', 'role_bindings[2]'],
    ['requests[2].role_binding.identity_uid', 'role_bindings[2].identity'],
    ['requests[2].labels[0].k', 'role_bindings[2].tags[0].key'],
    ['uid', 'id'],
    ['parent_filter', 'group'],
    ['somethingElse[1]', 'somethingElse[1]'],
  ])('renames v2’s %s to v1’s %s', (v2, v1) => {
    expect(nameOf(v2)).toBe(v1)
  })

  it('names the variables of the path first, the first one for the parent', () => {
    const inPath = v1FieldName({}, request, message('answer', { id: text('uid') }), ['group_id', 'repo'])
    expect(['parent', 'uid', 'group_uid', 'repo', 'identityUid'].map(inPath)).toEqual([
      'group_id',
      'group_id',
      'group_id',
      'repo',
      'identity',
    ])
  })

  it('keeps a path that is longer than any of the tables', () => {
    const path = `requests${'[]'.repeat(1_000_000)}`
    expect(nameOf(path)).toBe(path)
  })
})

describe('a field mask (facts §13)', () => {
  const snake = { maskCase: 'snake', replaceMask: '*' } as const
  const camel = { maskCase: 'camel', replaceMask: '*' } as const
  const rule = { always: ['name', 'oidc.clientId'], whenSet: ['kind', 'oidc.clientSecret', 'claimMatch'], because: 'a test' }

  it('is * for a full replacement', () => expect(fieldMask('*', {}, { name: 'x' }, snake)).toBe('*'))

  it('can name every member that v1 can write, set or not', () => {
    const fields = {
      id: readOnly('uid'),
      name: text('displayName'),
      part: object('itsPart', { inner: text('inner') }),
      secret: writeOnly(text('clientSecret')),
      questions: nested({ company: text('company'), asked: readOnly(time('askTime')) }),
      made: readOnly(time('createTime')),
      lost: gone(text, 'gone'),
    }
    expect(fieldMask('*', fields, {}, { ...snake, replaceMask: 'known' })).toBe('display_name,its_part,client_secret,company')
    expect(fieldMask('*', fields, {}, { ...camel, replaceMask: 'known' })).toBe('displayName,itsPart,clientSecret,company')
    expect(fieldMask(rule, fields, {}, { ...camel, replaceMask: 'known' })).toBe('name,oidc.clientId')
  })

  it('names what a PUT always replaces, present or not', () => expect(fieldMask(rule, {}, {}, snake)).toBe('name,oidc.client_id'))

  it('names a conditional member only if it is set', () => {
    expect(fieldMask(rule, {}, { kind: 'KIND_A', oidc: { clientSecret: 's' }, claimMatch: {} }, camel)).toBe(
      'name,oidc.clientId,kind,oidc.clientSecret,claimMatch',
    )
  })

  it.each([undefined, null, '', 'KIND_UNSPECIFIED'])('takes %j for unset', (kind) => {
    expect(fieldMask(rule, {}, { kind, oidc: { clientSecret: kind } }, camel)).toBe('name,oidc.clientId')
  })
})

describe('read', () => {
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

    it('is the empty message when absent', () => {
      expect(compileRead({ a: text('a') })(undefined)).toStrictEqual({})
    })

    it.each([[[]], ['text'], [7], [true], [null]])('is refused when it is %j', (body) => {
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

    it('may repeat a member that v2 cannot write as v1 shows it', () => {
      const number = converted(long('name'), { show: (name) => String(name).replace('projects/', '') })
      const why = 'is set by v2'
      const fields = {
        number: refused(why, number),
        size: refused(why, long('size')),
        count: refused(why, int('count')),
        kind: refused(why, choice('kind', identical('Kind', ['NONE', 'ONE', 'TWO']))),
      }
      const stored = { name: 'projects/7', size: 5, count: '3', kind: 1 }
      const shown = compileShow(fields, 'specification')(stored)
      expect(shown).toEqual({ number: '7', size: '5', count: 3, kind: 'ONE' })
      expect(compileRead(fields)(shown, stored)).toEqual({})
      expect(() => compileRead(fields)({ number: '8', size: '6', count: 4, kind: 'TWO' }, stored)).toThrow(
        Object.keys(fields)
          .map((name) => `${name}: ${why}`)
          .join('; '),
      )
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

    it('is reported with the beginning of the key below which it lies', () => {
      const below = (key: string) => violations({ a: objectMap('a', { b: long('b') }) }, { a: { [key]: { b: true } } })
      const why = 'b: must be a 64-bit integer, as a string'
      expect(below('k'.repeat(100))).toBe(`Invalid argument: a["${'k'.repeat(100)}"].${why}`)
      expect(below('k'.repeat(1_000_000))).toBe(`Invalid argument: a["${'k'.repeat(100)}…"].${why}`)
    })
  })
})

describe('show', () => {
  const colour = identical('Colour', ['COLOUR_UNSPECIFIED', 'RED'])
  const every: Fields = {
    a_text: text('aText'),
    a_flag: flag('aFlag'),
    an_int: int('anInt'),
    a_long: long('aLong'),
    a_time: time('aTime'),
    a_duration: duration('aDuration'),
    some_bytes: bytes('someBytes'),
    a_choice: choice('aChoice', colour),
    an_object: object('anObject', { inner_text: text('innerText') }),
    some_texts: texts('someTexts'),
    some_choices: choices('someChoices', colour),
    some_objects: objects('someObjects', { inner_text: text('innerText') }),
    a_text_map: textMap('aTextMap'),
    an_int_map: intMap('anIntMap'),
    an_object_map: objectMap('anObjectMap', { inner_text: text('innerText') }),
  }
  const unset = {
    a_text: '',
    a_flag: false,
    an_int: 0,
    a_long: '0',
    a_time: null,
    a_duration: null,
    some_bytes: '',
    a_choice: 'COLOUR_UNSPECIFIED',
    an_object: null,
    some_texts: [],
    some_choices: [],
    some_objects: [],
    a_text_map: {},
    an_int_map: {},
    an_object_map: {},
  }

  describe('a member that v2 omits', () => {
    const show = compileShow(every, 'specification')

    it('is shown by its type (facts §16.3)', () => expect(show({})).toStrictEqual(unset))

    it('is shown the same when v2 says null', () => {
      expect(show(Object.fromEntries(Object.values(every).map(({ source }) => [source, null])))).toStrictEqual(unset)
    })

    it('is absent when it is optional or a member of a oneof', () => {
      const fields = { maybe: optional(text('maybe')), one: oneof('it', text('one')), other: oneof('it', object('other', {})) }
      expect(compileShow(fields, 'specification')({ one: '', other: null })).toStrictEqual({ one: '' })
    })
  })

  describe('names in answers', () => {
    it('follow the dialect at every depth, and a user’s keys follow none', () => {
      const fields = {
        an_object: object('o', { a_map: textMap('aMap') }),
        sync_config: jsonName('sync_config', object('s', { a_b: text('aB') })),
      }
      const v2 = { o: { aMap: { snake_key: '1', camelKey: '2' } }, s: { aB: 'x' } }
      expect(compileShow(fields, 'specification')(v2)).toStrictEqual({
        an_object: { a_map: { snake_key: '1', camelKey: '2' } },
        sync_config: { a_b: 'x' },
      })
      expect(compileShow(fields, 'published')(v2)).toStrictEqual({
        anObject: { aMap: { snake_key: '1', camelKey: '2' } },
        sync_config: { aB: 'x' },
      })
    })

    it('stay out of the other dialect when they have only one', () => {
      const fields = { id: text('uid'), created_at: { ...time('createTime'), only: 'specification' as const } }
      expect(compileShow(fields, 'specification')({ uid: 'x' })).toStrictEqual({ id: 'x', created_at: null })
      expect(compileShow(fields, 'published')({ uid: 'x' })).toStrictEqual({ id: 'x' })
    })
  })

  describe('values in answers', () => {
    const show = compileShow(every, 'specification')

    it('keep text of any script, 64-bit text and every character of a time', () => {
      const shown = show({ aText: 'Grüße 漢字 \u{1f600}', aLong: '9223372036854775807', aTime: '2025-01-02T03:04:05.120Z', anInt: -5 })
      expect(shown).toMatchObject({
        a_text: 'Grüße 漢字 \u{1f600}',
        a_long: '9223372036854775807',
        a_time: '2025-01-02T03:04:05.120Z',
        an_int: -5,
      })
    })

    it('are text when they have 64 bits (facts §16.5)', () => expect(show({ aLong: 42 })).toMatchObject({ a_long: '42' }))

    it('are the zero value when an enum lacks them, and left out of a list (facts §18)', () => {
      expect(show({ aChoice: 'INFRARED', someChoices: ['RED', 'INFRARED'] })).toMatchObject({
        a_choice: 'COLOUR_UNSPECIFIED',
        some_choices: ['RED'],
      })
    })

    it.each<[object, string]>([
      [{ aText: 7 }, 'aText must be a string'],
      [{ aText: ['x'] }, 'aText must be a string'],
      [{ aFlag: 'true' }, 'aFlag must be true or false'],
      [{ aFlag: 1 }, 'aFlag must be true or false'],
      [{ anInt: 'x' }, 'anInt must be a 32-bit integer'],
      [{ anInt: 1.5 }, 'anInt must be a 32-bit integer'],
      [{ anInt: 2 ** 31 }, 'anInt must be a 32-bit integer'],
      [{ aLong: '12.5' }, 'aLong must be a 64-bit integer'],
      [{ aLong: '9223372036854775808' }, 'aLong must be a 64-bit integer'],
      [{ aTime: 'yesterday' }, 'aTime must be an RFC 3339 timestamp'],
      [{ aTime: '2025-02-29T00:00:00Z' }, 'aTime must be an RFC 3339 timestamp'],
      [{ aTime: '2025-01-02T24:00:00Z' }, 'aTime must be an RFC 3339 timestamp'],
      [{ aTime: 5 }, 'aTime must be an RFC 3339 timestamp'],
      [{ aChoice: {} }, 'aChoice must be a Colour'],
      [{ aChoice: true }, 'aChoice must be a Colour'],
      [{ someChoices: 'RED' }, 'someChoices must be a list'],
      [{ someChoices: [true, 'RED'] }, 'someChoices[] must be a Colour'],
      [{ anObject: [] }, 'anObject must be an object'],
      [{ anObject: { innerText: 5 } }, 'anObject.innerText must be a string'],
      [{ someObjects: [{}, null] }, 'someObjects[] must be an object'],
      [{ someTexts: 'x' }, 'someTexts must be a list'],
      [{ someTexts: ['x', 5] }, 'someTexts[] must be a string'],
      [{ aTextMap: [] }, 'aTextMap must be an object'],
      [{ aTextMap: { k: 5 } }, 'aTextMap[] must be a string'],
    ])('are an error that names the member when they have the wrong type: %j', (v2, problem) => {
      expect(() => show(v2 as JsonObject)).toThrow(`the v2 service sent a wrong answer: ${problem}`)
    })

    it('are read in both spellings of ProtoJSON', () => {
      const shown = show({ anInt: '1e2', aLong: '5e1', aTime: null, aChoice: 1, someChoices: [1, 99] })
      expect(shown).toMatchObject({ an_int: 100, a_long: '50', a_time: null, a_choice: 'RED', some_choices: ['RED'] })
    })

    it('have the same bits where v1 has no sign', () => {
      const unsigned = compileShow({ id: uint('id'), gid: optionalInV1(uint('gid')) }, 'specification')
      expect(unsigned({ id: -2, gid: '-1' })).toEqual({ id: 4294967294, gid: 4294967295 })
      expect(unsigned({ id: 2 ** 31 - 1, gid: 0 })).toEqual({ id: 2147483647 })
      for (const id of [-(2 ** 31) - 1, 2 ** 32]) expect(() => unsigned({ id })).toThrow('id must be a 32-bit integer')
    })

    it('keep a key named __proto__ as data', () => {
      const v2 = JSON.parse('{"aTextMap":{"__proto__":"x"},"anObjectMap":{"__proto__":{"innerText":"y"}}}')
      const shown = show(v2)
      expect(JSON.stringify(shown.a_text_map)).toBe('{"__proto__":"x"}')
      expect(JSON.stringify(shown.an_object_map)).toBe('{"__proto__":{"inner_text":"y"}}')
      expect(Object.getPrototypeOf(shown.an_object_map)).toBe(Object.prototype)
    })

    it('are never mutated in place', () => {
      const v2 = deepFreeze({ anObject: { innerText: 'x' }, someObjects: [{ innerText: 'y' }], aTextMap: { k: 'v' } })
      expect(() => show(v2)).not.toThrow()
    })
  })

  it('keeps a number that is exact, both ways, and refuses another', () => {
    const fields = { price: number('price') }
    const [shown, read] = [compileShow(fields, 'specification'), compileRead(fields)]
    for (const price of [0.1, -1.5e-300, 2 ** 53 - 1]) expect([shown({ price }), read({ price })]).toEqual([{ price }, { price }])
    for (const price of [2 ** 53, '1', Number.POSITIVE_INFINITY]) {
      expect(() => shown({ price })).toThrow('price must be a number of up to 53 bits')
      expect(() => read({ price })).toThrow('price: must be a number of up to 53 bits')
    }
  })

  describe('sources of members', () => {
    it('may be nested, the parent of a uid, or the first that is set', () => {
      const fields = {
        deep: readOnly('a.b'),
        parent: readOnly(text(parentOf('uid'))),
        first: readOnly(text(firstOf('x.uid', 'y', parentOf('uid')))),
      }
      const show = compileShow(fields, 'specification')
      expect(show({ a: { b: '1' }, uid: 'org/x', y: '' })).toStrictEqual({ deep: '1', parent: 'org', first: 'org' })
      expect(show({ a: null, uid: 'root', x: { uid: 'u' }, y: 'z' })).toStrictEqual({ deep: '', parent: '', first: 'u' })
      expect(() => show({ a: 'text' })).toThrow('a must be an object')
    })

    it('may be missing, or flat where v1 nests', () => {
      const fields = { lost: gone(texts, 'no such thing in v2'), inner: nested({ a_b: text('aB') }) }
      expect(compileShow(fields, 'specification')({ aB: 'x' })).toStrictEqual({ lost: [], inner: { a_b: 'x' } })
    })

    it('are not shown when they are input only', () => {
      expect(compileShow({ secret: writeOnly(text('secret')) }, 'specification')({ secret: 's' })).toStrictEqual({})
    })
  })
})
