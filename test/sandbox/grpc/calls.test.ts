import { expect, test } from 'vitest'
import { running, START } from '../running.ts'
import { grpcClient } from './grpc-client.ts'

const { sandbox, get } = running()
const { call } = grpcClient(() => sandbox().url)

const roleNamed = async (name: string): Promise<string> => (await call('/chainguard.platform.iam.Roles/List', { name })).json.items[0].id

test('serves a v1 list with the content of REST', async () => {
  const groups = await call('/chainguard.platform.iam.Groups/List')
  const { items } = (await get('/iam/v1/groups')).json
  expect(groups.code).toBe(0)
  expect(groups.json.items.map(({ name }: { name: string }) => name)).toEqual(items.map(({ name }: { name: string }) => name))
})

test('journals a call as the REST request of its http rule', async () => {
  await call('/chainguard.platform.registry.Registry/ListRepos', { uidp: { inRoot: true }, name: 'nginx' })
  expect((await get('/-/journal')).json.at(-1)).toEqual({
    method: 'GET',
    path: '/registry/v1/repos',
    query: { 'uidp.in_root': 'true', name: 'nginx' },
    body: null,
    grpc: '/chainguard.platform.registry.Registry/ListRepos',
    at: new Date(START).toISOString(),
  })
})

test('creates, changes and deletes in v1', async () => {
  const repos = '/chainguard.platform.registry.Registry'
  const parentId = sandbox().organization
  const created = await call(`${repos}/CreateRepo`, { parentId, repo: { name: 'by-grpc', bundles: ['base'] } }, { token: 'demo-admin' })
  expect(created.json).toMatchObject({ name: 'by-grpc', bundles: ['base'] })
  const { id } = created.json
  const updated = await call(`${repos}/UpdateRepo`, { id, name: 'by-grpc', catalogTier: 'BASE' }, { token: 'demo-admin' })
  expect(updated.json).toMatchObject({ id, catalogTier: 'BASE' })
  expect(updated.json).not.toHaveProperty('bundles')
  const deleted = await call(`${repos}/DeleteRepo`, { id })
  expect([deleted.code, deleted.bytes.length]).toEqual([0, 0])
  expect((await call(`${repos}/ListRepos`, { id })).json).toEqual({})
})

test.each(['v2', 'v2beta1'])('writes in %s what the mask names, or what is set without one', async (version) => {
  const groups = `/chainguard.platform.iam.${version}.GroupsService`
  const group = { name: 'by-grpc', description: 'first' }
  const { uid } = (await call(`${groups}/CreateGroup`, { parent: sandbox().organization, group })).json
  const update = async (request: object) => (await call(`${groups}/UpdateGroup`, request)).json
  expect(await update({ group: { uid, name: 'renamed' } })).toMatchObject({ name: 'renamed', description: 'first' })
  const masked = await update({ group: { uid, name: 'ignored' }, updateMask: 'description' })
  expect(masked).toMatchObject({ name: 'renamed' })
  expect(masked).not.toHaveProperty('description')
  const wrong = await call(`${groups}/UpdateGroup`, { group: { uid }, updateMask: 'colour' })
  expect(wrong).toMatchObject({ code: 3, message: 'Invalid argument: update_mask: unknown path "colour"' })
  expect((await call(`${groups}/DeleteGroup`, { uid })).code).toBe(0)
  expect((await call(`${groups}/GetGroup`, { uid })).code).toBe(5)
})

test('carries durations, maps with numbers as keys, and long numbers', async () => {
  const group = sandbox().organization
  const invite = await call('/chainguard.platform.iam.GroupInvites/Create', { group, ttl: '60.500s', role: await roleNamed('viewer') })
  expect([invite.code, invite.json.expiration]).toEqual([0, new Date(START + 60_500).toISOString()])
  const github = { appInstallations: { 7: { installations: [{ installationId: '9007199254740993', name: 'app' }] } } }
  const path = '/chainguard.platform.iam.GroupAccountAssociations'
  await call(`${path}/Delete`, { group })
  expect((await call(`${path}/Create`, { group, name: 'cloud', github })).json).toMatchObject({ github })
})

test('publishes the event of a write', async () => {
  const { json } = await call('/chainguard.platform.iam.Groups/Create', { parent: sandbox().organization, group: { name: 'told' } })
  const deliveries: readonly object[] = (await get('/-/deliveries')).json
  expect(deliveries).toContainEqual(expect.objectContaining({ type: 'dev.chainguard.api.iam.group.created.v1', subject: json.id }))
})
