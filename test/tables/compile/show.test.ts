import { describe, expect, it } from 'vitest'
import { compileShow } from '../../../src/tables/compile.ts'
import {
  bytes,
  choice,
  choices,
  duration,
  type Fields,
  firstOf,
  flag,
  gone,
  identical,
  int,
  intMap,
  jsonName,
  long,
  nested,
  object,
  objectMap,
  objects,
  oneof,
  optional,
  parentOf,
  readOnly,
  text,
  textMap,
  texts,
  time,
  writeOnly,
} from '../../../src/tables/fields.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { deepFreeze } from '../../mappings/deep-freeze.ts'

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

  it('is shown by its type (facts §16.3)', () => {
    expect(show({})).toStrictEqual(unset)
  })

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

  it('are text when they have 64 bits (facts §16.5)', () => {
    expect(show({ aLong: 42 })).toMatchObject({ a_long: '42' })
  })

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
