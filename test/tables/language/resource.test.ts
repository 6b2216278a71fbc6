import { describe, expect, it } from 'vitest'
import { object, objects, readOnly, text } from '../../../src/tables/fields.ts'
import { message, resource } from '../../../src/tables/resource.ts'

const thing = resource('thing', {
  v2: '/things',
  plural: 'things',
  stamps: ['created_at', 'updated_at', 'group_id'],
  fields: { id: readOnly('uid') },
})

describe('the members that the specification adds to a resource (design §3)', () => {
  it('are its times, null when v2 knows none, and the parent, absent at the root', () => {
    const show = thing.show.specification
    expect(show({ uid: 'org/x', createTime: '2025-01-02T03:04:05.678Z' })).toStrictEqual({
      id: 'org/x',
      created_at: '2025-01-02T03:04:05.678Z',
      updated_at: null,
      group_id: 'org',
    })
    expect(show({ uid: 'org' })).toStrictEqual({ id: 'org', created_at: null, updated_at: null })
  })

  it('are not in the published contract', () => {
    expect(thing.show.published({ uid: 'org/x', createTime: '2025-01-02T03:04:05.678Z' })).toStrictEqual({ id: 'org/x' })
  })

  it('are dropped from a body', () => {
    expect(thing.read({ created_at: 'never', group_id: 7 })).toStrictEqual({})
  })

  it('go with the resource into an answer that holds it whole, not its fields', () => {
    const answer = message('answer', { things: objects('things', thing.shown), part: object('part', thing.fields) })
    expect(answer.show.specification({ things: [{ uid: 'a' }], part: { uid: 'b' } })).toStrictEqual({
      things: [{ id: 'a', created_at: null, updated_at: null }],
      part: { id: 'b' },
    })
    expect(answer.show.published({ things: [{ uid: 'a' }] })).toStrictEqual({ things: [{ id: 'a' }], part: null })
  })

  it('do not replace a member of the same name', () => {
    const own = message('own', { group_id: text('owner') }, ['group_id'])
    expect(own.show.published({ uid: 'org/x', owner: 'me' })).toStrictEqual({ groupId: 'me' })
  })
})
