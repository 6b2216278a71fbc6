import * as make from '../../expect.ts'
import { anything, items, ok, refused, same, shows, text } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, map } from '../../target.ts'

const ASSOCIATIONS = '/iam/v1/account_associations'

const amazon = { account: '123456789012' }
const google = { project_id: 'project', project_number: '42' }
const azure = { tenant_id: 'tenant', client_ids: map({ snake_key: 'a', camelKey: 'b' }) }
const installation = { installation_id: '9007199254740993', name: 'robots' }
const github = { app_installations: map({ '9007199254740995': { installations: [installation] } }) }

/** The keys of `app_installations` are data; the members below them are not. */
const inDialect = (published: boolean) =>
  published
    ? { app_installations: map({ '9007199254740995': { installations: [{ installationId: '9007199254740993', name: 'robots' }] } }) }
    : github

/** facts §3.7 */
export const associations: readonly Case[] = [
  shows(
    'account associations: create, read, replace, delete',
    [
      'iam.account_associations.create',
      'iam.account_associations.list',
      'iam.account_associations.update',
      'iam.account_associations.delete',
    ],
    async (api) => {
      const group = (await make.folder(api)).id
      const path = `${ASSOCIATIONS}/${group}`
      const hub = inDialect(api.dialect === 'published')
      const all = { name: 'all', description: 'words', amazon, google, azure, github: hub }
      const made = await api.post(path, { ...all, group: api.organization })
      ok(api, made, shape.association(group, all))
      api.later((owner) => owner.delete(path))
      ok(api, await api.get(ASSOCIATIONS, { group }), { items: [shape.association(group, all)] })
      ok(api, await api.get(ASSOCIATIONS, { group, name: 'other' }), { items: [] })
      ok(api, await api.put(path, { name: 'less', google }), shape.association(group, { name: 'less', google }))
      ok(api, await api.put(path, { name: 'more', google, azure }), shape.association(group, { name: 'more', google, azure }))
      const read = items(await api.get(ASSOCIATIONS, { group }))[0]
      const written = await api.send({ method: 'PUT', path, text: JSON.stringify({ ...read, group: 'other' }) })
      ok(api, written, shape.association(group, { name: 'more', google, azure }))
      refused(await api.post(path, { name: 'twice', amazon }), 6)
      ok(api, await api.delete(path), {})
      ok(api, await api.delete(path), {})
      ok(api, await api.get(ASSOCIATIONS, { group }), { items: [] })
      refused(await api.put(path, { name: 'gone', amazon }), 5)
    },
  ),
  shows(
    'account associations: service bindings',
    ['iam.account_associations.create', 'iam.account_associations.update'],
    { roles: ['admin'] },
    async (api) => {
      const group = (await make.folder(api)).id
      const fields = { name: 'syncer', claim_match: undefined, service_principal: 'CATALOG_SYNCER' }
      const { id } = await make.identity(api.as('admin'), group, fields)
      const chainguard = { service_bindings: map({ CATALOG_SYNCER: id }) }
      const made = await make.association(api, group, { amazon: undefined, chainguard })
      ok(api, { status: 200, type: null, body: made }, shape.association(group, { chainguard }))
      const wrong = { service_bindings: map({ INGESTER: id }) }
      refused(await api.put(`${ASSOCIATIONS}/${group}`, { name: 'cloud', chainguard: wrong }), 3)
    },
  ),
  shows('account associations: check', ['iam.account_associations.check'], { roles: ['outsider'] }, async (api) => {
    const group = (await make.folder(api)).id
    await make.association(api, group)
    const path = `${ASSOCIATIONS}/${group}:check`
    for (const account_type of ['GOOGLE', 'AMAZON', 'AZURE']) {
      const answer = ok(api, await api.post(path, { account_type }), { ready: anything, reason: anything, message: anything })
      same(['Ready', 'NotReady'].includes(answer.ready), true, answer.ready)
    }
    ok(api, await api.post(path, { account_type: 'GOOGLE' }), { ready: 'NotReady', reason: text, message: anything })
    await api.otherwise.post(path, { account_type: 'AMAZON' })
    await api.post(path, {})
    await api.post(path, { account_type: 1 })
    refused(await api.inAnyWords.post(path, { account_type: 'ORACLE' }), 3)
    refused(await api.as('outsider').post(path, { account_type: 'GOOGLE' }), 7)
    await api.post(`${ASSOCIATIONS}/${(await make.folder(api, 'bare', group)).id}:check`, { account_type: 'GOOGLE' })
  }),
  shows(
    'account associations: refusals',
    ['iam.account_associations.create', 'iam.account_associations.update', 'iam.account_associations.delete'],
    { roles: ['viewer'] },
    async (api) => {
      const path = `${ASSOCIATIONS}/${(await make.folder(api)).id}`
      refused(await api.post(path, { name: 'cloud', amazon: { account: '12' } }), 3, /^Invalid argument: amazon.account: /)
      refused(await api.post(path, { name: 'Cloud', amazon }), 3, /^Invalid argument: name: /)
      refused(await api.post(path, { name: 'cloud', google: { project_id: 'a' } }), 3, /^Invalid argument: google.project_number: /)
      refused(await api.post(path, { name: 'cloud', azure: { client_ids: map({ a: 'b' }) } }), 3, /^Invalid argument: azure.tenant_id: /)
      refused(await api.as('viewer').post(path, { name: 'cloud', amazon }), 7)
      refused(await api.as('viewer').put(path, { name: 'cloud', amazon }), 7)
      refused(await api.as('viewer').delete(path), 7)
    },
  ),
]
