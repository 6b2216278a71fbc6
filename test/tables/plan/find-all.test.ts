import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { readOnly, text } from '../../../src/tables/fields.ts'
import { resource } from '../../../src/tables/resource.ts'
import { findAll, lookUp } from '../../../src/tables/whole-list.ts'
import { run } from '../run.ts'

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

describe('look-ups of a whole collection', () => {
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

  it('make no call when there are none', () => {
    expect(run(findAll([])).calls).toEqual([])
  })
})
