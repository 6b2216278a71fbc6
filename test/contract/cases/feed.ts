import * as make from '../expect.ts'
import { anything, column, inFolder, items, like, list, ok, refused, same, shows, text } from '../expect.ts'
import * as shape from '../shapes.ts'
import type { Answer, Api, Case, Query } from '../target.ts'

const DOCUMENTS = '/advisory/v1/documents'
const METADATA = '/advisory/v1/metadata'
const RESOLVED = '/advisory/v1/images/resolved_vulns'

type Body = Answer['body']

/** facts §7: both versions have the same names here; false positives have their own prefix. */
const document = { id: text, advisories: list }
const FALSE_POSITIVE = like(/^FPT_TYPE_/)
const SEVERITY = like(/^(?:UNSPECIFIED|CVSS_V[234]|UBUNTU)$/)

const metadata = (row: Body) => ({
  id: text,
  summary: anything,
  details: anything,
  references: row.references.map(() => ({ type: like(/^(?!TYPE_)[A-Z]+$/), url: text })),
  severity: row.severity.map(() => ({ type: SEVERITY, score: text })),
})

const idsOf = async (api: Api, path: string, query: Query) => column(await api.get(path, query), 'id')

/** facts §7; nothing can be created here, so the cases read the existing data. */
export const feed: readonly Case[] = [
  shows(
    'documents: public, every event of a known type',
    ['advisory.documents.list'],
    { roles: ['nobody', 'stranger'], reads: true },
    async (api) => {
      for (const role of ['owner', 'nobody', 'stranger'] as const) {
        const answer = await api.as(role).get(DOCUMENTS)
        ok(api, answer, { items: items(answer).map(() => document) })
        for (const { advisories } of items(answer)) {
          for (const one of advisories) {
            const names = ['id', 'events', 'aliases', api.dialect === 'published' ? 'packageNamespace' : 'package_namespace'].sort()
            same(Object.keys(one).sort(), names, 'members of an advisory')
            const falsePositives = one.events.map((event: Body) => api.member(event, 'false_positive_determination')).filter(Boolean)
            same(
              falsePositives,
              falsePositives.map(() => ({ type: FALSE_POSITIVE, note: anything })),
              'false positives',
            )
            same(
              one.events.every((event: Body) => Object.keys(event).length === 2),
              true,
              'a time and one type',
            )
          }
        }
      }
    },
  ),
  shows('documents: by id, by vulnerability, or a window of them', ['advisory.documents.list'], { reads: true }, async (api) => {
    const all = items(await api.get(DOCUMENTS))
    const ids = all.map(({ id }) => id)
    same(ids, [...ids].map(String).sort(), 'in order of id')
    const [first] = all
    same(await idsOf(api, DOCUMENTS, { id: first.id }), [first.id], 'by id')
    const cves: string[] = first.advisories.flatMap((one: Body) => one.aliases).slice(0, 1)
    const about = all.filter((row) => row.advisories.some((one: Body) => one.aliases.some((alias: string) => cves.includes(alias))))
    same(
      await idsOf(api, DOCUMENTS, { cves: [...cves, 'CVE-1999-0000'] }),
      about.map(({ id }) => id),
      'by vulnerability',
    )
    ok(api, await api.get(DOCUMENTS, { id: 'no such package' }), { items: [] })
    ok(api, await api.get(DOCUMENTS, { cves: 'CVE-1999-0000' }), { items: [] })
    for (const [query, expected] of [
      [{ offset: 1 }, ids.slice(1)],
      [{ limit: 2 }, ids.slice(0, 2)],
      [{ page: 2, page_size: 3 }, ids.slice(3, 6)],
      [{ page_number: 2, per_page: 1 }, ids.slice(1, 2)],
      [{ order_by: 'id desc' }, [...ids].reverse()],
      [{ order_by: 'id desc', offset: 1, limit: 1 }, [...ids].reverse().slice(1, 2)],
      [{ order_by: 'created_at desc' }, ids],
    ] as const) {
      same(await idsOf(api, DOCUMENTS, query), expected, JSON.stringify(query))
      same(await idsOf(api.otherwise, DOCUMENTS, query), expected, `${JSON.stringify(query)} spelled`)
    }
    refused(await api.get(DOCUMENTS, { limit: 1, page: 1 }), 3)
    refused(await api.get(DOCUMENTS, { order_by: 'colour' }), 3, /^Invalid argument: order_by: /)
    refused(await api.get(DOCUMENTS, { id: ['a', 'b'] }), 3, 'too many values for field "id": a, b')
  }),
  shows(
    'vulnerability metadata: public, every member, page by page',
    ['advisory.vulnerability_metadata.list'],
    { roles: ['nobody'], reads: true },
    async (api) => {
      const answer = await api.as('nobody').get(METADATA, { page_size: 200 })
      const rows = items(answer)
      const ids = column(answer, 'id')
      ok(api, answer, { items: rows.map(metadata), next_page_token: '', total_count: String(rows.length), skipped: 0 })
      same(ids, [...ids].map(String).sort(), 'in order of id')
      const first = await api.get(METADATA, { page_size: 2 })
      same(column(first, 'id'), ids.slice(0, 2), 'the first page')
      const second = await api.otherwise.get(METADATA, { page_size: 2, page_token: api.member(first.body, 'next_page_token') })
      same(column(second, 'id'), ids.slice(2, 4), 'the second page')
      const behind = await api.get(METADATA, { page_size: 2, skip: 3 })
      same(column(behind, 'id'), ids.slice(3, 5), 'behind three')
      same(behind.body.skipped, 3, 'skipped')
      same(await idsOf(api, METADATA, { order_by: 'id desc', page_size: 2 }), [...ids].reverse().slice(0, 2), 'the other way round')
      for (const order of ['name', 'colour', 'id sideways'])
        refused(await api.get(METADATA, { order_by: order }), 3, /^Invalid argument: order_by: /)
      same(await idsOf(api, METADATA, { order_by: '' }), ids.slice(0, 50), 'in no order')
      same(await idsOf(api, METADATA, { id: String(ids[1]) }), [ids[1]], 'by id')
      same(await idsOf(api, METADATA, { ids: [String(ids[0]), String(ids[2]), 'CVE-1999-0000'] }), [ids[0], ids[2]], 'by ids')
      const nothing = { items: [], next_page_token: '', total_count: '0', skipped: 0 }
      ok(api, await api.get(METADATA, { id: 'CVE-1999-0000' }), nothing)
      ok(api, await api.get(METADATA, { id: String(ids[0]), ids: String(ids[1]) }), nothing)
      same((await idsOf(api, METADATA, {})).length, Math.min(50, ids.length), 'a page when none is asked for')
      refused(await api.inAnyWords.get(METADATA, { page_size: -1 }), 3)
      refused(await api.get(METADATA, { page_size: 'x' }), 3, /^parsing field "page_size": /)
      refused(await api.get(METADATA, { page_token: 'nonsense' }), 3)
    },
  ),
  shows(
    'resolved vulnerabilities cannot be asked for over HTTP',
    ['advisory.resolved_vulns.list'],
    { roles: ['nobody'], reads: true },
    async (api) => {
      const [from, to] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z']
      refused(await api.get(RESOLVED, { from, to }), 3)
      refused(await api.get(RESOLVED), 3)
      refused(await api.get(RESOLVED, { from, to, image_refs: 'nginx' }), 3)
      refused(await api.get(RESOLVED, { from: 'yesterday', to }), 3, /^parsing field "from": /)
      refused(await api.as('nobody').get(RESOLVED, { from, to }), 16)
    },
  ),
]

const SUBSCRIPTIONS = '/events/v1/subscriptions'

/** facts §8 */
export const subscriptions: readonly Case[] = [
  inFolder(
    'subscriptions: made, listed and deleted; neither has times',
    ['events.subscriptions.create', 'events.subscriptions.list', 'events.subscriptions.delete'],
    async (api, parent) => {
      const sink = 'https://localhost:9/hook?a=b'
      const path = `${SUBSCRIPTIONS}/${parent}`
      const { id } = ok(api, await api.post(path, { sink, id: 'mine' }), shape.subscription(parent, { sink }))
      ok(api, await api.get(SUBSCRIPTIONS, { id }), { items: [shape.subscription(parent, { id, sink })] })
      ok(api, await api.get(SUBSCRIPTIONS, { 'uidp.children_of': parent }), { items: [shape.subscription(parent, { id, sink })] })
      ok(api, await api.delete(`${SUBSCRIPTIONS}/${id.replaceAll('/', '%2F')}`), {})
      ok(api, await api.delete(`${SUBSCRIPTIONS}/${id}`), {})
      ok(api, await api.get(SUBSCRIPTIONS, { id }), { items: [] })
    },
  ),
  inFolder(
    'subscriptions: refusals',
    ['events.subscriptions.create', 'events.subscriptions.delete'],
    { roles: ['viewer', 'outsider', 'nobody'] },
    async (api, parent) => {
      const path = `${SUBSCRIPTIONS}/${parent}`
      const body = { sink: 'https://localhost:9/hook' }
      refused(await api.post(path, {}), 3, /^Invalid argument: sink: /)
      refused(await api.post(path, { sink: 'not an address' }), 3, /^Invalid argument: sink: /)
      refused(await api.inAnyWords.post(path, { sink: 7 }), 3)
      const made = await make.subscription(api, parent)
      for (const role of ['viewer', 'outsider'] as const) {
        refused(await api.as(role).post(path, body), 7)
        refused(await api.as(role).delete(`${SUBSCRIPTIONS}/${made.id}`), 7)
      }
      refused(await api.as('nobody').post(path, body), 16)
      refused(await api.as('nobody').delete(`${SUBSCRIPTIONS}/${made.id}`), 16)
    },
  ),
]
