import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import {
  align,
  answerForm,
  canonical,
  capturedText,
  createCompare,
  ERROR_FORM,
  formAt,
  segmentsOf,
  whyUnread,
} from '../../../src/migrate/compare/compare.ts'
import { atOnce } from '../../../src/serve/bounds.ts'
import { covers } from '../../../src/tables/operation.ts'
import { paramsOf } from '../../../src/tables/query.ts'
import { asked, brief, child, compare, court, findings, operationOf, operations, seen } from '../given.ts'

const rows = fc.array(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }), { maxLength: 8 })
const values = fc.array(fc.constantFrom<unknown>(1, 2, 'x', null, { a: 1, b: 2 }), { maxLength: 8 })

describe('align', () => {
  it('uses every row of both lists exactly once', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(rows, rows), fc.tuple(values, values)), ([v1, v2]) => {
        const { pairs } = atOnce(align(v1, v2, undefined))
        const indices = (side: 'v1' | 'v2') => pairs.flatMap((pair) => pair[side] ?? []).sort((a, b) => a - b)
        expect(indices('v1')).toEqual(v1.map((_, at) => at))
        expect(indices('v2')).toEqual(v2.map((_, at) => at))
      }),
    )
  })

  it('finds only a different order in a shuffled list', () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (v1, random) => {
        const keyed = v1.map((row) => ({ row, by: random.next().value as number }))
        const v2 = keyed.sort((a, b) => a.by - b.by).map(({ row }) => row)
        const { pairs, order } = atOnce(align(v1, v2, 'id'))
        expect(pairs.every((pair) => pair.v1 !== undefined && pair.v2 !== undefined)).toBe(true)
        expect(order === undefined).toBe(v1.every((row, at) => row.id === v2[at]?.id))
      }),
    )
  })

  it('falls back to equality when a row has no id', () => {
    const { pairs } = atOnce(align([{ id: 'a' }, {}], [{}, { id: 'a' }], 'id'))
    expect(pairs.map(({ v1, v2 }) => [v1, v2])).toEqual([
      [0, 1],
      [1, 0],
    ])
  })
})

it('a canonical text is the same for members in any order, and another for other values', () => {
  expect(canonical({ a: [1, { c: null, b: '"' }] })).toBe(canonical({ a: [1, { b: '"', c: null }] }))
  expect(canonical({ a: 1 })).not.toBe(canonical({ a: '1' }))
})

describe('compare', () => {
  const LIST = 'registry.repos.list'
  const WRITE = 'registry.repos.update'
  const row = (nth: number, members = {}) => ({ id: child(nth), name: `repo-${nth}`, ...members })

  describe('presence', () => {
    it('distinguishes absent, null and unset', () => {
      const states = { absent: {}, null: { readme: null }, unset: { readme: '' }, set: { readme: 'text' } }
      const seenAs = Object.fromEntries(
        Object.entries(states).map(([name, v1]) => [
          name,
          Object.values(states).map((v2) => brief(findings(WRITE, v1, v2)).join() || 'same'),
        ]),
      )
      expect(seenAs).toEqual({
        absent: ['same', 'extra /readme', 'extra /readme', 'extra /readme'],
        null: ['missing /readme', 'same', 'type /readme', 'type /readme'],
        unset: ['missing /readme', 'type /readme', 'same', 'value /readme'],
        set: ['missing /readme', 'type /readme', 'value /readme', 'same'],
      })
    })

    it('does not depend on the order of members', () => {
      expect(findings(WRITE, { id: 'a', name: 'b' }, { name: 'b', id: 'a' })).toEqual([])
    })

    it('includes members that no table has', () => {
      const [found] = findings(WRITE, { novelty: { deep: [1] } }, { novelty: { deep: [2] } })
      expect(found).toMatchObject({ kind: 'value', at: '/novelty/deep/0', where: '/novelty/*/*', v1: 1, v2: 2 })
    })
  })

  describe('the comparison of scalars', () => {
    const times: [string, string, string][] = [
      ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z', ''],
      ['2026-01-02T03:04:05.12Z', '2026-01-02T03:04:05.120000000Z', ''],
      ['2026-01-02T03:04:05+00:00', '2026-01-02T03:04:05Z', ''],
      ['2026-01-02T05:04:05+02:00', '2026-01-02T03:04:05Z', ''],
      ['2026-01-02T03:04:05.123Z', '2026-01-02T03:04:05.123456Z', 'value /create_time'],
      ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123456788Z', 'value /create_time'],
      ['2026-01-02T03:04:05Z', '2026-01-02T03:04:06Z', 'value /create_time'],
      ['2026-13-02T03:04:05Z', '2026-13-02T03:04:05.0Z', 'value /create_time'],
    ]
    it.each(times)('judges time %s against %s: %s', (v1, v2, expected) => {
      expect(brief(findings(WRITE, { create_time: v1 }, { create_time: v2 })).join()).toBe(expected)
    })

    it('treats a text that looks like a time as text', () => {
      expect(brief(findings(WRITE, { description: '2026-01-02T03:04:05Z' }, { description: '2026-01-02T03:04:05.0Z' }))).toEqual([
        'value /description',
      ])
    })

    const longs: [unknown, unknown, string][] = [
      ['9007199254740993', '9007199254740993', ''],
      ['9007199254740993', '9007199254740992', 'value /size'],
      ['5', 5, 'type /size'],
      ['5', '05', ''],
      ['0', '', 'value /size'],
      ['0', null, 'type /size'],
      ['1'.repeat(21), `0${'1'.repeat(21)}`, 'value /size'],
    ]
    it.each(longs)('judges 64-bit integer %j against %j: %s', (v1, v2, expected) => {
      expect(brief(findings('registry.images.size', { size: v1 }, { size: v2 })).join()).toBe(expected)
    })

    it('uses the length of durations', () => {
      const operation = 'iam.identity_providers.regenerate_scim_token'
      expect(findings(operation, { requested_overlap: '3600s' }, { requested_overlap: '3600.000s' })).toEqual([])
      expect(brief(findings(operation, { requested_overlap: '3600s' }, { requested_overlap: '3601s' }))).toEqual([
        'value /requested_overlap',
      ])
      const endless = '1'.repeat(300_000)
      expect(brief(findings(operation, { requested_overlap: `${endless}s` }, { requested_overlap: `${endless}.0s` }))).toHaveLength(1)
    })

    it('only checks whether both cursors lead to a further page', () => {
      const list = 'registry.eol_tags.list'
      expect(findings(list, { next_page_token: 'one' }, { next_page_token: 'another' })).toEqual([])
      expect(brief(findings(list, { next_page_token: 'one' }, { next_page_token: '' }))).toEqual(['value /next_page_token'])
    })
  })

  describe('the keys of maps', () => {
    const overlay = (environment: object) => ({ custom_overlay: { environment } })

    it('are data: exact in the example, * in totals', () => {
      const found = findings(WRITE, overlay({ 'a/b': '1', create_time: 'x' }), overlay({ 'a/b': '2' }))
      expect(found.map(({ kind, at, where }) => [kind, at, where])).toEqual([
        ['value', '/custom_overlay/environment/a~1b', '/custom_overlay/environment/*'],
        ['missing', '/custom_overlay/environment/create_time', '/custom_overlay/environment/*'],
      ])
    })

    it('may be any text', () => {
      const v1 = JSON.parse('{"custom_overlay":{"environment":{"__proto__":"1","toString":"2"}}}')
      expect(brief(findings(WRITE, v1, overlay({})))).toEqual([
        'missing /custom_overlay/environment/__proto__',
        'missing /custom_overlay/environment/toString',
      ])
    })
  })

  describe('lists', () => {
    it('are aligned by id, and their order is a difference of its own', () => {
      const [found, ...more] = findings(LIST, { items: [row(1), row(2), row(3)] }, { items: [row(1), row(3), row(2)] })
      expect(more).toEqual([])
      expect(found).toMatchObject({ kind: 'order', at: '/items', where: '/items', path: '/items', v1: child(2), v2: child(3) })
    })

    it('show a changed member of a moved row at its place in v1', () => {
      const found = findings(LIST, { items: [row(1), row(2)] }, { items: [row(2, { name: 'other' }), row(1)] })
      expect(found.map(({ kind, at, where }) => [kind, at, where])).toEqual([
        ['value', '/items/1/name', '/items/*/name'],
        ['order', '/items', '/items'],
      ])
    })

    it('show an off-by-one page as a missing and an extra row', () => {
      expect(brief(findings(LIST, { items: [row(1), row(2)] }, { items: [row(2), row(3)] }))).toEqual([
        'extra /items/1',
        'missing /items/0',
      ])
    })

    it('show a duplicate row', () => {
      expect(brief(findings(LIST, { items: [row(1), row(2)] }, { items: [row(1), row(2), row(2)] }))).toEqual(['extra /items/2'])
    })

    it('of associations are aligned by their group', () => {
      const one = (group: string, name: string) => ({ group, name })
      const found = findings('iam.account_associations.list', { items: [one('a', 'x'), one('b', 'y')] }, { items: [one('b', 'z')] })
      expect(found.map(({ kind, at, path }) => [kind, at, path])).toEqual([
        ['value', '/items/1/name', '/items/[b]/name'],
        ['missing', '/items/0', '/items/[a]'],
      ])
    })

    it('without ids pair equal values first, and the rest in its order', () => {
      expect(brief(findings(WRITE, { bundles: ['a', 'b', 'c'] }, { bundles: ['b', 'a', 'd'] }))).toEqual([
        'order /bundles',
        'value /bundles/2',
      ])
      expect(brief(findings(WRITE, { bundles: ['a', 'b'] }, { bundles: ['b'] }))).toEqual(['missing /bundles/0'])
      expect(brief(findings(WRITE, { bundles: ['a', 'a'] }, { bundles: ['a'] }))).toEqual(['missing /bundles/1'])
      expect(findings(WRITE, { bundles: [] }, { bundles: [] })).toEqual([])
    })

    it('of messages without ids are compared member by member', () => {
      const keyring = (...entries: object[]) => ({ custom_overlay: { contents: { runtime_keyring: entries } } })
      const found = findings(WRITE, keyring({ name: 'k', content: 'x' }), keyring({ name: 'k', content: 'y' }))
      expect(found.map(({ where }) => where)).toEqual(['/custom_overlay/contents/runtime_keyring/*/content'])
    })
  })

  describe('errors', () => {
    const error = (message: string, details: unknown[] = [], code = 3) => ({ code, message, details })
    const compareErrors = (v1: object, v2: object) => compare(operationOf(WRITE), seen(v1, 400), seen(v2, 400))

    it('are compared by code and message, and their details as one value', () => {
      const details = [{ '@type': 'x', fieldViolations: [{ field: 'name' }] }]
      expect(compareErrors(error('no'), error('no', details))).toMatchObject({ findings: [{ kind: 'value', at: '/details' }] })
      expect(compareErrors(error('no'), error('yes', [], 9))).toMatchObject({
        findings: [
          { kind: 'value', at: '/code' },
          { kind: 'value', at: '/message' },
        ],
      })
    })

    it('with different statuses are one difference', () => {
      const compared = compare(operationOf(WRITE), seen({ id: 'a' }), seen(error('no'), 400))
      const shown = { code: 3, message: 'no', details: [] }
      expect(compared).toMatchObject({ findings: [{ kind: 'status', at: '', where: '', path: '', v1: 200, v2: 400, shown }] })
    })
  })

  it('headers are compared by media type if both are known', () => {
    const typed = (type: string) => ({ ...seen({}), headers: { 'content-type': type } })
    const operation = operationOf(WRITE)
    expect(compare(operation, typed('application/json'), typed('Application/JSON; charset=utf-8'))).toEqual({ findings: [] })
    expect(compare(operation, typed('application/json'), seen({}))).toEqual({ findings: [] })
    expect(compare(operation, typed('application/json'), typed('text/html'))).toMatchObject({
      findings: [{ at: 'header:content-type', v2: 'text/html' }],
    })
  })

  it('dialects use their own names in examples and table names in totals', () => {
    const published = createCompare({ dialect: 'published' })
    const [found] = findings(LIST, { items: [{ ...row(1), createTime: null }] }, { items: [row(1)] }, published)
    expect(found).toMatchObject({ kind: 'missing', at: '/items/0/createTime', where: '/items/*/create_time' })
  })

  describe('bounds', () => {
    const captured = (text: string, limit = 1_000_000) => ({ status: 200, headers: {}, body: capturedText(text, limit) })
    const text = JSON.stringify({ items: [row(1), row(2)] })

    it('accept an answer that fits', () => {
      expect(compare(operationOf(LIST), captured(text), captured(text))).toEqual({ findings: [] })
    })

    it.each([
      ['rows that differ', (nth: number) => ({ id: `a${nth}`, name: '1' }), (nth: number) => ({ id: `a${nth}`, name: '2' })],
      ['rows that only one side has', (nth: number) => ({ id: `a${nth}` }), (nth: number) => ({ id: `b${nth}` })],
      ['rows without ids', (nth: number) => ({ name: `a${nth}` }), (nth: number) => ({ name: `b${nth}` })],
    ])('let others be served between %s', (_, v1, v2) => {
      const list = (row: (nth: number) => object) => seen({ items: Array.from({ length: 500 }, (_, nth) => row(nth)) })
      const steps = court().steps.judge(asked(LIST), list(v1), list(v2))
      let yielded = 0
      while (!steps.next().done) yielded += 1
      // Once for each pair of rows, and once for each finding.
      expect(yielded).toBeGreaterThanOrEqual(1000)
    })

    it('take the value of a known text that is the same', () => {
      const known = capturedText(text, 1_000_000)
      expect(capturedText(text, 1_000_000, known)).toBe(known)
      expect(known).toEqual({ kind: 'json', value: JSON.parse(text), text })
      expect(capturedText(`${text} `, 1_000_000, known)).toEqual({ kind: 'json', value: JSON.parse(text) })
      expect(capturedText('<html>', 1_000_000, { kind: 'not-json' })).toEqual({ kind: 'not-json' })
    })

    it('make a larger answer inconclusive, with the reason', () => {
      const compared = compare(operationOf(LIST), captured(text), captured(text, 50))
      expect(compared).toEqual({ inconclusive: whyUnread('v2', { kind: 'too-large', limit: 50 }) })
    })

    it('make broken, foreign and endless answers inconclusive', () => {
      expect(compare(operationOf(LIST), captured(text), { status: 200, headers: {}, body: { kind: 'broken' } })).toEqual({
        inconclusive: 'v2 broke off its answer',
      })
      expect(compare(operationOf(LIST), captured('<html>'), captured(text))).toEqual({ inconclusive: 'v1 sent a body that is not JSON' })
      const deep = (leaf: string) => captured(`${'['.repeat(5000)}${leaf}${']'.repeat(5000)}`)
      expect(compare(operationOf(WRITE), deep('1'), deep('2'))).toMatchObject({ inconclusive: expect.stringContaining('cannot be walked') })
      const details = (leaf: string) => captured(`{"code":3,"message":"","details":[${'['.repeat(200)}${leaf}${']'.repeat(200)}]}`)
      const failed = (leaf: string) => ({ ...details(leaf), status: 400 })
      expect(compare(operationOf(WRITE), failed('1'), failed('2'))).toMatchObject({
        inconclusive: expect.stringContaining('cannot be walked'),
      })
    })
  })
})

describe('the signs of declared differences', () => {
  const signed = differences.flatMap(({ code, operations: patterns, signs = [] }) =>
    signs.flatMap(({ at, kinds }) => at.map((place) => ({ code, patterns, place, kinds }))),
  )

  it.each(signed)('$code at "$place" names a place that an answer can have', ({ patterns, place, kinds }) => {
    if (place === '') return expect(kinds).toEqual(['status'])
    const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
    const forms = [ERROR_FORM, ...covered.map((operation) => answerForm(operation, 'specification'))]
    return expect(forms.some((form) => formAt(form, segmentsOf(place)) !== undefined)).toBe(true)
  })

  const conditions = differences.flatMap(({ code, operations: patterns, signs = [] }) =>
    signs.flatMap(({ when = [] }) => when.flatMap(({ param }) => [param].flat().map((name) => ({ code, patterns, name })))),
  )
  it.each(conditions)('$code names the parameter $name of each of its operations', ({ patterns, name }) => {
    const covered = operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
    expect(covered.filter((operation) => !paramsOf(operation).includes(name)).map(({ id }) => id)).toEqual([])
  })
})
