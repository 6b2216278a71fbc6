import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { queryObject } from '../../src/sandbox/control.ts'
import { createRouter, ok, type Route } from '../../src/sandbox/http/route.ts'
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'
import { column, running, START } from './stage.ts'

describe('errors', () => {
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

    const parts = [
      'libraries/v2/artifacts/{uid}/versions',
      'registry/v2/repos/{uid}/readme',
      'registry/v2/repos/{uid}/digests/sha256:0/size',
    ]
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
      expect(reply).toMatchObject({ status: 401, json: { code: 16, message: 'Unauthenticated: missing or invalid token' } })
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
      expect([reply.status, reply.json]).toEqual([400, { code: 3, message: expect.stringMatching(message), details: [] }])
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
      await remove(`/registry/v2/repos/${reply.json.uid}`)
    })

    test('except a form posted to a path that only has GET: it is its query', async () => {
      const query = 'issuer=https%3A%2F%2Faccounts.example.com&subject=alice%40example.com'
      const form = { text: query, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
      const posted = await call('POST', '/iam/v2/identities:lookupIdentity', form)
      expect(posted.json).toEqual((await get(`/iam/v2/identities:lookupIdentity?${query}`)).json)
      expect(posted.json.uid).toMatch(/^[0-9a-f]{40}$/)
    })

    test('and may repeat one parameter 50,000 times', async () => {
      const pairs = Array.from({ length: 50_000 }, (): [string, string] => ['cves', 'a'])
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { json } = await call('POST', '/advisory/v2/documents', { text: `${new URLSearchParams(pairs)}`, headers, token: null })
      expect(json).toEqual({ documents: [] })
      expect(queryObject(pairs)['cves']).toHaveLength(50_000)
    }, 10_000)

    test('and may be missing from a DELETE, even with a uid above 100 characters', async () => {
      const deep = `${sandbox().organization}${'/0123456789abcdef'.repeat(8)}`
      const reply = await call('DELETE', `/registry/v2/repos/${deep}`, { headers: { 'content-type': 'application/json' } })
      expect(reply.json.message).toBe(`Not found: Repo "${deep}"`)
    })
  })
})

describe('router', () => {
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
})

describe('data', async () => {
  const ORG = 'a'.repeat(40)
  const OTHER_ORG = 'b'.repeat(40)
  const REPO = `${ORG}/${'1'.repeat(16)}`
  const TAG = `${REPO}/${'2'.repeat(16)}`
  const DIGEST = `sha256:${'ab'.repeat(32)}`

  const FILE = {
    groups: [
      { uid: ORG, name: 'first.org', description: 'line\nbreak', kind: 'ORG_KIND_DEV', createTime: '2025-01-01T01:00:00+01:00' },
      { uid: OTHER_ORG, name: 'acme.dev' },
    ],
    repos: [{ uid: REPO, name: 'api', sync_config: { source: 'elsewhere' } }],
    readmes: [{ uid: REPO, content: '# api' }],
    tags: [{ uid: TAG, name: 'latest', digest: DIGEST }],
  }

  const folder = await mkdtemp(join(tmpdir(), 'sandbox-data-'))
  afterAll(() => rm(folder, { recursive: true }))

  const written = async (name: string, text: string): Promise<{ file: string }> => {
    const file = join(folder, name)
    await writeFile(file, text)
    return { file }
  }

  describe('demo', () => {
    const { sandbox, get } = running()

    test('is the same in every sandbox', async () => {
      const twin = await startSandbox({ port: 0, now: START, seed: 2 })
      const headers = { authorization: 'Bearer demo-owner' }
      const theirs = await (await fetch(`${twin.url}/registry/v2/repos?page_size=200`, { headers })).json()
      await twin.close()
      expect((await get('/registry/v2/repos?page_size=200')).json).toEqual(theirs)
    })

    test('has twelve repos with readmes, syncs, overlays and about five thousand tags', async () => {
      const { repos } = (await get('/registry/v2/repos?order_by=name')).json
      expect(column(repos, 'name').join(' ')).toBe('apko busybox go jdk nginx node php postgres python redis ruby static')
      expect(repos.filter((repo: object) => 'sync_config' in repo)).toHaveLength(3)
      expect(repos.filter((repo: object) => 'customOverlay' in repo)).toHaveLength(2)
      const all = 'include_referrers=1&include_dates=1&include_epochs=1&page_size=1'
      expect(Number((await get(`/registry/v2/tags?${all}`)).json.totalCount)).toBeGreaterThan(5_000)
      expect(sandbox().tokens).toEqual({
        owner: 'demo-owner',
        editor: 'demo-editor',
        viewer: 'demo-viewer',
        outsider: 'demo-outsider',
        admin: 'demo-admin',
      })
    })

    test('shows the admin every organization, the outsider its own, by each of their tokens', async () => {
      const names = async (token: string) =>
        column((await get('/iam/v2/groups?uidp.in_root=true&order_by=name', token)).json.groups, 'name')
      expect(await names('demo-admin')).toEqual(['acme.dev', 'chainguard', 'example.com'])
      expect(await names('demo-outsider')).toEqual(['acme.dev'])
      expect(await names('demo-outsider-7')).toEqual(['acme.dev'])
      expect((await get('/iam/v2/groups', 'demo-7')).status).toBe(401)
    })
  })

  describe('empty', () => {
    const { sandbox, get } = running({ data: 'empty' })

    test('has one organization, its users and the built-in roles', async () => {
      expect(column((await get('/iam/v2/groups')).json.groups, 'uid')).toEqual([sandbox().organization])
      expect((await get('/registry/v2/repos')).json.totalCount).toBe('0')
      expect((await get('/iam/v2/roles?name=viewer')).json.roles[0].uid).toBe('63921b2c44617e3f2603851537be0123af4a57d7')
    })
  })

  describe('large', () => {
    const { get } = running({ data: 'large' })

    test('has one repo with 10,000 tags, none hidden', async () => {
      const { uid } = (await get('/registry/v2/repos?name=large')).json.repos[0]
      expect((await get(`/registry/v2/tags?uidp.children_of=${uid}&page_size=1`)).json.totalCount).toBe('10000')
    })
  })

  describe('a file', () => {
    const open = async (content: unknown): Promise<SandboxOptions> => ({
      port: 0,
      now: START,
      data: await written('data.json', JSON.stringify(content)),
    })
    const { sandbox, get } = running({ data: FILE })

    test('holds its resources with their uids; missing members are zero', async () => {
      expect(sandbox().organization).toBe(ORG)
      expect((await get(`/iam/v2/groups/${ORG}`)).json).toMatchObject({
        uid: ORG,
        name: 'first.org',
        description: 'line\nbreak',
        kind: 'ORG_KIND_DEV',
        createTime: '2025-01-01T00:00:00.000Z',
        updateTime: '2026-03-01T12:00:00.000Z',
      })
      expect((await get(`/registry/v2/repos/${REPO}/readme`)).json).toEqual({ uid: REPO, content: '# api' })
      expect((await get(`/registry/v2/tags/${TAG}`)).json).toMatchObject({ name: 'latest', deprecated: false })
      expect((await get(`/registry/v2/repos/${REPO}/digests/${DIGEST}/architectures`)).json.architectures).toEqual(['amd64', 'arm64'])
    })

    test('binds the demo tokens at its organizations', async () => {
      expect((await get(`/iam/v2/groups/${OTHER_ORG}`)).status).toBe(403)
      expect((await get(`/iam/v2/groups/${OTHER_ORG}`, 'demo-outsider')).status).toBe(200)
      expect((await get(`/iam/v2/groups/${OTHER_ORG}`, 'demo-admin')).status).toBe(200)
    })

    test('is read from disk', async () => {
      const opened = await startSandbox(await open(FILE))
      expect(opened.organization).toBe(ORG)
      await opened.close()
    })

    test.each([
      ['an unknown collection', { ...FILE, clusters: [] }, /^data: top level: .*clusters.*collections are groups, /],
      ['a collection that is no array', { groups: {} }, /^data: groups: /],
      ['a uid that is none', { groups: [{ uid: 'x', name: 'x' }] }, /^data: groups\[0\]\.uid: must be 40 hex digits/],
      ['a member that is none', { groups: [{ uid: ORG, colour: 'red' }] }, /^data: groups\[0\]: has no member "colour"$/],
      [
        'a value of another type',
        { groups: [{ uid: ORG, name: 5 }] },
        /^data: groups\[0\]: proto: invalid value for string field name: 5$/,
      ],
      ['a uid twice', { groups: [{ uid: ORG }, { uid: ORG }] }, /^data: groups\[1\]\.uid: a{40} is there twice$/],
      [
        'a missing parent',
        { groups: [{ uid: ORG }], tags: [{ uid: TAG }] },
        /^data: tags\[0\]\.uid: the file has no repos entry for its parent /,
      ],
      ['no organization', { groups: [] }, /^data: groups: the file has no organization/],
    ])('stops the start because of %s', async (_what, content, sentence) => {
      await expect(startSandbox(await open(content))).rejects.toThrow(sentence)
    })

    test('stops the start if it is missing or not JSON', async () => {
      await expect(startSandbox({ port: 0, data: await written('broken.json', '{') })).rejects.toThrow(
        /^data: .*broken\.json is not JSON: /,
      )
      await expect(startSandbox({ port: 0, data: { file: join(folder, 'absent.json') } })).rejects.toThrow(/no such file/)
    })
  })
})
