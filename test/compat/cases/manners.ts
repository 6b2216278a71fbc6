import type { Case } from '../case.ts'
import { items, ok, refused, same } from '../expect.ts'
import { folder, repo } from '../fixtures.ts'
import { anything } from '../match.ts'
import * as shape from '../shapes/shapes.ts'

const json = { 'content-type': 'application/json' }

/** How v1 reads paths, methods and queries, and how it refuses them (facts §12, §15). */
export const manners: readonly Case[] = [
  {
    name: 'ping needs no token',
    operations: ['ping.ping.ping'],
    reads: true,
    roles: ['nobody', 'stranger'],
    run: async (api) => {
      for (const role of ['owner', 'nobody', 'stranger'] as const) ok(api, await api.as(role).get('/ping/v1/ping'), { response: anything })
    },
  },
  {
    name: 'an unknown path is 404',
    operations: [],
    reads: true,
    roles: ['nobody'],
    run: async (api) => {
      for (const path of [
        '/registry/v1/nothing',
        '/registry/v1',
        '/iam/v1/groupies',
        '/iam/v1/terms:accept',
        '/ping/v1/ping/pong',
        '/ping/v1',
      ]) {
        refused(await api.get(path), 5, 'Not Found')
        refused(await api.as('nobody').get(path), 5, 'Not Found')
      }
    },
  },
  {
    name: 'a known path with another method is 501',
    operations: [],
    run: async (api) => {
      refused(await api.delete('/ping/v1/ping'), 12, 'Method Not Allowed')
      refused(await api.patch('/iam/v1/groups', {}), 12, 'Method Not Allowed')
      refused(await api.put('/registry/v1/eoltags', {}), 12, 'Method Not Allowed')
      refused(await api.get(`/iam/v1/groups/${api.organization}`), 12, 'Method Not Allowed')
      refused(await api.get(`/registry/v1/tags/${api.organization}`), 12, 'Method Not Allowed')
    },
  },
  {
    name: 'a parameter given in both spellings is given twice',
    operations: ['registry.tags.list', 'iam.group_invites.list'],
    reads: true,
    run: async (api) => {
      const query = 'uidp.children_of=a&uidp.childrenOf=b'
      refused(await api.send({ method: 'GET', path: `/registry/v1/tags?${query}` }), 3, 'too many values for field "children_of": a, b')
      refused(
        await api.send({ method: 'GET', path: '/iam/v1/group_invites?key_id=a&keyId=b' }),
        3,
        'too many values for field "key_id": a, b',
      )
    },
  },
  {
    name: 'slashes of a uid in the path, raw or encoded',
    operations: ['iam.groups.update', 'iam.groups.delete', 'iam.groups.create'],
    run: async (api) => {
      const parent = (await folder(api)).id
      const encoded = parent.replaceAll('/', '%2F')
      ok(
        api,
        await api.put(`/iam/v1/groups/${encoded}`, { name: 'encoded' }),
        shape.group(api.organization, { id: parent, name: 'encoded' }),
      )
      ok(
        api,
        await api.put(`/iam/v1/groups/${parent.replaceAll('/', '%2f')}`, { name: 'low' }),
        shape.group(api.organization, { name: 'low' }),
      )
      const made = ok(api, await api.post(`/iam/v1/groups/${encoded}`, { name: 'a' }), shape.group(parent, { name: 'a' }))
      ok(api, await api.delete(`/iam/v1/groups/${made.id.replaceAll('/', '%2F')}`), {})
      ok(api, await api.get('/iam/v1/groups', { id: made.id }), { items: [] })
    },
  },
  {
    name: 'an id in the path that is not a uid',
    operations: ['iam.groups.update', 'iam.groups.delete', 'iam.identities.create', 'registry.repos.update', 'registry.tags.delete'],
    run: async (api) => {
      const fields = { name: 'a' }
      refused(await api.put('/iam/v1/groups/nonsense', fields), 3, /^Invalid argument: id: /)
      refused(await api.delete('/iam/v1/groups/nonsense'), 3, /^Invalid argument: id: /)
      refused(await api.inAnyWords.delete('/iam/v1/groups'), 3, /^Invalid argument: id: /)
      refused(await api.post('/iam/v1/identities/nonsense', fields), 3, /^Invalid argument: parent_id: /)
      refused(await api.put('/iam/v1/roles/nonsense', fields), 3, /^Invalid argument: id: /)
      refused(await api.put('/iam/v1/rolebindings/nonsense', fields), 3, /^Invalid argument: id: /)
      refused(await api.put('/iam/v1/account_associations/nonsense', fields), 3, /^Invalid argument: group: /)
      refused(await api.get('/iam/v1/externalGroupRoleMappings/nonsense'), 3, /^Invalid argument: uid: /)
      refused(await api.get('/iam/v1/terms/nonsense'), 3, /^Invalid argument: group: /)
      refused(await api.post('/registry/v1/repos/nonsense', fields), 3, /^Invalid argument: parent_id: /)
      refused(await api.put('/registry/v1/repos/nonsense', fields), 3, /^Invalid argument: id: /)
      refused(await api.delete('/registry/v1/tags/nonsense'), 3, /^Invalid argument: id: /)
    },
  },
  {
    name: 'filters that are empty, encoded or spelled with a plus',
    operations: ['iam.groups.list'],
    run: async (api) => {
      const parent = (await folder(api)).id
      const { id } = await folder(api, 'two words', parent)
      const listed = (query: string) => api.send({ method: 'GET', path: `/iam/v1/groups?${query}` })
      for (const name of ['two%20words', 'two+words']) same(items(await listed(`uidp.children_of=${parent}&name=${name}`)).length, 1, name)
      same(items(await listed(`uidp.children_of=${encodeURIComponent(parent)}&name=`)).length, 1, 'an empty name is no filter')
      same(items(await listed(`uidp.children_of=${parent}&uidp.ids=&uidp.descendants_of=`)).length, 1, 'empty scopes are none')
      same(items(await listed(`id=${id}&uidp.children_of=`)).length, 1, 'by id, with an empty scope')
      same(items(await listed(`id=${id}&limit=1`)).length, 1, 'by id, in a window')
      same(items(await listed(`id=${id}&offset=1`)).length, 0, 'by id, beyond a window')
      same(items(await listed(`uidp.children_of=${parent}&offset=0&page=1`)).length, 1, 'a zero is unset')
      refused(await listed('uidp.in_root='), 3, /^parsing field "in_root": /)
      refused(await listed('limit='), 3, /^parsing field "limit": /)
      refused(await listed('limit=99999999999'), 3, /^parsing field "limit": .*value out of range/)
      refused(await listed(`id=${id}&order_by=colour`), 3, /^Invalid argument: order_by: /)
      refused(await listed(`id=${id}&limit=-1`), 3, /^Invalid argument: limit: /)
      refused(await listed('name=a&name=b&uidp.in_root=x'), 3)
      refused(await api.inAnyWords.send({ method: 'GET', path: '/iam/v1/groups?name=%zz' }), 3)
      refused(await api.inAnyWords.send({ method: 'GET', path: '/iam/v1/groups/%zz' }), 3)
    },
  },
  {
    name: 'a slash at the end, and slashes in a row',
    operations: ['iam.groups.list', 'iam.groups.update'],
    run: async (api) => {
      const { id } = await folder(api)
      same(items(await api.get('/iam/v1/groups/', { 'uidp.ids': id })).length, 1, 'rows')
      refused(await api.get('/iam/v1//groups'), 5, 'Not Found')
      ok(api, await api.put(`/iam/v1/groups/${id}/`, { name: api.name() }), anything)
      refused(await api.inAnyWords.put(`/iam/v1/groups/${id.replace('/', '//')}`, { name: api.name() }), 3, /^Invalid argument: id: /)
    },
  },
  {
    name: 'methods that v1 never had',
    operations: [],
    run: async (api) => {
      for (const method of ['OPTIONS', 'HEAD', 'PATCH']) {
        const answer = await api.send({ method, path: '/iam/v1/groups' })
        same(answer.status, 501, method)
        same((await api.send({ method, path: '/iam/v1/nothing' })).status, 404, method)
      }
    },
  },
  {
    name: 'a method in a header',
    operations: ['iam.groups.list'],
    run: async (api) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' }
      const { id } = await folder(api)
      const answer = await api.send({ method: 'POST', path: '/iam/v1/groups', headers, text: `id=${encodeURIComponent(id)}` })
      same(items(answer).length, 1, 'rows')
    },
  },
  {
    name: 'uids longer than a hundred characters',
    operations: ['iam.groups.create', 'iam.groups.update', 'iam.groups.list'],
    run: async (api) => {
      let parent = (await folder(api)).id
      for (const depth of [1, 2, 3]) parent = (await folder(api, `depth-${depth}`, parent)).id
      const { id } = await folder(api, 'deep', parent)
      same(id.length > 100, true, 'long')
      ok(api, await api.put(`/iam/v1/groups/${id}`, { name: 'deeper' }), shape.group(parent, { name: 'deeper' }))
      ok(api, await api.get('/iam/v1/groups', { id }), { items: [shape.group(parent, { name: 'deeper' })] })
      same(items(await api.get('/iam/v1/groups', { 'uidp.ancestors_of': id })).length, 6, 'the chain up to the organization')
    },
  },
  {
    name: 'a form where the route is a GET',
    operations: ['iam.groups.check_eligibility', 'registry.eol_tags.list'],
    run: async (api) => {
      const form = { 'content-type': 'application/x-www-form-urlencoded' }
      const asked = await api.send({ method: 'POST', path: '/iam/v1/groups:checkEligibility', headers: form, text: '' })
      ok(api, asked, { eligible: anything })
      const box = await repo(api, (await folder(api)).id)
      const text = `uidp.children_of=${encodeURIComponent(box.id)}&page_size=5`
      const listed = await api.send({ method: 'POST', path: '/registry/v1/eoltags', headers: form, text })
      ok(api, listed, { items: [], next_page_token: '' })
      refused(await api.send({ method: 'POST', path: '/registry/v1/eoltags', headers: json, text: '{}' }), 12, 'Method Not Allowed')
    },
  },
]
