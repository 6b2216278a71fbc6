import { describe, expect, test } from 'vitest'
import { builtInRoleUid } from '../../src/sandbox/auth/rights.ts'
import { userUid } from '../../src/sandbox/data/data.ts'
import { map } from '../contract/target.ts'
import { column, DIALECTS, inDialect, names, startV1 } from './stage.ts'

describe('access', () => {
  const viewer = builtInRoleUid('viewer')

  describe('roles', () => {
    test('have capabilities as dotted strings both ways, possibly none', async () => {
      const { send, organization } = startV1('published')
      const made = await send(`POST /iam/v1/roles/${organization}`, { name: 'mine', capabilities: ['groups.list', 'repo.list'] })
      expect(made).toEqual({
        status: 200,
        body: { id: made.body.id, name: 'mine', description: '', capabilities: ['groups.list', 'repo.list'] },
      })
      expect((await send(`PUT /iam/v1/roles/${made.body.id}`, { name: 'mine' })).body.capabilities).toEqual([])
      const unknown = await send(`POST /iam/v1/roles/${organization}`, { name: 'mine', capabilities: ['fly'] })
      expect(unknown.body.message).toBe('Invalid argument: capabilities: unknown capability "fly"')
    })

    test('are listed by name, by parent and, if built in, in root', async () => {
      const { send, organization } = startV1()
      expect(names(await send(`GET /iam/v1/roles?parent=${organization}`))).toEqual(['tag-writer'])
      const builtIn = await send('GET /iam/v1/roles?parent=%2F')
      expect(names(builtIn)).toContain('viewer')
      expect(names(builtIn)).toEqual(names(await send('GET /iam/v1/roles?uidp.in_root=true')))
      const [role] = (await send('GET /iam/v1/roles?name=viewer')).body.items
      expect(role.id).toBe(viewer)
      expect(role.capabilities).toContain('groups.list')
      expect(role).not.toHaveProperty('group_id')
    })

    test('cannot be deleted if bound, nor changed if built in', async () => {
      const { send, world } = startV1()
      const bound = world.store.roles.values().find(({ name }) => name === 'tag-writer')
      expect(await send(`DELETE /iam/v1/roles/${bound?.uid}`)).toMatchObject({ status: 400, body: { code: 9, details: [] } })
      expect((await send(`DELETE /iam/v1/roles/${viewer}`)).status).toBe(403)
    })
  })

  describe.each(DIALECTS)('role bindings, %s dialect', (dialect) => {
    test('are plain ids in the answers of writes', async () => {
      const { send, organization, world } = startV1(dialect)
      const identity = userUid('outsider')
      const made = await send(`POST /iam/v1/rolebindings/${organization}`, { identity, role: viewer, group: 'ignored' })
      const plain = { id: made.body.id, identity, role: viewer, group: organization }
      const more = { created_at: world.clock.now().toISOString(), group_id: organization }
      expect(made).toEqual({ status: 200, body: inDialect(dialect, plain, more) })
      const editor = builtInRoleUid('editor')
      expect((await send(`PUT /iam/v1/rolebindings/${plain.id}`, { identity, role: editor })).body).toMatchObject({
        id: plain.id,
        role: editor,
      })
      expect(await send(`DELETE /iam/v1/rolebindings/${plain.id}`)).toEqual({ status: 200, body: {} })
    })

    test('are listed with whole groups and roles', async () => {
      const { send, organization, world } = startV1(dialect)
      const { items } = (await send('GET /iam/v1/rolebindings')).body
      const bot = world.store.identities.values().find(({ name }) => name === 'ci-bot')
      const shown = items.find((item: { identity: string }) => item.identity === bot?.uid)
      const group = { id: organization, name: 'example.com', verified: true, kind: 'ORG_KIND_CUSTOMER' }
      const role = { id: viewer, name: 'viewer', capabilities: expect.arrayContaining(['groups.list']) }
      const claims = { claim_match_issuer: bot?.claimMatch?.issuer, claim_match_subject: bot?.claimMatch?.subject, email_unverified: '' }
      expect(shown).toMatchObject({ group, role, email: '', ...inDialect(dialect, claims) })
      expect(items.some((item: { email: string }) => item.email === 'alice@example.com')).toBe(true)
    })

    test('are created in a batch: a bare list, all or nothing, answered in order', async () => {
      const { send, organization, world } = startV1(dialect)
      const path = `POST /iam/v1/rolebindings/batch/${organization}`
      const before = world.store.roleBindings.size()
      const wanted = ['outsider', 'admin'] as const
      const broken = await send(path, [
        { identity: userUid('outsider'), role: viewer },
        { identity: 'nobody', role: viewer },
      ])
      expect(broken).toMatchObject({ status: 400, body: { code: 3 } })
      expect(world.store.roleBindings.size()).toBe(before)
      const made = await send(
        path,
        wanted.map((user) => ({ identity: userUid(user), role: viewer })),
      )
      const rows = made.body[dialect === 'published' ? 'roleBindings' : 'role_bindings']
      expect(column(rows, 'identity')).toEqual(wanted.map((user) => userUid(user)))
      expect((await send(path, { identity: 'x' })).status).toBe(400)
    })
  })

  describe('invites', () => {
    test.each(DIALECTS)('show the code on create, but not in lists, %s dialect', async (dialect) => {
      const { send, organization, world } = startV1(dialect)
      const made = await send(`POST /iam/v1/group_invites/${organization}`, {
        role: viewer,
        ttl: '3600s',
        single_use: true,
        email: 'x@example.com',
      })
      const expiration = new Date(world.clock.now().getTime() + 3_600_000).toISOString()
      expect(made).toMatchObject({
        status: 200,
        body: { expiration, role: { id: viewer, name: 'viewer' }, code: expect.stringMatching(/./) },
      })
      expect(made.body).not.toHaveProperty('email')
      const [listed] = (await send(`GET /iam/v1/group_invites?id=${made.body.id}`)).body.items
      expect(listed).toMatchObject({
        id: made.body.id,
        email: 'x@example.com',
        [dialect === 'published' ? 'singleUse' : 'single_use']: true,
      })
      expect(listed).not.toHaveProperty('code')
      expect(await send(`DELETE /iam/v1/group_invites/${made.body.id}`)).toEqual({ status: 200, body: {} })
    })

    test('are listed newest first, by group and key; the default lifetime is a week', async () => {
      const { send, organization, world } = startV1()
      const made = await send(`POST /iam/v1/group_invites/${organization}`, { role: viewer })
      expect(made.body.expiration).toBe(new Date(world.clock.now().getTime() + 604_800_000).toISOString())
      const { items } = (await send(`GET /iam/v1/group_invites?group=${organization}`)).body
      expect(items).toHaveLength(3)
      expect(items[0].id).toBe(made.body.id)
      expect((await send(`GET /iam/v1/group_invites?key_id=${made.body.key_id}`)).body.items).toEqual([items[0]])
      expect((await send(`POST /iam/v1/group_invites/${organization}`, { role: 'x' })).body.message).toMatch(/^Invalid argument: role: /)
    })
  })
})

describe('groups', () => {
  describe.each(DIALECTS)('groups, %s dialect', (dialect) => {
    test('show the whole resource', async () => {
      const { send, organization, world } = startV1(dialect)
      const [group] = (await send('GET /iam/v1/groups?name=platform')).body.items
      const row = world.store.groups.get(group.id)
      const named = { id: group.id, name: 'platform', description: 'Build and release' }
      const common = { ...named, resource_limits: {}, verified: false, kind: 'ORG_KIND_CUSTOMER', status: 'ORG_STATUS_READY' }
      const more = { created_at: row?.createTime, updated_at: row?.updateTime, group_id: organization }
      expect(group).toEqual(inDialect(dialect, common, more))
    })
  })

  describe('creating', () => {
    test('accepts as parent a uid, the beginning of one, or a name', async () => {
      const { send, organization } = startV1()
      for (const parent of [organization, organization.slice(0, 12), 'example.com']) {
        const made = await send(`POST /iam/v1/groups/${parent}`, { name: 'new', status: 'ORG_STATUS_SUSPENDED' })
        expect(made).toMatchObject({ status: 200, body: { name: 'new', group_id: organization, status: 'ORG_STATUS_READY' } })
      }
      expect((await send('POST /iam/v1/groups/elsewhere', { name: 'new' })).body).toMatchObject({ code: 5 })
    })

    test('makes an organization of the caller without a parent', async () => {
      const { send } = startV1()
      for (const path of ['/iam/v1/groups', '/iam/v1/groups/']) {
        const made = await send(`POST ${path}`, { name: 'mine' }, { token: 'demo-viewer' })
        expect(made).toMatchObject({ status: 200, body: { name: 'mine', verified: false } })
        expect(made.body).not.toHaveProperty('group_id')
        expect((await send(`DELETE /iam/v1/groups/${made.body.id}`, undefined, { token: 'demo-viewer' })).status).toBe(200)
      }
    })
  })

  describe('updating', () => {
    test('resets the description, but keeps verified and kind unless the body names them', async () => {
      const { send, organization } = startV1()
      const answer = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com' })
      expect(answer).toMatchObject({ status: 200, body: { description: '', verified: true, kind: 'ORG_KIND_CUSTOMER' } })
    })

    test('lets only staff change verified', async () => {
      const { send, organization } = startV1()
      expect((await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com' }, { token: 'demo-admin' })).body.verified).toBe(false)
      const given = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com', verified: true })
      expect(given).toMatchObject({ status: 403, body: { code: 7, details: [] } })
    })

    test('accepts a new kind of an organization', async () => {
      const { send, organization } = startV1()
      const answer = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com', kind: 'ORG_KIND_DEV' })
      expect(answer.body.kind).toBe('ORG_KIND_DEV')
    })
  })

  describe('deleting', () => {
    test('is blocked by anything below, with the reason only in the message', async () => {
      const { send, organization } = startV1()
      const answer = await send(`DELETE /iam/v1/groups/${organization}`)
      expect(answer).toMatchObject({ status: 400, body: { code: 9, details: [] } })
      expect(answer.body.message).toMatch(/^Precondition failed: cannot delete group with child repos/)
    })
  })

  describe('operations on the token alone', () => {
    test('find the organization of the caller, or answer NOT_FOUND', async () => {
      const { send, organization } = startV1('published')
      expect((await send('GET /iam/v1/groups:lookupGroup')).body).toMatchObject({
        group: { id: organization, resourceLimits: { idps: 1 } },
      })
      const stranger = await send('GET /iam/v1/groups:lookupGroup', undefined, { token: 'demo-admin' })
      expect(stranger).toMatchObject({ status: 404, body: { code: 5, details: [] } })
    })

    test('tell eligibility and refuse to ask for access twice', async () => {
      const { send, organization } = startV1()
      expect((await send('GET /iam/v1/groups:checkEligibility')).body).toEqual({ eligible: true })
      const ask = () => send(`POST /iam/v1/groups/${organization}:requestGroupAccess`, {}, { token: 'demo-outsider' })
      expect(await ask()).toEqual({ status: 200, body: {} })
      expect(await ask()).toMatchObject({ status: 429, body: { code: 8 } })
    })
  })
})

describe('identities', () => {
  const KEYS = JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }] })
  const claim = { issuer: 'https://issuer.example.com', subject: 'build' }

  describe.each(DIALECTS)('identities, %s dialect', (dialect) => {
    test('show the whole resource with only the set relationship and its set members', async () => {
      const { send, organization, world } = startV1(dialect)
      const made = await send(`POST /iam/v1/identities/${organization}`, {
        name: 'build',
        claimMatch: { ...claim, claims: { some_key: '1' } },
      })
      const now = world.clock.now().toISOString()
      const common = { id: made.body.id, name: 'build', description: '', created_at: now, updated_at: now, last_seen: now }
      const claim_match = { ...claim, claims: map({ some_key: '1' }), claim_patterns: {} }
      const expected = inDialect(dialect, { ...common, claim_match }, { group_id: organization })
      expect(made).toEqual({ status: 200, body: expected })
      expect((await send(`GET /iam/v1/identities?id=${made.body.id}`)).body.items).toEqual([expected])
    })
  })

  describe('writing', () => {
    test('accepts each kind of relationship in v1 names', async () => {
      const { send, organization } = startV1('published')
      const create = async (relationship: object) =>
        (await send(`POST /iam/v1/identities/${organization}`, { name: 'x', ...relationship })).body
      const keys = { issuer: 'https://i', subject: 's', issuerKeys: KEYS, expiration: '2026-07-01T00:00:00Z' }
      expect(await create({ static: keys })).toMatchObject({
        static: { issuer: 'https://i', expiration: '2026-07-01T00:00:00.000Z', audiences: [] },
      })
      expect(await create({ servicePrincipal: 'INGESTER' })).toMatchObject({ servicePrincipal: 'INGESTER' })
      const aws = { awsAccount: '123456789012', arn: 'arn:aws:iam::1:role/x', userIdPattern: '.*' }
      expect((await create({ aws_identity: aws })).awsIdentity).toEqual(aws)
    })

    test('names members in errors as v1 does', async () => {
      const { send, organization } = startV1()
      const late = { issuer: 'https://i', subject: 's', issuer_keys: KEYS, expiration: '2036-01-01T00:00:00Z' }
      const refused = await send(`POST /iam/v1/identities/${organization}`, { name: 'x', static: late })
      expect(refused.body.message).toBe('Invalid argument: static.expiration: must be at most 365 days away')
    })

    test('resets the description, replaces a named relationship and keeps the company', async () => {
      const { send, organization, world } = startV1()
      const { body } = await send(`POST /iam/v1/identities/${organization}`, {
        name: 'build',
        description: 'd',
        claim_match: { ...claim, audience: 'a' },
      })
      world.store.identities.put({ ...world.store.identities.get(body.id)!, company: 'Example' })
      const kept = await send(`PUT /iam/v1/identities/${body.id}`, { name: 'build' })
      expect(kept.body).toMatchObject({ description: '', claim_match: { ...claim, audience: 'a' } })
      const replaced = await send(`PUT /iam/v1/identities/${body.id}`, { name: 'build', claim_match: claim })
      expect(replaced.body.claim_match).toEqual({ ...claim, claims: {}, claim_patterns: {} })
      const switched = await send(`PUT /iam/v1/identities/${body.id}`, { name: 'build', service_principal: 'INGESTER' })
      expect(switched.body).not.toHaveProperty('claim_match')
      expect(world.store.identities.get(body.id)?.company).toBe('Example')
    })

    test('deletes the bindings of a deleted identity too', async () => {
      const { send, world } = startV1()
      const bot = world.store.identities.values().find(({ name }) => name === 'ci-bot')
      expect(await send(`DELETE /iam/v1/identities/${bot?.uid}`)).toEqual({ status: 200, body: {} })
      expect(world.store.roleBindings.values().some(({ identityUid }) => identityUid === bot?.uid)).toBe(false)
    })
  })

  describe('lookup', () => {
    const path = (issuer: string, subject: string) =>
      `GET /iam/v1/identities/lookup?issuer=${encodeURIComponent(issuer)}&subject=${subject}`

    test('answers the whole identity to any caller with a token', async () => {
      const { send } = startV1()
      const found = await send(path('https://accounts.example.com', 'alice@example.com'), undefined, { token: 'demo-outsider' })
      expect(found).toMatchObject({ status: 200, body: { name: 'alice@example.com' } })
    })

    test('answers NOT_FOUND for an unregistered identity', async () => {
      const { send } = startV1()
      expect(await send(path('https://nowhere', 'nobody'))).toMatchObject({ status: 404, body: { code: 5, details: [] } })
      expect((await send('GET /iam/v1/identities/lookup?issuer=x')).body.message).toBe('Invalid argument: subject: is required')
    })
  })

  describe.each(DIALECTS)('own metadata, %s dialect', (dialect) => {
    test('changes the members that the body names', async () => {
      const { send, world } = startV1(dialect)
      await send('PATCH /iam/v1/identities/metadata', { onboardingQuestions: { jobTitle: 'dev', product: 'images', providers: ['x'] } })
      const { body } = await send('PATCH /iam/v1/identities/metadata', {
        onboarding_questions: { company_name: 'Example', product: '' },
        updatesOptIn: true,
      })
      const onboarding_questions = { company_name: 'Example', job_title: 'dev', product: '', providers: [] }
      expect(body).toMatchObject(inDialect(dialect, { name: 'alice@example.com', updatesOptIn: true, onboarding_questions }))
      const alice = world.store.identities.values().find(({ name }) => name === 'alice@example.com')
      expect(alice).toMatchObject({ company: 'Example', metadata: { jobTitle: 'dev' } })
    })
  })
})

describe('organization', () => {
  const viewer = builtInRoleUid('viewer')

  describe.each(DIALECTS)('account associations, %s dialect', (dialect) => {
    test('have the group as id; providers that are not set are null', async () => {
      const { send, organization, world } = startV1(dialect)
      const [association] = (await send(`GET /iam/v1/account_associations?group=${organization}`)).body.items
      expect(association).toMatchObject({ group: organization, name: 'clouds', amazon: { account: '123456789012' } })
      const replaced = await send(`PUT /iam/v1/account_associations/${organization}`, {
        name: 'clouds',
        google: { project_id: 'p', projectNumber: '1' },
      })
      const google = { project_id: 'p', project_number: '1' }
      const bare = {
        group: organization,
        name: 'clouds',
        description: '',
        amazon: null,
        google,
        chainguard: null,
        azure: null,
        github: null,
      }
      const times = { created_at: association.created_at, updated_at: world.clock.now().toISOString() }
      expect(replaced).toEqual({ status: 200, body: inDialect(dialect, bare, times) })
    })
  })

  describe('account associations', () => {
    test('are created below a group, need no name, and exist once', async () => {
      const { send, organization, world } = startV1()
      const folder = world.store.groups.children(organization)[0]?.uid
      const made = await send(`POST /iam/v1/account_associations/${folder}`, { amazon: { account: '123456789012' } })
      expect(made).toMatchObject({ status: 200, body: { group: folder, name: '' } })
      expect(made.body).not.toHaveProperty('group_id')
      expect((await send(`POST /iam/v1/account_associations/${folder}`, { name: 'again' })).status).toBe(409)
      expect(await send(`DELETE /iam/v1/account_associations/${folder}`)).toEqual({ status: 200, body: {} })
    })

    test('answer a check in v1 names', async () => {
      const { send, organization } = startV1()
      const check = (account_type: string) => send(`POST /iam/v1/account_associations/${organization}:check`, { account_type })
      expect((await check('AMAZON')).body).toEqual({ ready: 'Ready', reason: '', message: '' })
      await send(`PUT /iam/v1/account_associations/${organization}`, { name: 'clouds' })
      expect((await check('AMAZON')).body).toMatchObject({ ready: 'NotReady', reason: 'not configured' })
      expect((await check('UNKNOWN')).body.message).toBe('Invalid argument: account_type: is required')
    })
  })

  describe('identity providers', () => {
    const oidc = { issuer: 'https://idp', client_id: 'c', client_secret: 'hush' }

    test('hide the secret, keep it in a PUT without it and need no default role', async () => {
      const { send, organization, world } = startV1()
      const made = await send(`POST /iam/v1/identityProviders/${organization}`, { name: 'idp', description: 'd', oidc })
      expect(made).toMatchObject({ status: 200, body: { default_role: '', oidc: { client_secret: '', issuer: 'https://idp' } } })
      const put = await send(`PUT /iam/v1/identityProviders/${made.body.id}`, {
        name: 'idp',
        default_role: viewer,
        oidc: { issuer: 'https://new', clientId: 'c' },
      })
      expect(put).toMatchObject({ status: 200, body: { description: '', default_role: viewer, oidc: { issuer: 'https://new' } } })
      expect(world.store.identityProviders.get(made.body.id)?.oidc?.clientSecret).toBe('hush')
      expect((await send(`PUT /iam/v1/identityProviders/${made.body.id}`, { name: 'idp', default_role: 'x', oidc })).body.message).toMatch(
        /default_role/,
      )
    })

    test('show the SCIM state in lists', async () => {
      const { send } = startV1('published')
      const [okta] = (await send('GET /iam/v1/identityProviders?name=okta')).body.items
      expect(okta.scim).toMatchObject({ enabled: false, credentialState: 'CREDENTIAL_STATE_NOT_ISSUED', tokenExpireTime: null })
      expect(okta.oidc.correlationRule).toBe('CORRELATION_RULE_UNSPECIFIED')
    })

    test('support the SCIM verbs', async () => {
      const { send } = startV1()
      const [okta] = (await send('GET /iam/v1/identityProviders?name=okta')).body.items
      const act = (verb: string, body: object = {}) => send(`POST /iam/v1/identityProviders/${okta.id}:${verb}`, body)
      const first = (await act('generateScimToken', { never_expires: true })).body
      expect(first).toMatchObject({ identity_provider_id: okta.id, expire_time: null, token: expect.stringMatching(/^cgscim_/) })
      expect(await act('generateScimToken')).toMatchObject({ status: 400, body: { code: 9, details: [] } })
      const second = (await act('regenerateScimToken', { etag: first.etag, overlap: '60s' })).body
      expect(second).toMatchObject({ requested_overlap: '60s', previous_token_expire_time: expect.stringMatching(/Z$/) })
      expect((await act('regenerateScimToken', { etag: first.etag })).body).toMatchObject({ code: 10 })
      expect((await act('setScimEnabled', { enabled: false, etag: second.etag })).body).toMatchObject({
        enabled: false,
        identity_provider_id: okta.id,
      })
      expect((await act('revokeScimToken')).body).toMatchObject({ enabled: false, revoke_time: expect.stringMatching(/Z$/) })
      expect((await send(`GET /iam/v1/identityProviders?id=${okta.id}`)).body.items[0].scim.credential_state).toBe(
        'CREDENTIAL_STATE_REVOKED',
      )
    })

    test('cannot be deleted while they have mappings', async () => {
      const { send } = startV1()
      const [okta] = (await send('GET /iam/v1/identityProviders?name=okta')).body.items
      expect(await send(`DELETE /iam/v1/identityProviders/${okta.id}`)).toMatchObject({ status: 400, body: { code: 9 } })
    })
  })

  describe('external group role mappings', () => {
    test('are created, read, listed and deleted', async () => {
      const { send, organization } = startV1('published')
      const [okta] = (await send('GET /iam/v1/identityProviders?name=okta')).body.items
      const path = '/iam/v1/externalGroupRoleMappings'
      const made = await send(`POST ${path}/${okta.id}`, {
        external_group_id: 'devs',
        roleUidp: viewer,
        scope: organization,
        identity_provider_uidp: 'x',
      })
      const mapping = { id: made.body.id, identityProviderUidp: okta.id, externalGroupId: 'devs', roleUidp: viewer, scope: organization }
      expect(made.body).toEqual({ ...mapping, createdAt: made.body.createdAt })
      expect((await send(`GET ${path}/${mapping.id}`)).body).toEqual(made.body)
      expect((await send(`GET ${path}?identity_provider_uidp=${okta.id}`)).body.items).toHaveLength(3)
      expect((await send(`GET ${path}?identityProviderUidp=${organization}`)).body.items).toEqual([])
      expect(await send(`DELETE ${path}/${mapping.id}`)).toEqual({ status: 200, body: {} })
      expect(await send(`GET ${path}/${mapping.id}`)).toMatchObject({ status: 404, body: { code: 5, details: [] } })
    })

    test('are deleted in batches that skip missing ones and refuse foreign ones', async () => {
      const { send } = startV1()
      const { items } = (await send('GET /iam/v1/externalGroupRoleMappings')).body
      const parent_id = items[0].identity_provider_uidp
      const batch = (ids: readonly string[]) => send('POST /iam/v1/externalGroupRoleMappings:batchDelete', { parent_id, ids })
      expect((await batch([parent_id])).body.message).toBe('Invalid argument: ids[0]: is not a mapping of the parent')
      const removed = (await batch([items[0].id, `${parent_id}/ffffffffffffffff`])).body
      expect(removed).toEqual({ parent_id, items: [items[0]] })
      expect((await batch([])).body).toEqual({ parent_id, items: [] })
    })
  })

  describe('terms', () => {
    test('are accepted and listed for the group and those below it', async () => {
      const { send, organization, world } = startV1('published')
      const accepted = await send(`POST /iam/v1/terms/${organization}`, { document_ids: ['sfdpa.v1'] })
      expect(accepted).toEqual({ status: 200, body: { group: organization, documentIds: ['sfdpa.v1'] } })
      const folder = world.store.groups.children(organization)[0]?.uid
      const { items } = (await send(`GET /iam/v1/terms/${folder}`)).body
      expect(column(items, 'docId').sort()).toEqual(['guardener-tos.v1', 'sfdpa.v1'])
      expect(items[0]).toEqual({ docId: expect.any(String), acceptedBy: expect.any(String), acceptedAt: expect.stringMatching(/Z$/) })
      expect((await send(`GET /iam/v1/terms/${organization}?limit=1`)).body.items).toHaveLength(1)
    })

    test('reject an unknown document', async () => {
      const { send, organization } = startV1()
      const refused = await send(`POST /iam/v1/terms/${organization}`, { document_ids: ['x'] })
      expect(refused.body.message).toBe('Invalid argument: document_ids[0]: unknown document "x"')
    })
  })
})
