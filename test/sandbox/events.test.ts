import { beforeEach, describe, expect, test } from 'vitest'
import { ruleOf } from '../../src/sandbox/events/rules.ts'
import { serviceRoutes, startSandbox } from '../../src/sandbox/start.ts'
import { SILENT } from './silent.ts'
import { column, running, startV1 } from './stage.ts'

describe('rules', () => {
  const nameOf = ({ method, template }: { readonly method: string; readonly template: string }): string => `${method} ${template}`

  test('gives every write of either version an event, except the silent ones', () => {
    const writes = serviceRoutes.filter(({ method }) => method !== 'GET')
    expect(
      writes
        .filter((route) => !ruleOf(route))
        .map(nameOf)
        .sort(),
    ).toEqual([...SILENT].sort())
  })

  test('gives no read an event', () => expect(serviceRoutes.filter(({ method }) => method === 'GET').filter(ruleOf)).toEqual([]))

  test.each([
    ['POST', '/iam/v2/roleBindings:batchCreate', 'iam.rolebindings.created.batch.v1', 'iam.v2.BatchCreateRoleBindingsResponse'],
    ['DELETE', '/iam/v2/groupInvites/{uid=**}', 'iam.group_invite.deleted.v1', 'iam.v2.DeleteGroupInviteRequest'],
    ['PUT', '/iam/v1/account_associations/{group=**}', 'iam.account_associations.updated.v1', 'iam.AccountAssociations'],
    ['POST', '/iam/v2/terms/{group=**}', 'iam.terms.accepted.v1', 'iam.v2.AcceptTermsResponse'],
    ['PATCH', '/registry/v2/repos/{uid=**}/readme', 'platform.registry.repo.updated.v1', 'registry.v2.RepoReadme'],
    ['POST', '/registry/v2/tags/{parent=**}', 'platform.registry.tag.created.v1', 'registry.v2.Tag'],
    ['DELETE', '/events/v1/subscriptions/{id=**}', 'events.subscription.deleted.v1', 'events.DeleteSubscriptionRequest'],
  ] as const)('gives %s %s its event', (method, template, event, bodyType) => {
    expect(ruleOf({ method, template })).toMatchObject({ event, bodyType })
  })
})

describe('subjects', () => {
  const { sandbox, get, post, remove } = running({ data: 'empty' }, { fresh: true })

  const org = (): string => sandbox().organization
  const roleUid = async (name: string): Promise<string> => (await get(`/iam/v2/roles?name=${name}`)).json.roles[0].uid

  /** The events of the test, without the subscription's own. */
  const events = async () =>
    (await get('/-/deliveries')).json
      .slice(1)
      .map(({ type, subject }: { type: string; subject: string }) => [type.replace('dev.chainguard.api.', ''), subject])

  beforeEach(async () => {
    // The sandbox does not deliver to this sink, but records the events in the ledger.
    await post(`/events/v2/subscriptions/${org()}`, { sink: 'https://sink.example.com' })
  })

  test('names the tag, the mapping, and the provider for a batch of mappings', async () => {
    const repo = (await post(`/registry/v2/repos/${org()}`, { name: 'r' })).json.uid
    const tag = (await post(`/registry/v2/tags/${repo}`, { name: 't', digest: `sha256:${'0'.repeat(64)}` })).json.uid
    const viewer = await roleUid('viewer')
    const oidc = { issuer: 'https://idp.example.com', clientId: 'id', clientSecret: 's' }
    const idp = (await post(`/iam/v2/identityProviders/${org()}`, { name: 'idp', defaultRole: viewer, oidc })).json.uid
    const body = { externalGroupId: 'g', roleUid: viewer, scope: org() }
    const mapping = (await post(`/iam/v2/externalGroupRoleMappings/${idp}`, body)).json.uid
    await post('/iam/v2/externalGroupRoleMappings:batchDelete', { parent: idp, names: [mapping] })
    expect(await events()).toEqual([
      ['platform.registry.repo.created.v1', repo],
      ['platform.registry.tag.created.v1', tag],
      ['iam.identity_providers.created.v1', idp],
      ['iam.external_group_role_mappings.created.v1', mapping],
      ['iam.external_group_role_mappings.deleted.batch.v1', idp],
    ])
  })

  test('names the group of a batch of bindings in v2, the bindings in v1', async () => {
    const role = await roleUid('viewer')
    const claimMatch = { issuer: 'https://issuer.example.com', subject: 's' }
    const identity = (await post(`/iam/v2/identities/${org()}`, { name: 'bot', claimMatch })).json.uid
    await post('/iam/v2/roleBindings:batchCreate', { parent: org(), requests: [{ roleBinding: { identityUid: identity, roleUid: role } }] })
    const roles = [await roleUid('editor'), await roleUid('owner')]
    const made = await post(
      `/iam/v1/rolebindings/batch/${org()}`,
      roles.map((uid) => ({ identity, role: uid })),
    )
    const ids = column(made.json.role_bindings, 'id')
    expect(await events()).toEqual([
      ['iam.identity.created.v1', identity],
      ['iam.rolebindings.created.batch.v1', org()],
      ['iam.rolebindings.created.batch.v1', ids.join(',')],
    ])
  })

  test('names a deleted folder and accepted terms', async () => {
    const folder = (await post(`/iam/v2/groups/${org()}`, { name: 'folder' })).json.uid
    await remove(`/iam/v2/groups/${folder}`)
    await post(`/iam/v2/terms/${org()}`, { documentIds: ['sfdpa.v1'] })
    await post(`/iam/v2/terms/${org()}`, { documentIds: ['sfdpa.v1'] })
    expect(await events()).toEqual([
      ['iam.group.created.v1', folder],
      ['iam.group.deleted.v1', folder],
      ['iam.terms.accepted.v1', org()],
    ])
  })
})

describe('subscriptions', () => {
  const { sandbox, get, post, remove } = running({}, { fresh: true })

  const PATH = '/events/v2/subscriptions'
  const org = (): string => sandbox().organization

  describe('subscriptions (specification §6, semantics §3.16)', () => {
    test('are created, read, listed and deleted, and have no dates', async () => {
      const made = (await post(`${PATH}/${org()}`, { sink: 'https://localhost:9999/hook' })).json
      expect(made).toEqual({ uid: expect.stringMatching(new RegExp(`^${org()}/[0-9a-f]{16}$`)), sink: 'https://localhost:9999/hook' })
      expect((await get(`${PATH}/${made.uid}`)).json).toEqual(made)
      const { json } = await get(`${PATH}?uidp.children_of=${org()}`)
      expect([json.totalCount, json.skipped]).toEqual(['2', 0])
      expect(column(json.subscriptions, 'uid')).toEqual([...column(json.subscriptions, 'uid')].sort())
      expect((await remove(`${PATH}/${made.uid}`)).text).toBe('')
      expect((await get(`${PATH}/${made.uid}`)).json.details[1].resourceType).toBe('events.chainguard.dev/Subscription')
    })

    test.each([
      [{}, 'sink: is required'],
      [{ sink: 'nowhere' }, 'sink: must be a URL'],
      [{ sink: 'http://127.0.0.1:1/' }, 'sink: must use the scheme https'],
      [{ sink: 'ftp://localhost/' }, 'sink: must use the scheme https'],
    ])('reject %j', async (body, problem) => {
      const { status, json } = await post(`${PATH}/${org()}`, body)
      expect([status, json.code, json.message]).toEqual([400, 3, `Invalid argument: ${problem}`])
    })

    test('are readable for a viewer and writable for an editor', async () => {
      expect((await get(PATH, 'demo-viewer')).json.totalCount).toBe('1')
      expect((await post(`${PATH}/${org()}`, { sink: 'https://localhost/' }, 'demo-viewer')).status).toBe(403)
      expect((await post(`${PATH}/${org()}`, { sink: 'https://localhost/' }, 'demo-editor')).status).toBe(200)
      expect((await get(PATH, 'demo-outsider')).json.totalCount).toBe('0')
    })

    test('cannot be updated and block the delete of their group', async () => {
      const folder = (await post(`/iam/v2/groups/${org()}`, { name: 'f' })).json.uid
      const { uid } = (await post(`${PATH}/${folder}`, { sink: 'https://localhost/' })).json
      const blocked = await remove(`/iam/v2/groups/${folder}`)
      expect(blocked.json.message).toBe('Precondition failed: cannot delete group with child subscriptions')
      expect((await fetch(`${sandbox().url}${PATH}/${uid}`, { method: 'PATCH' })).status).toBe(501)
    })
  })

  test('accepts plain HTTP with the flag, on loopback hosts only', async () => {
    const open = await startSandbox({ port: 0, data: 'empty', allowHttpSinks: true })
    const create = async (sink: string): Promise<number> => {
      const headers = { authorization: `Bearer ${open.tokens.owner}` }
      return (await fetch(`${open.url}${PATH}/${open.organization}`, { method: 'POST', headers, body: JSON.stringify({ sink }) })).status
    }
    expect(await Promise.all(['http://localhost:1/', 'http://127.9.9.9:1/', 'http://[::1]:1/'].map(create))).toEqual([200, 200, 200])
    expect(
      await Promise.all(['http://example.com/', 'http://127.0.0.1.example.com/', 'http://127.0.0.1@example.com/'].map(create)),
    ).toEqual([400, 400, 400])
    await open.close()
  })
})

describe('events, v1', () => {
  let { send, organization } = startV1()
  beforeEach(() => {
    ;({ send, organization } = startV1())
  })

  const published = startV1('published')

  const PATH = '/events/v1/subscriptions'

  test('creates, lists and deletes in both dialects (facts §8)', async () => {
    const made = (await send(`POST ${PATH}/${organization}`, { sink: 'https://localhost/v1', id: 'ignored' })).body
    expect(made).toEqual({ id: expect.stringMatching(/\/[0-9a-f]{16}$/), sink: 'https://localhost/v1', group_id: organization })
    expect((await send(`GET ${PATH}?id=${made.id}`)).body).toEqual({ items: [made] })
    expect((await send(`GET ${PATH}?uidp.childrenOf=${organization}`)).body.items).toHaveLength(2)
    expect(await send(`DELETE ${PATH}/${made.id}`)).toEqual({ status: 200, body: {} })
    expect(await send(`DELETE ${PATH}/${made.id}`)).toEqual({ status: 200, body: {} })
    expect((await send(`GET ${PATH}?id=${made.id}`)).body).toEqual({ items: [] })
    expect(Object.keys((await published.send(`GET ${PATH}`)).body.items[0])).toEqual(['id', 'sink'])
  })

  test('accepts plain HTTP and no third scheme (facts §24.13)', async () => {
    expect((await send(`POST ${PATH}/${organization}`, { sink: 'http://sink.example.com/' })).status).toBe(200)
    expect((await send(`POST ${PATH}/${organization}`, { sink: 'ftp://sink.example.com/' })).body).toEqual({
      code: 3,
      message: 'Invalid argument: sink: must use the scheme https or http',
      details: [],
    })
  })

  test('refuses callers without the capability', async () => {
    expect((await send(`POST ${PATH}/${organization}`, { sink: 'https://localhost/' }, { token: 'demo-viewer' })).status).toBe(403)
    expect((await send(`GET ${PATH}`, undefined, { token: 'demo-outsider' })).body).toEqual({ items: [] })
  })
})
