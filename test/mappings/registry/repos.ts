import { extra, map } from '../../contract/target.ts'
import { items, SAID, type Transcript, transcript } from '../transcript.ts'

const times = { createTime: '2025-01-02T03:04:05.678Z', updateTime: '2025-02-03T04:05:06.789Z' }
const v2Nginx = {
  uid: 'org/nginx',
  name: 'nginx',
  catalogTier: 'CATALOG_TIER_APPLICATION',
  activeTags: ['latest'],
  sync_config: { source: 'org/base', expirationTime: '2026-01-01T00:00:00Z', uniqueTags: true },
  customOverlay: {
    environment: { snake_key: 'a', camelKey: 'b' },
    accounts: { users: [{ uid: 65532, username: 'app', groupName: 'apps' }], groups: [{ gid: 7, groupname: 'apps' }], runAs: 'app' },
  },
  ...times,
}
const stamps = { created_at: times.createTime, updated_at: times.updateTime, group_id: 'org' }
const untold = { bundles: [], aliases: [], create_time: times.createTime, description: '' }
const nginx = extra(
  {
    ...untold,
    id: 'org/nginx',
    name: 'nginx',
    catalog_tier: 'APPLICATION',
    active_tags: ['latest'],
    readme: '# nginx',
    sync_config: {
      source: 'org/base',
      unique_tags: true,
      expiration: '2026-01-01T00:00:00Z',
      google: '',
      amazon: '',
      azure: '',
      sync_apks: false,
      apko_overlay: '',
      grace_period: false,
    },
    custom_overlay: {
      contents: null,
      environment: map({ snake_key: 'a', camelKey: 'b' }),
      annotations: {},
      accounts: {
        groups: [{ gid: 7, group_name: 'apps', members: [] }],
        users: [{ uid: 65532, user_name: 'app', group_name: 'apps', shell: '', home_dir: '' }],
        run_as: 'app',
      },
      certificates: null,
    },
  },
  stamps,
)
const v2Bare = { uid: 'org/bare', name: 'bare', ...times }
const bareUntold = {
  ...untold,
  id: 'org/bare',
  name: 'bare',
  catalog_tier: 'UNKNOWN',
  sync_config: null,
  custom_overlay: null,
  active_tags: [],
}
const bare = (readme = '') => extra({ ...bareUntold, readme }, stamps)

const readmeOf = (repo: string, answer: Transcript['calls'][number]['answer']) => ({
  call: `GET /registry/v2/repos/${repo}/readme`,
  answer,
})
const writeReadme = (content: string, answer: Transcript['calls'][number]['answer']) => ({
  call: 'PATCH /registry/v2/repos/org/bare/readme?updateMask=content',
  body: { content },
  answer,
})
const patchBare = { call: 'PATCH /registry/v2/repos/org/bare?updateMask=*', body: { name: 'bare' }, answer: v2Bare }

const BY_STAFF = 'may only be changed by Chainguard'
const byStaff = (...fields: readonly string[]) => fields.map((field) => [field, BY_STAFF] as const)
const findNginx = { call: 'GET /registry/v2/repos?uidp.children_of=org&name=nginx&page_size=2', answer: { repos: [v2Nginx] } }
const patchNginx = {
  call: 'PATCH /registry/v2/repos/org/nginx?updateMask=*',
  body: { name: 'nginx', sync_config: { source: 'org/base' } },
  answer: v2Nginx,
}

const createBare = { call: 'POST /registry/v2/repos/org', body: { name: 'bare' }, answer: v2Bare }
const deleteBare = { call: 'DELETE /registry/v2/repos/org/bare', answer: {} }
const LEFT = '(the repo was created with id org/bare, but without its readme)'

export const repos: readonly Transcript[] = [
  transcript('registry.repos.list', 'each repo with its readme, which v2 keeps elsewhere')
    .sent('GET /registry/v1/repos?uidp.childrenOf=org')
    .asks('GET /registry/v2/repos?uidp.children_of=org&page_size=200', { repos: [v2Bare, v2Nginx], totalCount: '2' })
    .calls(readmeOf('org/bare', 'NOT_FOUND'), readmeOf('org/nginx', { uid: 'org/nginx', content: '# nginx' }))
    .answers(items(bare(), nginx)),
  transcript('registry.repos.list', 'without readmes when the configuration says so')
    .sent('GET /registry/v1/repos?name=bare')
    .under({ readmes: false })
    .asks('GET /registry/v2/repos?name=bare&page_size=200', { repos: [v2Bare] })
    .answers(items(bare())),
  transcript('registry.repos.list', 'an id outside the scope asked for is nothing found')
    .sent('GET /registry/v1/repos?id=org/nginx&uidp.descendants_of=other')
    .asks('GET /registry/v2/repos/org/nginx', v2Nginx)
    .answers(items()),
  transcript('registry.repos.list', 'a readme that cannot be read fails the list: no list is short')
    .sent('GET /registry/v1/repos?id=org/nginx')
    .asks('GET /registry/v2/repos/org/nginx', v2Nginx)
    .calls(readmeOf('org/nginx', 'UNAVAILABLE'))
    .refuses('UNAVAILABLE'),
  transcript('registry.repos.create', 'the repo, then its readme; what v1 itself ignores is dropped')
    .sent('POST /registry/v1/repos/org', {
      id: 'x',
      name: 'nginx',
      readme: '# nginx',
      catalogTier: 4,
      sync_config: { source: 'org/base', uniqueTags: false, expiration: null, sync_apks: true },
      custom_overlay: { accounts: { groups: [{ gid: 7, groupName: 'apps' }], users: [{ uid: 65532, user_name: 'app' }] } },
    })
    .writes(
      'POST /registry/v2/repos/org',
      {
        name: 'nginx',
        catalogTier: 'CATALOG_TIER_APPLICATION',
        sync_config: { source: 'org/base' },
        customOverlay: { accounts: { groups: [{ gid: 7, groupname: 'apps' }], users: [{ uid: 65532, username: 'app' }] } },
      },
      v2Nginx,
    )
    .writes(
      'PATCH /registry/v2/repos/org/nginx/readme?updateMask=content',
      { content: '# nginx' },
      { uid: 'org/nginx', content: '# nginx' },
    )
    .answers(nginx),
  transcript('registry.repos.create', 'a member that v2 sets itself is refused in a new repo, and nothing is written')
    .sent('POST /registry/v1/repos/org', { name: 'nginx', sync_config: { source: 'org/base', grace_period: true, apkoOverlay: 'x' } })
    .calls({ ...findNginx, answer: { repos: [] } })
    .finds(...byStaff('sync_config.apko_overlay', 'sync_config.grace_period')),
  transcript('registry.repos.create', 'and without a search, if a repo that is there must not be updated')
    .sent('POST /registry/v1/repos/org?preventExisting=1', { name: 'nginx', sync_config: { source: 'org/base', unique_tags: true } })
    .finds(...byStaff('sync_config.unique_tags')),
  transcript('registry.repos.create', 'a create repeats such a member of the repo that it updates')
    .sent('POST /registry/v1/repos/org', { name: 'nginx', readme: '# nginx', sync_config: { source: 'org/base', unique_tags: true } })
    .calls(findNginx, readmeOf('org/nginx', { content: '# nginx' }), patchNginx)
    .answers(nginx),
  transcript('registry.repos.create', 'a repo that v2 stores wrongly is no fault of the client')
    .sent('POST /registry/v1/repos/org', { name: 'nginx', sync_config: { source: 'org/base', unique_tags: true } })
    .calls({ ...findNginx, answer: { repos: [{ ...v2Nginx, sync_config: { source: 'org/base', uniqueTags: ['x'] } }] } })
    .refuses('INTERNAL', 'the v2 service sent a wrong answer: sync_config.uniqueTags must be true or false'),
  transcript('registry.repos.update', 'and nor is one that is read by its id')
    .sent('PUT /registry/v1/repos/org/nginx', { name: 'nginx', sync_config: { source: 'org/base', unique_tags: true } })
    .asks('GET /registry/v2/repos/org/nginx', { ...v2Nginx, sync_config: 'x' })
    .refuses('INTERNAL', 'the v2 service sent a wrong answer: sync_config must be an object'),
  transcript('registry.repos.update', 'what is stored may be repeated, a time in another form')
    .sent('PUT /registry/v1/repos/org/nginx', {
      name: 'nginx',
      readme: '# nginx',
      sync_config: { source: 'org/base', unique_tags: true, expiration: '2026-01-01T01:00:00.000+01:00' },
    })
    .asks('GET /registry/v2/repos/org/nginx', v2Nginx)
    .calls(readmeOf('org/nginx', { content: '# nginx' }), patchNginx)
    .answers(nginx),
  transcript('registry.repos.update', 'another value than the stored one is refused, and nothing is written')
    .sent('PUT /registry/v1/repos/org/nginx', {
      name: 'nginx',
      sync_config: { source: 'org/base', unique_tags: true, expiration: '2026-01-01T00:00:00.001Z' },
    })
    .asks('GET /registry/v2/repos/org/nginx', v2Nginx)
    .finds(...byStaff('sync_config.expiration')),
  transcript('registry.repos.update', 'and so is any value in a repo that is not synced')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare', sync_config: { source: 'org/base', grace_period: true } })
    .asks('GET /registry/v2/repos/org/bare', v2Bare)
    .finds(...byStaff('sync_config.grace_period')),
  transcript('registry.repos.update', 'a caller who may not read the repo cannot repeat what is stored')
    .sent('PUT /registry/v1/repos/org/nginx', { name: 'nginx', sync_config: { source: 'org/base', unique_tags: true } })
    .asks('GET /registry/v2/repos/org/nginx', 'PERMISSION_DENIED')
    .refuses('PERMISSION_DENIED'),
  transcript('registry.repos.create', 'a readme that is refused undoes the create')
    .sent('POST /registry/v1/repos/org', { name: 'bare', readme: 'r' })
    .calls(createBare, writeReadme('r', 'PERMISSION_DENIED'), deleteBare)
    .refuses('PERMISSION_DENIED'),
  transcript('registry.repos.create', 'a create that cannot be undone is told')
    .sent('POST /registry/v1/repos/org', { name: 'bare', readme: 'r' })
    .calls(createBare, writeReadme('r', 'INVALID_ARGUMENT'), { ...deleteBare, answer: 'PERMISSION_DENIED' })
    .refuses('INVALID_ARGUMENT', `${SAID} ${LEFT}`),
  transcript('registry.repos.create', 'and so is one whose readme may have been written: nothing is deleted then')
    .sent('POST /registry/v1/repos/org', { name: 'bare', readme: 'r' })
    .calls(createBare, writeReadme('r', 'UNAVAILABLE'))
    .refuses('UNAVAILABLE', `${SAID} ${LEFT}`),
  transcript('registry.repos.create', 'a repo that is there is updated, as v1’s create did')
    .sent('POST /registry/v1/repos/org', { name: 'bare' })
    .writes('POST /registry/v2/repos/org', { name: 'bare' }, 'ALREADY_EXISTS')
    .asks('GET /registry/v2/repos?uidp.children_of=org&name=bare&page_size=2', { repos: [v2Bare] })
    .calls(readmeOf('org/bare', 'NOT_FOUND'), patchBare)
    .answers(bare()),
  transcript('registry.repos.create', 'unless the client forbids it')
    .sent('POST /registry/v1/repos/org?preventExisting=1', { name: 'bare' })
    .writes('POST /registry/v2/repos/org', { name: 'bare' }, 'ALREADY_EXISTS')
    .refuses('ALREADY_EXISTS'),
  transcript('registry.repos.update', 'only a name: every other field is reset; an equal readme is not written')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare' })
    .calls(readmeOf('org/bare', { content: '' }), patchBare)
    .answers(bare()),
  transcript('registry.repos.update', 'a readme that differs is written first: it is the half that can be refused')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare', readme: 'new' })
    .calls(readmeOf('org/bare', { content: 'old' }), writeReadme('new', { content: 'new' }), patchBare)
    .answers(bare('new')),
  transcript('registry.repos.update', 'nothing is written when the readme is refused')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare', readme: 'new' })
    .calls(readmeOf('org/bare', { content: 'old' }), writeReadme('new', 'PERMISSION_DENIED'))
    .refuses(
      'PERMISSION_DENIED',
      `${SAID} (v2 keeps readme writes to repo.internal.admin; send the stored readme or none; nothing was written)`,
    ),
  transcript('registry.repos.update', 'whoever may neither read nor write the readme is told what would help')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare', readme: 'old' })
    .calls(readmeOf('org/bare', 'PERMISSION_DENIED'), writeReadme('old', 'PERMISSION_DENIED'))
    .refuses(
      'PERMISSION_DENIED',
      `${SAID} (v2 keeps readme writes to repo.internal.admin; send none, or be let read it (repo.list) and send the stored one; nothing was written)`,
    ),
  transcript('registry.repos.update', 'an omitted readme that the caller may not read stays, and is left out')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare' })
    .calls(readmeOf('org/bare', 'PERMISSION_DENIED'), patchBare)
    .answers(extra(bareUntold, stamps)),
  transcript('registry.repos.update', 'an omitted readme that the caller may not clear stays, and is shown')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare' })
    .calls(readmeOf('org/bare', { content: 'old' }), writeReadme('', 'PERMISSION_DENIED'), patchBare)
    .answers(bare('old')),
  transcript('registry.repos.update', 'a repo that vanished between the halves: the error tells of the first')
    .sent('PUT /registry/v1/repos/org/bare', { name: 'bare', readme: 'new' })
    .calls(readmeOf('org/bare', { content: 'old' }), writeReadme('new', { content: 'new' }), { ...patchBare, answer: 'NOT_FOUND' })
    .refuses('NOT_FOUND', `${SAID} (the readme had already been replaced)`),
  transcript('registry.repos.delete', 'gone before')
    .sent('DELETE /registry/v1/repos/org/bare')
    .asks('DELETE /registry/v2/repos/org/bare', 'NOT_FOUND')
    .answers({}),
]
