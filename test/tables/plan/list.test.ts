import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { readOnly, text } from '../../../src/tables/fields.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { beginList, type ListOptions } from '../../../src/tables/list.ts'
import type { Env } from '../../../src/tables/operation.ts'
import { flagParam, scope } from '../../../src/tables/query.ts'
import { resource } from '../../../src/tables/resource.ts'
import type { Reply } from '../../../src/tables/turn.ts'
import { queryOf } from '../query-of.ts'
import { runFrom } from '../run.ts'

const env: Env = { dialect: 'specification', maskCase: 'snake', replaceMask: '*', notFound: 'empty', readmes: true }
const thing = resource('thing', { v2: '/things', plural: 'things', fields: { id: readOnly('uid'), name: text('name') } })
const options: ListOptions = { query: { ...scope, name: 'name', group: 'uidp.children_of' }, byId: 'id' }
const listed = (search: string, answers: readonly (JsonObject | ApiError)[], more: ListOptions = {}) =>
  runFrom<Reply>(() => beginList(thing, { ...options, ...more }, { params: {}, query: queryOf(search), body: undefined }, env), answers)

describe('a list', () => {
  it('answers an envelope around the rows it sent on', () => {
    const { rows, result } = listed('', [{ things: [{ uid: 'a', name: 'x' }] }])
    expect(rows).toEqual([{ id: 'a', name: 'x' }])
    expect(result).toEqual({ status: 200, body: {}, rows: true })
  })

  it('sends equal values of two filters for one v2 parameter once', () => {
    const { calls } = listed('group=org&uidp.children_of=org', [{ things: [] }])
    expect(calls[0]?.query).toEqual([
      ['uidp.children_of', 'org'],
      ['page_size', '200'],
    ])
  })

  it('sends every value of a repeated filter, and a shared flag once', () => {
    const given = new Map([...queryOf('uidp.in_root=false&root=true'), ['uidp.ids', [...Array(100_000).fill('false'), 'x']]])
    const table = { query: { ...scope, root: flagParam('uidp.in_root') } }
    const { calls } = runFrom(() => beginList(thing, table, { params: {}, query: given, body: undefined }, env), [{ things: [] }])
    const query = calls[0]?.query ?? []
    expect(query.filter(([name]) => name === 'uidp.in_root')).toEqual([['uidp.in_root', 'true']])
    expect(query.filter(([name]) => name === 'uidp.ids')).toHaveLength(100_001)
  })

  it('is empty without a call if two such filters differ', () => {
    expect(listed('group=org&uidp.children_of=other', []).calls).toEqual([])
  })

  it('asks for its order, and keeps it on every page', () => {
    const { calls } = listed('order_by=name', [{ things: [{ uid: 'b' }], nextPageToken: 't' }, { things: [{ uid: 'a' }] }])
    expect(calls.map(({ query }) => Object.fromEntries(query).order_by)).toEqual(['name', 'name'])
  })

  it('is completed page by page', () => {
    const { rows } = listed('', [{ things: [{ uid: 'a' }], nextPageToken: 't' }, { things: [{ uid: 'b' }] }], {
      *enrich(page, _, origin) {
        return page.map((row) => ({ ...row, name: `${origin} of ${page.length}` }))
      },
    })
    expect(rows.map(({ name }) => name)).toEqual(['list of 1', 'list of 1'])
  })
})

describe('a list by id (facts §11)', () => {
  it('is a Get', () => {
    const { calls, rows } = listed('id=org/a', [{ uid: 'org/a', name: 'x' }])
    expect(calls).toMatchObject([{ method: 'GET', path: '/things/org/a', query: [] }])
    expect(rows).toEqual([{ id: 'org/a', name: 'x' }])
  })

  it.each(['NOT_FOUND', 'PERMISSION_DENIED', 'INVALID_ARGUMENT'] as const)('is empty if the Get ends in %s', (code) => {
    expect(listed('id=org/a', [new ApiError(code, '')]).rows).toEqual([])
  })

  it.each(['UNAUTHENTICATED', 'UNAVAILABLE', 'INTERNAL', 'DEADLINE_EXCEEDED'] as const)('is an error if the Get ends in %s', (code) => {
    expect(() => listed('id=org/a', [new ApiError(code, 'x')])).toThrow(new ApiError(code, 'x'))
  })

  it('may lie outside the window', () => {
    expect(listed('id=org/a&offset=1', [{ uid: 'org/a' }]).rows).toEqual([])
    expect(listed('id=org/a&page=1&page_size=5', [{ uid: 'org/a' }]).rows).toHaveLength(1)
  })

  it('filters nothing by an empty id', () => {
    expect(listed('id=', [{ things: [] }]).calls[0]?.path).toBe('/things')
  })
})
