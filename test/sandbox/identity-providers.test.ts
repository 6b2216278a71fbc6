import { describe, expect, it } from 'vitest'
import { BASE_URL, type Body, freshBench, told } from './stage.ts'

describe('identity providers', () => {
  const bench = freshBench()
  const path = `/iam/v2/identityProviders/${bench.org}`

  const oidc = { issuer: 'https://idp.example', clientId: 'id', clientSecret: 'secret' }
  const body = () => ({ name: 'okta', defaultRole: bench.role('viewer'), oidc })
  const create = () => bench.done(`POST ${path}`, body())
  const secretOf = (uid: string) => bench.world.store.identityProviders.get(uid)?.oidc?.clientSecret

  describe('identity providers (semantics §3.3)', () => {
    it('never shows the client secret', async () => {
      const made = await create()
      expect(made).toEqual({
        uid: expect.stringMatching(new RegExp(`^${bench.org}/[0-9a-f]{16}$`)),
        name: 'okta',
        createTime: '2026-03-01T12:00:00.000Z',
        updateTime: '2026-03-01T12:00:00.000Z',
        defaultRole: bench.role('viewer'),
        oidc: { issuer: 'https://idp.example', clientId: 'id', pkceEnabled: false },
        scim: { enabled: false, endpointUrl: `${BASE_URL}/scim/v2/${made.uid}`, credentialState: 'CREDENTIAL_STATE_NOT_ISSUED' },
      })
      expect(secretOf(made.uid)).toBe('secret')
    })

    it('requires an organization as parent, a role and a credential', async () => {
      const { uid: folder } = await bench.done(`POST /iam/v2/groups/${bench.org}`, { name: 'folder' })
      const below = await bench.call(`POST /iam/v2/identityProviders/${folder}`, body())
      expect(told(below)).toMatchObject({
        code: 3,
        fields: ['parent'],
        message: 'Invalid argument: parent: parent id must be an organization (root group)',
      })
      const bare = await bench.call(`POST ${path}`, { name: 'x', defaultRole: 'no', oidc: { issuer: 'i', clientId: 'c' } })
      expect(told(bare)).toMatchObject({ fields: ['default_role', 'oidc.client_secret'] })
      expect(await bench.told(`POST ${path}`, {})).toMatchObject({ fields: ['name', 'default_role'] })
    })

    it('requires role_bindings.create as well', async () => {
      const role = await bench.done(`POST /iam/v2/roles/${bench.org}`, {
        name: 'idp admin',
        capabilities: ['CAP_IAM_IDENTITY_PROVIDERS_CREATE'],
      })
      const identityUid = bench.user('eve@acme.dev')
      await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, { identityUid, roleUid: role.uid })
      expect(await bench.status(`POST ${path}`, body(), 'demo-outsider')).toBe(403)
    })

    it.each([
      ['', { description: 'new' }],
      ['', { oidc: { clientId: 'new' } }],
      ['?updateMask=oidc', { oidc: { issuer: 'https://idp.example', clientId: 'new' } }],
      ['?updateMask=oidc.issuer,oidc.client_id', { oidc: { issuer: 'https://idp.example', clientId: 'new' } }],
    ])('keeps a secret that the request does not name (%s %j)', async (query, change) => {
      const { uid } = await create()
      await bench.done(`PATCH /iam/v2/identityProviders/${uid}${query}`, change)
      expect(secretOf(uid)).toBe('secret')
    })

    it.each([
      ['', { oidc: { clientSecret: '', pkceEnabled: true } }],
      ['?updateMask=oidc.client_secret,oidc.pkce_enabled', { oidc: { pkceEnabled: true } }],
    ])('clears a secret that the request names (%s)', async (query, change) => {
      const { uid } = await create()
      await bench.done(`PATCH /iam/v2/identityProviders/${uid}${query}`, change)
      expect(secretOf(uid)).toBe('')
    })

    it('clears it with the wildcard, but not the only credential', async () => {
      const { uid } = await create()
      const at = `/iam/v2/identityProviders/${uid}`
      const bare = { ...body(), oidc: { issuer: 'https://idp.example', clientId: 'id' } }
      expect(await bench.told(`PATCH ${at}?updateMask=*`, bare)).toMatchObject({ fields: ['oidc.client_secret'] })
      await bench.done(`PATCH ${at}?updateMask=*`, { ...bare, oidc: { ...bare.oidc, pkceEnabled: true } })
      expect(secretOf(uid)).toBe('')
    })

    it('accepts only its current correlation rule', async () => {
      const { uid } = await create()
      const change = (rule: string) =>
        bench.call(`PATCH /iam/v2/identityProviders/${uid}`, { oidc: { correlationRule: `CORRELATION_RULE_${rule}` } })
      expect(await change('SUB_EQUALS_EXTERNAL_ID')).toMatchObject({ status: 200 })
      expect(told(await change('OID_EQUALS_EXTERNAL_ID'))).toMatchObject({ fields: ['oidc.correlation_rule'] })
    })

    it('shows SCIM in Get, but not in List', async () => {
      const { uid } = await create()
      expect((await bench.done(`GET /iam/v2/identityProviders/${uid}`, undefined, 'demo-viewer')).scim).toBeDefined()
      expect(
        (await bench.done('GET /iam/v2/identityProviders?name=okta', undefined, 'demo-viewer')).identityProviders[0].scim,
      ).toBeUndefined()
    })

    it('ignores an echoed scim object', async () => {
      const { uid } = await create()
      const after = await bench.done(`PATCH /iam/v2/identityProviders/${uid}`, { scim: { enabled: true }, description: 'd' })
      expect(after).toMatchObject({ description: 'd', scim: { enabled: false } })
    })
  })

  describe('group role mappings (semantics §3.4)', () => {
    const map = async (token = 'demo-owner', overrides: object = {}) => {
      const { uid } = await create()
      const mapping = { externalGroupId: 'devs', roleUid: bench.role('viewer'), scope: bench.org, ...overrides }
      return bench.call(`POST /iam/v2/externalGroupRoleMappings/${uid}`, mapping, token)
    }

    it('are created below their provider, each once', async () => {
      const { body: made } = await map()
      const provider = made.identityProviderUid
      expect(made).toEqual({
        uid: expect.stringMatching(new RegExp(`^${provider}/[0-9a-f]{16}$`)),
        identityProviderUid: provider,
        externalGroupId: 'devs',
        roleUid: bench.role('viewer'),
        scope: bench.org,
        createTime: '2026-03-01T12:00:00.000Z',
      })
      const { uid: _uid, ...again } = made
      expect(await bench.status(`POST /iam/v2/externalGroupRoleMappings/${provider}`, again)).toBe(409)
      expect(await bench.told(`DELETE /iam/v2/identityProviders/${provider}`)).toMatchObject({ code: 9 })
      const listed = await bench.done(`GET /iam/v2/externalGroupRoleMappings?identity_provider_uid=${provider}`, undefined, 'demo-viewer')
      expect(listed).toMatchObject({ totalCount: '1' })
    })

    it('require the organization as scope and a known role', async () => {
      expect(told(await map('demo-owner', { scope: 'x', roleUid: 'y' }))).toMatchObject({ fields: ['role_uid', 'scope'] })
      expect(told(await map('demo-owner', { scope: '', roleUid: '', externalGroupId: '' }))).toMatchObject({
        fields: ['external_group_id', 'role_uid', 'scope'],
      })
    })

    it('grant no more than the caller has', async () => {
      const staffRole = await bench.done(`POST /iam/v2/roles/${bench.org}`, { name: 's', capabilities: ['CAP_INTERNAL'] }, 'demo-admin')
      expect(await map('demo-owner', { roleUid: staffRole.uid })).toMatchObject({ status: 403 })
    })

    it('are deleted in batches that skip missing ones', async () => {
      const { body: made } = await map()
      const parent = made.identityProviderUid
      const at = '/iam/v2/externalGroupRoleMappings:batchDelete'
      const removed = await bench.done(`POST ${at}`, { parent, names: [`${parent}/${'0'.repeat(16)}`, made.uid, made.uid] })
      expect(removed).toMatchObject({ parent, externalGroupRoleMappings: [{ uid: made.uid }] })
      expect(removed.externalGroupRoleMappings).toHaveLength(1)
      expect(await bench.told(`POST ${at}`, { parent, names: [bench.org] })).toMatchObject({ fields: ['names[0]'] })
      expect(await bench.told(`POST ${at}`, { parent })).toMatchObject({ fields: ['names'] })
      expect(await bench.status(`POST ${at}`, { parent, names: [made.uid] }, 'demo-viewer')).toBe(403)
    })
  })
})

describe('invites associations terms', () => {
  const bench = freshBench()

  describe('group invites (semantics §3.7)', () => {
    const invite = (body: object = {}) =>
      bench.call(`POST /iam/v2/groupInvites/${bench.org}`, { roleUid: bench.role('viewer'), ttl: '604800s', ...body })

    it('show their code once', async () => {
      const { body } = await invite({ email: 'dave@example.com', singleUse: true })
      expect(body).toMatchObject({
        roleUid: bench.role('viewer'),
        role: { name: 'viewer', capabilities: expect.arrayContaining(['CAP_REPO_LIST']) },
        email: 'dave@example.com',
        expirationTime: '2026-03-08T12:00:00.000Z',
        singleUse: true,
        code: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
        keyId: expect.stringMatching(/^[0-9a-f]{40}$/),
      })
      expect(body).not.toHaveProperty('ttl')
      expect(body).not.toHaveProperty('updateTime')
      expect(await bench.done(`GET /iam/v2/groupInvites/${body.uid}`, undefined, 'demo-viewer')).not.toHaveProperty('code')
      expect((await bench.done(`GET /iam/v2/groupInvites?key_id=${body.keyId}`, undefined, 'demo-viewer')).groupInvites).toHaveLength(1)
    })

    it('require a role and a time to live', async () => {
      expect(told(await invite({ ttl: undefined, roleUid: undefined }))).toMatchObject({ fields: ['role_uid', 'ttl'] })
      expect(told(await invite({ ttl: '0s' }))).toMatchObject({ fields: ['ttl'] })
      expect(told(await invite({ roleUid: bench.org }))).toMatchObject({ fields: ['role_uid'] })
    })

    it('are listed newest first', async () => {
      await invite({ email: 'first' })
      bench.clock.advance(1000)
      await invite({ email: 'second' })
      const { groupInvites } = await bench.done('GET /iam/v2/groupInvites', undefined, 'demo-viewer')
      expect(groupInvites.map(({ email }: Body) => email)).toEqual(['second', 'first'])
    })

    it('outlive a deleted role, and cannot be changed', async () => {
      const role = await bench.done(`POST /iam/v2/roles/${bench.org}`, { name: 'r', capabilities: ['CAP_REPO_LIST'] })
      const { body } = await invite({ roleUid: role.uid })
      await bench.done(`DELETE /iam/v2/roles/${role.uid}`)
      expect(await bench.done(`GET /iam/v2/groupInvites/${body.uid}`, undefined, 'demo-viewer')).not.toHaveProperty('role')
      expect(await bench.status(`PATCH /iam/v2/groupInvites/${body.uid}`, {})).toBe(501)
      expect(await bench.call(`DELETE /iam/v2/groupInvites/${body.uid}`)).toEqual({ status: 200, body: undefined })
    })
  })

  describe('account associations (semantics §3.8)', () => {
    const at = () => `/iam/v2/accountAssociations/${bench.org}`
    const amazon = { account: '123456789012' }

    it('have the uid of their group, one for each', async () => {
      expect(await bench.done(`POST ${at()}`, { name: 'clouds', amazon })).toEqual({
        uid: bench.org,
        name: 'clouds',
        amazon,
        createTime: '2026-03-01T12:00:00.000Z',
        updateTime: '2026-03-01T12:00:00.000Z',
      })
      expect(await bench.status(`POST ${at()}`, { name: 'clouds' })).toBe(409)
      expect(await bench.done('GET /iam/v2/accountAssociations?name=clouds&order_by=group', undefined, 'demo-viewer')).toMatchObject({
        totalCount: '1',
      })
    })

    it('check every provider', async () => {
      const github = { appInstallations: { 42: { installations: [{ name: 'no id' }] } } }
      const reply = await bench.call(`POST ${at()}`, { name: 'c', amazon: { account: '1' }, google: {}, azure: {}, github })
      expect(told(reply).fields).toEqual([
        'amazon.account',
        'google.project_id',
        'google.project_number',
        'azure.tenant_id',
        'azure.client_ids',
        'github.app_installations[42].installations[0].installation_id',
      ])
    })

    it('bind services only to their own identities directly below', async () => {
      const made = await bench.done(`POST /iam/v2/identities/${bench.org}`, {
        name: 'ingester',
        servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER',
      })
      const bind = (serviceBindings: object) => bench.call(`POST ${at()}`, { name: 'c', chainguard: { serviceBindings } })
      expect(told(await bind({ COSIGNED: made.uid }))).toMatchObject({ fields: ['chainguard.service_bindings[COSIGNED]'] })
      expect(told(await bind({ INGESTER: bench.user('bob@example.com') }))).toMatchObject({ code: 3 })
      expect(await bind({ INGESTER: made.uid })).toMatchObject({ status: 200 })
    })

    it('are replaced with the wildcard; a second delete succeeds', async () => {
      await bench.done(`POST ${at()}`, { name: 'clouds', amazon })
      expect(await bench.done(`PATCH ${at()}?updateMask=*`, { name: 'none' })).not.toHaveProperty('amazon')
      for (const _time of ['first', 'second']) expect(await bench.call(`DELETE ${at()}`)).toEqual({ status: 200, body: undefined })
    })

    it('report the configured provider', async () => {
      await bench.done(`POST ${at()}`, { name: 'clouds', amazon })
      const check = (providerType?: string) => bench.call(`POST ${at()}:checkAccountAssociation`, { providerType }, 'demo-viewer')
      expect((await check('ACCOUNT_PROVIDER_TYPE_AMAZON')).body).toEqual({ status: 'CHECK_STATUS_READY' })
      expect((await check('ACCOUNT_PROVIDER_TYPE_GOOGLE')).body).toMatchObject({
        status: 'CHECK_STATUS_NOT_READY',
        reason: 'not configured',
      })
      expect(told(await check())).toMatchObject({ fields: ['provider_type'] })
      await bench.done(`DELETE ${at()}`)
      expect(await check('ACCOUNT_PROVIDER_TYPE_AMAZON')).toMatchObject({ status: 404 })
    })
  })

  describe('terms (semantics §3.9)', () => {
    it('are accepted once, with caller and time, and hold below', async () => {
      const at = `/iam/v2/terms/${bench.org}`
      const documentIds = ['guardener-tos.v1', 'skills-tos.v1']
      expect(await bench.done(`POST ${at}`, { documentIds })).toEqual({ group: bench.org, documentIds })
      bench.clock.advance(1000)
      await bench.done(`POST ${at}`, { documentIds })
      const { uid: folder } = await bench.done(`POST /iam/v2/groups/${bench.org}`, { name: 'folder' })
      expect(await bench.done(`GET /iam/v2/terms/${folder}?order_by=doc_id%20desc&page_size=1`, undefined, 'demo-viewer')).toMatchObject({
        termsAcceptances: [
          {
            docId: 'skills-tos.v1',
            acceptedBy: bench.user('alice@example.com'),
            orgUid: bench.org,
            createTime: '2026-03-01T12:00:00.000Z',
          },
        ],
        totalCount: '2',
        nextPageToken: expect.any(String),
      })
    })

    it('refuse unknown documents, and callers without the right', async () => {
      const at = `/iam/v2/terms/${bench.org}`
      expect(await bench.told(`POST ${at}`, { documentIds: ['skills-tos.v1', 'no'] })).toMatchObject({ fields: ['document_ids[1]'] })
      expect(await bench.told(`POST ${at}`, {})).toMatchObject({ fields: ['document_ids'] })
      expect(await bench.status(`POST ${at}`, { documentIds: ['skills-tos.v1'] }, 'demo-viewer')).toBe(403)
      expect(await bench.status(`GET ${at}`, undefined, 'demo-outsider')).toBe(403)
    })
  })
})
