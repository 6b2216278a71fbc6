import type { Case } from '../case.ts'
import { items, ok, refused, same } from '../expect.ts'
import { builtIn, folder, role as makeRole, repo } from '../fixtures.ts'
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
      refused(await api.as('nobody').inAnyWords.send({ method: 'POST', path: `/iam/v1/groups/${id}`, headers: json, text: '{' }), 3)
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
    operations: ['registry.repos.create', 'registry.repos.list'],
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
    operations: ['registry.repos.create', 'registry.repos.update'],
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
    name: 'numbers, times and durations as protobuf JSON has them',
    operations: ['iam.group_invites.create', 'iam.account_associations.create', 'registry.repos.create'],
    roles: ['admin'],
    run: async (api) => {
      const parent = (await folder(api)).id
      const viewer = (await builtIn(api, 'viewer')).id
      const invites = `/iam/v1/group_invites/${parent}`
      for (const ttl of ['60s', '60.5s', '60.000000001s']) {
        const made = ok(api, await api.post(invites, { ttl, role: viewer }), anything)
        ok(api, await api.delete(`/iam/v1/group_invites/${made.id}`), {})
      }
      for (const ttl of ['1h', '60', 60, '']) refused(await api.inAnyWords.post(invites, { ttl, role: viewer }), 3)
      const path = `/iam/v1/account_associations/${parent}`
      const text =
        '{"name":"hub","github":{"appInstallations":{"7":{"installations":[{"installationId":42},{"installation_id":"9007199254740993"}]}}}}'
      const made = ok(api, await api.send({ method: 'POST', path, text }), anything)
      const ids = api.member(made.github, 'app_installations')['7'].installations.map((one: unknown) => api.member(one, 'installation_id'))
      same(ids, ['42', '9007199254740993'], '64 bits are texts')
      ok(api, await api.delete(path), {})
      const user = (uid: unknown) => ({ name: 'a', custom_overlay: { accounts: { users: [{ user_name: 'robot', uid }] } } })
      for (const wrong of [-1, 1.5, 4294967296, 'many']) refused(await api.inAnyWords.post(`/registry/v1/repos/${parent}`, user(wrong)), 3)
      const box = ok(api, await api.post(`/registry/v1/repos/${parent}`, user('1000')), anything)
      same(api.member(box, 'custom_overlay').accounts.users[0].uid, 1000, '32 bits are numbers')
      ok(api, await api.delete(`/registry/v1/repos/${box.id}`), {})
      for (const wrong of [
        '{"name":"a","bundles":[null]}',
        '{"name":"a","bundles":["base",7]}',
        '{"name":"a","custom_overlay":{"environment":{"a":7}}}',
      ]) {
        refused(await api.inAnyWords.send({ method: 'POST', path: `/registry/v1/repos/${parent}`, text: wrong }), 3)
      }
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
  {
    name: 'texts outside ASCII',
    operations: ['iam.groups.update', 'iam.roles.create', 'registry.repos.create', 'iam.groups.list'],
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
