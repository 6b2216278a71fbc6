import { beforeEach, describe, expect, it } from 'vitest'
import { builtInRoles } from '../../src/sandbox/auth/rights.ts'
import { type Body, freshBench, told } from './stage.ts'

describe('roles', () => {
  const bench = freshBench()
  const path = `/iam/v2/roles/${bench.org}`

  const create = (capabilities = ['CAP_REPO_LIST'], name = 'reader') => bench.done(`POST ${path}`, { name, capabilities })

  describe('roles (specification §2, semantics §3.5)', () => {
    it('shows built-in roles to callers who may list roles anywhere', async () => {
      expect(await bench.done('GET /iam/v2/roles?name=viewer', undefined, 'demo-viewer')).toMatchObject({
        roles: [{ uid: '63921b2c44617e3f2603851537be0123af4a57d7', name: 'viewer', description: 'Viewer Role (built-in)' }],
        totalCount: '1',
        skipped: 0,
      })
      expect(await bench.done('GET /iam/v2/roles?uidp.in_root=true', undefined, 'demo-viewer')).toMatchObject({
        totalCount: `${builtInRoles.length}`,
      })
      expect(await bench.done('GET /iam/v2/roles', undefined, 'demo-outsider')).toMatchObject({ roles: [], totalCount: '0' })
      expect(await bench.done(`GET /iam/v2/roles/${bench.role('owner')}`, undefined, 'demo-viewer')).toMatchObject({ name: 'owner' })
      expect(await bench.status(`GET /iam/v2/roles/${bench.role('owner')}`, undefined, 'demo-outsider')).toBe(403)
    })

    it('hides custom roles from strangers as if they were missing', async () => {
      const { uid } = await create()
      expect(await bench.done(`GET /iam/v2/roles/${uid}`, undefined, 'demo-viewer')).toMatchObject({ capabilities: ['CAP_REPO_LIST'] })
      expect(await bench.status(`GET /iam/v2/roles/${uid}`, undefined, 'demo-outsider')).toBe(404)
    })

    it('requires at least one capability and rejects unknown ones', async () => {
      const refused = (capabilities: string[]) => bench.told(`POST ${path}`, { name: 'x', capabilities })
      expect(await refused([])).toMatchObject({ code: 3, fields: ['capabilities'] })
      expect(await refused(['CAP_NONSENSE'])).toMatchObject({ code: 3, fields: ['capabilities'] })
    })

    it('keeps internal capabilities for staff', async () => {
      const internal = ['CAP_REPO_INTERNAL_ADMIN']
      expect(await bench.told(`POST ${path}`, { name: 'x', capabilities: internal })).toMatchObject({ code: 3 })
      expect(await bench.told(`POST ${path}`, { name: 'x', capabilities: [...internal, 'CAP_INTERNAL'] })).toMatchObject({ code: 7 })
      const staff = await bench.done(`POST ${path}`, { name: 'x', capabilities: [...internal, 'CAP_INTERNAL'] }, 'demo-admin')
      expect(staff.capabilities).toHaveLength(2)
      const { uid } = await create()
      expect(await bench.told(`PATCH /iam/v2/roles/${uid}`, { capabilities: internal })).toMatchObject({ code: 3 })
    })

    it('rejects changes and deletes of built-in roles, even by staff', async () => {
      const at = `/iam/v2/roles/${bench.role('viewer')}`
      for (const token of ['demo-owner', 'demo-admin']) {
        expect(await bench.status(`PATCH ${at}`, { description: 'x' }, token)).toBe(403)
        expect(await bench.status(`DELETE ${at}`, undefined, token)).toBe(403)
      }
    })

    it('rejects the delete of a bound role', async () => {
      const { uid } = await create()
      const binding = await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, {
        identityUid: bench.user('bob@example.com'),
        roleUid: uid,
      })
      expect(await bench.told(`DELETE /iam/v2/roles/${uid}`)).toMatchObject({
        code: 9,
        message: 'Precondition failed: cannot delete role with role bindings',
      })
      await bench.done(`DELETE /iam/v2/roleBindings/${binding.uid}`)
      expect(await bench.call(`DELETE /iam/v2/roles/${uid}`)).toEqual({ status: 200, body: undefined })
    })

    it('applies a changed role at once', async () => {
      const { uid } = await create(['CAP_TAG_LIST'])
      const identityUid = bench.user('eve@acme.dev')
      await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, { identityUid, roleUid: uid })
      expect(await bench.status(`GET /iam/v2/groups/${bench.org}`, undefined, 'demo-outsider')).toBe(403)
      await bench.done(`PATCH /iam/v2/roles/${uid}?updateMask=*`, { name: 'r', capabilities: ['CAP_IAM_GROUPS_LIST'] })
      expect(await bench.status(`GET /iam/v2/groups/${bench.org}`, undefined, 'demo-outsider')).toBe(200)
    })
  })

  describe('role bindings (specification §2, semantics §3.6)', () => {
    const bind = (name = 'bob@example.com', role = 'registry.pull', group = bench.org) =>
      bench.call(`POST /iam/v2/roleBindings/${group}`, { identityUid: bench.user(name), roleUid: bench.role(role) })

    it('answers the hydrated binding, without an update time', async () => {
      const { body } = await bind()
      expect(body).toEqual({
        uid: expect.stringMatching(new RegExp(`^${bench.org}/[0-9a-f]{16}$`)),
        identity: { uid: bench.user('bob@example.com'), name: 'bob@example.com', email: 'bob@example.com' },
        group: { uid: bench.org, name: 'example.com' },
        role: { uid: bench.role('registry.pull'), name: 'registry.pull', description: 'Registry Pull Role (built-in)' },
        createTime: '2026-03-01T12:00:00.000Z',
      })
    })

    it('shows issuer and subject of a claim match', async () => {
      const claimMatch = { issuer: 'https://i.example', subject: 's' }
      const ci = await bench.done(`POST /iam/v2/identities/${bench.org}`, { name: 'ci', claimMatch })
      const bound = await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, { identityUid: ci.uid, roleUid: bench.role('viewer') })
      expect(bound.identity).toEqual({ uid: ci.uid, name: 'ci', ...claimMatch })
    })

    it('rejects a missing identity and a role from elsewhere', async () => {
      const other = await bench.done('POST /iam/v2/groups', { name: 'other' }, 'demo-outsider')
      const role = await bench.done(`POST /iam/v2/roles/${other.uid}`, { name: 'x', capabilities: ['CAP_REPO_LIST'] }, 'demo-outsider')
      const reply = await bench.call(`POST /iam/v2/roleBindings/${bench.org}`, { identityUid: 'no', roleUid: role.uid })
      expect(told(reply)).toMatchObject({ code: 3, fields: ['identity_uid', 'role_uid'] })
      expect(await bench.told(`POST /iam/v2/roleBindings/${bench.org}`, {})).toMatchObject({ fields: ['identity_uid', 'role_uid'] })
    })

    it('accepts a custom role of a group above', async () => {
      const { uid: roleUidAbove } = await create()
      const { uid: below } = await bench.done(`POST /iam/v2/groups/${bench.org}`, { name: 'below' })
      const body = { identityUid: bench.user('eve@acme.dev'), roleUid: roleUidAbove }
      expect(await bench.status(`POST /iam/v2/roleBindings/${below}`, body)).toBe(200)
    })

    it('exists once for a group, identity and role', async () => {
      await bind()
      expect(told(await bind())).toMatchObject({ status: 409, code: 6, reason: 'ALREADY_EXISTS' })
    })

    it('moves to another role; a second delete succeeds', async () => {
      const { body } = await bind()
      const at = `/iam/v2/roleBindings/${body.uid}`
      expect(await bench.done(`PATCH ${at}`, { roleUid: bench.role('apk.pull') })).toMatchObject({
        role: { name: 'apk.pull' },
        identity: { name: 'bob@example.com' },
      })
      for (const _time of ['first', 'second']) expect(await bench.call(`DELETE ${at}`)).toEqual({ status: 200, body: undefined })
      expect(await bench.status(`DELETE ${at}`, undefined, 'demo-viewer')).toBe(403)
    })

    it('filters by identity, group and role', async () => {
      const list = async (query: string) =>
        (await bench.done(`GET /iam/v2/roleBindings?${query}`, undefined, 'demo-viewer')).roleBindings
          .map((row: Body) => row.identity.name)
          .sort()
      expect(await list(`group=${bench.org}`)).toEqual(['alice@example.com', 'bob@example.com', 'carol@example.com'])
      expect(await list(`role=${bench.role('owner')}`)).toEqual(['alice@example.com'])
      expect(await list(`identity=${bench.user('bob@example.com')}`)).toEqual(['bob@example.com'])
    })
  })

  describe('roleBindings:batchCreate', () => {
    const at = '/iam/v2/roleBindings:batchCreate'
    const request = (name: string, role?: string) => ({
      roleBinding: { identityUid: bench.user(name), ...(role && { roleUid: bench.role(role) }) },
    })

    it('answers in the order of the request, with a shared role', async () => {
      const requests = [request('eve@acme.dev'), request('bob@example.com', 'apk.pull')]
      const { roleBindings } = await bench.done(`POST ${at}`, { parent: bench.org, requests, roleUid: bench.role('apk.pull') })
      expect(roleBindings.map((row: Body) => row.identity.name)).toEqual(['eve@acme.dev', 'bob@example.com'])
    })

    it('creates all or none', async () => {
      const before = bench.world.store.roleBindings.size()
      const requests = [request('eve@acme.dev', 'viewer'), request('carol@example.com', 'viewer')]
      expect(await bench.status(`POST ${at}`, { parent: bench.org, requests })).toBe(409)
      expect(bench.world.store.roleBindings.size()).toBe(before)
    })

    it('refuses too many, none and contradictions', async () => {
      const refused = (body: object) => bench.told(`POST ${at}`, { parent: bench.org, ...body })
      expect(await refused({ requests: [] })).toMatchObject({ fields: ['requests'] })
      expect(await refused({ requests: Array.from({ length: 26 }, () => request('eve@acme.dev', 'viewer')) })).toMatchObject({
        fields: ['requests'],
      })
      expect(
        await refused({ requests: [{ ...request('eve@acme.dev', 'viewer'), parent: 'other' }], roleUid: bench.role('editor') }),
      ).toMatchObject({ fields: ['requests[0].parent', 'requests[0].role_binding.role_uid'] })
      expect(await refused({ parent: '', requests: [] })).toMatchObject({ fields: ['parent'] })
    })

    it('requires role_bindings.create', async () => {
      const body = { parent: bench.org, requests: [request('eve@acme.dev', 'viewer')] }
      expect(await bench.status(`POST ${at}`, body, 'demo-editor')).toBe(403)
    })
  })
})

describe('scim', () => {
  const bench = freshBench()
  let provider: string
  beforeEach(async () => {
    const oidc = { issuer: 'https://idp.example', clientId: 'id', pkceEnabled: true }
    const made = { name: 'okta', defaultRole: bench.role('viewer'), oidc }
    provider = (await bench.done(`POST /iam/v2/identityProviders/${bench.org}`, made)).uid
  })

  const act = (verb: string, body: object = {}, token = 'demo-owner') =>
    bench.call(`POST /iam/v2/identityProviders/${provider}:${verb}`, body, token)
  const state = async () => (await bench.done(`GET /iam/v2/identityProviders/${provider}`)).scim

  describe('SCIM tokens (semantics §3.3)', () => {
    it('are shown once, last a year and start disabled', async () => {
      const { body } = await act('generateScimToken')
      expect(body).toEqual({
        token: expect.stringMatching(/^cgscim_[0-9a-f]{64}$/),
        endpointUrl: expect.stringContaining(provider),
        expireTime: '2027-03-01T12:00:00.000Z',
        identityProviderUid: provider,
        etag: expect.any(String),
      })
      expect(await state()).toEqual({
        enabled: false,
        endpointUrl: body.endpointUrl,
        tokenExpireTime: body.expireTime,
        credentialState: 'CREDENTIAL_STATE_LIVE',
        etag: body.etag,
      })
      expect(told(await act('generateScimToken'))).toMatchObject({ status: 400, code: 9 })
    })

    it.each([
      ['a past end', { expireTime: '2026-01-01T00:00:00Z' }],
      ['more than two years', { expireTime: '2028-03-02T00:00:00Z' }],
      ['an end that never comes', { expireTime: '2026-09-01T00:00:00Z', neverExpires: true }],
    ])('refuse %s', async (_what, body) => {
      expect(told(await act('generateScimToken', body))).toMatchObject({ code: 3, fields: ['expire_time'] })
    })

    it('can be unlimited', async () => {
      expect((await act('generateScimToken', { neverExpires: true })).body).not.toHaveProperty('expireTime')
    })

    it('expire by the clock', async () => {
      await act('generateScimToken', { expireTime: '2026-03-02T00:00:00Z' })
      bench.clock.advance(24 * 60 * 60 * 1000)
      expect((await state()).credentialState).toBe('CREDENTIAL_STATE_EXPIRED')
    })

    it('overlap after a rotation by one hour, a day at most', async () => {
      expect(await act('regenerateScimToken', { etag: 'x' })).toMatchObject({ status: 404 })
      const first = (await act('generateScimToken')).body
      const second = (await act('regenerateScimToken', { etag: first.etag })).body
      expect(second.token).not.toBe(first.token)
      expect(second.previousTokenExpireTime).toBe('2026-03-01T13:00:00.000Z')
      expect((await state()).credentialState).toBe('CREDENTIAL_STATE_ROTATING')
      bench.clock.advance(60 * 60 * 1000)
      expect((await state()).credentialState).toBe('CREDENTIAL_STATE_LIVE')
      const third = (await act('regenerateScimToken', { etag: second.etag, overlap: '172800s' })).body
      expect(third).toMatchObject({ requestedOverlap: '172800s', previousTokenExpireTime: '2026-03-02T13:00:00.000Z' })
    })

    it('require the current etag', async () => {
      const { etag } = (await act('generateScimToken')).body
      expect(told(await act('regenerateScimToken', {}))).toMatchObject({ code: 3, fields: ['etag'] })
      expect(told(await act('regenerateScimToken', { etag: `${etag}0` }))).toMatchObject({ status: 409, code: 10 })
      expect(told(await act('setScimEnabled', { enabled: false, etag: 'old' }))).toMatchObject({ code: 10 })
    })

    it('are revoked without a change of the switch', async () => {
      expect(await act('revokeScimToken')).toMatchObject({ status: 404 })
      await act('generateScimToken')
      expect((await act('revokeScimToken')).body).toEqual({
        identityProviderUid: provider,
        etag: expect.any(String),
        enabled: false,
        revokeTime: '2026-03-01T12:00:00.000Z',
      })
      expect(await state()).toMatchObject({ credentialState: 'CREDENTIAL_STATE_REVOKED' })
      expect(await act('generateScimToken')).toMatchObject({ status: 200 })
    })

    it('are enabled only with two owners', async () => {
      const { etag } = (await act('generateScimToken')).body
      expect(told(await act('setScimEnabled', { enabled: true, etag }))).toMatchObject({ code: 9 })
      const bound = { identityUid: bench.user('bob@example.com'), roleUid: bench.role('owner') }
      await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, bound)
      expect((await act('setScimEnabled', { enabled: true, etag })).body).toEqual({
        identityProviderUid: provider,
        enabled: true,
        etag: expect.any(String),
      })
      expect(await state()).toMatchObject({ enabled: true })
    })

    it('require identity_providers.scim.manage', async () => {
      expect(await act('generateScimToken', {}, 'demo-editor')).toMatchObject({ status: 403 })
    })
  })
})
