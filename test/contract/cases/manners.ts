import * as make from '../expect.ts'
import { anything, column, folder, inFolder, items, ok, refused, repo, same, shows } from '../expect.ts'
import * as shape from '../shapes.ts'
import type { Case } from '../target.ts'

const json = { 'content-type': 'application/json' }

/** How v1 reads paths, methods and queries, and how it refuses them (facts §12, §15). */
export const manners: readonly Case[] = [
  shows('ping needs no token', ['ping.ping.ping'], { roles: ['nobody', 'stranger'], reads: true }, async (api) => {
    for (const role of ['owner', 'nobody', 'stranger'] as const) ok(api, await api.as(role).get('/ping/v1/ping'), { response: anything })
  }),
  shows('an unknown path is 404', [], { roles: ['nobody'], reads: true }, async (api) => {
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
  }),
  shows('a known path with another method is 501', [], async (api) => {
    refused(await api.delete('/ping/v1/ping'), 12, 'Method Not Allowed')
    refused(await api.patch('/iam/v1/groups', {}), 12, 'Method Not Allowed')
    refused(await api.put('/registry/v1/eoltags', {}), 12, 'Method Not Allowed')
    refused(await api.get(`/iam/v1/groups/${api.organization}`), 12, 'Method Not Allowed')
    refused(await api.get(`/registry/v1/tags/${api.organization}`), 12, 'Method Not Allowed')
  }),
  shows(
    'a parameter given in both spellings is given twice',
    ['registry.tags.list', 'iam.group_invites.list'],
    { reads: true },
    async (api) => {
      const query = 'uidp.children_of=a&uidp.childrenOf=b'
      refused(await api.send({ method: 'GET', path: `/registry/v1/tags?${query}` }), 3, 'too many values for field "children_of": a, b')
      refused(
        await api.send({ method: 'GET', path: '/iam/v1/group_invites?key_id=a&keyId=b' }),
        3,
        'too many values for field "key_id": a, b',
      )
    },
  ),
  shows('slashes of a uid in the path, raw or encoded', ['iam.groups.update', 'iam.groups.delete', 'iam.groups.create'], async (api) => {
    const parent = (await folder(api)).id
    const encoded = parent.replaceAll('/', '%2F')
    ok(api, await api.put(`/iam/v1/groups/${encoded}`, { name: 'encoded' }), shape.group(api.organization, { id: parent, name: 'encoded' }))
    ok(
      api,
      await api.put(`/iam/v1/groups/${parent.replaceAll('/', '%2f')}`, { name: 'low' }),
      shape.group(api.organization, { name: 'low' }),
    )
    const made = ok(api, await api.post(`/iam/v1/groups/${encoded}`, { name: 'a' }), shape.group(parent, { name: 'a' }))
    ok(api, await api.delete(`/iam/v1/groups/${made.id.replaceAll('/', '%2F')}`), {})
    ok(api, await api.get('/iam/v1/groups', { id: made.id }), { items: [] })
  }),
  shows(
    'an id in the path that is not a uid',
    ['iam.groups.update', 'iam.groups.delete', 'iam.identities.create', 'registry.repos.update', 'registry.tags.delete'],
    async (api) => {
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
  ),
  shows('filters that are empty, encoded or spelled with a plus', ['iam.groups.list'], async (api) => {
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
  }),
  shows('a slash at the end, and slashes in a row', ['iam.groups.list', 'iam.groups.update'], async (api) => {
    const { id } = await folder(api)
    same(items(await api.get('/iam/v1/groups/', { 'uidp.ids': id })).length, 1, 'rows')
    refused(await api.get('/iam/v1//groups'), 5, 'Not Found')
    ok(api, await api.put(`/iam/v1/groups/${id}/`, { name: api.name() }), anything)
    refused(await api.inAnyWords.put(`/iam/v1/groups/${id.replace('/', '//')}`, { name: api.name() }), 3, /^Invalid argument: id: /)
  }),
  shows('methods that v1 never had', [], async (api) => {
    for (const method of ['OPTIONS', 'HEAD', 'PATCH']) {
      const answer = await api.send({ method, path: '/iam/v1/groups' })
      same(answer.status, 501, method)
      same((await api.send({ method, path: '/iam/v1/nothing' })).status, 404, method)
    }
  }),
  shows('a method in a header', ['iam.groups.list'], async (api) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' }
    const { id } = await folder(api)
    const answer = await api.send({ method: 'POST', path: '/iam/v1/groups', headers, text: `id=${encodeURIComponent(id)}` })
    same(items(answer).length, 1, 'rows')
  }),
  shows('uids longer than a hundred characters', ['iam.groups.create', 'iam.groups.update', 'iam.groups.list'], async (api) => {
    let parent = (await folder(api)).id
    for (const depth of [1, 2, 3]) parent = (await folder(api, `depth-${depth}`, parent)).id
    const { id } = await folder(api, 'deep', parent)
    same(id.length > 100, true, 'long')
    ok(api, await api.put(`/iam/v1/groups/${id}`, { name: 'deeper' }), shape.group(parent, { name: 'deeper' }))
    ok(api, await api.get('/iam/v1/groups', { id }), { items: [shape.group(parent, { name: 'deeper' })] })
    same(items(await api.get('/iam/v1/groups', { 'uidp.ancestors_of': id })).length, 6, 'the chain up to the organization')
  }),
  shows('a form where the route is a GET', ['iam.groups.check_eligibility', 'registry.eol_tags.list'], async (api) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const asked = await api.send({ method: 'POST', path: '/iam/v1/groups:checkEligibility', headers: form, text: '' })
    ok(api, asked, { eligible: anything })
    const box = await repo(api, (await folder(api)).id)
    const text = `uidp.children_of=${encodeURIComponent(box.id)}&page_size=5`
    const listed = await api.send({ method: 'POST', path: '/registry/v1/eoltags', headers: form, text })
    ok(api, listed, { items: [], next_page_token: '' })
    refused(await api.send({ method: 'POST', path: '/registry/v1/eoltags', headers: json, text: '{}' }), 12, 'Method Not Allowed')
  }),
]

const REPOS = '/registry/v1/repos'
const TAGS = '/registry/v1/tags'

/** What real scripts and providers do, documented or not. */
export const habits: readonly Case[] = [
  inFolder(
    'a filter in one spelling, then in the other, beside a page size in a third',
    ['registry.tags.list', 'registry.repos.list'],
    async (api, parent) => {
      const repo = (await make.repo(api, parent)).id
      for (const name of ['a', 'b', 'c']) await make.tag(api, repo, { name })
      const names = async (query: string) =>
        column(await api.send({ method: 'GET', path: `${TAGS}?${query}` }), 'name')
          .map(String)
          .sort()
      for (const query of [
        `uidp.childrenOf=${repo}`,
        `uidp.children_of=${repo}&page_size=1000`,
        `uidp.childrenOf=${encodeURIComponent(repo)}&page_size=1000`,
        `uidp.descendantsOf=${parent}&pageSize=1000&exclude_dates=false`,
        `uidp.descendants_of=${parent}&excludeReferrers=true&exclude_epochs=1`,
      ]) {
        same(await names(query), ['a', 'b', 'c'], query)
      }
      const path = `${REPOS}?uidp.childrenOf=${parent}&uidp.descendants_of=${api.organization}`
      same(column(await api.send({ method: 'GET', path }), 'name'), ['repo'], 'two filters, two spellings')
    },
  ),
  shows(
    'an id of another kind of thing',
    ['registry.repos.list', 'registry.tags.list', 'iam.groups.list', 'iam.roles.list', 'events.subscriptions.list'],
    async (api) => {
      const group = (await make.folder(api)).id
      const repo = (await make.repo(api, group)).id
      const tag = (await make.tag(api, repo)).id
      for (const [path, ...ids] of [
        [REPOS, group, tag],
        [TAGS, group, repo],
        ['/iam/v1/groups', repo, tag],
        ['/iam/v1/roles', group, repo],
        ['/events/v1/subscriptions', group, tag],
      ] as const) {
        for (const id of ids) ok(api, await api.get(path, { id }), { items: [] })
      }
    },
  ),
  shows('a sub-path that nobody serves below one that somebody does', [], { roles: ['nobody'] }, async (api) => {
    const { id } = await make.repo(api, (await make.folder(api)).id)
    for (const path of [`${REPOS}/${id}/nothing`, `${REPOS}/${id}/digests`, `/iam/v1/groups/${id}/members`, `${TAGS}/${id}/latest`]) {
      for (const one of [api, api.as('nobody')]) refused(await one.get(path), 12, 'Method Not Allowed')
    }
    for (const path of [
      '/registry/v1/eoltags/nothing',
      '/registry/v1/vuln_reports/nothing',
      '/advisory/v1/metadata/nothing',
      '/libraries/v1',
    ]) {
      for (const one of [api, api.as('nobody')]) refused(await one.get(path), 5, 'Not Found')
    }
    // An unknown verb is a part of the id (facts §12.2).
    refused(await api.post(`${REPOS}/${id}:explode`, { name: 'repo' }), 3, /^Invalid argument: parent_id: /)
  }),
  inFolder(
    'a whole repo read, changed in one place and written back',
    ['registry.repos.list', 'registry.repos.update'],
    { roles: ['admin'] },
    async (api, parent) => {
      const source = (await make.repo(api, parent, { name: 'source', readme: undefined })).id
      const overlay = { contents: { packages: ['curl'] }, environment: { PATH: '/bin', snake_case: 'x' } }
      const wanted = { name: 'copy', readme: '# Read me\n', sync_config: { source }, custom_overlay: overlay }
      const { id } = await make.repo(api.as('admin'), parent, wanted)
      for (const one of [api, api.as('admin')]) {
        const [read] = items(await one.get(REPOS, { id }))
        const text = JSON.stringify({ ...read, description: `written by ${one.role}` })
        const written = ok(one, await one.send({ method: 'PUT', path: `${REPOS}/${id}`, text }), anything)
        same(written.description, `written by ${one.role}`, 'the change')
        const again = items(await one.get(REPOS, { id }))[0]
        same(again.readme, '# Read me\n', 'the readme')
        same(again.sync_config, read.sync_config, 'sync_config')
        same(api.member(again, 'custom_overlay'), api.member(read, 'custom_overlay'), 'the overlay')
      }
    },
  ),
  shows(
    'a token that was good until a moment ago',
    ['iam.groups.list', 'registry.repos.create', 'registry.tags.update', 'registry.tags.delete'],
    { roles: ['expired'] },
    async (api) => {
      const late = api.as('expired')
      refused(await late.get('/iam/v1/groups'), 16)
      refused(await late.get('/iam/v1/groups', { id: api.organization }), 16)
      refused(await late.post(`${REPOS}/${api.organization}`, { name: 'repo' }), 16)
      refused(await late.put(`${TAGS}/${api.organization}`, { name: 'a' }), 16)
      refused(await late.delete(`${TAGS}/${api.organization}`), 16)
    },
  ),
]
