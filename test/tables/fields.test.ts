import { describe, expect, it, vi } from 'vitest'
import { invalidArgument } from '../../src/errors.ts'
import { enumMap, identical, isInt64, object, objects, prefixed, readOnly, requirement, text } from '../../src/tables/fields.ts'
import { action, list } from '../../src/tables/operations.ts'
import { message, resource } from '../../src/tables/resource.ts'
import { camelCase, fillPath, isBelow, isUid, parentUid, snakeCase, uidInPath } from '../../src/tables/uid.ts'

describe('names', () => {
  it.each([
    ['group_id', 'groupId'],
    ['uidp.children_of', 'uidp.childrenOf'],
    ['sha_256', 'sha256'],
    ['updatesOptIn', 'updatesOptIn'],
    ['name', 'name'],
  ])('publishes %s as %s', (snake, camel) => {
    expect(camelCase(snake)).toBe(camel)
  })

  it('turns a mask path back into the proto names', () => expect(snakeCase('oidc.clientSecret')).toBe('oidc.client_secret'))
})

describe('uid', () => {
  it('takes everything before the last slash as the parent; a root has none', () => {
    expect(parentUid('org/repo/tag')).toBe('org/repo')
    expect(parentUid('org')).toBeUndefined()
  })

  it('means strictly below by whole segments', () => {
    expect(isBelow('org/repo', 'org')).toBe(true)
    expect(isBelow('org', 'org')).toBe(false)
    expect(isBelow('organization/repo', 'org')).toBe(false)
  })

  describe('a uid in a path', () => {
    it('keeps its slashes; everything else is encoded', () => {
      expect(uidInPath('org:1/a:2', 'id')).toBe('org%3A1/a%3A2')
      expect(uidInPath('my org/ü?#%', 'id')).toBe('my%20org/%C3%BC%3F%23%25')
    })

    it('may be longer than any limit of a router', () => {
      const uid = `${'a'.repeat(40)}${'/0123456789abcdef'.repeat(20)}`
      expect(uidInPath(uid, 'id')).toBe(uid)
    })

    it.each(['', '/', '/org', 'org/', 'org//x', '..', 'org/../x', './x', 'org/\u0000', 'org/\r\nx', '\u007f', '\ud800'])(
      'cannot be %j',
      (uid) => {
        expect(() => uidInPath(uid, 'id')).toThrow(
          invalidArgument({ field: 'id', description: `${JSON.stringify(uid)} is not a valid uid` }),
        )
      },
    )
  })

  it.each(['org:sync', 'org/x:purge', ':sync', 'org/x/readme', 'org/x/digests/sha256:1/size'])(
    'refuses as a uid what v2 would read as a method: %s',
    (uid) => {
      expect(isUid(uid)).toBe(false)
      expect(() => uidInPath(uid, 'id')).toThrow(invalidArgument({ field: 'id', description: `${JSON.stringify(uid)} is not a valid uid` }))
    },
  )

  describe('a v2 path', () => {
    it('takes the variables of the v1 route', () => {
      expect(fillPath('/r/{repo_id}/digests/{digest}/size', { repo_id: 'org/repo', digest: 'sha256:ab' })).toBe(
        '/r/org/repo/digests/sha256:ab/size',
      )
      expect(fillPath('/r/{id}:check', { id: 'org' })).toBe('/r/org:check')
      expect(() => fillPath('/r/{id}', { id: 'org:check' }, '/v1/r/{id=**}')).toThrow(/^Invalid argument: id: ".*" is not a valid uid$/)
    })

    it('ends at its collection only if the template says so', () => {
      expect(fillPath('/groups/{parent=**}', { parent: '' })).toBe('/groups')
      expect(fillPath('/groups/{parent=**}', { parent: 'org/x' })).toBe('/groups/org/x')
      expect(() => fillPath('/groups/{id}', { id: '' })).toThrow(/^Invalid argument: id: ".*" is not a valid uid$/)
    })
  })
})

/** The compiler checks these: an expected error that does not occur is an error itself. */
describe('the variables of a v2 path', () => {
  const thing = resource('thing', { v2: '/x/v2/things', plural: 'things', fields: {} })

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

describe('a number of 64 bits', () => {
  it.each([
    ['9223372036854775807', true],
    ['9223372036854775808', false],
    ['-9223372036854775808', true],
    ['-9223372036854775809', false],
  ])('is %s: %s', (digits, is) => expect(isInt64(digits)).toBe(is))

  it('is none of many digits, which are not counted together', () => {
    const sum = vi.spyOn(globalThis, 'BigInt')
    expect(isInt64('9'.repeat(1_000_000))).toBe(false)
    expect(sum).not.toHaveBeenCalled()
    sum.mockRestore()
  })
})

describe('an enum map', () => {
  it('maps both ways, by name and by number', () => {
    const tier = prefixed('Tier', 'TIER_', ['UNKNOWN', 'TIER_UNSPECIFIED'], [['BASE', 5, 2]])
    expect(tier.zero).toEqual(['UNKNOWN', 'TIER_UNSPECIFIED', 0, 0])
    expect(tier.toV1.get(2)).toBe('BASE')
    expect(tier.toV1.get('TIER_BASE')).toBe('BASE')
    expect(tier.toV2.get('BASE')).toBe('TIER_BASE')
    expect(tier.toV2.get(5)).toBe('TIER_BASE')
  })

  it('counts from zero if both sides have the same names', () => {
    expect(identical('Kind', ['KIND_UNSPECIFIED', 'A']).rows).toEqual([
      ['KIND_UNSPECIFIED', 'KIND_UNSPECIFIED', 0, 0],
      ['A', 'A', 1, 1],
    ])
  })

  it.each([
    [
      'v1 name A',
      [
        ['A', 'X', 0],
        ['A', 'Y', 1],
      ],
    ],
    [
      'v2 name X',
      [
        ['A', 'X', 0],
        ['B', 'X', 1],
      ],
    ],
    [
      'number 0',
      [
        ['A', 'X', 0],
        ['B', 'Y', 0],
      ],
    ],
  ] as const)('must be one to one: it refuses %s twice', (what, rows) => {
    expect(() => enumMap('Kind', rows)).toThrow(`enum Kind is not one to one: ${what} stands twice`)
  })

  it('has a zero value', () => expect(() => enumMap('Kind', [])).toThrow('enum Kind has no rows'))

  it('lists its values in an error, unless there are too many', () => {
    expect(requirement(identical('Kind', ['A', 'B']))).toBe('must be one of A, B')
    expect(requirement(identical('capability', [...'abcdefghijklmnopqrstuvwxyz']))).toBe('must be a capability')
  })
})

describe('the members that the specification adds to a resource (design §3)', () => {
  const thing = resource('thing', {
    v2: '/things',
    plural: 'things',
    stamps: ['created_at', 'updated_at', 'group_id'],
    fields: { id: readOnly('uid') },
  })

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

  it('are dropped from a body', () => expect(thing.read({ created_at: 'never', group_id: 7 })).toStrictEqual({}))

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
