import { beforeEach, expect, test } from 'vitest'
import { running } from '../running.ts'

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
  const ids = made.json.role_bindings.map(({ id }: { id: string }) => id)
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
