import { describe, expect, test } from 'vitest'
import { createRouter, ok, type Route } from '../../src/sandbox/http/route.ts'

const route = (line: string): Route => {
  const [method, template = ''] = line.split(' ') as [Route['method'], string]
  return { method, template, auth: 'none', handle: () => ok({}) }
}

/** In an order that would be wrong if the first match won. */
const router = createRouter(
  [
    'POST /repos/{parent=**}',
    'GET /repos/{uid=**}',
    'GET /repos',
    'GET /repos/{uid=**}/readme',
    'GET /repos/{repo=**}/digests/{digest}/size',
    'GET /groups/{uid=**}',
    'GET /groups:lookup',
    'POST /groups/{uid=**}:request',
    'POST /groups/{parent=**}',
    'GET /artifacts/{artifact}/versions',
    'GET /artifacts/count',
  ].map(route),
)

describe('the most literal template wins', () => {
  test.each([
    ['GET /repos', 'GET /repos', {}],
    ['GET /repos/', 'GET /repos', {}],
    ['GET /repos/a/b/c', 'GET /repos/{uid=**}', { uid: 'a/b/c' }],
    ['GET /repos/a/b/readme', 'GET /repos/{uid=**}/readme', { uid: 'a/b' }],
    ['GET /repos/readme', 'GET /repos/{uid=**}/readme', { uid: '' }],
    ['GET /repos/a/b/digests/sha256:ab/size', 'GET /repos/{repo=**}/digests/{digest}/size', { repo: 'a/b', digest: 'sha256:ab' }],
    ['POST /repos', 'POST /repos/{parent=**}', { parent: '' }],
    ['GET /groups:lookup', 'GET /groups:lookup', {}],
    ['POST /groups/a/b:request', 'POST /groups/{uid=**}:request', { uid: 'a/b' }],
    ['POST /groups/a/b:other', 'POST /groups/{parent=**}', { parent: 'a/b:other' }],
    ['GET /artifacts/count', 'GET /artifacts/count', {}],
  ])('for %s: %s', (request, expected, params) => {
    const [method = '', path = ''] = request.split(' ')
    const match = router.match(method, path)
    expect(`${match.route.method} ${match.route.template}`).toBe(expected)
    expect(match.params).toEqual(params)
  })
})

test('takes a single segment as neither empty nor several', () => {
  expect(router.find('GET', '/artifacts//versions')).toBeUndefined()
  expect(router.find('GET', '/artifacts/a/b/versions')).toBeUndefined()
})

test('fails like the gateway on an unknown path and on a wrong method', () => {
  expect(() => router.match('GET', '/nothing')).toThrow('Not Found')
  expect(() => router.match('DELETE', '/repos/a')).toThrow('Method Not Allowed')
})
