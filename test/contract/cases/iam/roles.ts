import * as make from '../../expect.ts'
import { anything, column, inFolder, ok, refused, same, text, uid } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, extra } from '../../target.ts'

const ROLES = '/iam/v1/roles'

/** A built-in role belongs to no group. */
const builtIn = (name: string) =>
  extra({ id: uid, name, description: text, capabilities: anything }, { created_at: anything, updated_at: anything })

/** facts §3.4 */
export const roles: readonly Case[] = [
  inFolder('roles: create with capabilities by their dotted names', ['iam.roles.create', 'iam.roles.list'], async (api, parent) => {
    const body = {
      name: 'mixed',
      description: 'words',
      capabilities: ['groups.list', 'identity_providers.scim.manage', 'subscriptions.list'],
    }
    const made = await make.role(api, parent, body)
    ok(api, { status: 200, type: null, body: made }, shape.role(parent, body))
    ok(api, await api.get(ROLES, { id: made.id }), { items: [shape.role(parent, body)] })
    ok(api, await api.get(ROLES, { name: 'mixed', 'uidp.children_of': parent }), { items: [shape.role(parent, body)] })
  }),
  inFolder('roles: below a parent, or built in', ['iam.roles.list'], { roles: ['outsider'] }, async (api, parent) => {
    const made = await make.role(api, parent)
    same(column(await api.get(ROLES, { parent }), 'id'), [made.id], 'by parent')
    same(column(await api.otherwise.get(ROLES, { parent, name: 'other' }), 'id'), [], 'by parent and another name')
    ok(api, await api.get(ROLES, { parent: '/', name: 'viewer' }), { items: [builtIn('viewer')] })
    ok(api, await api.get(ROLES, { parent: '/', name: 'viewer', 'uidp.in_root': false }), { items: [builtIn('viewer')] })
    ok(api, await api.get(ROLES, { parent: '/', 'uidp.children_of': parent }), { items: [] })
    ok(api, await api.get(ROLES, { parent: api.organization, 'uidp.children_of': parent }), { items: [] })
    ok(api, await api.get(ROLES, { 'uidp.in_root': true, name: 'owner' }), { items: [builtIn('owner')] })
    same(
      column(await api.unrecorded.get(ROLES, { parent: '/' }), 'id').every((id) => !String(id).includes('/')),
      true,
      'only built-in roles',
    )
    const viewer = await make.builtIn(api, 'viewer')
    ok(api, await api.as('outsider').get(ROLES, { id: viewer.id }), { items: [builtIn('viewer')] })
    ok(api, await api.as('outsider').get(ROLES, { parent }), { items: [] })
    ok(api, await api.get(ROLES, { id: made.id, parent: api.organization }), { items: [] })
    ok(api, await api.get(ROLES, { id: made.id, parent }), { items: [shape.role(parent)] })
    ok(api, await api.get(ROLES, { id: made.id, parent: '/' }), { items: [] })
  }),
  inFolder('roles: a PUT replaces', ['iam.roles.update'], async (api, parent) => {
    const { id } = await make.role(api, parent, { description: 'words' })
    const next = { name: 'writer', capabilities: ['tag.create'] }
    ok(api, await api.put(`${ROLES}/${id}`, next), shape.role(parent, { id, ...next, description: '' }))
    ok(api, await api.otherwise.put(`${ROLES}/${id}`, { ...next, description: 'd' }), shape.role(parent, { ...next, description: 'd' }))
    ok(api, await api.get(ROLES, { id }), { items: [shape.role(parent, { ...next, description: 'd' })] })
  }),
  inFolder('roles: refusals', ['iam.roles.create', 'iam.roles.update', 'iam.roles.delete'], { roles: ['viewer'] }, async (api, parent) => {
    const viewer = await make.builtIn(api, 'viewer')
    const full = { name: 'reader', capabilities: ['groups.list'] }
    refused(await api.post(`${ROLES}/${parent}`, { ...full, name: 'Reader' }), 3, /^Invalid argument: name: /)
    refused(await api.inAnyWords.post(`${ROLES}/${parent}`, { ...full, capabilities: ['groups.bake'] }), 3)
    refused(await api.post(`${ROLES}/${parent}`, { ...full, capabilities: ['repo.internal.admin'] }), 3)
    refused(await api.put(`${ROLES}/${parent}/${'0'.repeat(16)}`, full), 5)
    refused(await api.put(`${ROLES}/${viewer.id}`, full), 7)
    refused(await api.delete(`${ROLES}/${viewer.id}`), 7)
    refused(await api.as('viewer').post(`${ROLES}/${parent}`, full), 7)
    refused(await api.as('viewer').put(`${ROLES}/${parent}/${'0'.repeat(16)}`, full), 7)
    refused(await api.as('nobody').delete(`${ROLES}/${parent}/${'0'.repeat(16)}`), 16)
  }),
  inFolder('roles: a delete of a bound role is refused', ['iam.roles.delete'], async (api, parent) => {
    const { id } = await make.role(api, parent)
    const bound = await make.binding(api, parent, (await make.identity(api, parent)).id, id)
    refused(await api.delete(`${ROLES}/${id}`), 9, /^Precondition failed: /)
    ok(api, await api.delete(`/iam/v1/rolebindings/${bound.id}`), {})
    ok(api, await api.delete(`${ROLES}/${id}`), {})
    ok(api, await api.delete(`${ROLES}/${id}`), {})
  }),
]
