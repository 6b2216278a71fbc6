import { describe, expect, it } from 'vitest'
import { invalidArgument } from '../../../src/errors.ts'
import { fillPath, isBelow, isUid, parentUid, uidInPath } from '../../../src/tables/uid.ts'

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
      expect(() => uidInPath(uid, 'id')).toThrow(invalidArgument({ field: 'id', description: `${JSON.stringify(uid)} is not a valid uid` }))
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
    expect(() => fillPath('/r/{id}', { id: 'org:check' })).toThrow(/^Invalid argument: id: ".*" is not a valid uid$/)
  })

  it('ends at its collection only if the template says so', () => {
    expect(fillPath('/groups/{parent=**}', { parent: '' })).toBe('/groups')
    expect(fillPath('/groups/{parent=**}', { parent: 'org/x' })).toBe('/groups/org/x')
    expect(() => fillPath('/groups/{id}', { id: '' })).toThrow(/^Invalid argument: id: ".*" is not a valid uid$/)
  })
})
