import type { Api, Query } from '../api.ts'
import type { Case } from '../case.ts'
import { column, items, ok, refused, same } from '../expect.ts'
import { anything } from '../match.ts'
import { type ListKind, listKinds, type Rows } from './list-kinds.ts'

/** A uid of nothing at any service. */
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

/** The promises of every list, for every list. */
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
