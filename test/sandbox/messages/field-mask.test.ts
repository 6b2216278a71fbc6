import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyMask, explicitMask, impliedMask, touches } from '../../../src/sandbox/messages/field-mask.ts'
import {
  decode,
  fill,
  flag,
  int64,
  listOf,
  type Message,
  mapOf,
  nested,
  outputText,
  text,
  time,
} from '../../../src/sandbox/messages/message.ts'

const inner: Message = { name: 'test.Inner', fields: { left: text(), right: text(), kept: outputText } }

/** One field of each kind that masks treat differently. */
const message: Message = {
  name: 'test.Outer',
  fields: {
    uid: outputText,
    displayName: text(),
    enabled: flag(),
    count: int64(),
    seenTime: time(),
    labels: mapOf(text()),
    items: listOf(nested(inner)),
    inner: nested(inner),
    first: nested(inner, { oneof: 'kind' }),
    second: text({ oneof: 'kind' }),
  },
}

const patch = (current: object, body: object, mask?: string) => {
  const paths = mask === undefined ? impliedMask(message, body) : explicitMask(message, mask)
  return applyMask(message, fill(message, current as never), decode(message, body), paths)
}

describe('oneofs', () => {
  test('clear the others when one member is written', () => {
    expect(patch({ first: { left: 'a' } }, { second: '' })).toMatchObject({ first: undefined, second: '' })
    expect(patch({ second: 'x' }, { first: { left: 'a' } })).toMatchObject({ first: { left: 'a', right: '' }, second: undefined })
  })

  test('clear only the member that is named but missing', () => {
    expect(patch({ second: 'x' }, {}, 'second')).toMatchObject({ second: undefined })
    expect(patch({ second: 'x' }, {}, 'first')).toMatchObject({ first: undefined, second: 'x' })
  })

  test('refuse two members in one body', () => {
    expect(() => decode(message, { first: {}, second: 'x' })).toThrow('oneof test.Outer.kind is already set')
  })
})

describe('sub-messages', () => {
  test('are created by a path inside an unset one', () => {
    expect(patch({}, { inner: { left: 'a' } })).toMatchObject({ inner: { left: 'a', right: '' } })
  })

  test('are not created if neither side has the path', () => {
    expect(patch({}, {}, 'inner.left').inner).toBeUndefined()
  })

  test('keep the output-only members when replaced', () => {
    expect(patch({ inner: { left: 'a', kept: 'k' } }, { inner: { right: 'b', kept: 'mine' } }, 'inner')).toMatchObject({
      inner: { left: '', right: 'b', kept: 'k' },
    })
  })

  test('are unset by null', () => {
    expect(patch({ inner: { left: 'a' } }, { inner: null }).inner).toBeUndefined()
  })
})

test('keeps the keys of maps as data', () => {
  expect(patch({ labels: { old: '1' } }, { labels: { some_key: 'a', someKey: 'b' } })).toMatchObject({
    labels: { some_key: 'a', someKey: 'b' },
  })
})

test('keeps 64-bit integers as strings and times as UTC with milliseconds', () => {
  expect(decode(message, { count: 12, seen_time: '2026-01-01T01:00:00.5+01:00' })).toEqual({
    count: '12',
    seenTime: '2026-01-01T00:00:00.500Z',
  })
})

test('recognises parents, members and elements in touches', () => {
  const mask = explicitMask(message, 'inner.left,items')
  expect(['inner', 'inner.left', 'items[3].left', 'inner.right', 'display_name'].map((path) => touches(mask, path))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ])
})

const leaf = fc.record({ left: fc.string(), right: fc.string() }, { requiredKeys: [] })
const body = fc.record(
  { displayName: fc.string(), enabled: fc.boolean(), labels: fc.dictionary(fc.string(), fc.string()), items: fc.array(leaf), inner: leaf },
  { requiredKeys: [] },
)

test('is idempotent, keeps its input and never changes output-only members', () => {
  fc.assert(
    fc.property(body, body, (before, change) => {
      const current = Object.freeze(fill(message, { ...decode(message, before), uid: 'u' }))
      const mask = impliedMask(message, change)
      const once = applyMask(message, current, decode(message, change), mask)
      expect(applyMask(message, once, decode(message, change), mask)).toEqual(once)
      expect(once['uid']).toBe('u')
    }),
  )
})

test('builds a resource from its input alone with *', () => {
  fc.assert(
    fc.property(body, body, (before, change) => {
      const everything = explicitMask(message, '*')
      const one = applyMask(message, fill(message, decode(message, before)), decode(message, change), everything)
      expect(one).toEqual(applyMask(message, fill(message, {}), decode(message, change), everything))
    }),
  )
})
