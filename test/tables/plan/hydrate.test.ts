import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { resource } from '../../../src/tables/resource.ts'
import { hydrate, lookUp } from '../../../src/tables/whole-list.ts'
import { run } from '../run.ts'

const role = resource('role', { v2: '/iam/v2/roles', plural: 'roles', fields: {} })
const lookUps = ['a', 'b', 'a'].map((uid) => lookUp(role, uid))

describe('look-ups of one list', () => {
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

  it('make no call when there are none', () => {
    expect(run(hydrate([])).calls).toEqual([])
  })
})
