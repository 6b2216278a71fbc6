import { column, items, ok, refused, same, shows, text } from '../expect.ts'
import { advisory, advisoryEvent } from '../shapes.ts'
import type { Answer, Api, Case, Query } from '../target.ts'

const ADVISORIES = '/vulnerabilities/v1/advisories'
const NOWHERE = 'f'.repeat(40)

type Body = Answer['body']

/** Advisories without a moved component, of which v2 knows less (difference advisory-moves-lost). */
const whole = (api: Api): Query => ({ 'uidp.descendants_of': api.organization, latest_event_type: 'EVENT_TYPE_FILTER_PATCHED' })

const eventsOf = (api: Api, row: Body): Body[] => api.member(row, 'events')

const ids = (answer: Answer) => column(answer, 'id')

/** Every filter with a value of the row, and what a row must have to pass it (facts §5.1, semantics §3.13). */
function filtersOf(api: Api, row: Body): readonly (readonly [filter: Query, passes: (row: Body) => boolean])[] {
  const member = (name: string) => (one: Body) => api.member(one, name)
  const equal = (filter: string, name: string): readonly [Query, (row: Body) => boolean] => {
    const wanted = member(name)(row)
    return [{ [filter]: [wanted, 'no such thing'] }, (one) => member(name)(one) === wanted]
  }
  const some = (one: Body, test: (event: Body) => boolean) => eventsOf(api, one).some(test)
  const [event] = eventsOf(api, row)
  return [
    equal('artifact_type', 'artifact_type'),
    equal('artifact_name', 'artifact_name'),
    equal('artifact_architecture', 'artifact_architecture'),
    equal('component_name', 'component_name'),
    equal('component_type', 'component_type'),
    equal('component_location', 'component_location'),
    equal('advisory_ids', 'advisory_id'),
    [{ origin: api.member(row, 'artifact_name') }, (one) => api.member(one, 'artifact_name') === api.member(row, 'artifact_name')],
    [{ aliases: row.aliases }, (one) => one.aliases.some((alias: string) => row.aliases.includes(alias))],
    [{ event_author: event.author }, (one) => some(one, ({ author }) => author === event.author)],
    [{ event_reviewer: event.reviewer }, (one) => some(one, ({ reviewer }) => reviewer === event.reviewer)],
    [{ exclude_event_author: event.author }, (one) => !some(one, ({ author }) => author === event.author)],
    [{ event_statuses: ['APPROVED', 'PENDING'] }, (one) => some(one, ({ status }) => ['APPROVED', 'PENDING'].includes(status))],
    [{ event_statuses: 3 }, (one) => some(one, ({ status }) => status === 'REQUEST_CHANGES')],
    [{ event_types: 'EVENT_TYPE_FILTER_DETECTION' }, (one) => some(one, (step) => api.member(step, 'detection') !== undefined)],
    [{ event_types: ['5', '6'] }, () => false],
    [{ 'uidp.ids': [row.id, NOWHERE] }, (one) => one.id === row.id],
    [{ 'uidp.children_of': api.organization }, () => true],
    [{ 'uidp.children_of': row.id }, () => false],
    [{ 'uidp.in_root': true }, () => false],
  ]
}

/** facts §5; nothing can be created here, so the cases read the existing data. */
export const advisories: readonly Case[] = [
  shows(
    'advisories: filters that ask for nothing, beside an id or not',
    ['vulnerabilities.advisories.list', 'libraries.artifacts.list'],
    { reads: true },
    async (api) => {
      const [row] = items(await api.get(ADVISORIES, whole(api)))
      const nothing: readonly Query[] = [
        { event_statuses: 'UNKNOWN' },
        { event_types: 'EVENT_TYPE_FILTER_UNSPECIFIED' },
        { event_types: '0' },
        { latest_event_type: 'EVENT_TYPE_FILTER_UNSPECIFIED' },
        { origin: api.member(row, 'artifact_name'), artifact_name: 'zzz' },
      ]
      for (const filter of nothing) {
        same(column(await api.get(ADVISORIES, { ...filter, id: row.id }), 'id'), [row.id], `beside an id: ${JSON.stringify(filter)}`)
        same(column(await api.unrecorded.get(ADVISORIES, { ...filter, 'uidp.ids': row.id }), 'id'), [row.id], JSON.stringify(filter))
      }
      for (const name of ['event_types', 'event_statuses', 'latest_event_type', 'order_by'])
        refused(await api.inAnyWords.get(ADVISORIES, { [name]: '' }), 3)
      refused(await api.inAnyWords.get('/libraries/v1/artifacts', { ecosystems: '' }), 3)
    },
  ),
  shows(
    'a page size of 64 bits',
    ['vulnerabilities.advisories.list', 'registry.eol_tags.list', 'libraries.artifacts.list'],
    { reads: true },
    async (api) => {
      for (const path of [ADVISORIES, '/registry/v1/eoltags']) {
        for (const size of ['3000000000', '9223372036854775807']) {
          const scope = { ...whole(api), page_size: size }
          same((await api.unrecorded.get(path, scope)).status, 200, `${path} ${size}`)
        }
        for (const size of ['9223372036854775808', '99999999999999999999', '-3000000000', '3e9'])
          refused(await api.inAnyWords.get(path, { page_size: size }), 3)
      }
      refused(await api.inAnyWords.get('/libraries/v1/artifacts', { page_size: '3000000000' }), 3)
    },
  ),
  shows(
    'advisories: every member, and an envelope that names their parent',
    ['vulnerabilities.advisories.list'],
    { roles: ['viewer'], reads: true },
    async (api) => {
      for (const one of [api, api.as('viewer')]) {
        const answer = await one.get(ADVISORIES, whole(api))
        const rows = items(answer).map((row) => advisory(api.organization, row, api.member))
        ok(api, answer, { id: api.organization, items: rows, next_page_token: '', total_count: String(rows.length) })
        same(ids(answer), ids(answer).map(String).sort(), 'in order of uid')
      }
    },
  ),
  shows('advisories: every filter, in either spelling', ['vulnerabilities.advisories.list'], { reads: true }, async (api) => {
    const all = items(await api.get(ADVISORIES, whole(api)))
    const row = all.find((one) => api.member(one, 'component_name') !== undefined)
    for (const [filter, passes] of filtersOf(api, row)) {
      const expected = all.filter(passes).map(({ id }) => id)
      const query = { ...whole(api), ...filter }
      same(ids(await api.get(ADVISORIES, query)), expected, JSON.stringify(filter))
      same(ids(await api.otherwise.get(ADVISORIES, query)), expected, `${JSON.stringify(filter)} spelled`)
    }
    const old = items(await api.unrecorded.get(ADVISORIES, { 'uidp.descendants_of': api.organization, page_size: 200 })).find(
      (one) => api.member(one, 'legacyAdvisoryID') !== undefined,
    )
    const found = await api.unrecorded.get(ADVISORIES, { legacy_advisory_ids: api.member(old, 'legacyAdvisoryID') })
    same(ids(found).includes(old.id), true, 'by its legacy id')
  }),
  shows('advisories: in an order of its own words', ['vulnerabilities.advisories.list'], { reads: true }, async (api) => {
    const all = items(await api.get(ADVISORIES, whole(api)))
    const by = (name: string) => all.map((row) => String(api.member(row, name))).sort()
    for (const [order, name] of [
      ['ID_ASC', 'id'],
      ['CREATED_AT_ASC', 'created_at'],
      ['UPDATED_AT_ASC', 'updated_at'],
    ] as const) {
      const up = (await api.get(ADVISORIES, { ...whole(api), order_by: order })).body
      same(
        up.items.map((row: Body) => api.member(row, name)),
        by(name),
        order,
      )
      const down = await api.otherwise.get(ADVISORIES, { ...whole(api), order_by: order.replace('ASC', 'DESC') })
      same(
        items(down).map((row) => api.member(row, name)),
        by(name).reverse(),
        `${order} turned round`,
      )
    }
    for (const order of ['ALIASES_ASC', 'ALIASES_DESC', 'DELETED_AT_ASC', 'DELETED_AT_DESC', 'ORDER_BY_UNSPECIFIED', 2]) {
      same(items(await api.get(ADVISORIES, { ...whole(api), order_by: order })).length, all.length, String(order))
    }
    refused(await api.get(ADVISORIES, { order_by: 'NAME_ASC' }), 3, /^parsing field "order_by": /)
  }),
  shows('advisories: page by page', ['vulnerabilities.advisories.list'], { reads: true }, async (api) => {
    const all = ids(await api.get(ADVISORIES, whole(api)))
    const pages: unknown[] = []
    let token = ''
    do {
      const page = await api.get(ADVISORIES, { ...whole(api), page_size: 2, ...(token && { page_token: token }) })
      same(api.member(page.body, 'total_count'), String(all.length), 'total')
      same(items(page).length <= 2, true, 'no larger than asked for')
      pages.push(...ids(page))
      token = api.member(page.body, 'next_page_token')
    } while (token !== '')
    same(pages, all, 'the pages together')
    same(items(await api.unrecorded.get(ADVISORIES)).length <= 50, true, 'a page when none is asked for')
    same(ids(await api.get(ADVISORIES, { ...whole(api), page_size: 1000 })), all, 'a large page')
    refused(await api.inAnyWords.get(ADVISORIES, { page_size: -1 }), 3)
    refused(await api.get(ADVISORIES, { page_size: 'x' }), 3, /^parsing field "page_size": /)
    refused(await api.get(ADVISORIES, { page_token: 'nonsense' }), 3)
  }),
  shows(
    'advisories: one by its id, or none',
    ['vulnerabilities.advisories.list'],
    { roles: ['outsider', 'nobody'], reads: true },
    async (api) => {
      const [row] = items(await api.get(ADVISORIES, whole(api)))
      const shape = advisory(api.organization, row, api.member)
      ok(api, await api.get(ADVISORIES, { id: row.id }), { id: api.organization, items: [shape], next_page_token: '', total_count: '1' })
      const nothing = { id: '', items: [], next_page_token: '', total_count: '0' }
      for (const id of [`${api.organization}/${'0'.repeat(16)}`, NOWHERE, 'no such thing']) {
        ok(api, await api.get(ADVISORIES, { id }), nothing)
      }
      ok(api, await api.as('outsider').get(ADVISORIES, { id: row.id }), nothing)
      ok(api, await api.get(ADVISORIES, { id: row.id, artifact_name: 'no such thing' }), nothing)
      ok(api, await api.get(ADVISORIES, { id: row.id, aliases: row.aliases, latest_event_type: 'EVENT_TYPE_FILTER_PATCHED' }), {
        id: api.organization,
        items: [shape],
        next_page_token: '',
        total_count: '1',
      })
      ok(api, await api.get(ADVISORIES, { 'uidp.children_of': NOWHERE }), { ...nothing, id: NOWHERE })
      same(items(await api.as('outsider').get(ADVISORIES, { 'uidp.descendants_of': api.organization })).length, 0, 'out of reach')
      refused(await api.get(ADVISORIES, { id: ['x', 'y'] }), 3, 'too many values for field "id": x, y')
      refused(await api.get(ADVISORIES, { event_statuses: 'MAYBE' }), 3, /^parsing field "event_statuses": /)
      refused(await api.get(ADVISORIES, { latest_event_type: 'MAYBE' }), 3, /^parsing field "latest_event_type": /)
      refused(await api.as('nobody').get(ADVISORIES), 16)
    },
  ),
  shows(
    'advisories: their events, or a window of them',
    ['vulnerabilities.advisory_events.list'],
    { roles: ['outsider', 'nobody'], reads: true },
    async (api) => {
      const rows = items(await api.get(ADVISORIES, whole(api)))
      for (const row of rows) {
        const path = `${ADVISORIES}/${row.id}/events`
        const events = eventsOf(api, row).map((event) => advisoryEvent(row.id, event, api.member))
        ok(api, await api.get(path), { items: events, parent_id: api.organization })
        same(
          ids(await api.get(path)),
          eventsOf(api, row).map(({ id }) => id),
          'as the advisory shows them',
        )
        ok(api, await api.get(path, { offset: 1, limit: 1 }), { items: events.slice(1, 2), parent_id: api.organization })
      }
      const [{ id }] = rows
      const [event] = eventsOf(api, rows[0])
      ok(api, await api.get(`${ADVISORIES}/${event.id}/events`), {
        items: [advisoryEvent(id, event, api.member)],
        parent_id: api.organization,
      })
      ok(api, await api.get(`${ADVISORIES}/${String(id).replaceAll('/', '%2F')}/events`, { limit: 0 }), {
        items: eventsOf(api, rows[0]).map((one) => advisoryEvent(id, one, api.member)),
        parent_id: text,
      })
      ok(api, await api.get(`${ADVISORIES}/${api.organization}/${'0'.repeat(16)}/events`), { items: [], parent_id: '' })
      ok(api, await api.get(`${ADVISORIES}/${id}/${'0'.repeat(16)}/events`), { items: [], parent_id: '' })
      refused(await api.get(`${ADVISORIES}/${id}/events`, { limit: 1, page: 1 }), 3)
      refused(await api.as('outsider').get(`${ADVISORIES}/${id}/events`), 7)
      refused(await api.as('nobody').get(`${ADVISORIES}/${id}/events`), 16)
    },
  ),
]
