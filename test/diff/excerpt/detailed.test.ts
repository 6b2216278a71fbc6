import { describe, expect, it } from 'vitest'
import { LARGEST } from '../../../src/migrate/compare/excerpt.ts'
import type { AskedRequest } from '../../../src/migrate/compare/judge.ts'
import { createRedactor, redactedFor, type Values } from '../../../src/migrate/compare/redact.ts'
import { comparisonOf, detailed, type Example, MOST } from '../../../src/migrate/records/record.ts'
import { asked, child, court, operationOf, ROOT_UID, seen } from '../given.ts'

const LIST = operationOf('registry.repos.list')

interface Given {
  readonly v1: unknown
  readonly v2: unknown
  readonly statuses?: readonly [number, number]
  readonly values?: Values
  readonly question?: AskedRequest
}

/** Returns the record of two answers. */
function recordOf({ v1, v2, statuses = [200, 200], values = 'shown', question = asked(LIST) }: Given) {
  const redactor = createRedactor({ values, key: () => 'k' })
  const redacted = (operation: AskedRequest['operation']) => redactedFor(operation, redactor)
  const { operation } = question
  const judgement = court().judge(question, seen(v1, statuses[0]), seen(v2, statuses[1]))
  const sides = { v1: { status: statuses[0] }, v2: { status: statuses[1] } }
  const who = { id: '1', at: '', operation: operation.id, mode: 'diff-v1', caller: 'c', shape: '', check: 'read', ...sides } as const
  return detailed(comparisonOf(judgement, who, redacted(operation)), judgement, { asked: question, about: operation, redacted })
}

function exampleOf(given: Given): Example {
  const [example] = recordOf(given).examples
  if (!example) throw new Error('no difference')
  return example
}

const row = <T extends object = object>(nth: number, members: T = {} as T) => ({ id: child(nth), name: `repo-${nth}`, ...members })
const rows = (...numbers: readonly number[]) => ({ items: numbers.map((nth) => row(nth)) })
const briefly = (...numbers: readonly number[]) => numbers.map((nth) => row(nth))

describe('what is around a difference', () => {
  it('is the row, with the members that name it and those next to the place', () => {
    const [first, second] = ['2026-01-02T03:04:05Z', '2026-01-03T03:04:05Z']
    const v1 = row(2, { create_time: first, update_time: second, readme: '', aliases: [], bundles: ['a', 'b', 'c'], catalog_tier: 'BASE' })
    const { catalog_tier, ...others } = v1
    const example = exampleOf({ v1: { items: [row(1), v1] }, v2: { items: [row(1), { catalog_tier: 'APPLICATION', ...others }] } })
    expect(example).toMatchObject({ at: '/items/1/catalog_tier', row: child(2) })
    const near = { readme: '', aliases: [], bundles: ['a', 'b', '… 1 more'] }
    expect(example.around).toEqual({
      at: '/items/1',
      path: ['catalog_tier'],
      v1: { ...row(2), ...near, catalog_tier: 'BASE', '…': '2 more' },
      v2: { ...row(2), ...near, catalog_tier: 'APPLICATION', '…': '2 more' },
    })
    expect(Object.keys(example.around?.v1 as object)).toEqual(Object.keys(example.around?.v2 as object))
  })

  it('leads through the objects within the row', () => {
    const nested = (source: string) => ({ items: [row(1, { sync_config: { unique_tags: true, source } })] })
    expect(exampleOf({ v1: nested(child(3)), v2: nested(child(4)) }).around).toEqual({
      at: '/items/0',
      path: ['sync_config', 'source'],
      v1: { ...row(1), sync_config: { unique_tags: true, source: child(3) } },
      v2: { ...row(1), sync_config: { unique_tags: true, source: child(4) } },
    })
  })

  it('is what one side alone has, at its place among the others', () => {
    const [v1, v2] = [
      { ...row(1), bundles: [], catalog_tier: 'BASE' },
      { ...row(1), readme: 'new', bundles: [], catalog_tier: 'BASE' },
    ]
    const { around } = exampleOf({ v1: { items: [v1] }, v2: { items: [v2] } })
    expect(around).toEqual({ at: '/items/0', path: ['readme'], v1, v2 })
  })

  it('is the rows before and after one that v2 lacks, or has besides', () => {
    const [more, less] = [rows(1, 2, 3, 4, 5, 6, 7), rows(1, 2, 3, 5, 6, 7)]
    const window = { long: { from: 1, of: 7, at: 3 }, short: { from: 1, of: 6 } }
    const [long, short] = [briefly(2, 3, 4, 5, 6), briefly(2, 3, 5, 6)]
    expect(exampleOf({ v1: more, v2: less }).around).toEqual({
      at: '/items',
      v1: long,
      v2: short,
      rows: { v1: window.long, v2: window.short },
    })
    expect(exampleOf({ v1: less, v2: more }).around).toEqual({
      at: '/items',
      v1: short,
      v2: long,
      rows: { v1: window.short, v2: window.long },
    })
  })

  it('is the end of a list that lacks its last rows, and an empty list', () => {
    expect(exampleOf({ v1: rows(1, 2, 3), v2: rows(1, 2) }).around).toMatchObject({ v2: briefly(1, 2), rows: { v2: { from: 0, of: 2 } } })
    expect(exampleOf({ v1: rows(1, 2, 3), v2: rows() }).around).toMatchObject({ v2: [], rows: { v2: { from: 0, of: 0 } } })
  })

  it('is both orders from the row where they part', () => {
    expect(exampleOf({ v1: rows(1, 2, 3, 4, 5), v2: rows(1, 3, 4, 2, 5) })).toMatchObject({
      kind: 'order',
      v1: child(2),
      v2: child(3),
      around: {
        at: '/items',
        v1: briefly(1, 2, 3, 4, 5),
        v2: briefly(1, 3, 4, 2, 5),
        rows: { v1: { from: 0, of: 5, at: 1 }, v2: { from: 0, of: 5, at: 3 } },
      },
    })
  })

  it('is a list of texts, and where a text stands on both sides', () => {
    const bundles = (...texts: readonly string[]) => ({ items: [row(1, { bundles: texts })] })
    expect(exampleOf({ v1: bundles('a', 'b', 'c'), v2: bundles('a', 'x', 'c') })).toMatchObject({
      at: '/items/0/bundles/1',
      around: { at: '/items/0/bundles', v1: ['a', 'b', 'c'], v2: ['a', 'x', 'c'], rows: { v1: { at: 1 }, v2: { at: 1 } } },
    })
    expect(exampleOf({ v1: bundles('a', 'b', 'c'), v2: bundles('b', 'a', 'c') }).around?.rows).toMatchObject({
      v1: { at: 0 },
      v2: { at: 1 },
    })
  })

  it('is both answers, if their statuses differ or v2 failed', () => {
    const refused = { code: 3, message: 'wrong', details: [] }
    const given = { v1: { code: 5, message: 'not there', details: [] }, v2: refused }
    expect(exampleOf({ ...given, statuses: [404, 400] }).around).toEqual({ at: '', ...given })
    const failed = recordOf({ v1: rows(1), v2: refused, statuses: [200, 503] })
    expect(failed).toMatchObject({ outcome: 'error', examples: [], answers: { at: '', v1: rows(1), v2: refused } })
  })

  it('is gathered for no match, and bounded for any other answer', () => {
    expect(recordOf({ v1: rows(1), v2: rows(1) })).not.toHaveProperty('request')
    const wide = (text: string) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`member_${nth}`, `${text} ${'x'.repeat(300)}`]))
    const { examples } = recordOf({ v1: { items: [row(1, wide('a'))] }, v2: { items: [row(1, wide('b'))] } })
    const sizes = examples.flatMap(({ around }) => (around ? [JSON.stringify(around).length] : []))
    expect(examples).toHaveLength(20)
    expect(sizes.length).toBeGreaterThan(3)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LARGEST)
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MOST)
  })
})

describe('two long texts', () => {
  const texts = (v1: string, v2: string, values: Values = 'shown') =>
    exampleOf({ v1: { items: [row(1, { readme: v1 })] }, v2: { items: [row(1, { readme: v2 })] }, values })
  const long = 'word '.repeat(200)

  it('are shown where they begin to differ', () => {
    const { v1, v2, differsAt } = texts(`${long}old end`, `${long}new end`)
    expect(differsAt).toBe(1_000)
    expect(v1).toMatch(/^…[word ]{60}old end… \(1007 characters\)$/)
    expect(v2).toMatch(/^…[word ]{60}new end… \(1007 characters\)$/)
  })

  it('are masked with the place of their difference', () => {
    expect(texts(`${long}old`, `${long}new`, 'masked')).toMatchObject({ v1: expect.stringMatching(/^text-1003-/), differsAt: 1_000 })
  })

  it('lose their secrets before they are cut', () => {
    const secret = `ghp_${'a1'.repeat(40)}`
    for (let begin = 100; begin < 140; begin++) {
      const text = `${'y '.repeat(begin)} ${secret} end`
      expect(JSON.stringify(texts(`${text} a`, `${text} b`))).not.toContain('a1a1')
    }
  })

  it('say nothing of their place if they are short, secret or harmless', () => {
    expect(texts('a', 'b')).not.toHaveProperty('differsAt')
    const secret = (text: string) => ({ items: [row(1, { token: text.repeat(50) })] })
    expect(exampleOf({ v1: secret('a'), v2: secret('b') })).toMatchObject({ v1: '[hidden]', v2: '[hidden]' })
    expect(exampleOf({ v1: secret('a'), v2: secret('b') })).not.toHaveProperty('differsAt')
  })
})

describe('the request of a difference', () => {
  const urlOf = (query: string, values: Values) => recordOf({ v1: rows(1), v2: rows(2), values, question: asked(LIST, query) }).request?.url

  it('is the URL as a client sends it, with its texts by the rules of the records', () => {
    const query = `uidp.children_of=${ROOT_UID}/0123456789abcdef&limit=10&order_by=name%20desc&name=my%20repo`
    expect(urlOf(query, 'shown')).toBe(`/registry/v1/repos?${query}`)
    expect(urlOf(query, 'masked')).toMatch(/order_by=name%20desc&name=text-7-[0-9a-f]{8}$/)
  })

  it('holds the variables of its path', () => {
    const question = asked(operationOf('registry.repos.update'), '', { id: child(1) })
    const { url, method } = recordOf({ v1: { id: '1' }, v2: {}, question }).request ?? {}
    expect([method, url]).toEqual(['PUT', `/registry/v1/repos/${child(1)}`])
  })

  it('is bounded, and says that it was cut', () => {
    expect(urlOf(Array.from({ length: 60 }, (_, nth) => `name=${nth}`).join('&'), 'shown')).toMatch(/&name=49…$/)
    expect(urlOf(Array.from({ length: 40 }, () => `name=${'x'.repeat(300)}`).join('&'), 'shown')).toHaveLength(2_001)
  })

  it('hides the values of secret parameters, and of unknown ones unless values are shown', () => {
    const query = 'token=4711&code=4711&secret_of_mine=4712'
    expect(urlOf(query, 'shown')).toBe('/registry/v1/repos?token=[hidden]&code=[hidden]&secret_of_mine=4712')
    expect(urlOf(query, 'masked')).not.toMatch(/471[12]|secret_of_mine/)
  })
})

describe('a secret next to a difference', () => {
  const SECRETS = { token: 'planted-1', client_secret: { deep: 'planted-2' }, note: 'Bearer planted-3' }
  const given = (name: string) => ({
    items: [row(1, { ...SECRETS, custom_overlay: { environment: { 'planted-key': 'x', DB_PASSWORD: 'planted-4' } }, name })],
  })

  it('is hidden, while other texts are shown', () => {
    const { around } = exampleOf({ v1: given('old'), v2: given('new') })
    expect(around?.v1).toMatchObject({ name: 'old', token: '[hidden]', client_secret: '[hidden]', note: '[hidden]' })
    expect(JSON.stringify(around)).not.toMatch(/planted-\d/)
  })

  it('is hidden if it is the difference itself, also below a secret name and in a map', () => {
    const member = (value: object) => ({ items: [row(1, value)] })
    const shown = (v1: object, v2: object) => JSON.stringify(recordOf({ v1: member(v1), v2: member(v2) }))
    expect(shown({ client_secret: { deep: 'planted-1' } }, { client_secret: { deep: 'planted-2' } })).not.toMatch(/planted-\d/)
    expect(shown({ tokens: { credentials: [{ a: 'planted-1' }] } }, { tokens: { credentials: [{ a: 'planted-2' }] } })).not.toMatch(
      /planted-\d/,
    )
    const map = (text: string) => ({ custom_overlay: { environment: { DB_PASSWORD: text } } })
    expect(shown(map('planted-1'), map('planted-2'))).not.toMatch(/planted-\d/)
  })

  it('is masked with its name and the keys of maps by default', () => {
    const { around } = exampleOf({ v1: given('old'), v2: given('new'), values: 'masked' })
    expect(JSON.stringify(around)).not.toMatch(/planted|Bearer|DB_PASSWORD|old|new/)
    expect(around).toMatchObject({ at: '/items/0', path: ['name'], v1: { id: child(1) } })
  })
})
