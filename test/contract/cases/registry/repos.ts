import * as make from '../../expect.ts'
import { anything, inFolder, items, ok, refused, same, time } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, map } from '../../target.ts'

const REPOS = '/registry/v1/repos'
const MISSING = '0'.repeat(16)

const overlay = {
  contents: {
    packages: ['curl'],
    runtime_repositories: ['https://packages.example'],
    runtime_keyring: [{ name: 'k.pub', content: 'key' }],
  },
  environment: map({ snake_key: '1', camelKey: '2' }),
  annotations: map({ 'org.example/note_a': 'x' }),
  accounts: {
    groups: [{ gid: 65532, group_name: 'robots', members: ['robot'] }],
    users: [{ uid: 65532, user_name: 'robot', gid: 65532, group_name: 'robots', shell: '/bin/sh', home_dir: '/home/robot' }],
    run_as: 'robot',
  },
  certificates: { additional: [{ name: 'ca', content: 'PEM' }], providers: ['corp'] },
}

const inherited = { catalog_tier: 'BASE', bundles: ['base', 'featured'], aliases: ['node:latest'], active_tags: ['latest', '20'] }

/** facts §4.1, §13 */
export const repos: readonly Case[] = [
  inFolder(
    'repos: create with every member a customer may write',
    ['registry.repos.create', 'registry.repos.list', 'registry.repos.delete'],
    async (api, parent) => {
      const body = { name: 'full', description: 'words', custom_overlay: overlay }
      const { id } = ok(api, await api.post(`${REPOS}/${parent}`, body), shape.repo(parent, body))
      ok(api, await api.get(REPOS, { id }), { items: [shape.repo(parent, { id, ...body })] })
      ok(api, await api.get(REPOS, { name: 'full', 'uidp.children_of': parent }), { items: [shape.repo(parent, body)] })
      ok(api, await api.get(REPOS, { id, name: 'other' }), { items: [] })
      ok(api, await api.delete(`${REPOS}/${id}`), {})
      ok(api, await api.delete(`${REPOS}/${id}`), {})
      ok(api, await api.get(REPOS, { id }), { items: [] })
      refused(await api.put(`${REPOS}/${id}`, { name: 'gone' }), 5)
    },
  ),
  inFolder('repos: an empty overlay is not a missing one', ['registry.repos.create', 'registry.repos.update'], async (api, parent) => {
    const bare = { contents: null, environment: map({}), annotations: map({}), accounts: null, certificates: null }
    const { id } = await make.repo(api, parent, { custom_overlay: { environment: map({ a: 'b' }) } })
    const shown = { ...bare, environment: map({ a: 'b' }) }
    ok(api, await api.get(REPOS, { id }), { items: [shape.repo(parent, { custom_overlay: shown })] })
    const accounts = { groups: [], users: [], run_as: 'nobody' }
    const updated = await api.put(`${REPOS}/${id}`, { name: 'repo', custom_overlay: { accounts: { run_as: 'nobody' }, contents: {} } })
    const contents = { packages: [], runtime_repositories: [], runtime_keyring: [] }
    ok(api, updated, shape.repo(parent, { custom_overlay: { ...bare, accounts, contents } }))
    ok(api, await api.put(`${REPOS}/${id}`, { name: 'repo' }), shape.repo(parent))
  }),
  inFolder(
    'repos: a create with a readme that is refused leaves nothing',
    ['registry.repos.create'],
    { roles: ['admin'] },
    async (api, parent) => {
      const admin = api.as('admin')
      const unsafe = { name: 'unsafe', readme: '<script>x</script>' }
      for (const query of [{}, { prevent_existing: true }])
        refused(await admin.post(`${REPOS}/${parent}`, unsafe, query), 3, /^Invalid argument: readme: /)
      ok(api, await api.get(REPOS, { 'uidp.children_of': parent }), { items: [] })
      const { id } = await make.repo(admin, parent, { name: 'unsafe', readme: 'safe' })
      refused(await admin.post(`${REPOS}/${parent}`, unsafe), 3, /^Invalid argument: readme: /)
      ok(api, await api.get(REPOS, { id }), { items: [shape.repo(parent, { name: 'unsafe', readme: 'safe' })] })
    },
  ),
  inFolder(
    'repos: tier, bundles, aliases and active tags',
    ['registry.repos.create', 'registry.repos.update'],
    { roles: ['admin'] },
    async (api, parent) => {
      const admin = api.as('admin')
      const { id } = await make.repo(admin, parent, inherited)
      ok(api, await api.get(REPOS, { id }), { items: [shape.repo(parent, inherited)] })
      const kept = { name: 'repo', ...inherited, description: 'words' }
      ok(api, await api.put(`${REPOS}/${id}`, kept), shape.repo(parent, kept))
      refused(await admin.put(`${REPOS}/${id}`, { ...kept, bundles: ['no such bundle'] }), 3, /^Invalid argument: bundles/)
      refused(await admin.put(`${REPOS}/${id}`, { ...kept, aliases: ['no tag'] }), 3, /^Invalid argument: aliases/)
      ok(api, await admin.put(`${REPOS}/${id}`, { name: 'repo' }), shape.repo(parent))
      const { id: source } = await make.repo(admin, parent, { name: 'source', ...inherited })
      const { id: copy } = await make.repo(api, parent, { name: 'copy', sync_config: { source } })
      const synced = { name: 'copy', ...inherited, sync_config: { source } }
      refused(await api.put(`${REPOS}/${copy}`, { ...synced, bundles: ['ai'] }), 3, /^Invalid argument: bundles: /)
      refused(await api.put(`${REPOS}/${copy}`, { name: 'copy', sync_config: { source } }), 3, /^Invalid argument: /)
      ok(api, await api.put(`${REPOS}/${copy}`, synced), anything)
    },
  ),
  inFolder(
    'repos: the readme comes with the repo',
    ['registry.repos.create', 'registry.repos.list', 'registry.repos.update'],
    { roles: ['admin'] },
    async (api, parent) => {
      const admin = api.as('admin')
      const readme = '# Title\n\nTwo lines — with “quotes”.\n'
      const made = await make.repo(admin, parent, { readme })
      ok(api, { status: 200, type: null, body: made }, shape.repo(parent, { readme }))
      const path = `${REPOS}/${made.id}`
      ok(api, await api.get(REPOS, { id: made.id }), { items: [shape.repo(parent, { readme })] })
      ok(api, await api.get(REPOS, { 'uidp.children_of': parent }), { items: [shape.repo(parent, { readme })] })
      const kept = { name: 'repo', readme, description: 'words' }
      ok(api, await api.put(path, kept), shape.repo(parent, kept))
      ok(api, await admin.put(path, { name: 'repo', readme: '# Other' }), shape.repo(parent, { readme: '# Other' }))
      ok(api, await admin.put(path, { name: 'repo' }), shape.repo(parent))
      ok(api, await api.get(REPOS, { id: made.id }), { items: [shape.repo(parent)] })
      ok(api, await api.as('viewer').get(REPOS, { id: made.id }), { items: [shape.repo(parent)] })
    },
  ),
  inFolder('repos: a PUT replaces, and what was read can be written back', ['registry.repos.update'], async (api, parent) => {
    const source = await make.repo(api, parent, { name: 'source' })
    const { id } = await make.repo(api, parent, { description: 'words', sync_config: { source: source.id } })
    const path = `${REPOS}/${id}`
    const read = items(await api.get(REPOS, { id }))[0]
    const written = await api.send({ method: 'PUT', path, text: JSON.stringify({ ...read, description: 'new words' }) })
    same(ok(api, written, anything).description, 'new words', 'description')
    same(items(await api.get(REPOS, { id }))[0].sync_config, read.sync_config, 'sync_config')
    ok(api, await api.put(path, { name: 'renamed' }), shape.repo(parent, { id, name: 'renamed' }))
    ok(api, await api.otherwise.put(path, { name: 'again', description: 'd' }), shape.repo(parent, { name: 'again', description: 'd' }))
  }),
  inFolder(
    'repos: synced from another repo',
    ['registry.repos.create', 'registry.repos.update', 'registry.repos.list'],
    async (api, parent) => {
      const source = await make.repo(api, parent, { name: 'source', description: 'of the source' })
      const sync = { source: source.id, google: 'g.example/x', amazon: 'a.example/x', azure: 'z.example/x' }
      const { id } = await make.repo(api, parent, { name: 'copy', sync_config: sync })
      const shown = { ...sync, unique_tags: false, expiration: time, sync_apks: false, apko_overlay: '', grace_period: false }
      const row = items(await api.get(REPOS, { id }))[0]
      ok(
        api,
        { status: 200, type: null, body: row },
        shape.repo(parent, { name: 'copy', description: 'of the source', sync_config: shown }),
      )
      const less = { name: 'copy', sync_config: { source: source.id } }
      const updated = ok(api, await api.put(`${REPOS}/${id}`, less), anything)
      same(updated.sync_config.google, '', 'destination')
      // The member has one spelling only. The other is an unknown member and is dropped (facts §16.2).
      const text = JSON.stringify({ name: 'plain', syncConfig: { source: source.id } })
      const plain = ok(api, await api.send({ method: 'POST', path: `${REPOS}/${parent}`, text }), anything)
      same(plain.sync_config, null, 'syncConfig is not sync_config')
      ok(api, await api.delete(`${REPOS}/${plain.id}`), {})
    },
  ),
  inFolder('repos: a create that meets an existing name updates it, unless told not to', ['registry.repos.create'], async (api, parent) => {
    const first = await make.repo(api, parent, { description: 'one', custom_overlay: { environment: map({ a: 'b' }) } })
    const path = `${REPOS}/${parent}`
    refused(await api.post(path, { name: 'repo', description: 'two' }, { prevent_existing: true }), 6)
    refused(await api.otherwise.post(path, { name: 'repo', description: 'two' }, { prevent_existing: true }), 6)
    ok(api, await api.get(REPOS, { id: first.id }), { items: [anything] })
    const again = await api.post(path, { name: 'repo', description: 'two' })
    ok(api, again, shape.repo(parent, { id: first.id, description: 'two' }))
    ok(api, await api.post(path, { name: 'repo' }, { prevent_existing: false }), shape.repo(parent, { id: first.id }))
    const fresh = ok(api, await api.post(path, { name: 'fresh' }, { prevent_existing: true }), shape.repo(parent, { name: 'fresh' }))
    ok(api, await api.delete(`${REPOS}/${fresh.id}`), {})
    refused(await api.post(path, { name: 'a' }, { prevent_existing: 'perhaps' }), 3, /^parsing field "prevent_existing": /)
  }),
  inFolder(
    'repos: refusals',
    ['registry.repos.create', 'registry.repos.update', 'registry.repos.delete'],
    { roles: ['viewer', 'outsider'] },
    async (api, parent) => {
      const path = `${REPOS}/${parent}`
      refused(await api.post(path, {}), 3, 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"')
      refused(await api.post(path, { name: 'A', description: 'b\nc' }), 3, /^Invalid argument: name: .*; description: /)
      refused(await api.post(path, { name: 'a', custom_overlay: { environment: map({ CHAINGUARD_X: '1' }) } }), 3)
      refused(await api.post(path, { name: 'a', custom_overlay: { accounts: { users: [{ uid: 1 }] } } }), 3)
      refused(await api.post(path, { name: 'a', sync_config: { source: '' } }), 3)
      refused(await api.post(`${REPOS}/${api.organization}/${MISSING}`, { name: 'a' }), 5)
      refused(await api.put(`${path}/${MISSING}`, { name: 'a' }), 5)
      for (const role of ['viewer', 'outsider'] as const) {
        refused(await api.as(role).post(path, { name: 'a' }), 7)
        refused(await api.as(role).put(`${path}/${MISSING}`, { name: 'a' }), 7)
        refused(await api.as(role).delete(`${path}/${MISSING}`), 7)
      }
      refused(await api.as('nobody').post(path, { name: 'a' }), 16)
    },
  ),
  inFolder('repos: deleted with its tags', ['registry.repos.delete'], async (api, parent) => {
    const { id } = await make.repo(api, parent)
    await make.tag(api, id)
    ok(api, await api.delete(`${REPOS}/${id.replaceAll('/', '%2F')}`), {})
    ok(api, await api.get('/registry/v1/tags', { 'uidp.children_of': id }), { items: [] })
  }),
  inFolder('repos: counted by source', ['registry.repo_count_by_source.get'], { roles: ['outsider'] }, async (api, parent) => {
    const { id } = await make.repo(api, parent, { name: 'source' })
    const path = `/registry/v1/repocountbysource/${id}`
    ok(api, await api.get(path), { count: '0' })
    for (const name of ['a', 'b']) await make.repo(api, parent, { name, sync_config: { source: id } })
    ok(api, await api.get(path), { count: '2' })
    ok(api, await api.get(`/registry/v1/repocountbysource/${id.replaceAll('/', '%2F')}`), { count: '2' })
    ok(api, await api.get(`/registry/v1/repocountbysource/${parent}/${MISSING}`), { count: '0' })
    refused(await api.as('nobody').get(path), 16)
    refused(await api.inAnyWords.get('/registry/v1/repocountbysource'), 3, /^Invalid argument: id: /)
  }),
]
