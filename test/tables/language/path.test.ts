import { describe, expect, it } from 'vitest'
import { action, list } from '../../../src/tables/operations.ts'
import { resource } from '../../../src/tables/resource.ts'

const thing = resource('thing', { v2: '/x/v2/things', plural: 'things', fields: {} })

/** The compiler checks these: an expected error that does not occur is an error itself. */
describe('the variables of a v2 path', () => {
  it('are those of its route', () => {
    const { calls } = action('x.things.get', 'GET /x/v1/things/{id=**}/parts/{part}', { v2: 'GET /x/v2/things/{id}/parts/{part}' })
    expect(calls).toEqual(['GET /x/v2/things/{id}/parts/{part}'])
    list('x.things.list', 'GET /x/v1/{group=**}/things', thing, { v2: '/x/v2/{group}/things' })
    const path: string = '/x/v2/things/{anything}'
    action('x.things.get', 'GET /x/v1/things/{id}', { v2: path })
  })

  it('fail to compile when the route lacks them', () => {
    // @ts-expect-error {uid} is not a variable of GET /x/v1/things/{id=**}
    action('x.things.get', 'GET /x/v1/things/{id=**}', { v2: 'GET /x/v2/things/{uid}' })
    // @ts-expect-error {part} is not a variable of GET /x/v1/things/{id}
    action('x.things.get', 'GET /x/v1/things/{id}', { v2: `GET ${thing.v2}/{id}/parts/{part}` })
    // @ts-expect-error {parent} is not a variable of GET /x/v1/{group=**}/things
    list('x.things.list', 'GET /x/v1/{group=**}/things', thing, { v2: '/x/v2/{parent}/things' })
  })
})
