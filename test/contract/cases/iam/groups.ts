import * as make from '../../expect.ts'
import { anything, column, items, ok, refused, same, shows, text, time, uid } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, extra, map } from '../../target.ts'

const GROUPS = '/iam/v1/groups'

const rootGroup = (members: Record<string, unknown>) =>
  extra(
    {
      id: uid,
      name: text,
      description: anything,
      resource_limits: anything,
      verified: anything,
      kind: anything,
      status: anything,
      ...members,
    },
    { created_at: time, updated_at: time },
  )

/** facts §3.1 */
export const groups: readonly Case[] = [
  shows('groups: create below a group', ['iam.groups.create', 'iam.groups.list'], async (api) => {
    const body = { name: api.name(), description: 'made by the contract suite' }
    const made = ok(api, await api.post(`${GROUPS}/${api.organization}`, body), shape.group(api.organization, body))
    api.later((owner) => owner.delete(`${GROUPS}/${made.id}`))
    ok(api, await api.get(GROUPS, { id: made.id }), { items: [shape.group(api.organization, { ...body, id: made.id })] })
    ok(api, await api.get(GROUPS, { name: body.name }), { items: [shape.group(api.organization, body)] })
    ok(api, await api.get(GROUPS, { name: body.name.toUpperCase() }), { items: [] })
  }),
  shows('groups: a parent by its name', ['iam.groups.create'], async (api) => {
    const { id } = await make.folder(api)
    const made = ok(api, await api.post(`${GROUPS}/${api.name()}`, { name: 'child' }), shape.group(id, { name: 'child' }))
    ok(api, await api.delete(`${GROUPS}/${made.id}`), {})
    refused(await api.post(`${GROUPS}/no such group`, { name: 'child' }), 5)
  }),
  shows(
    'groups: create a root group, which its creator owns',
    ['iam.groups.create', 'iam.groups.list', 'iam.groups.delete'],
    async (api) => {
      for (const path of [GROUPS, `${GROUPS}/`]) {
        const made = ok(
          api,
          await api.post(path, { name: api.name() }),
          rootGroup({ name: api.name(), description: '', resource_limits: map({}) }),
        )
        same(made.id.includes('/'), false, 'a root uid')
        ok(api, await api.get(GROUPS, { id: made.id, 'uidp.in_root': true }), { items: [rootGroup({ name: api.name() })] })
        ok(api, await api.put(`${GROUPS}/${made.id}`, { name: api.name('more') }), rootGroup({ name: api.name('more') }))
        ok(api, await api.delete(`${GROUPS}/${made.id}`), {})
        ok(api, await api.get(GROUPS, { id: made.id }), { items: [] })
      }
    },
  ),
  shows('groups: the organization itself', ['iam.groups.list'], { reads: true }, async (api) => {
    const listed = await api.get(GROUPS, { id: api.organization })
    ok(api, listed, { items: [rootGroup({ id: api.organization })] })
    same(column(await api.unrecorded.get(GROUPS, { 'uidp.in_root': true }), 'id').includes(api.organization), true, 'in root')
    same(
      column(await api.unrecorded.get(GROUPS, { 'uidp.descendants_of': api.organization }), 'id').includes(api.organization),
      false,
      'below',
    )
    await api.get(GROUPS)
  }),
  shows('groups: the chain of ancestors', ['iam.groups.list'], async (api) => {
    const top = (await make.folder(api)).id
    const middle = (await make.folder(api, 'middle', top)).id
    const low = (await make.folder(api, 'low', middle)).id
    same(column(await api.get(GROUPS, { 'uidp.ancestors_of': low }), 'id'), [api.organization, top, middle, low], 'ancestors')
    same(new Set(column(await api.get(GROUPS, { 'uidp.descendants_of': top }), 'id')).size, 2, 'descendants')
    same(column(await api.get(GROUPS, { 'uidp.children_of': top }), 'id'), [middle], 'children')
    same(column(await api.get(GROUPS, { 'uidp.children_of': top, name: 'middle' }), 'id'), [middle], 'children by name')
    same(column(await api.get(GROUPS, { 'uidp.children_of': top, name: 'low' }), 'id'), [], 'children by a name that none has')
    same(column(await api.get(GROUPS, { id: middle, name: 'low' }), 'id'), [], 'an id with a name that is not its own')
    same(column(await api.get(GROUPS, { id: middle, name: 'middle', 'uidp.ancestors_of': low }), 'id'), [middle], 'all that fits')
  }),
  shows('groups: a PUT replaces', ['iam.groups.update'], async (api) => {
    const { id } = await make.folder(api)
    const full = { name: api.name('new'), description: 'words' }
    ok(api, await api.put(`${GROUPS}/${id}`, full), shape.group(api.organization, { ...full, id }))
    ok(api, await api.put(`${GROUPS}/${id}`, { name: full.name }), shape.group(api.organization, { name: full.name, description: '' }))
    ok(api, await api.otherwise.put(`${GROUPS}/${id}`, full), shape.group(api.organization, full))
    const read = items(await api.get(GROUPS, { id }))[0]
    ok(api, await api.send({ method: 'PUT', path: `${GROUPS}/${id}`, text: JSON.stringify(read) }), shape.group(api.organization, full))
  }),
  shows(
    'groups: refusals',
    ['iam.groups.create', 'iam.groups.update', 'iam.groups.delete'],
    { roles: ['viewer', 'outsider', 'nobody'] },
    async (api) => {
      const { id } = await make.folder(api)
      const pattern = 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"'
      refused(await api.post(`${GROUPS}/${id}`, { name: 'Upper Case' }), 3, pattern)
      refused(await api.post(`${GROUPS}/${id}`, {}), 3, pattern)
      refused(await api.put(`${GROUPS}/${id}`, { name: 'no/slash' }), 3, pattern)
      refused(await api.put(`${GROUPS}/${id}`, { name: 'a', description: 'two\nlines' }), 3, /^Invalid argument: description: /)
      refused(await api.put(`${GROUPS}/${api.organization}/${'0'.repeat(16)}`, { name: 'a' }), 5)
      for (const role of ['viewer', 'outsider'] as const) {
        refused(await api.as(role).post(`${GROUPS}/${id}`, { name: 'a' }), 7)
        refused(await api.as(role).put(`${GROUPS}/${id}`, { name: 'a' }), 7)
        refused(await api.as(role).delete(`${GROUPS}/${id}`), 7)
      }
      refused(await api.as('nobody').post(`${GROUPS}/${id}`, { name: 'a' }), 16)
      refused(await api.as('nobody').put(`${GROUPS}/${id}`, { name: 'a' }), 16)
      refused(await api.as('nobody').delete(`${GROUPS}/${id}`), 16)
    },
  ),
  shows('groups: only staff verifies a group', ['iam.groups.update', 'iam.groups.create'], { roles: ['admin'] }, async (api) => {
    const { id } = await make.folder(api)
    refused(await api.put(`${GROUPS}/${id}`, { name: api.name(), verified: true }), 7)
    ok(
      api,
      await api.as('admin').put(`${GROUPS}/${id}`, { name: api.name(), verified: true }),
      shape.group(api.organization, { name: api.name(), verified: true }),
    )
    const owned = shape.group(api.organization, { name: api.name(), description: 'by its owner', verified: true })
    ok(api, await api.put(`${GROUPS}/${id}`, { name: api.name(), description: 'by its owner', verified: true }), owned)
    ok(api, await api.put(`${GROUPS}/${id}`, { name: api.name(), description: 'by its owner' }), owned)
    const again = await api.as('admin').put(`${GROUPS}/${id}`, { name: api.name(), verified: false })
    ok(api, again, shape.group(api.organization, { name: api.name() }))
  }),
  shows('groups: a delete that others depend on is refused', ['iam.groups.delete'], async (api) => {
    const { id } = await make.folder(api)
    const blocked = async (made: { id: string }, collection: string) => {
      refused(await api.delete(`${GROUPS}/${id}`), 9, /^Precondition failed: cannot delete group with child /)
      ok(api, await api.delete(`${collection}/${made.id}`), {})
    }
    await blocked(await make.folder(api, 'child', id), GROUPS)
    await blocked(await make.repo(api, id), '/registry/v1/repos')
    await blocked(await make.identity(api, id), '/iam/v1/identities')
    await blocked(await make.role(api, id), '/iam/v1/roles')
    ok(api, await api.delete(`${GROUPS}/${id}`), {})
  }),
  shows('groups: a delete of what is gone succeeds', ['iam.groups.delete'], async (api) => {
    const { id } = await make.folder(api)
    ok(api, await api.delete(`${GROUPS}/${id}`), {})
    ok(api, await api.delete(`${GROUPS}/${id}`), {})
    ok(api, await api.get(GROUPS, { id }), { items: [] })
    refused(await api.put(`${GROUPS}/${id}`, { name: 'gone' }), 5)
  }),
  shows(
    'groups: lookup, eligibility, request for access',
    ['iam.groups.lookup', 'iam.groups.check_eligibility', 'iam.groups.request_access'],
    { roles: ['outsider', 'nobody'] },
    async (api) => {
      const found = ok(api, await api.get(`${GROUPS}:lookupGroup`), { group: anything })
      same(found.group.id, api.organization, 'the organization of the domain')
      ok(api, await api.get(`${GROUPS}:checkEligibility`), { eligible: anything })
      refused(await api.as('nobody').get(`${GROUPS}:lookupGroup`), 16)
      refused(await api.as('nobody').get(`${GROUPS}:checkEligibility`), 16)
      refused(await api.as('nobody').post(`${GROUPS}/${api.organization}:requestGroupAccess`, {}), 16)
      await api.as('outsider').get(`${GROUPS}:lookupGroup`)
      await api.as('outsider').get(`${GROUPS}:checkEligibility`)
      await api.as('outsider').post(`${GROUPS}/${api.organization}:requestGroupAccess`, {})
      refused(await api.as('outsider').post(`${GROUPS}/${api.organization}:requestGroupAccess`), 8)
      refused(await api.post(`${GROUPS}/${'f'.repeat(40)}:requestGroupAccess`, {}), 5)
    },
  ),
]
