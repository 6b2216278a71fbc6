import * as make from '../../expect.ts'
import { below, inFolder, ok, refused, same, text, time } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, extra } from '../../target.ts'

const INVITES = '/iam/v1/group_invites'

/** facts §3.8 */
export const invites: readonly Case[] = [
  inFolder('invites: made with a code, listed without', ['iam.group_invites.create', 'iam.group_invites.list'], async (api, parent) => {
    const viewer = await make.builtIn(api, 'viewer')
    const role = shape.nestedRole({ id: viewer.id, name: 'viewer', capabilities: viewer.capabilities })
    const answer = await api.post(`${INVITES}/${parent}`, { ttl: '3600s', role: viewer.id, email: 'a@example.com', single_use: true })
    const created = { id: below(parent), expiration: time, key_id: text, role, code: text }
    const made = ok(api, answer, extra(created, { created_at: time, group_id: parent }))
    api.later((owner) => owner.delete(`${INVITES}/${made.id}`))
    const keyId = api.member(made, 'key_id')
    const stored = shape.storedInvite(parent, { id: made.id, key_id: keyId, role, email: 'a@example.com', single_use: true })
    ok(api, await api.get(INVITES, { id: made.id }), { items: [stored] })
    ok(api, await api.get(INVITES, { key_id: keyId }), { items: [stored] })
    ok(api, await api.otherwise.get(INVITES, { key_id: keyId, group: parent }), { items: [stored] })
    ok(api, await api.get(INVITES, { key_id: keyId, group: api.organization }), { items: [] })
    ok(api, await api.get(INVITES, { id: made.id, key_id: 'other' }), { items: [] })
    ok(api, await api.get(INVITES, { group: 'no such group' }), { items: [] })
    const any = ok(
      api,
      await api.otherwise.post(`${INVITES}/${parent}`, { ttl: '60s', role: viewer.id }),
      extra(created, { created_at: time, group_id: parent }),
    )
    ok(api, await api.get(INVITES, { id: any.id }), { items: [shape.storedInvite(parent, { role })] })
    ok(api, await api.delete(`${INVITES}/${any.id}`), {})
  }),
  inFolder('invites: for a role that is gone', ['iam.group_invites.list'], async (api, parent) => {
    const { id: role } = await make.role(api, parent)
    const made = await make.invite(api, parent, role)
    ok(api, await api.delete(`/iam/v1/roles/${role}`), {})
    ok(api, await api.get(INVITES, { id: made.id }), { items: [shape.storedInvite(parent, { role: null })] })
  }),
  inFolder(
    'invites: refusals and deletes',
    ['iam.group_invites.create', 'iam.group_invites.delete'],
    { roles: ['viewer', 'outsider'] },
    async (api, parent) => {
      const viewer = (await make.builtIn(api, 'viewer')).id
      const path = `${INVITES}/${parent}`
      refused(await api.post(path, { ttl: '3600s' }), 3)
      for (const ttl of ['-5s', '300000000000s']) refused(await api.post(path, { ttl, role: viewer }), 3)
      for (const ttl of ['315576000001s', '1e2s']) refused(await api.inAnyWords.post(path, { ttl, role: viewer }), 3)
      refused(await api.post(path, { ttl: '3600s', role: `${parent}/${'0'.repeat(16)}` }), 3)
      refused(await api.as('viewer').post(path, { ttl: '3600s', role: viewer }), 7)
      const made = await make.invite(api, parent, viewer)
      refused(await api.as('outsider').delete(`${INVITES}/${made.id}`), 7)
      ok(api, await api.delete(`${INVITES}/${made.id}`), {})
      ok(api, await api.delete(`${INVITES}/${made.id}`), {})
      same((await api.get(INVITES, { group: parent })).body, { items: [] }, 'after the delete')
    },
  ),
]
