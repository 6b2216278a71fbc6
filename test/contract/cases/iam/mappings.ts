import * as make from '../../expect.ts'
import { anything, ok, refused, shows } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import type { Case } from '../../target.ts'

const PROVIDERS = '/iam/v1/identityProviders'
const MAPPINGS = '/iam/v1/externalGroupRoleMappings'
const MISSING = '0'.repeat(16)

/** External group role mappings (facts §3.9). */
export const mappings: readonly Case[] = [
  shows(
    'mappings: create, read, delete',
    [
      'iam.external_group_role_mappings.create',
      'iam.external_group_role_mappings.get',
      'iam.external_group_role_mappings.list',
      'iam.external_group_role_mappings.delete',
    ],
    { roles: ['outsider', 'viewer'] },
    async (api) => {
      const viewer = (await make.builtIn(api, 'viewer')).id
      const { id: parent } = await make.provider(api, viewer)
      const body = { external_group_id: 'Engineers ✓', role_uidp: viewer, scope: api.organization, identity_provider_uidp: 'ignored' }
      const expected = shape.mapping(parent, { ...body, identity_provider_uidp: parent })
      const { id } = ok(api, await api.post(`${MAPPINGS}/${parent}`, body), expected)
      ok(api, await api.get(`${MAPPINGS}/${id}`), expected)
      ok(api, await api.get(`${MAPPINGS}/${id.replaceAll('/', '%2F')}`), expected)
      ok(api, await api.otherwise.get(MAPPINGS, { identity_provider_uidp: parent }), { items: [expected] })
      ok(api, await api.get(MAPPINGS, { identity_provider_uidp: `${api.organization}/${MISSING}` }), { items: [] })
      refused(await api.get(`${MAPPINGS}/${parent}/${MISSING}`), 5)
      refused(await api.as('outsider').get(`${MAPPINGS}/${id}`), 7)
      refused(await api.post(`${MAPPINGS}/${parent}`, body), 6)
      refused(await api.post(`${MAPPINGS}/${parent}`, { ...body, scope: `${api.organization}/${MISSING}` }), 3)
      refused(await api.as('viewer').post(`${MAPPINGS}/${parent}`, body), 7)
      refused(await api.as('viewer').delete(`${MAPPINGS}/${id}`), 7)
      refused(await api.delete(`${PROVIDERS}/${parent}`), 9, /^Precondition failed: /)
      ok(api, await api.delete(`${MAPPINGS}/${id}`), {})
      ok(api, await api.delete(`${MAPPINGS}/${id}`), {})
      ok(api, await api.delete(`${PROVIDERS}/${parent}`), {})
      ok(api, await api.delete(`${PROVIDERS}/${parent}`), {})
    },
  ),
  shows('mappings: delete a batch', ['iam.external_group_role_mappings.batch_delete'], { roles: ['viewer'] }, async (api) => {
    const viewer = (await make.builtIn(api, 'viewer')).id
    const { id: parent } = await make.provider(api, viewer)
    const one = (await make.mapping(api, parent, 'one', viewer)).id
    const two = (await make.mapping(api, parent, 'two', viewer)).id
    const remove = (ids: readonly string[]) => api.post(`${MAPPINGS}:batchDelete`, { parent_id: parent, ids })
    refused(await api.as('viewer').post(`${MAPPINGS}:batchDelete`, { parent_id: parent, ids: [one] }), 7)
    refused(await remove([one, `${api.organization}/${MISSING}/${MISSING}`]), 3)
    const items = [shape.mapping(parent, { id: one, external_group_id: 'one' })]
    ok(api, await remove([one, `${parent}/${MISSING}`]), { parent_id: parent, items })
    ok(api, await remove([one]), { parent_id: parent, items: [] })
    ok(api, await api.otherwise.post(`${MAPPINGS}:batchDelete`, { parent_id: parent, ids: [two] }), {
      parent_id: parent,
      items: [anything],
    })
    ok(api, await api.get(MAPPINGS, { identity_provider_uidp: parent }), { items: [] })
  }),
]
