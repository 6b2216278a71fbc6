import { describe, expect, test } from 'vitest'
import { builtInRoleUid } from '../../../../src/sandbox/auth/rights.ts'
import { DIALECTS, startV1 } from '../harness.ts'

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
    const google = dialect === 'published' ? { projectId: 'p', projectNumber: '1' } : { project_id: 'p', project_number: '1' }
    const bare = { group: organization, name: 'clouds', description: '', amazon: null, google, chainguard: null, azure: null, github: null }
    const times = { created_at: association.created_at, updated_at: world.clock.now().toISOString() }
    expect(replaced).toEqual({ status: 200, body: dialect === 'published' ? bare : { ...bare, ...times } })
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
    expect((await send(`GET /iam/v1/identityProviders?id=${okta.id}`)).body.items[0].scim.credential_state).toBe('CREDENTIAL_STATE_REVOKED')
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
    expect(items.map((item: { docId: string }) => item.docId).sort()).toEqual(['guardener-tos.v1', 'sfdpa.v1'])
    expect(items[0]).toEqual({ docId: expect.any(String), acceptedBy: expect.any(String), acceptedAt: expect.stringMatching(/Z$/) })
    expect((await send(`GET /iam/v1/terms/${organization}?limit=1`)).body.items).toHaveLength(1)
  })

  test('reject an unknown document', async () => {
    const { send, organization } = startV1()
    const refused = await send(`POST /iam/v1/terms/${organization}`, { document_ids: ['x'] })
    expect(refused.body.message).toBe('Invalid argument: document_ids[0]: unknown document "x"')
  })
})
