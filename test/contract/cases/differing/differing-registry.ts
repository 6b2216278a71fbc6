import * as make from '../../expect.ts'
import { anything, column, inFolder, items, ok, refused, refusedHere, same, shows } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import type { Api, Case, Query } from '../../target.ts'

const REPOS = '/registry/v1/repos'
const TAGS = '/registry/v1/tags'
const EOL_TAGS = '/registry/v1/eoltags'
const ADVISORIES = '/vulnerabilities/v1/advisories'
const ARTIFACTS = '/libraries/v1/artifacts'

/** The lists that v1 paged by token (facts §10.2). */
const TOKEN_LISTS = [EOL_TAGS, ADVISORIES, ARTIFACTS, '/advisory/v1/metadata']

/** Gives all viewers of the organization a role of these capabilities at one group. A case can then act with exactly these. */
async function letViewers(api: Api, group: string, capabilities: readonly string[]): Promise<void> {
  const { id } = await make.role(api.unrecorded, group, { name: 'extra', capabilities })
  for (const identity of await make.holders(api.unrecorded, 'viewer')) await make.binding(api.unrecorded, group, identity, id)
}

/** Gives the outsider these capabilities at one group and none elsewhere. */
async function letOutsider(api: Api, group: string, capabilities: readonly string[]): Promise<void> {
  const { id } = await make.role(api.unrecorded, group, { name: 'just', capabilities })
  for (const identity of await make.holders(api.as('outsider').unrecorded, 'owner')) await make.binding(api.unrecorded, group, identity, id)
}

/** Parts of the registry that a genuine v1 and a proxied one show differently, each with its code (mappings/differences.ts). */
export const differingRegistry: readonly Case[] = [
  inFolder(
    'a readme is written by staff only',
    ['registry.repos.create', 'registry.repos.update'],
    { difference: 'readme-needs-staff', roles: ['admin', 'outsider'] },
    async (api, parent) => {
      const { id } = await make.repo(api.as('admin'), parent, { readme: '# Old' })
      const written = await api.put(`${REPOS}/${id}`, { name: 'repo', description: 'words', readme: '# New' })
      refusedHere(api, written, shape.repo(parent, { description: 'words', readme: '# New' }), 7)
      const row = items(await api.get(REPOS, { id }))[0]
      same(row.readme, api.here({ genuine: '# New', proxied: '# Old' }), 'readme')
      const made = await api.post(`${REPOS}/${parent}`, { name: 'second', readme: '# Second' })
      refusedHere(api, made, shape.repo(parent, { name: 'second', readme: '# Second' }), 7)
      const named = async (name: string) => items(await api.get(REPOS, { 'uidp.children_of': parent, name }))
      same((await named('second')).length, api.here({ genuine: 1, proxied: 0 }), 'repos of a create that was refused')
      await letOutsider(api, parent, ['repo.create', 'repo.update'])
      const outsider = api.as('outsider')
      const lasting = await outsider.post(`${REPOS}/${parent}`, { name: 'third', readme: '# Third' })
      refusedHere(
        api,
        lasting,
        shape.repo(parent, { name: 'third', readme: '# Third' }),
        7,
        /\(the repo was created with id .*, but without its readme\)$/,
      )
      same((await named('third')).length, 1, 'repos of a create that its maker may not undo')
      const echoed = await outsider.put(`${REPOS}/${id}`, { name: 'repo', readme: row.readme })
      refusedHere(api, echoed, shape.repo(parent, { readme: '# New' }), 7, /send none, or be let read it \(repo\.list\)/)
      const omitted = await outsider.put(`${REPOS}/${id}`, { name: 'repo', description: 'more' })
      for (const name of ['second', 'third']) for (const left of await named(name)) await api.delete(`${REPOS}/${left.id}`)
      same(omitted.body.readme, api.here<unknown>({ genuine: '', proxied: undefined }), 'a readme that the caller may not read')
    },
  ),
  inFolder(
    'a create that updates needs the capability to update',
    ['registry.repos.create'],
    { difference: 'upsert-needs-update', roles: ['viewer'] },
    async (api, parent) => {
      await make.repo(api, parent, { description: 'old' })
      await letViewers(api, parent, ['repo.create', 'repo.list'])
      const again = await api.as('viewer').post(`${REPOS}/${parent}`, { name: 'repo', description: 'new' })
      refusedHere(api, again, shape.repo(parent, { description: 'new' }), 7)
    },
  ),
  inFolder(
    'a tag is updated by those who may create it',
    ['registry.tags.update'],
    { difference: 'tag-update-needs-create', roles: ['viewer'] },
    async (api, parent) => {
      const repo = (await make.repo(api, parent)).id
      const { id } = await make.tag(api, repo)
      await letViewers(api, parent, ['tag.update', 'tag.list'])
      const updated = await api.as('viewer').put(`${TAGS}/${id}`, { name: 'latest', deprecated: true })
      refusedHere(api, updated, shape.tag(repo, { deprecated: true }), 7)
    },
  ),
  shows('a tag keeps its name', ['registry.tags.update'], { difference: 'tag-rename' }, async (api) => {
    const repo = (await make.repo(api, (await make.folder(api)).id)).id
    const { id } = await make.tag(api, repo)
    const renamed = await api.put(`${TAGS}/${id}`, { name: 'newest' })
    refusedHere(api, renamed, shape.tag(repo, { id, name: 'newest' }), 3, /^Invalid argument: name: /)
    same(column(await api.get(TAGS, { id }), 'name'), [api.here({ genuine: 'newest', proxied: 'latest' })], 'name')
  }),
  inFolder(
    'a new tag needs a digest',
    ['registry.tags.create'],
    { difference: 'tag-digest-required', roles: ['outsider'] },
    async (api, parent) => {
      const repo = (await make.repo(api, parent)).id
      const made = await api.post(`${TAGS}/${repo}`, { name: 'latest' })
      refusedHere(api, made, shape.tag(repo, { digest: '' }), 3, /^Invalid argument: digest: /)
      await make.tag(api, repo, { name: 'known' })
      await letOutsider(api, parent, ['tag.create'])
      const again = await api.as('outsider').post(`${TAGS}/${repo}`, { name: 'known' })
      refusedHere(api, again, shape.tag(repo, { name: 'known' }), 3, /^Invalid argument: digest: /)
    },
  ),
  inFolder(
    'members of sync_config that v2 keeps to itself',
    ['registry.repos.create', 'registry.repos.update'],
    { difference: 'sync-config-server-members', roles: ['admin'] },
    async (api, parent) => {
      const source = (await make.repo(api, parent, { name: 'source' })).id
      const path = `${REPOS}/${parent}`
      const admin = api.as('admin')
      const asked = { unique_tags: true, grace_period: true, apko_overlay: 'overlay', expiration: '2030-01-01T00:00:00Z' }
      const body = (more: object) => ({ name: 'copy', sync_config: { source, ...more } })
      for (const [name, value] of Object.entries(asked)) {
        const words = `Invalid argument: sync_config.${name}: may only be changed by Chainguard`
        refused(await api.post(path, body({ [name]: value })), 3, words)
      }
      same(items(await api.get(REPOS, { 'uidp.children_of': parent, name: 'copy' })).length, 0, 'nothing was written')
      const made = await admin.post(path, body(asked))
      refusedHere(
        api,
        made,
        anything,
        3,
        /^Invalid argument: sync_config\.unique_tags: may only be changed by Chainguard; sync_config\.expiration: /,
      )
      const id = made.body.id ?? (await make.repo(api, parent, body({}))).id
      api.later((owner) => owner.delete(`${REPOS}/${id}`))
      const config = async () => api.member(items(await api.get(REPOS, { id }))[0], 'sync_config')
      const stored = await config()
      const repeated = { expiration: stored.expiration, unique_tags: api.member(stored, 'unique_tags') }
      same((await api.put(`${REPOS}/${id}`, body(repeated))).status, 200, 'what is stored is repeated')
      same((await api.post(path, body(repeated))).status, 200, 'what is stored is repeated by a create')
      refused(
        await api.put(`${REPOS}/${id}`, body({ expiration: '2031-01-01T00:00:00Z' })),
        3,
        /^Invalid argument: sync_config\.expiration: /,
      )
      const other = await admin.put(`${REPOS}/${id}`, body({ apko_overlay: 'other' }))
      refusedHere(api, other, anything, 3, 'Invalid argument: sync_config.apko_overlay: may only be changed by Chainguard')
      same(api.member(await config(), 'apko_overlay'), api.here({ genuine: 'other', proxied: '' }), 'after the update')
    },
  ),
  inFolder(
    'ids of an overlay that v2 cannot hold',
    ['registry.repos.create', 'registry.repos.update'],
    { difference: 'overlay-ids-signed' },
    async (api, parent) => {
      const overlay = (id: number) => ({
        name: 'repo',
        custom_overlay: { accounts: { users: [{ user_name: 'nobody', uid: id, gid: id }] } },
      })
      const made = await api.post(`${REPOS}/${parent}`, overlay(4294967294))
      refusedHere(api, made, anything, 3)
      if (made.body.id) await api.unrecorded.delete(`${REPOS}/${made.body.id}`)
      const { id } = await make.repo(api, parent, overlay(2147483647))
      const written = await api.put(`${REPOS}/${id}`, overlay(2147483648))
      refusedHere(api, written, anything, 3)
      const [row] = items(await api.get(REPOS, { id }))
      const shown = api.member(row, 'custom_overlay').accounts.users[0].uid
      same(shown, api.here({ genuine: 2147483648, proxied: 2147483647 }), 'uid')
      refused(await api.inAnyWords.put(`${REPOS}/${id}`, overlay(4294967296)), 3)
      refused(await api.inAnyWords.put(`${REPOS}/${id}`, overlay(-1)), 3)
    },
  ),
  inFolder(
    'end-of-life tags without package, grace and superseded builds',
    ['registry.eol_tags.list'],
    { difference: 'eol-approximated' },
    async (api, parent) => {
      const repo = (await make.repo(api, parent, { name: 'node' })).id
      for (const name of ['18', '24', '24.1.0-r1']) await make.tag(api, repo, { name })
      await make.tag(api, repo, { name: 'old', deprecated: true })
      const rows = items(await api.get('/registry/v1/eoltags', { 'uidp.children_of': repo }))
      const member = (name: string, of: string) =>
        api.member(
          rows.find((row) => row.name === name),
          of,
        )
      same(member('24', 'main_package_name'), api.here({ genuine: 'nodejs', proxied: '' }), 'package')
      same(member('24', 'main_package_version') === null, api.here({ genuine: false, proxied: true }), 'version')
      same(member('24', 'grace_status'), api.here({ genuine: 'GRACE_ELIGIBLE', proxied: 'GRACE_NOT_ELIGIBLE' }), 'grace')
      same(member('24.1.0-r1', 'tag_status'), api.here({ genuine: 'TAG_INACTIVE', proxied: 'TAG_ACTIVE' }), 'a superseded build')
      same(member('old', 'tag_status'), 'TAG_INACTIVE', 'deprecated')
    },
  ),
  shows(
    'a list that v1 paged by token takes windows too',
    ['registry.eol_tags.list', 'vulnerabilities.advisories.list', 'libraries.artifacts.list', 'advisory.vulnerability_metadata.list'],
    { difference: 'token-lists-take-windows' },
    async (api) => {
      const repo = (await make.repo(api, (await make.folder(api)).id)).id
      for (const name of ['a', 'b', 'c']) await make.tag(api, repo, { name })
      const scope = { 'uidp.children_of': repo }
      const idsOf = async (path: string, query: Query) =>
        column(await api.unrecorded.get(path, { ...(path === EOL_TAGS && scope), ...query }), 'id')
      for (const path of TOKEN_LISTS) {
        const all = await idsOf(path, {})
        const window = async (query: Query, proxied: readonly unknown[], genuine = all) =>
          same(await idsOf(path, query), api.here({ genuine, proxied }), `${path} ${JSON.stringify(query)}`)
        await window({ limit: 1 }, all.slice(0, 1))
        await window({ offset: 1, limit: 2 }, all.slice(1, 3))
        await window({ page: 2, page_size: 2 }, all.slice(2, 4), all.slice(0, 2))
        await window({ page_number: 2, per_page: 1 }, all.slice(1, 2))
        for (const wrong of [{ offset: -1 }, { limit: 'x' }, { limit: 2, page: 2 }, { offset: 1, page_size: 200 }])
          same(await idsOf(path, wrong), await idsOf(path, 'page_size' in wrong ? { page_size: 200 } : {}), 'a wrong window')
      }
      for (const order of ['name desc', 'colour']) {
        same(await idsOf(EOL_TAGS, { order_by: order }), await idsOf(EOL_TAGS, {}), 'an order that v1 did not have')
        same(await idsOf(ARTIFACTS, { order_by: order }), await idsOf(ARTIFACTS, {}), 'nor here')
      }
      for (const path of [EOL_TAGS, ADVISORIES]) same(await idsOf(path, { skip: 1 }), await idsOf(path, {}), 'a skip that v1 did not have')
      const [advisory] = items(await api.unrecorded.get(ADVISORIES))
      const tokened = await api.get(ADVISORIES, { id: advisory.id, page_token: 'garbage' })
      if (api.side === 'genuine') refused(tokened, 3)
      else same(column(tokened, 'id'), [advisory.id], 'one by its id')
    },
  ),
  inFolder(
    'a count of synced repos sees what the caller sees',
    ['registry.repo_count_by_source.get'],
    { difference: 'repo-count-lower-bound', roles: ['outsider'] },
    async (api, parent) => {
      const visible = (await make.folder(api, 'visible', parent)).id
      const source = (await make.repo(api, visible, { name: 'source' })).id
      await make.repo(api, parent, { name: 'hidden', sync_config: { source } })
      await make.repo(api, visible, { name: 'copy', sync_config: { source } })
      const outsider = api.as('outsider')
      const forbidden = await outsider.get(`/registry/v1/repocountbysource/${source}`)
      if (api.side === 'genuine') refused(forbidden, 7)
      else ok(api, forbidden, { count: '0' })
      const { id: role } = await make.role(api, visible)
      for (const identity of await make.holders(outsider.unrecorded, 'owner')) await make.binding(api, visible, identity, role)
      const count = api.here({ genuine: '2', proxied: '1' })
      ok(api, await outsider.get(`/registry/v1/repocountbysource/${source}`), { count })
      const nonsense = await api.get('/registry/v1/repocountbysource/nonsense')
      if (api.side === 'genuine') refused(nonsense, 3, /^Invalid argument: id: /)
      else ok(api, nonsense, { count: '0' })
    },
  ),
  shows(
    'a summary of a repo that the caller may not see',
    ['registry.repo_tags_summary.get'],
    { difference: 'summary-narrowed', roles: ['outsider'] },
    async (api) => {
      const repo = (await make.repo(api, (await make.folder(api)).id)).id
      await make.tag(api, repo)
      const summary = await api.as('outsider').get(`/registry/v1/repotagssummary/${repo}`)
      const nothing = { tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }
      if (api.side === 'genuine') refused(summary, 7)
      else ok(api, summary, { ...nothing, id: repo })
      const nonsense = await api.get('/registry/v1/repotagssummary/nonsense')
      if (api.side === 'genuine') refused(nonsense, 3, /^Invalid argument: repo_id: /)
      else ok(api, nonsense, { ...nothing, id: 'nonsense' })
    },
  ),
]
