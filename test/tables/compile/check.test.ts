import { describe, expect, it } from 'vitest'
import { checkMappings } from '../../../src/tables/check.ts'
import { type Fields, firstOf, flag, nested, object, readOnly, text } from '../../../src/tables/fields.ts'
import type { Operation } from '../../../src/tables/operation.ts'
import { action, create, list, v1Only } from '../../../src/tables/operations.ts'
import type { Params } from '../../../src/tables/query.ts'
import { message, resource } from '../../../src/tables/resource.ts'

const thing = resource('thing', { v2: '/iam/v2/things', plural: 'things', fields: { id: readOnly('uid'), name: text('name') } })
const reading = list('iam.things.list', 'GET /iam/v1/things', thing, { byId: 'id' })
const parentRoute = 'POST /iam/v1/things/{parent_id=**}'
const check = (...operations: Operation[]) => checkMappings([{ domain: 'iam', operations }])
const route = 'POST /iam/v1/things'
const readBack = { unverifiable: 'nothing shows it' }
const withBody = (fields: Fields) =>
  action('iam.things.create', route, { v2: 'POST /iam/v2/things', request: message('thing', fields), readBack })
const withQuery = (params: Params) => action('iam.things.create', route, { v2: 'POST /iam/v2/things', params, readBack })

describe('the check of tables', () => {
  it.each<[string, Operation[], string]>([
    [
      'a member spelled like another',
      [withBody({ group_id: text('a'), groupId: text('b') })],
      'thing: "groupId" names two members, group_id and groupId',
    ],
    ['two members with one target', [withBody({ a: text('x'), b: text('x') })], 'thing: a and b are both written to the v2 member x'],
    ['the same, deeper', [withBody({ o: object('o', { a: text('x'), b: text('x') }) })], 'thing.o: a and b are both written'],
    [
      'a written member without one target',
      [withBody({ a: text(firstOf('x', 'y')) })],
      'thing.a is written to v2 but names no single v2 member',
    ],
    [
      'a parameter spelled like another',
      [withQuery({ page_size: 'a', pageSize: 'b' })],
      'the query of iam.things.create: "pageSize" names two',
    ],
    [
      'an id twice',
      [v1Only('iam.x.y', 'GET /iam/v1/x', 'why'), v1Only('iam.x.y', 'GET /iam/v1/z', 'why')],
      'operation id iam.x.y stands twice',
    ],
    ['an id of another domain', [v1Only('registry.x.y', 'GET /iam/v1/x', 'why')], 'its id must begin with "iam."'],
    ['no reason', [v1Only('iam.x.y', 'GET /iam/v1/x', '')], 'operation iam.x.y is v1-only but has no reason'],
    ['no plan', [{ ...v1Only('iam.x.y', 'GET /iam/v1/x', 'why'), kind: 'direct' }], 'operation iam.x.y is direct but has no plan'],
    [
      'a write that cannot be read back',
      [{ ...withBody({ a: text('x') }), readBack: undefined as never }],
      'iam.things.create writes, but says neither how its effect is read nor why it cannot be',
    ],
    [
      'a resource that no operation reads',
      [create('iam.things.create', parentRoute, thing)],
      'writes a thing, and no operation reads a single one',
    ],
    [
      'a member that is shown nowhere',
      [reading, create('iam.things.create', parentRoute, thing, { shownAs: { name: 'label' } })],
      'name is shown as label, which a thing does not have',
    ],
    [
      'a member that is shown in another form',
      [reading, create('iam.things.create', parentRoute, thing, { answer: message('made', { name: flag('name') }) })],
      'a thing shows name in another form',
    ],
  ])('refuses %s', (_, operations, sentence) => {
    expect(() => check(...operations)).toThrow(sentence)
  })

  it('lets shown members share a source, and nested v1 members be flat', () => {
    expect(() => check(withBody({ a: text('x'), b: readOnly('x'), inner: nested({ c: text('y') }), deep: text('p.q') }))).not.toThrow()
  })

  it('refuses a route that is no route', () => {
    expect(() => v1Only('iam.x.y', '/iam/v1/x', 'why')).toThrow('must read "METHOD /path"')
  })
})
