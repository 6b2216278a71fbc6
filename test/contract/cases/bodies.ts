import { anything, association, builtIn, folder, items, role as makeRole, ok, refused, repo, same, shows } from '../expect.ts'
import * as shape from '../shapes.ts'
import type { Case } from '../target.ts'

const json = { 'content-type': 'application/json' }

/** How v1 reads a body (facts §12.5, §16). */
export const bodies: readonly Case[] = [
  shows('any content type is read as JSON', ['iam.groups.create'], async (api) => {
    const { id: parent } = await folder(api)
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', 'application/json; charset=utf-8']) {
      const path = `/iam/v1/groups/${parent}`
      const answer = await api.send({ method: 'POST', path, headers: { 'content-type': type }, text: '{"name":"typed"}' })
      const { id } = ok(api, answer, shape.group(parent, { name: 'typed' }))
      ok(api, await api.delete(`/iam/v1/groups/${id}`), {})
    }
  }),
  shows('an empty body is an empty message', ['iam.identities.create', 'iam.groups.delete', 'iam.groups.update'], async (api) => {
    const { id } = await folder(api)
    refused(await api.send({ method: 'POST', path: `/iam/v1/identities/${id}`, headers: json, text: '' }), 3, /^Invalid argument: name: /)
    refused(await api.send({ method: 'POST', path: `/iam/v1/identities/${id}` }), 3, /^Invalid argument: name: /)
    refused(await api.send({ method: 'PUT', path: `/iam/v1/groups/${id}` }), 3, /^Invalid argument: name: /)
    ok(api, await api.send({ method: 'DELETE', path: `/iam/v1/groups/${id}`, headers: json }), {})
  }),
  shows(
    'a member in both spellings is 400, the same value or not',
    ['registry.repos.create', 'registry.repos.update', 'iam.account_associations.check'],
    async (api) => {
      const { id: parent } = await folder(api)
      const { id } = await repo(api, parent)
      const send = (method: string, path: string, text: string) => api.inAnyWords.send({ method, path, headers: json, text })
      const path = '/registry/v1/repos'
      refused(await send('POST', `${path}/${parent}`, '{"name":"two","catalog_tier":"BASE","catalogTier":"BASE"}'), 3)
      refused(await send('PUT', `${path}/${id}`, '{"name":"repo","activeTags":["a"],"active_tags":["b"]}'), 3)
      refused(await send('PUT', `${path}/${id}`, '{"name":"repo","custom_overlay":{"accounts":{"run_as":"a","runAs":"a"}}}'), 3)
      await association(api, parent)
      const check = `/iam/v1/account_associations/${parent}:check`
      refused(await send('POST', check, '{"account_type":"GOOGLE","accountType":"AMAZON"}'), 3)
      ok(api, await api.get(path, { 'uidp.children_of': parent }), { items: [shape.repo(parent, { id })] })
    },
  ),
  shows(
    'a long number keeps its digits, written as a number or as a text',
    ['iam.account_associations.create', 'iam.account_associations.list'],
    async (api) => {
      for (const [at, written] of ['9007199254740993', '"9007199254740993"', '-9223372036854775808'].entries()) {
        const { id } = await folder(api, `f${at}`)
        const github = `{"appInstallations":{"7":{"installations":[{"installationId":${written},"name":"x"}]}}}`
        const path = `/iam/v1/account_associations/${id}`
        const made = await api.send({ method: 'POST', path, headers: json, text: `{"name":"cloud","github":${github}}` })
        api.later((owner) => owner.delete(path))
        const shown = (body: typeof made.body) => api.member(body.github, 'app_installations')['7'].installations[0]
        for (const body of [made.body, items(await api.get('/iam/v1/account_associations', { group: id }))[0]])
          same(api.member(shown(body), 'installation_id'), written.replaceAll('"', ''), 'installation id')
      }
    },
  ),
  shows('a body that is not the message is 400', ['iam.groups.create', 'iam.groups.update', 'registry.repos.create'], async (api) => {
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
  }),
  shows(
    'unknown members, null members and ids in a body',
    ['iam.groups.create', 'iam.groups.update', 'registry.repos.create', 'registry.repos.update'],
    async (api) => {
      const parent = (await folder(api)).id
      const id = (await folder(api, 'child', parent)).id
      const body = { name: 'renamed', description: null, resource_limits: null, id: api.organization, colour: 'red', members: [{ a: 1 }] }
      ok(api, await api.put(`/iam/v1/groups/${id}`, body), shape.group(parent, { id, name: 'renamed' }))
      const made = ok(api, await api.post(`/iam/v1/groups/${id}`, { ...body, name: 'below' }), shape.group(id, { name: 'below' }))
      ok(api, await api.delete(`/iam/v1/groups/${made.id}`), {})
      const box = await repo(api, id, { id: made.id, colour: 'red', bundles: null, sync_config: null, custom_overlay: null })
      ok(api, await api.put(`/registry/v1/repos/${box.id}`, { ...body, name: 'box' }), shape.repo(id, { id: box.id, name: 'box' }))
    },
  ),
  shows('both spellings of a member in one script', ['registry.repos.create', 'registry.repos.list'], { roles: ['admin'] }, async (api) => {
    const { id } = await folder(api)
    const text = '{"name":"mixed","customOverlay":{"environment":{"snake_key":"1","camelKey":"2"}},"active_tags":["a"]}'
    const path = `/registry/v1/repos/${id}`
    const admin = api.as('admin')
    const made = ok(api, await admin.send({ method: 'POST', path, headers: json, text }), anything)
    same(api.member(made, 'active_tags'), ['a'], 'active_tags')
    same(api.member(made, 'custom_overlay').environment, { snake_key: '1', camelKey: '2' }, 'keys of a user map')
    const query = `uidp.childrenOf=${id}&order_by=name&pageSize=1000`
    same(items(await api.send({ method: 'GET', path: `/registry/v1/repos?${query}` })).length, 1, 'rows')
    same(items(await api.send({ method: 'GET', path: `/registry/v1/repos?uidp.children_of=${id}&uidp.ids=${made.id}` })).length, 1, 'rows')
    ok(api, await admin.delete(`/registry/v1/repos/${made.id}`), {})
  }),
  shows('enums by number and by name', ['registry.repos.create', 'registry.repos.update'], { roles: ['admin'] }, async (api) => {
    const parent = (await folder(api)).id
    const admin = api.as('admin')
    const { id } = await repo(admin, parent, { catalog_tier: 4 })
    ok(api, await api.get('/registry/v1/repos', { id }), { items: [shape.repo(parent, { catalog_tier: 'APPLICATION' })] })
    const updated = await admin.put(`/registry/v1/repos/${id}`, { name: 'repo', catalog_tier: 'FIPS' })
    ok(api, updated, shape.repo(parent, { catalog_tier: 'FIPS' }))
    ok(api, await admin.put(`/registry/v1/repos/${id}`, { name: 'repo', catalog_tier: 0 }), shape.repo(parent))
  }),
  shows(
    'numbers, times and durations as protobuf JSON has them',
    ['iam.group_invites.create', 'iam.account_associations.create', 'registry.repos.create'],
    { roles: ['admin'] },
    async (api) => {
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
  ),
  shows('texts outside ASCII', ['iam.groups.update', 'iam.roles.create', 'registry.repos.create', 'iam.groups.list'], async (api) => {
    const description = 'Füße, 東京, 🚀 and "quotes" \\ <tags> & more'
    const parent = (await folder(api)).id
    const updated = await api.put(`/iam/v1/groups/${parent}`, { name: 'unicode', description })
    ok(api, updated, shape.group(api.organization, { name: 'unicode', description }))
    ok(api, await api.get('/iam/v1/groups', { id: parent }), { items: [shape.group(api.organization, { name: 'unicode', description })] })
    await makeRole(api, parent, { description })
    const box = await repo(api, parent, { description })
    ok(api, await api.get('/registry/v1/repos', { id: box.id }), { items: [shape.repo(parent, { description })] })
    ok(api, await api.get('/iam/v1/groups', { name: 'nö such – thing 🚀' }), { items: [] })
  }),
]
