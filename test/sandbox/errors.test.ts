import { describe, expect, test } from 'vitest'
import { running } from './running.ts'

const { sandbox, call, get, post, remove } = running()
const other = running({ serviceDomain: 'example.test' })

const missing = () => `${sandbox().organization}/0123456789abcdef`
const GOOGLE = 'type.googleapis.com/google.rpc.'

describe('typed details (specification §7)', () => {
  test('rule 1: a create with an empty body names the failing field and its pattern', async () => {
    const reply = await post(`/iam/v2/identities/${sandbox().organization}`, {})
    expect(reply.status).toBe(400)
    expect(reply.json).toEqual({
      code: 3,
      message: 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"',
      details: [
        { '@type': `${GOOGLE}ErrorInfo`, reason: 'INVALID_ARGUMENT', domain: 'iam.chainguard.dev' },
        { '@type': `${GOOGLE}BadRequest`, fieldViolations: [{ field: 'name', description: 'name must match "^[a-z0-9 ._-]{1,}$"' }] },
      ],
    })
  })

  test('rule 2: deleting a group with children is a failed precondition, HTTP 400', async () => {
    const reply = await remove(`/iam/v2/groups/${sandbox().organization}`)
    expect(reply.status).toBe(400)
    expect(reply.json.code).toBe(9)
    expect(reply.json.message).toMatch(/^Precondition failed: /)
    expect(reply.json.details[0]).toEqual({ '@type': `${GOOGLE}ErrorInfo`, reason: 'FAILED_PRECONDITION', domain: 'iam.chainguard.dev' })
    expect(reply.json.details[1]['@type']).toBe(`${GOOGLE}PreconditionFailure`)
    expect(reply.json.details[1].violations[0]).toMatchObject({ type: 'RESOURCE_NOT_EMPTY', description: expect.any(String) })
  })

  test('rule 3: a missing resource is 404 with its type and the requested name', async () => {
    const reply = await get(`/registry/v2/repos/${missing()}`)
    expect(reply.status).toBe(404)
    expect(reply.json).toEqual({
      code: 5,
      message: `Not found: Repo "${missing()}"`,
      details: [
        { '@type': `${GOOGLE}ErrorInfo`, reason: 'NOT_FOUND', domain: 'registry.chainguard.dev' },
        { '@type': `${GOOGLE}ResourceInfo`, resourceType: 'registry.chainguard.dev/Repo', resourceName: missing() },
      ],
    })
  })

  const parts = ['libraries/v2/artifacts/{uid}/versions', 'registry/v2/repos/{uid}/readme', 'registry/v2/repos/{uid}/digests/sha256:0/size']
  const gets = ['groups', 'identities', 'roles', 'roleBindings', 'identityProviders', 'accountAssociations', 'groupInvites']
  const collections = [
    ...[...gets, 'externalGroupRoleMappings'].map((name) => `iam/v2/${name}`),
    'registry/v2/repos',
    'registry/v2/tags',
    'events/v2/subscriptions',
    'vulnerabilities/v2/advisories',
  ]

  test.each([...parts, ...collections.map((path) => `${path}/{uid}`)])('rule 3: a missing resource is named: %s', async (path) => {
    const target = `/${path.replace('{uid}', path.startsWith('libraries') ? 'none' : missing())}`
    const named = { code: 5, details: [{ '@type': `${GOOGLE}ErrorInfo` }, { '@type': `${GOOGLE}ResourceInfo` }] }
    const replies = [await get(target), ...(/readme|size|versions|advisories/.test(path) ? [] : [await remove(target)])]
    // A repeated delete may succeed (facts §14).
    for (const reply of replies.filter(({ status }) => status !== 200)) expect(reply).toMatchObject({ status: 404, json: named })
    expect(replies[0]?.status).toBe(404)
  })

  test('rule 4: a successful delete has an empty body and no content type', async () => {
    const repo = (await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'short-lived' })).json
    const reply = await remove(`/registry/v2/repos/${repo.uid}`)
    expect([reply.status, reply.text, reply.headers.get('content-type')]).toEqual([200, '', null])
  })

  test('uses the configured suffix of the domain', async () => {
    const reply = await other.get(`/registry/v2/repos/${other.sandbox().organization}/0123456789abcdef`)
    expect(reply.json.details.map((detail: object) => Object.values(detail)[2] ?? Object.values(detail)[1])).toEqual([
      'registry.example.test',
      `${other.sandbox().organization}/0123456789abcdef`,
    ])
  })

  test('answers a malformed uid with INVALID_ARGUMENT on uid', async () => {
    const reply = await get('/registry/v2/repos/not-a-uid')
    expect(reply.json).toMatchObject({ code: 3, message: 'Invalid argument: uid: "not-a-uid" is not a valid uid' })
  })

  test('refuses a delete without a uid and treats such a Get as the list', async () => {
    expect((await remove('/registry/v2/repos/')).json.details[1].fieldViolations[0].field).toBe('uid')
    expect((await get('/registry/v2/repos/')).json.totalCount).toBe('12')
  })
})

describe('authentication (specification §5)', () => {
  test.each([null, 'nonsense', 'a.b.c'])('refuses token %s with UNAUTHENTICATED', async (token) => {
    const reply = await call('GET', '/registry/v2/repos', { token })
    expect(reply.status).toBe(401)
    expect(reply.json).toMatchObject({ code: 16, message: 'Unauthenticated: missing or invalid token' })
    expect(reply.headers.get('www-authenticate')).toBe('Unauthenticated: missing or invalid token')
  })

  test('lets ping pass without a token', async () => {
    const reply = await call('GET', '/ping/v2/ping', { token: null })
    expect([reply.status, reply.json]).toEqual([200, { response: 'pong' }])
  })

  test('lets a viewer read but not write', async () => {
    expect((await get('/registry/v2/repos', 'demo-viewer')).status).toBe(200)
    const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'x' }, 'demo-viewer')
    expect([reply.status, reply.json.code]).toEqual([403, 7])
  })

  test('hides without the capability whether a uid exists (semantics §3.17)', async () => {
    const { uid } = (await get('/registry/v2/repos?name=python')).json.repos[0]
    const [existing, absent] = [
      await get(`/registry/v2/repos/${uid}`, 'demo-outsider'),
      await get(`/registry/v2/repos/${missing()}`, 'demo-outsider'),
    ]
    expect([existing.status, existing.text]).toEqual([403, absent.text])
  })
})

describe('the gateway refuses before the service (semantics §4.1)', () => {
  test('an unknown path', async () => {
    const reply = await get('/registry/v2/nothing')
    expect([reply.status, reply.json]).toEqual([404, { code: 5, message: 'Not Found', details: [] }])
  })

  test.each(['PUT', 'OPTIONS'])('a known path with %s', async (method) => {
    const reply = await call(method, '/registry/v2/repos')
    expect([reply.status, reply.json]).toEqual([501, { code: 12, message: 'Method Not Allowed', details: [] }])
  })

  test.each([
    ['{"name":', /^proto: syntax error/],
    ['[]', /^proto: syntax error/],
    ['{"name": 5}', /^proto: invalid value for string field name: 5$/],
    ['{"name": "x", "catalogTier": "CATALOG_TIER_GOLD"}', /^proto: invalid value for enum field catalogTier: "CATALOG_TIER_GOLD"$/],
    ['{"name": "x", "bundles": "base"}', /^proto: invalid value for string field bundles: "base"$/],
  ])('the body %s', async (text, message) => {
    const reply = await call('POST', `/registry/v2/repos/${sandbox().organization}`, { text })
    expect(reply.status).toBe(400)
    expect(reply.json).toEqual({ code: 3, message: expect.stringMatching(message), details: [] })
  })

  test('a path that cannot be decoded', async () => {
    const reply = await get('/registry/v2/repos/%zz')
    expect([reply.status, reply.json.code]).toEqual([400, 3])
  })
})

describe('bodies are JSON with any label (facts §12)', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'application/merge-patch+json'])('%s', async (label) => {
    const name = `labelled ${label.replaceAll(/[^a-z]/g, '.')}`
    const reply = await call('POST', `/registry/v2/repos/${sandbox().organization}`, {
      text: JSON.stringify({ name }),
      headers: { 'content-type': label },
    })
    expect(reply.json.name).toBe(name)
  })

  test('except a form posted to a path that only has GET: it is its query', async () => {
    const query = 'issuer=https%3A%2F%2Faccounts.example.com&subject=alice%40example.com'
    const form = { text: query, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    const posted = await call('POST', '/iam/v2/identities:lookupIdentity', form)
    expect(posted.json).toEqual((await get(`/iam/v2/identities:lookupIdentity?${query}`)).json)
    expect(posted.json.uid).toMatch(/^[0-9a-f]{40}$/)
  })

  test('and may be missing from a DELETE, even with a uid above 100 characters', async () => {
    const deep = `${sandbox().organization}${'/0123456789abcdef'.repeat(8)}`
    const reply = await call('DELETE', `/registry/v2/repos/${deep}`, { headers: { 'content-type': 'application/json' } })
    expect(reply.json.message).toBe(`Not found: Repo "${deep}"`)
  })
})
