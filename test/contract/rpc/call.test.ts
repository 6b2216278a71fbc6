import { describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { callOf, decodeMessage, encodeMessage, errorOf, okOf } from './call.ts'
import { methods, readMessage } from './protojson.ts'

const called = (method: string, path: string, text?: string) => {
  const { method: to, message } = callOf({ method, path, ...(text !== undefined && { text }) })
  return [to.path.replace('/chainguard.platform.', ''), message]
}

describe('a REST request as a call', () => {
  it.each([
    ['GET', '/iam/v1/groups?uidp.childrenOf=a%2Fb&name=x+y', undefined, ['iam.Groups/List', { uidp: { children_of: 'a/b' }, name: 'x y' }]],
    [
      'GET',
      '/iam/v1/groups?uidp.ids=a&uidp.ids=b&uidp.in_root=1',
      undefined,
      ['iam.Groups/List', { uidp: { ids: ['a', 'b'], in_root: true } }],
    ],
    ['PUT', '/iam/v1/groups/a/b%2Fc', '{"name":"n","id":"z"}', ['iam.Groups/Update', { name: 'n', id: 'a/b/c' }]],
    [
      'POST',
      '/registry/v1/repos/a',
      '{"catalogTier":"FIPS"}',
      ['registry.Registry/CreateRepo', { parent_id: 'a', repo: { catalog_tier: 6 } }],
    ],
    ['POST', '/iam/v1/account_associations/a:check', '{}', ['iam.GroupAccountAssociations/Check', { group: 'a' }]],
    ['DELETE', '/iam/v1/groups/a', undefined, ['iam.Groups/Delete', { id: 'a' }]],
  ])('is that of its http rule: %s %s', (method, path, text, expected) => {
    expect(called(method, path, text)).toEqual(expected)
  })

  it.each([
    ['GET', '/iam/v1/groups?colour=red', undefined, 'unknown'],
    ['GET', '/iam/v1/groups?name=a&name=b', undefined, 'twice'],
    ['GET', '/iam/v1/groups?uidp.children_of=a&uidp.childrenOf=b', undefined, 'twice'],
    ['GET', '/iam/v1/groups?uidp.in_root=perhaps', undefined, 'type'],
    ['GET', '/iam/v1/groups?name=%zz', undefined, 'spelling'],
    ['GET', '/iam/v1//groups', undefined, 'spelling'],
    ['PATCH', '/iam/v1/groups', undefined, 'route'],
    ['POST', '/iam/v1/groups/a', '{"name":', 'raw'],
    ['POST', '/iam/v1/groups/a', '[]', 'type'],
    ['POST', '/iam/v1/groups/a', '{"name":7}', 'type'],
    ['POST', '/iam/v1/groups/a', '{"colour":7}', 'unknown'],
    ['PATCH', '/iam/v1/identities/metadata', '{"updatesOptIn":false}', 'zero'],
    ['POST', '/iam/v1/identities/a', '{"static":{},"claim_match":{}}', 'oneof'],
    ['POST', '/registry/v1/repos/a', '{"catalog_tier":"BASE","catalogTier":"BASE"}', 'twice'],
  ])('has none if no message says it: %s %s %s', (method, path, text, because) => {
    expect(() => called(method, path, text)).toThrow(expect.objectContaining({ because }))
  })

  it('is found for every operation of a described service, by its own route', () => {
    const plain = (template: string) => template.replaceAll(/\{[^}]+\}/g, 'x')
    const domains = new Set(methods.map(({ template }) => template.split('/')[1]))
    const operations = mappings.flatMap((mapping) => mapping.operations).filter(({ template }) => domains.has(template.split('/')[1]))
    const found = operations.map(({ method, template }) => callOf({ method, path: plain(template) }).method)
    expect(found.map(({ verb, template }) => [verb, plain(template)])).toEqual(
      operations.map(({ method, template }) => [method, plain(template)]),
    )
    expect(found.length).toBeGreaterThan(100)
  })
})

describe('a message', () => {
  const REPO = 'chainguard.platform.registry.Repo'
  const GROUPS = 'chainguard.platform.iam.GroupList'

  it('keeps what it says through protobufjs', () => {
    const json = {
      createTime: '2026-01-02T03:04:05.006Z',
      catalogTier: 'FIPS',
      customOverlay: { environment: { snake_key: '1' }, accounts: { users: [{ uid: 1000 }] } },
      activeTags: ['a', ''],
    }
    const message = decodeMessage(REPO, encodeMessage(REPO, readMessage(REPO, json)))
    expect(okOf(REPO, message).body).toMatchObject({ ...json, customOverlay: { environment: { snake_key: '1' } } })
  })

  it('keeps the keys of a map of numbers', () => {
    const type = 'chainguard.platform.iam.AccountAssociations.GitHub'
    const json = { appInstallations: { '9007199254740993': { installations: [{ installationId: '9007199254740993', name: 'x' }] } } }
    expect(okOf(type, decodeMessage(type, encodeMessage(type, readMessage(type, json)))).body).toMatchObject(json)
  })

  it('shows unset members as v1 does', () => {
    expect(okOf(REPO, {}).body).toEqual({
      id: '',
      name: '',
      catalogTier: 'UNKNOWN',
      bundles: [],
      readme: '',
      sync_config: null,
      customOverlay: null,
      aliases: [],
      createTime: null,
      activeTags: [],
      description: '',
    })
    expect(okOf(GROUPS, {}).body).toEqual({ items: [] })
  })

  it('becomes an error with readable details', () => {
    const type = 'google.rpc.ErrorInfo'
    const value = encodeMessage(type, { reason: 'R', domain: 'd' })
    expect(errorOf(5, 'none', [{ type, value }])).toEqual({
      status: 404,
      type: 'application/json',
      body: { code: 5, message: 'none', details: [{ '@type': `type.googleapis.com/${type}`, reason: 'R', domain: 'd', metadata: {} }] },
    })
  })
})
