import * as make from '../expect.ts'
import { anything, column, items, ok, refused, same, shows, uid } from '../expect.ts'
import * as shape from '../shapes.ts'
import type { Api, Case, Query, Role } from '../target.ts'

export interface Rows {
  readonly parent: string
  readonly ids: readonly string[]
  /** The query that limits the list to them. */
  readonly scope: Query
}

/** A list operation in the terms that all lists share (facts §10). */
export interface ListKind {
  readonly operation: string
  readonly path: string
  /** Creates rows named `a`, `b` and `c`, in this order; `ids` have the same order. */
  readonly make: (api: Api) => Promise<Rows>
  /** The parameter that selects one row, if there is one (facts §11), and the member with its value. */
  readonly byId?: 'id' | 'group'
  readonly uidp: boolean
  /** Returns the row named `a`. */
  readonly row: (rows: Rows) => unknown
  readonly named: boolean
  /** A sort field in the order of creation, if there is one. */
  readonly made?: 'created_at' | 'last_updated'
  readonly newestFirst?: true
}

const NAMES = ['a', 'b', 'c']

async function inTurn(create: (name: string) => Promise<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for (const name of NAMES) ids.push((await create(name)).id)
  return ids
}

const below = (create: (api: Api, parent: string, name: string) => Promise<{ id: string }>) => async (api: Api) => {
  const { id: parent } = await make.folder(api)
  return { parent, ids: await inTurn((name) => create(api, parent, name)), scope: { 'uidp.children_of': parent } }
}

async function inviteRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  const { ids, parent } = await below((_, folder, name) => make.invite(api, folder, viewer, { email: `${name}@example.com` }))(api)
  return { parent, ids, scope: { group: parent } }
}

async function associationRows(api: Api): Promise<Rows> {
  const { id: parent } = await make.folder(api)
  const groups = await inTurn((name) => make.folder(api, name, parent))
  for (const group of groups) await make.association(api, group, { name: api.name() })
  return { parent, ids: groups, scope: { name: api.name() } }
}

async function bindingRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  return below(async (_, parent, name) => {
    const { id } = await make.identity(api, parent, { name })
    return make.binding(api, parent, id, viewer)
  })(api)
}

async function providerRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  const ids = await inTurn((name) => make.provider(api, viewer, { name: api.name(name) }))
  return { parent: api.organization, ids, scope: { 'uidp.ids': ids } }
}

async function mappingRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  const { id: parent } = await make.provider(api, viewer)
  const ids = await inTurn((name) => make.mapping(api, parent, name, viewer))
  return { parent, ids, scope: { identity_provider_uidp: parent } }
}

async function tagRows(api: Api): Promise<Rows> {
  const { id: group } = await make.folder(api)
  const { id: parent } = await make.repo(api, group)
  return { parent, ids: await inTurn((name) => make.tag(api, parent, { name })), scope: { 'uidp.children_of': parent } }
}

const plain = { byId: 'id', uidp: true, named: true, made: 'created_at' } as const

export const listKinds: readonly ListKind[] = [
  {
    ...plain,
    operation: 'iam.groups.list',
    path: '/iam/v1/groups',
    make: below((api, parent, name) => make.folder(api, name, parent)),
    row: ({ parent }) => shape.group(parent, { name: 'a' }),
  },
  {
    ...plain,
    operation: 'iam.identities.list',
    path: '/iam/v1/identities',
    make: below((api, parent, name) => make.identity(api, parent, { name })),
    row: ({ parent }) => shape.identity(parent, { name: 'a', claim_match: make.shownClaimMatch }),
  },
  {
    ...plain,
    operation: 'iam.roles.list',
    path: '/iam/v1/roles',
    make: below((api, parent, name) => make.role(api, parent, { name })),
    row: ({ parent }) => shape.role(parent, { name: 'a' }),
  },
  {
    ...plain,
    named: false,
    operation: 'iam.role_bindings.list',
    path: '/iam/v1/rolebindings',
    make: bindingRows,
    row: ({ parent }) => shape.listedBinding(parent, { claim_match_issuer: 'https://issuer.example', claim_match_subject: 'robot' }),
  },
  {
    ...plain,
    operation: 'iam.identity_providers.list',
    path: '/iam/v1/identityProviders',
    make: providerRows,
    row: ({ parent }) => shape.provider(parent, uid, { name: anything }),
  },
  {
    uidp: true,
    named: false,
    made: 'created_at',
    operation: 'iam.external_group_role_mappings.list',
    path: '/iam/v1/externalGroupRoleMappings',
    make: mappingRows,
    row: ({ parent }) => shape.mapping(parent, { external_group_id: 'a' }),
  },
  {
    ...plain,
    uidp: false,
    named: false,
    newestFirst: true,
    operation: 'iam.group_invites.list',
    path: '/iam/v1/group_invites',
    make: inviteRows,
    row: ({ parent }) => shape.storedInvite(parent, { email: 'a@example.com' }),
  },
  {
    ...plain,
    byId: 'group',
    uidp: false,
    named: false,
    operation: 'iam.account_associations.list',
    path: '/iam/v1/account_associations',
    make: associationRows,
    row: ({ ids, scope }) => shape.association(ids[0] ?? '', { name: scope['name'], amazon: { account: '123456789012' } }),
  },
  {
    ...plain,
    operation: 'registry.repos.list',
    path: '/registry/v1/repos',
    make: below((api, parent, name) => make.repo(api, parent, { name })),
    row: ({ parent }) => shape.repo(parent, { name: 'a' }),
  },
  {
    ...plain,
    made: 'last_updated',
    operation: 'registry.tags.list',
    path: '/registry/v1/tags',
    make: tagRows,
    row: ({ parent }) => shape.tag(parent, { name: 'a' }),
  },
  {
    byId: 'id',
    uidp: true,
    named: false,
    operation: 'events.subscriptions.list',
    path: '/events/v1/subscriptions',
    make: below((api, parent, name) => make.subscription(api, parent, { sink: `https://localhost:9/${name}` })),
    row: ({ parent }) => shape.subscription(parent, { sink: 'https://localhost:9/a' }),
  },
]

const NOWHERE = 'f'.repeat(40)

const idOf = (kind: ListKind) => kind.byId ?? 'id'
const sorted = (ids: readonly unknown[]) => [...ids].map(String).sort()

/** Returns the ids in the list's own order: uid ascending, invites newest first (facts §10.6). */
const inOrder = (kind: ListKind, { ids }: Rows) => (kind.newestFirst ? [...ids].reverse() : sorted(ids))

async function expectIds(kind: ListKind, api: Api, query: Query, ids: readonly string[], what = JSON.stringify(query)): Promise<void> {
  same(column(await api.get(kind.path, query), idOf(kind)), ids, what)
}

async function fullSet(kind: ListKind, api: Api) {
  const rows = await kind.make(api)
  const listed = ok(api, await api.get(kind.path, rows.scope), { items: anything })
  same(
    listed.items.map((row: Record<string, unknown>) => row[idOf(kind)]),
    inOrder(kind, rows),
    'order',
  )
  const first = listed.items.find((row: Record<string, unknown>) => row[idOf(kind)] === rows.ids[0])
  ok(api, { status: 200, type: null, body: first }, kind.row(rows))
}

async function emptySet(kind: ListKind, api: Api) {
  const empty: Query = kind.uidp ? { 'uidp.children_of': `${api.organization}/${'0'.repeat(16)}` } : { [kind.byId ?? 'id']: NOWHERE }
  ok(api, await api.get(kind.path, empty), { items: [] })
  ok(api, await api.otherwise.get(kind.path, empty), { items: [] })
}

async function byId(kind: ListKind, api: Api) {
  const rows = await kind.make(api)
  const name = idOf(kind)
  ok(api, await api.get(kind.path, { [name]: rows.ids[0] ?? '' }), { items: [kind.row(rows)] })
  ok(api, await api.get(kind.path, { [name]: `${rows.parent}/${'0'.repeat(16)}` }), { items: [] })
  ok(api, await api.get(kind.path, { [name]: NOWHERE }), { items: [] })
  ok(api, await api.get(kind.path, { [name]: 'no such thing' }), { items: [] })
  ok(api, await api.as('outsider').get(kind.path, { [name]: rows.ids[0] ?? '' }), { items: [] })
  if (kind.uidp) {
    await expectIds(kind, api, { [name]: rows.ids[0] ?? '', 'uidp.children_of': rows.parent }, [rows.ids[0] ?? ''])
    await expectIds(kind, api, { [name]: rows.ids[0] ?? '', 'uidp.children_of': NOWHERE }, [])
  }
  await expectIds(kind, api.unrecorded, { ...rows.scope, [name]: '' }, inOrder(kind, rows), 'an empty id is no filter')
}

async function windows(kind: ListKind, api: Api) {
  const rows = await kind.make(api)
  const all = inOrder(kind, rows)
  const expected: [Query, readonly string[]][] = [
    [{ offset: 1 }, all.slice(1)],
    [{ limit: 2 }, all.slice(0, 2)],
    [{ offset: 1, limit: 1 }, all.slice(1, 2)],
    [{ offset: 3, limit: 5 }, []],
    [{ limit: 0, offset: 0 }, all],
    [{ page: 2, page_size: 2 }, all.slice(2)],
    [{ page: 0, page_size: 2 }, all.slice(0, 2)],
    [{ page_size: 1000 }, all],
    [{ page: 1 }, all],
    [{ page: 2 }, []],
    [{ page: 2147483647 }, []],
    [{ page_number: 2, per_page: 1 }, all.slice(1, 2)],
    [{ per_page: 2 }, all.slice(0, 2)],
    [{ page_number: 9, per_page: 2 }, []],
  ]
  for (const [window, ids] of expected) {
    await expectIds(kind, api.unrecorded, { ...rows.scope, ...window }, ids)
    await expectIds(kind, api.unrecorded.otherwise, { ...rows.scope, ...window }, ids)
  }
  for (const wrong of [
    { offset: -1 },
    { limit: -1 },
    { page: -1 },
    { page_size: 'many' },
    { limit: 1, page_size: 1 },
    { offset: 1, page_number: 2 },
  ]) {
    refused(await api.get(kind.path, { ...rows.scope, ...wrong }), 3)
  }
}

async function orders(kind: ListKind, api: Api) {
  const rows = await kind.make(api)
  const up = sorted(rows.ids)
  const oldestFirst = [...rows.ids]
  const expected: [string, readonly string[]][] = [
    ['id', up],
    ['uid asc', up],
    ['id desc', [...up].reverse()],
    ...madeOrders(kind.made, oldestFirst),
  ]
  for (const [order, ids] of expected) {
    await expectIds(kind, api.unrecorded, { ...rows.scope, order_by: order }, ids)
    await expectIds(kind, api.unrecorded.otherwise, { ...rows.scope, order_by: order }, ids)
  }
  if (kind.named) {
    await expectIds(kind, api, { ...rows.scope, order_by: 'name' }, rows.ids)
    await expectIds(kind, api, { ...rows.scope, order_by: 'name desc' }, [...rows.ids].reverse())
    await expectIds(kind, api, { ...rows.scope, order_by: 'name desc', offset: 1, limit: 1 }, rows.ids.slice(1, 2))
  }
  for (const order of ['name', 'created_at', 'create_time desc', 'updated_at', 'update_time desc', 'last_updated']) {
    same(items(await api.unrecorded.get(kind.path, { ...rows.scope, order_by: order })).length, 3, order)
  }
  if (!kind.named) await expectIds(kind, api.unrecorded, { ...rows.scope, order_by: 'name desc' }, up, 'rows of the same name, or of none')
  for (const order of ['colour', 'name sideways', 'createTime', 'lastUpdated'])
    refused(await api.get(kind.path, { ...rows.scope, order_by: order }), 3, /^Invalid argument: order_by: /)
  refused(await api.get(kind.path, { order_by: 'colour', limit: 'x' }), 3, /^parsing field "limit": /)
}

function madeOrders(made: ListKind['made'], oldestFirst: readonly string[]): [string, readonly string[]][] {
  if (made === undefined) return []
  return [
    [made, oldestFirst],
    [`${made} desc`, [...oldestFirst].reverse()],
  ]
}

async function scopes(kind: ListKind, api: Api) {
  const rows = await kind.make(api)
  const [a = '', b = ''] = rows.ids
  const mine = async (query: Query) =>
    column(await api.unrecorded.get(kind.path, query), 'id').filter((id) => rows.ids.includes(String(id)))
  for (const one of [api.unrecorded, api.unrecorded.otherwise]) {
    await expectIds(kind, one, { 'uidp.ids': [a, b] }, sorted([a, b]))
    await expectIds(kind, one, { 'uidp.ids': [a, b], 'uidp.children_of': rows.parent }, sorted([a, b]))
    await expectIds(kind, one, { 'uidp.ids': [a], 'uidp.children_of': NOWHERE }, [])
    await expectIds(kind, one, { 'uidp.ids': [a], 'uidp.in_root': true }, [])
    await expectIds(kind, one, { 'uidp.descendants_of': a }, [])
  }
  same(await mine({ 'uidp.children_of': rows.parent }), sorted(rows.ids), 'children')
  same(await mine({ 'uidp.descendants_of': rows.parent }), sorted(rows.ids), 'descendants of the parent')
  same(await mine({ 'uidp.descendants_of': api.organization }), sorted(rows.ids), 'descendants of the organization')
  same(await mine({ 'uidp.ancestors_of': a }), [a], 'the chain upwards holds the row itself')
  same(await mine({ 'uidp.in_root': false, 'uidp.children_of': rows.parent }), sorted(rows.ids), 'false is unset')
  ok(api, await api.as('outsider').get(kind.path, { 'uidp.children_of': rows.parent }), { items: [] })
  ok(api, await api.get(kind.path, { 'uidp.children_of': 'no such thing' }), { items: [] })
}

async function strangers(kind: ListKind, api: Api) {
  refused(await api.as('nobody').get(kind.path), 16)
  refused(await api.as('stranger').get(kind.path), 16)
  refused(await api.as('nobody').get(kind.path, { [kind.byId ?? 'uidp.ids']: NOWHERE }), 16)
}

async function values(kind: ListKind, api: Api) {
  const one = kind.byId ?? 'uidp.children_of'
  refused(await api.get(kind.path, { [one]: ['x', 'y'] }), 3, `too many values for field "${one.slice(one.lastIndexOf('.') + 1)}": x, y`)
  if (kind.uidp) refused(await api.get(kind.path, { 'uidp.in_root': 'maybe' }), 3, /^parsing field "in_root": /)
  const rows = await kind.make(api)
  same(items(await api.get(kind.path, { ...rows.scope, colour: 'red' })).length, 3, 'rows with an unknown parameter')
  for (const truth of ['1', 't', 'true', 'TRUE']) {
    if (kind.uidp) await expectIds(kind, api, { 'uidp.ids': rows.ids, 'uidp.in_root': truth }, [])
  }
  for (const untruth of ['0', 'f', 'false', 'False']) {
    if (kind.uidp) same(items(await api.get(kind.path, { 'uidp.ids': rows.ids, 'uidp.in_root': untruth })).length, 3, untruth)
  }
}

export const lists: readonly Case[] = listKinds.flatMap((kind): Case[] => {
  const { operation } = kind
  const one = (name: string, run: (kind: ListKind, api: Api) => Promise<void>, rest: Partial<Case> = {}): Case => ({
    name: `${operation}: ${name}`,
    operations: [operation],
    run: (api) => run(kind, api),
    ...rest,
  })
  return [
    one('the full set in its own order', fullSet),
    one('nothing is an empty list', emptySet, { reads: true }),
    one('a window', windows),
    one('an order', orders),
    one('401 without a valid token', strangers, { reads: true, roles: ['nobody', 'stranger'] }),
    one('bad and unknown parameters', values),
    ...(kind.byId ? [one('one row by its id, or none', byId, { roles: ['outsider'] })] : []),
    ...(kind.uidp ? [one('the uidp filters', scopes, { roles: ['outsider'] })] : []),
  ]
})

const ROLES: readonly Role[] = ['owner', 'editor', 'viewer', 'outsider', 'admin']

async function whole(api: Api, path: string): Promise<void> {
  const rows = items(await api.get(path))
  const order = path.includes('group_invites')
    ? undefined
    : column({ status: 200, type: null, body: { items: rows } }, rows[0]?.id ? 'id' : 'group')
  if (order) same(order, [...order].map(String).sort(), 'in order of uid')
}

/** Existing data as each role sees it. Cases that create their own data cannot show that. */
export const visible: readonly Case[] = [
  ...listKinds.map(
    ({ operation, path }): Case =>
      shows(`${operation}: all that each role sees`, [operation], { roles: ROLES, reads: true }, async (api) => {
        for (const role of ROLES) await whole(api.as(role), path)
        const first = items(await api.get(path, { limit: 3 }))
        same(first.length <= 3, true, 'a window of three')
      }),
  ),
  shows(
    'repos of the organization: summaries, images, and what a source is used for',
    ['registry.repo_tags_summary.get', 'registry.images.architectures', 'registry.images.size', 'registry.repo_count_by_source.get'],
    { roles: ['viewer'], reads: true },
    async (api) => {
      const viewer = api.as('viewer')
      for (const row of items(
        await viewer.get('/registry/v1/repos', { 'uidp.descendants_of': api.organization, order_by: 'name', limit: 20 }),
      )) {
        const summary = ok(api, await viewer.get(`/registry/v1/repotagssummary/${row.id}`), anything)
        await viewer.get(`/registry/v1/repotagssummary/${row.id}`, { exclude_referrers: true, exclude_epochs: true })
        const latest = api.member(summary, 'latest_tag')
        const image = `/registry/v1/repos/${row.id}/digests/${latest?.digest ?? 'sha256:none'}`
        await viewer.get(`${image}/architectures`)
        await viewer.get(`${image}/size`, { arch: 'arm64' })
        await viewer.get(`/registry/v1/repocountbysource/${row.id}`)
      }
    },
  ),
  shows('terms that the organization accepted', ['iam.terms.list'], { roles: ['viewer'], reads: true }, async (api) => {
    for (const role of ['owner', 'viewer'] as const) items(await api.as(role).get(`/iam/v1/terms/${api.organization}`))
  }),
]
