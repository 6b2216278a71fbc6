import * as make from '../../expect.ts'
import { anything, column, items, ok, refused, same, shows } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import type { Case } from '../../target.ts'

const TAGS = '/registry/v1/tags'
const MISSING = '0'.repeat(16)

const box = async (api: Parameters<typeof make.folder>[0]): Promise<string> => (await make.repo(api, (await make.folder(api)).id)).id

/** Tags of every form that the exclude filters recognise (facts §4.2). */
const FORMS = [`sha256-${'a'.repeat(64)}.sig`, '1.2', '1.2-20260101', '1.2.3-r4', '1.2.3-r4-dev', 'latest']

/** facts §4.2 */
export const tags: readonly Case[] = [
  shows(
    'tags: create, or update by name',
    ['registry.tags.create', 'registry.tags.list', 'registry.tags.delete'],
    { roles: ['admin'] },
    async (api) => {
      const repo = await box(api)
      const body = { name: 'latest', digest: make.digest('a') }
      const { id } = ok(api, await api.post(`${TAGS}/${repo}`, body), shape.tag(repo, body))
      const next = { name: 'latest', digest: make.digest('b'), deprecated: true }
      ok(api, await api.otherwise.post(`${TAGS}/${repo}`, next), shape.tag(repo, { id, ...next }))
      ok(api, await api.get(TAGS, { id }), { items: [shape.tag(repo, next)] })
      ok(api, await api.unrecorded.get(TAGS, { id: id.toUpperCase() }), { items: [] })
      ok(api, await api.delete(`${TAGS}/${id.replaceAll('/', '%2F')}`), {})
      ok(api, await api.delete(`${TAGS}/${id}`), {})
      ok(api, await api.get(TAGS, { id }), { items: [] })
    },
  ),
  shows('tags: a PUT replaces but keeps a digest it does not carry', ['registry.tags.update'], { roles: ['admin'] }, async (api) => {
    const repo = await box(api)
    const { id } = await make.tag(api, repo)
    const path = `${TAGS}/${id}`
    const old = { name: 'latest', deprecated: true }
    ok(api, await api.put(path, old), shape.tag(repo, { id, ...old }))
    refused(await api.inAnyWords.send({ method: 'PUT', path, text: 'null' }), 3)
    ok(api, await api.put(path, { deprecated: true }), shape.tag(repo, { id, ...old }))
    const moved = { name: 'latest', digest: make.digest('c') }
    ok(api, await api.otherwise.put(path, moved), shape.tag(repo, { id, ...moved }))
    ok(api, await api.as('admin').put(path, { ...moved, bundles: ['base'] }), shape.tag(repo, { id, ...moved, bundles: ['base'] }))
    const read = items(await api.get(TAGS, { id }))[0]
    ok(
      api,
      await api.as('admin').send({ method: 'PUT', path, text: JSON.stringify(read) }),
      shape.tag(repo, { ...moved, bundles: ['base'] }),
    )
    refused(await api.put(path, { digest: 'sha256:short' }), 3, /^Invalid argument: digest: /)
    refused(await api.put(`${TAGS}/${repo}/${MISSING}`, { name: 'latest' }), 5)
  }),
  shows('tags: every form is listed unless excluded', ['registry.tags.list'], async (api) => {
    const repo = await box(api)
    for (const [at, name] of FORMS.entries()) await make.tag(api, repo, { name, digest: make.digest('abcdef'[at] ?? 'a') })
    const [signature = '', stream = '', dated = '', epoch = '', dev = '', latest = ''] = FORMS
    const names = async (query: Record<string, string | boolean>) =>
      column(await api.get(TAGS, { 'uidp.children_of': repo, order_by: 'name', ...query }), 'name')
    same(await names({}), [stream, dated, epoch, dev, latest, signature].sort(), 'all')
    same(await names({ exclude_referrers: false }), [...FORMS].sort(), 'an explicit false')
    same(await names({ exclude_referrers: true }), [stream, dated, epoch, dev, latest].sort(), 'no referrers')
    same(await names({ exclude_dates: true }), [signature, stream, epoch, dev, latest].sort(), 'no dates')
    same(await names({ exclude_epochs: true }), [signature, stream, dated, dev, latest].sort(), 'no epochs')
    const none = { exclude_referrers: true, exclude_dates: '1', exclude_epochs: 't' }
    same(await names(none), [stream, dev, latest].sort(), 'none of the three')
    same(
      column(await api.otherwise.get(TAGS, { 'uidp.children_of': repo, order_by: 'name', ...none }), 'name'),
      [stream, dev, latest].sort(),
      'spelled',
    )
    same(await names({ name: epoch }), [epoch], 'by name')
    same(await names({ digest: make.digest('c') }), [dated], 'by digest')
    same(await names({ digest: make.digest('c'), exclude_dates: true }), [], 'by digest, excluded')
    same(await names({ name: latest, digest: make.digest('c') }), [], 'by name and another digest')
    refused(await api.get(TAGS, { exclude_dates: 'perhaps' }), 3, /^parsing field "exclude_dates": /)
    const dates = items(await api.unrecorded.get(TAGS, { name: dated, 'uidp.children_of': repo }))
    const id = dates[0].id
    same(await names({ id, name: dated, digest: make.digest('c') }), [dated], 'by id and all that fits')
    same(await names({ id, exclude_dates: true }), [], 'by id, excluded')
    same(await names({ id, name: dated, exclude_dates: true }), [dated], 'by id and its exact name, which finds every form')
    same(await names({ id, name: latest }), [], 'by id and another name')
  }),
  shows('tags: updated since', ['registry.tags.list'], async (api) => {
    const repo = await box(api)
    const old = await make.tag(api, repo, { name: 'old' })
    await make.tag(api, repo, { name: 'new', digest: make.digest('b') })
    const since = api.member(old, 'last_updated')
    const names = async (updated_since: string, more = {}) =>
      column(await api.get(TAGS, { 'uidp.children_of': repo, order_by: 'name', updated_since, ...more }), 'name')
    same(await names(since), ['new'], 'strictly after')
    same(await names('2020-01-01T00:00:00Z'), ['new', 'old'], 'all')
    same(await names('2020-01-01T00:00:00.000+02:00'), ['new', 'old'], 'another offset')
    same(await names('2999-01-01T00:00:00Z'), [], 'none')
    same(await names(since, { id: old.id }), [], 'by id, too old')
    same(await names('2020-01-01T00:00:00Z', { id: old.id }), ['old'], 'by id')
    same(items(await api.otherwise.get(TAGS, { 'uidp.children_of': repo, updated_since: since })).length, 1, 'spelled')
    for (const none of ['yesterday', '2024-02-30T00:00:00Z', '2024-01-01T24:00:00Z', '0000-01-01T00:00:00Z'])
      refused(await api.get(TAGS, { updated_since: none }), 3, /^parsing field "updated_since": /)
  }),
  shows(
    'tags: more than one page of v2',
    ['registry.tags.list', 'registry.repo_tags_summary.get', 'registry.eol_tags.list'],
    async (api) => {
      const repo = await box(api)
      const rows = Array.from({ length: 405 }, (_, at) => `v${String(at).padStart(3, '0')}`)
      for (const name of rows) await api.unrecorded.post(`${TAGS}/${repo}`, { name, digest: `sha256:${name.slice(1).padStart(64, '0')}` })
      const all = await api.get(TAGS, { 'uidp.children_of': repo })
      const ids = column(all, 'id').map(String)
      same(ids.length, 405, 'rows')
      same(new Set(ids).size, 405, 'distinct rows')
      same(ids, [...ids].sort(), 'in order of uid')
      same(items(await api.get(TAGS, { 'uidp.children_of': repo, page_size: 1000 })).length, 405, 'a large page')
      const names = async (query: Record<string, number>) =>
        column(await api.get(TAGS, { 'uidp.children_of': repo, order_by: 'name', ...query }), 'name')
      same(await names({ offset: 190, limit: 30 }), rows.slice(190, 220), 'over the edge of a page')
      same(await names({ offset: 1, limit: 400 }), rows.slice(1, 401), 'over two edges')
      same(await names({ page: 3, page_size: 150 }), rows.slice(300), 'the last page')
      same(await names({ page: 2 }), rows.slice(50, 100), 'a page without a size')
      const summary = await api.get(`/registry/v1/repotagssummary/${repo}`)
      same(api.member(summary.body, 'tag_count'), '405', 'counted')
      same(items(await api.get('/registry/v1/eoltags', { 'uidp.children_of': repo })).length, 405, 'end-of-life rows')
    },
  ),
  shows(
    'tags: refusals',
    ['registry.tags.create', 'registry.tags.update', 'registry.tags.delete'],
    { roles: ['editor', 'viewer', 'outsider'] },
    async (api) => {
      const repo = await box(api)
      const { id } = await make.tag(api, repo)
      const body = { name: 'x', digest: make.digest('a') }
      refused(await api.post(`${TAGS}/${repo}`, { ...body, name: '-x' }), 3, /^Invalid argument: name: /)
      refused(await api.post(`${TAGS}/${repo}`, { ...body, digest: 'md5:a' }), 3, /^Invalid argument: digest: /)
      refused(await api.post(`${TAGS}/${repo.slice(0, -16)}${MISSING}`, body), 5)
      for (const role of ['editor', 'viewer', 'outsider'] as const) {
        refused(await api.as(role).post(`${TAGS}/${repo}`, body), 7)
        refused(await api.as(role).put(`${TAGS}/${id}`, { ...body, name: 'latest' }), 7)
        refused(await api.as(role).delete(`${TAGS}/${id}`), 7)
      }
      refused(await api.as('nobody').put(`${TAGS}/${id}`, { name: 'latest' }), 16)
    },
  ),
  shows('tags: the summary of a repo', ['registry.repo_tags_summary.get'], async (api) => {
    const repo = await box(api)
    const path = `/registry/v1/repotagssummary/${repo}`
    const nothing = { id: repo, tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }
    ok(api, await api.get(path), nothing)
    const [signature, ...names] = FORMS
    for (const name of [...names, signature]) await make.tag(api, repo, { name, digest: make.digest('d') })
    const newest = (await make.tag(api, repo, { name: 'edge', digest: make.digest('e') })) as Record<string, unknown>
    const summary = await api.get(path)
    const latest = items(await api.get(TAGS, { 'uidp.children_of': repo, name: 'latest' }))[0]
    const nested = { id: latest.id, name: 'latest', digest: make.digest('d'), last_updated: anything, deprecated: false, bundles: [] }
    ok(api, summary, {
      id: repo,
      tag_count: '7',
      last_updated: api.member(newest, 'last_updated'),
      latest_tag: nested,
      latest_version: signature,
    })
    const bare = await api.get(path, { exclude_referrers: true, exclude_dates: true, exclude_epochs: true })
    ok(api, bare, { id: repo, tag_count: '4', last_updated: anything, latest_tag: nested, latest_version: '1.2.3-r4-dev' })
    ok(api, await api.get(`/registry/v1/repotagssummary/${repo.replaceAll('/', '%2F')}`), anything)
    const missing = `${repo}/${MISSING}`
    await api.get(`/registry/v1/repotagssummary/${missing}`)
    refused(await api.as('nobody').get(path), 16)
    refused(await api.inAnyWords.get('/registry/v1/repotagssummary'), 3, /^Invalid argument: repo_id: /)
    refused(await api.get(path, { exclude_dates: 'x' }), 3, /^parsing field "exclude_dates": /)
  }),
]
