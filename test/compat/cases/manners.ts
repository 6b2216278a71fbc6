import type { Case } from '../case.ts'
import { items, ok, refused, same } from '../expect.ts'
import { folder, role as makeRole, repo } from '../fixtures.ts'
import { anything } from '../match.ts'
import * as shape from '../shapes.ts'

const json = { 'content-type': 'application/json' }

/** How v1 takes requests and refuses them, whatever the resource (facts §12, §15, §16). */
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
    name: 'any content type is read as JSON',
    operations: ['iam.groups.create'],
    run: async (api) => {
      const { id: parent } = await folder(api)
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/octet-stream',
        'application/json; charset=utf-8',
      ]) {
        const path = `/iam/v1/groups/${parent}`
        const answer = await api.send({ method: 'POST', path, headers: { 'content-type': type }, text: '{"name":"typed"}' })
        const { id } = ok(api, answer, shape.group(parent, { name: 'typed' }))
        ok(api, await api.delete(`/iam/v1/groups/${id}`), {})
      }
    },
  },
  {
    name: 'an empty body is an empty message',
    operations: ['iam.identities.create', 'iam.groups.delete', 'iam.groups.update'],
    run: async (api) => {
      const { id } = await folder(api)
      refused(await api.send({ method: 'POST', path: `/iam/v1/identities/${id}`, headers: json, text: '' }), 3, /^Invalid argument: name: /)
      refused(await api.send({ method: 'POST', path: `/iam/v1/identities/${id}` }), 3, /^Invalid argument: name: /)
      refused(await api.send({ method: 'PUT', path: `/iam/v1/groups/${id}` }), 3, /^Invalid argument: name: /)
      ok(api, await api.send({ method: 'DELETE', path: `/iam/v1/groups/${id}`, headers: json }), {})
    },
  },
  {
    name: 'a body that is not the message is 400',
    operations: ['iam.groups.create', 'iam.groups.update', 'registry.repos.create'],
    run: async (api) => {
      const { id } = await folder(api)
      const post = (path: string, text: string) => api.inAnyWords.send({ method: 'POST', path, headers: json, text })
      for (const text of ['{"name":', 'name', '[]', '"name"', '7']) refused(await post(`/iam/v1/groups/${id}`, text), 3)
      refused(await api.inAnyWords.send({ method: 'PUT', path: `/iam/v1/groups/${id}`, headers: json, text: '{"name":}' }), 3)
      refused(await post(`/iam/v1/groups/${id}`, '{"name":7}'), 3)
      refused(await post(`/iam/v1/groups/${id}`, '{"name":["a"]}'), 3)
      refused(await post(`/iam/v1/groups/${id}`, '{"name":"a","verified":"yes"}'), 3)
      refused(await post(`/registry/v1/repos/${id}`, '{"name":"a","bundles":"base"}'), 3)
      refused(await post(`/registry/v1/repos/${id}`, '{"name":"a","catalogTier":"PREMIUM"}'), 3)
      refused(await post(`/iam/v1/group_invites/${id}`, '{"role":"x","ttl":"soon"}'), 3)
      ok(api, await api.get('/registry/v1/repos', { 'uidp.children_of': id }), { items: [] })
    },
  },
  {
    name: 'unknown members, null members and ids in a body',
    operations: ['iam.groups.create', 'iam.groups.update', 'registry.repos.create', 'registry.repos.update'],
    run: async (api) => {
      const parent = (await folder(api)).id
      const id = (await folder(api, 'child', parent)).id
      const body = { name: 'renamed', description: null, resource_limits: null, id: api.organization, colour: 'red', members: [{ a: 1 }] }
      ok(api, await api.put(`/iam/v1/groups/${id}`, body), shape.group(parent, { id, name: 'renamed' }))
      const made = ok(api, await api.post(`/iam/v1/groups/${id}`, { ...body, name: 'below' }), shape.group(id, { name: 'below' }))
      ok(api, await api.delete(`/iam/v1/groups/${made.id}`), {})
      const box = await repo(api, id, { id: made.id, colour: 'red', bundles: null, sync_config: null, custom_overlay: null })
      ok(api, await api.put(`/registry/v1/repos/${box.id}`, { ...body, name: 'box' }), shape.repo(id, { id: box.id, name: 'box' }))
    },
  },
  {
    name: 'both spellings of a member in one script',
    operations: ['iam.role_bindings.list', 'registry.repos.create', 'registry.repos.list', 'iam.identities.create'],
    run: async (api) => {
      const { id } = await folder(api)
      const text = '{"name":"mixed","customOverlay":{"environment":{"snake_key":"1","camelKey":"2"}},"active_tags":["a"]}'
      const path = `/registry/v1/repos/${id}`
      const admin = api.as('admin')
      const made = ok(api, await admin.send({ method: 'POST', path, headers: json, text }), anything)
      same(api.member(made, 'active_tags'), ['a'], 'active_tags')
      same(api.member(made, 'custom_overlay').environment, { snake_key: '1', camelKey: '2' }, 'keys of a user map')
      const query = `uidp.childrenOf=${id}&order_by=name&pageSize=1000`
      same(items(await api.send({ method: 'GET', path: `/registry/v1/repos?${query}` })).length, 1, 'rows')
      same(
        items(await api.send({ method: 'GET', path: `/registry/v1/repos?uidp.children_of=${id}&uidp.ids=${made.id}` })).length,
        1,
        'rows',
      )
      ok(api, await admin.delete(`/registry/v1/repos/${made.id}`), {})
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
    name: 'enums by number and by name',
    operations: ['registry.repos.create', 'registry.repos.update', 'iam.account_associations.check'],
    roles: ['admin'],
    run: async (api) => {
      const parent = (await folder(api)).id
      const admin = api.as('admin')
      const { id } = await repo(admin, parent, { catalog_tier: 4 })
      ok(api, await api.get('/registry/v1/repos', { id }), { items: [shape.repo(parent, { catalog_tier: 'APPLICATION' })] })
      const updated = await admin.put(`/registry/v1/repos/${id}`, { name: 'repo', catalog_tier: 'FIPS' })
      ok(api, updated, shape.repo(parent, { catalog_tier: 'FIPS' }))
      ok(api, await admin.put(`/registry/v1/repos/${id}`, { name: 'repo', catalog_tier: 0 }), shape.repo(parent))
    },
  },
  {
    name: 'slashes of a uid in the path, raw or encoded',
    operations: ['iam.groups.update', 'iam.groups.delete', 'iam.groups.create', 'iam.roles.delete'],
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
    name: 'an id in the path that is no uid',
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
    name: 'uids longer than a hundred characters',
    operations: ['iam.groups.create', 'iam.groups.update', 'iam.groups.list', 'iam.groups.delete'],
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
    operations: ['iam.groups.check_eligibility', 'registry.eol_tags.list', 'registry.repo_tags_summary.get'],
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
  {
    name: 'texts outside ASCII',
    operations: ['iam.groups.update', 'iam.roles.create', 'registry.repos.update', 'iam.groups.list'],
    run: async (api) => {
      const description = 'Füße, 東京, 🚀 and "quotes" \\ <tags> & more'
      const parent = (await folder(api)).id
      const updated = await api.put(`/iam/v1/groups/${parent}`, { name: 'unicode', description })
      ok(api, updated, shape.group(api.organization, { name: 'unicode', description }))
      ok(api, await api.get('/iam/v1/groups', { id: parent }), { items: [shape.group(api.organization, { name: 'unicode', description })] })
      await makeRole(api, parent, { description })
      const box = await repo(api, parent, { description })
      ok(api, await api.get('/registry/v1/repos', { id: box.id }), { items: [shape.repo(parent, { description })] })
      ok(api, await api.get('/iam/v1/groups', { name: 'nö such – thing 🚀' }), { items: [] })
    },
  },
]
