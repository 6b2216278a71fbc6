import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { readOnly, text } from '../../src/tables/fields.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import { beginList, type ListOptions } from '../../src/tables/list.ts'
import type { Env } from '../../src/tables/operation.ts'
import { flagParam, scope } from '../../src/tables/query.ts'
import { resource } from '../../src/tables/resource.ts'
import { isRowText } from '../../src/tables/text/engine.ts'
import { markLong } from '../../src/tables/text/parse-json.ts'
import { ask, type Reply } from '../../src/tables/turn.ts'
import { findAll, hydrate, lookUp, wholeList } from '../../src/tables/whole-list.ts'
import { queryOf, run, runFrom } from './run.ts'

describe('list', () => {
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

    it('sends every text of a repeated filter, also those that spell a flag', () => {
      const { calls } = listed('uidp.ids=true&uidp.ids=false', [{ things: [] }])
      expect(calls[0]?.query.filter(([name]) => name === 'uidp.ids').map(([, value]) => value)).toEqual(['true', 'false'])
    })

    it('is empty without a call if two such filters differ', () => expect(listed('group=org&uidp.children_of=other', []).calls).toEqual([]))

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

    it('filters nothing by an empty id', () => expect(listed('id=', [{ things: [] }]).calls[0]?.path).toBe('/things'))
  })

  describe('a list that v2 answers at once', () => {
    it('is written row by row if it was parsed so, in either order', () => {
      const whole = wholeList('things.list', 'GET /things', {
        calls: [],
        row: thing,
        byId: true,
        *read() {
          return { rows: (yield* ask({ method: 'GET', path: '/things', query: [] }, { isAnswer: () => true })).things }
        },
      })
      const written = (search: string) => {
        const texts: string[] = []
        let turn = whole.begin?.({ params: {}, query: queryOf(search), body: undefined }, env)
        if (turn?.kind === 'ask') turn = turn.next([{ ok: true, body: { things: markLong([{ uid: 'a' }, { uid: 'b' }]) } }])
        for (; turn?.kind === 'rows'; turn = turn.next()) texts.push(isRowText(turn.rows) ? String(turn.rows.bytes) : 'objects')
        return texts
      }
      expect(written('')).toEqual([',{"id":"a","name":""}', ',{"id":"b","name":""}'])
      expect(written('order_by=id desc&limit=1')).toEqual([',{"id":"b","name":""}'])
    })
  })
})

describe('look-ups of a whole collection', () => {
  const named = (name: string, plural: string) =>
    resource(name, { v2: `/iam/v2/${plural}`, plural, fields: { id: readOnly('uid'), name: text('name') } })
  const role = named('role', 'roles')
  const group = named('group', 'groups')
  const roles = ['b', 'a', 'b'].map((uid) => lookUp(role, uid))

  const byIds = {
    method: 'GET',
    path: '/iam/v2/roles',
    query: [
      ['uidp.ids', 'a'],
      ['uidp.ids', 'b'],
      ['page_size', '200'],
    ],
    keep: { key: '/iam/v2/roles a,b', scope: 'request', size: 2 },
  }
  const getOf = (uid: string) => ({
    method: 'GET',
    path: `/iam/v2/roles/${uid}`,
    query: [],
    keep: { key: `/iam/v2/roles/${uid}`, scope: 'request' },
  })

  it('are one call for all uids of it, in order and each once', () => {
    const { calls, result } = run(findAll(roles), [{ roles: [{ uid: 'b' }, { uid: 'a' }] }])
    expect(calls).toEqual([byIds])
    expect(Object.fromEntries(result)).toEqual({ '/iam/v2/roles/a': { uid: 'a' }, '/iam/v2/roles/b': { uid: 'b' } })
  })

  it('are one call for each collection', () => {
    const { calls, result } = run(findAll([...roles, lookUp(group, 'g')]), [{ roles: [] }, { groups: [{ uid: 'g', name: 'G' }] }])
    expect(calls.map(({ path }) => path)).toEqual(['/iam/v2/roles', '/iam/v2/groups'])
    expect([...result]).toEqual([['/iam/v2/groups/g', { uid: 'g', name: 'G' }]])
  })

  it('leave out what the list leaves out, and make no further call for it', () => {
    const { calls, result } = run(findAll(roles), [{ roles: [{ uid: 'a' }], totalCount: '1' }])
    expect(calls).toHaveLength(1)
    expect([...result.keys()]).toEqual(['/iam/v2/roles/a'])
  })

  it('get what is left of a list that does not end, as when v2 knows no such parameter', () => {
    const answers = [{ roles: [{ uid: 'a' }, { uid: 'other' }], nextPageToken: 't' }, { uid: 'b' }]
    const { calls, result } = run(findAll(roles), answers)
    expect(calls).toEqual([byIds, getOf('b')])
    expect([...result.keys()]).toEqual(['/iam/v2/roles/a', '/iam/v2/roles/b'])
  })

  it('get each one if the list is refused', () => {
    for (const refusal of [
      new ApiError('INVALID_ARGUMENT', 'unknown parameter'),
      new ApiError('INVALID_ARGUMENT', 'HTTP 414', { foreign: true }),
      new ApiError('PERMISSION_DENIED', 'hidden'),
      new ApiError('NOT_FOUND', 'gone'),
      new ApiError('UNIMPLEMENTED', 'no list'),
    ]) {
      const { calls, result } = run(findAll(roles), [refusal, { uid: 'a' }, new ApiError('PERMISSION_DENIED', 'hidden')])
      expect(calls).toEqual([byIds, getOf('a'), getOf('b')])
      expect([...result.keys()]).toEqual(['/iam/v2/roles/a'])
    }
  })

  it('fail with any other error, and with an answer that is no page', () => {
    for (const code of ['UNAVAILABLE', 'UNAUTHENTICATED', 'INTERNAL', 'RESOURCE_EXHAUSTED'] as const) {
      expect(() => run(findAll(roles), [new ApiError(code, 'down')])).toThrow('down')
    }
    expect(() => run(findAll(roles), [{}])).toThrow('without what it must hold')
    expect(() => run(findAll(roles), [{ roles: [{ name: 'no uid' }] }])).toThrow('without what it must hold')
  })

  it('need as few calls as queries of 6,000 characters can ask for', () => {
    const uids = Array.from({ length: 200 }, (_, nth) => `${'0'.repeat(40)}/${nth.toString(16).padStart(16, '0')}`)
    const lists = [{ roles: [] }, { roles: [] }, { roles: [] }]
    const { calls } = run(findAll(uids.map((uid) => lookUp(role, uid))), lists)
    const asked = calls.map(({ query }) => query.filter(([name]) => name === 'uidp.ids').map(([, uid]) => uid))
    expect(asked.flat()).toEqual(uids)
    expect(asked.map(({ length }) => length)).toEqual([86, 86, 28])
  })

  it('make no call when there are none', () => expect(run(findAll([])).calls).toEqual([]))
})

describe('look-ups of one list', () => {
  const role = resource('role', { v2: '/iam/v2/roles', plural: 'roles', fields: {} })
  const lookUps = ['a', 'b', 'a'].map((uid) => lookUp(role, uid))

  it('are made once each and share the answer while the request runs', () => {
    const { calls, result } = run(hydrate(lookUps), [{ uid: 'a' }, { uid: 'b' }])
    expect(calls).toEqual([
      { method: 'GET', path: '/iam/v2/roles/a', query: [], keep: { key: '/iam/v2/roles/a', scope: 'request' } },
      { method: 'GET', path: '/iam/v2/roles/b', query: [], keep: { key: '/iam/v2/roles/b', scope: 'request' } },
    ])
    expect([...result]).toEqual([
      ['/iam/v2/roles/a', { uid: 'a' }],
      ['/iam/v2/roles/b', { uid: 'b' }],
    ])
  })

  it('omit missing resources, and hidden ones where rows can say so', () => {
    const hidden = [new ApiError('NOT_FOUND', ''), new ApiError('PERMISSION_DENIED', 'hidden')]
    expect(run(hydrate(lookUps, { mayBeHidden: true }), hidden).result.size).toBe(0)
    expect(() => run(hydrate(lookUps), hidden)).toThrow('hidden')
  })

  it('fail with any other error', () => {
    expect(() => run(hydrate(lookUps), [{ uid: 'a' }, new ApiError('UNAVAILABLE', 'down')])).toThrow('down')
  })

  it('make no call when there are none', () => expect(run(hydrate([])).calls).toEqual([]))
})
