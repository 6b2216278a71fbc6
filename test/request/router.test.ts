import { describe, expect, it } from 'vitest'
import { createRouter } from '../../src/serve/route.ts'
import { v1Only } from '../../src/tables/operations.ts'

const operation = (route: string) => v1Only(`test.${route}`, route, 'a test')
const routerOf = (...routes: string[]) => createRouter(routes.map(operation))

const ROUTES = [
  'GET /iam/v1/groups',
  'POST /iam/v1/groups/{parent=**}',
  'PUT /iam/v1/groups/{id=**}',
  'DELETE /iam/v1/groups/{id=**}',
  'GET /iam/v1/groups:lookupGroup',
  'POST /iam/v1/groups/{group_id=**}:requestGroupAccess',
  'POST /iam/v1/rolebindings/{parent=**}',
  'POST /iam/v1/rolebindings/batch/{parent=**}',
  'GET /registry/v1/repos',
  'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/size',
  'GET /registry/v1/repos/{repo_id=**}/deployment',
  'GET /registry/v1/vuln_reports/{id=**}',
  'GET /registry/v1/vuln_reports/raw',
]
const router = routerOf(...ROUTES)

function routeOf(method: string, path: string) {
  const match = router.match(method, path)
  return typeof match === 'object' ? [match.operation.id.slice('test.'.length), match.params] : match
}

describe('a path', () => {
  it.each<[string, string, string, Record<string, string>]>([
    ['GET', '/iam/v1/groups', 'GET /iam/v1/groups', {}],
    ['GET', '/iam/v1/groups/', 'GET /iam/v1/groups', {}],
    ['PUT', '/iam/v1/groups/org/eng', 'PUT /iam/v1/groups/{id=**}', { id: 'org/eng' }],
    [
      'GET',
      '/registry/v1/repos/a/b/digests/sha256:ab/size',
      'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/size',
      { repo_id: 'a/b', digest: 'sha256:ab' },
    ],
    ['GET', '/registry/v1/repos/a/deployment', 'GET /registry/v1/repos/{repo_id=**}/deployment', { repo_id: 'a' }],
  ])('%s %s leads to %s: variables span slashes', (method, path, route, params) => {
    expect(routeOf(method, path)).toEqual([route, params])
  })

  it.each([
    ['POST', '/iam/v1/groups', 'POST /iam/v1/groups/{parent=**}', { parent: '' }],
    ['POST', '/iam/v1/groups/', 'POST /iam/v1/groups/{parent=**}', { parent: '' }],
    ['DELETE', '/iam/v1/groups', 'DELETE /iam/v1/groups/{id=**}', { id: '' }],
  ])('%s %s: ** may match nothing (facts §12.4)', (method, path, route, params) => {
    expect(routeOf(method, path)).toEqual([route, params])
  })

  it('may hold a uid longer than any limit', () => {
    const id = `${'a'.repeat(40)}${'/0123456789abcdef'.repeat(20)}`
    expect(routeOf('PUT', `/iam/v1/groups/${id}`)).toEqual(['PUT /iam/v1/groups/{id=**}', { id }])
  })

  it.each([
    ['POST', '/iam/v1/rolebindings/batch/org', 'POST /iam/v1/rolebindings/batch/{parent=**}'],
    ['POST', '/iam/v1/rolebindings/org/batch', 'POST /iam/v1/rolebindings/{parent=**}'],
    ['GET', '/registry/v1/vuln_reports/raw', 'GET /registry/v1/vuln_reports/raw'],
    ['GET', '/registry/v1/vuln_reports/raw/x', 'GET /registry/v1/vuln_reports/{id=**}'],
  ])('%s %s leads to the most literal route, %s', (method, path, route) => {
    expect(routeOf(method, path)?.[0]).toBe(route)
  })

  it.each([
    ['GET', '/iam/v1/groups:lookupGroup', 'GET /iam/v1/groups:lookupGroup', {}],
    ['POST', '/iam/v1/groups/org/eng:requestGroupAccess', 'POST /iam/v1/groups/{group_id=**}:requestGroupAccess', { group_id: 'org/eng' }],
    ['PUT', '/iam/v1/groups/org:other', 'PUT /iam/v1/groups/{id=**}', { id: 'org:other' }],
    ['PUT', '/iam/v1/groups/org:requestGroupAccess', 'PUT /iam/v1/groups/{id=**}', { id: 'org:requestGroupAccess' }],
    ['POST', '/iam/v1/rolebindings/org:lookupGroup', 'POST /iam/v1/rolebindings/{parent=**}', { parent: 'org:lookupGroup' }],
  ])('%s %s: a verb counts only where it is known (facts §12.2)', (method, path, route, params) => {
    expect(routeOf(method, path)).toEqual([route, params])
  })

  it('with another method differs from an unknown path', () => {
    expect(router.match('PATCH', '/iam/v1/groups/org')).toBe('other-method')
    expect(router.match('DELETE', '/iam/v1/groups:lookupGroup')).toBe('other-method')
    expect(router.match('GET', '/iam/v1/nothing')).toBeUndefined()
    expect(router.match('GET', '/iam/v1')).toBeUndefined()
    expect(router.match('GET', '/')).toBeUndefined()
    expect(router.match('GET', '/registry/v1/repos/a/digests//size')).toBeUndefined()
  })
})

describe('a route that cannot work stops the process', () => {
  it('if it exists twice', () => {
    expect(() => createRouter([operation('GET /iam/v1/groups'), v1Only('test.again', 'GET /iam/v1/groups', 'a test')])).toThrow(
      /^operation test\.again can never be reached: GET \/iam\/v1\/groups — test\.GET \/iam\/v1\/groups answers it/,
    )
  })

  it('if another has the same shape with other names', () => {
    expect(() => routerOf('PUT /iam/v1/groups/{id=**}', 'PUT /iam/v1/groups/{uid=**}')).toThrow('can never be reached')
  })
})
