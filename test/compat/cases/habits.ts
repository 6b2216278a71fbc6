import type { Case } from '../case.ts'
import { column, items, ok, refused, same } from '../expect.ts'
import * as make from '../fixtures.ts'
import { anything } from '../match.ts'

const REPOS = '/registry/v1/repos'
const TAGS = '/registry/v1/tags'

/** What real scripts and providers do, documented or not. */
export const habits: readonly Case[] = [
  {
    name: 'a filter in one spelling, then in the other, beside a page size in a third',
    operations: ['registry.tags.list', 'registry.repos.list'],
    run: async (api) => {
      const parent = (await make.folder(api)).id
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
  },
  {
    name: 'an id of another kind of thing',
    operations: ['registry.repos.list', 'registry.tags.list', 'iam.groups.list', 'iam.roles.list', 'events.subscriptions.list'],
    run: async (api) => {
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
  },
  {
    name: 'a sub-path that nobody serves below one that somebody does',
    operations: [],
    roles: ['nobody'],
    run: async (api) => {
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
    },
  },
  {
    name: 'a whole repo read, changed in one place and written back',
    operations: ['registry.repos.list', 'registry.repos.update'],
    roles: ['admin'],
    run: async (api) => {
      const parent = (await make.folder(api)).id
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
  },
  {
    name: 'a token that was good until a moment ago',
    operations: ['iam.groups.list', 'registry.repos.create', 'registry.tags.update', 'registry.tags.delete'],
    roles: ['expired'],
    run: async (api) => {
      const late = api.as('expired')
      refused(await late.get('/iam/v1/groups'), 16)
      refused(await late.get('/iam/v1/groups', { id: api.organization }), 16)
      refused(await late.post(`${REPOS}/${api.organization}`, { name: 'repo' }), 16)
      refused(await late.put(`${TAGS}/${api.organization}`, { name: 'a' }), 16)
      refused(await late.delete(`${TAGS}/${api.organization}`), 16)
    },
  },
]
