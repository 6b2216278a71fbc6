import { anything, column, items, like, ok, refused, same, shows, text, time } from '../expect.ts'
import type { Answer, Api, Case, Query } from '../target.ts'

const ARTIFACTS = '/libraries/v1/artifacts'

/** facts §6.1 */
const artifact = {
  id: text,
  name: text,
  description: anything,
  ecosystem: like(/^(?:JAVA|PYTHON)$/),
  latest_version: anything,
  version_count: anything,
  created_at: time,
  updated_at: time,
}

async function wholeList(api: Api, query: Query): Promise<Answer['body'][]> {
  const rows: Answer['body'][] = []
  let token = ''
  do {
    const page = await api.get(ARTIFACTS, { ...query, page_size: 200, ...(token && { page_token: token }) })
    rows.push(...items(page))
    token = api.member(page.body, 'next_page_token')
  } while (token !== '')
  return rows
}

/** facts §6; nothing can be created here, so the cases read the existing data. */
export const libraries: readonly Case[] = [
  shows(
    'artifacts: every member, by name, with totals that are numbers',
    ['libraries.artifacts.list'],
    { roles: ['viewer', 'nobody'], reads: true },
    async (api) => {
      for (const one of [api, api.as('viewer')]) {
        const answer = await one.get(ARTIFACTS, { page_size: 200 })
        const rows = items(answer)
        ok(api, answer, { items: rows.map(() => artifact), next_page_token: '', total_artifacts: rows.length, skipped: 0 })
        same(column(answer, 'name'), column(answer, 'name').map(String).sort(), 'by name')
      }
      refused(await api.as('nobody').get(ARTIFACTS), 16)
    },
  ),
  shows('artifacts: by ecosystem and by words', ['libraries.artifacts.list'], { reads: true }, async (api) => {
    const all = await wholeList(api, {})
    const named = (rows: readonly Answer['body'][]) => rows.map(({ name }) => name)
    const of = (ecosystem: string) => named(all.filter((row) => row.ecosystem === ecosystem))
    same(named(await wholeList(api, { ecosystems: 'PYTHON' })), of('PYTHON'), 'one')
    same(named(await wholeList(api, { ecosystems: 1 })), of('JAVA'), 'by number')
    same(named(await wholeList(api, { ecosystems: ['JAVA', 'PYTHON'] })), named(all), 'both')
    same(named(await wholeList(api, { ecosystems: 'UNKNOWN' })), named(all), 'the unset value is no filter')
    const [{ name }] = all
    same(named(await wholeList(api, { query: name })).includes(name), true, 'by its name')
    same(await wholeList(api, { query: 'no such library' }), [], 'by words that are nowhere')
    same(await wholeList(api, { query: name, include_upstream: false }), await wholeList(api, { query: name }), 'upstream: no')
    for (const query of [{ remediated: true }, { remediated: 'f' }, { cuda_version: '12.6' }, { cuda_version: 'none' }]) {
      same(named(await wholeList(api, query)), named(await wholeList(api.otherwise, query)), JSON.stringify(query))
    }
    refused(await api.get(ARTIFACTS, { remediated: 'perhaps' }), 3, /^parsing field "remediated": /)
    refused(await api.get(ARTIFACTS, { ecosystems: 'COBOL' }), 3, /^parsing field "ecosystems": /)
    refused(await api.get(ARTIFACTS, { include_upstream: 'perhaps' }), 3, /^parsing field "include_upstream": /)
    refused(await api.get(ARTIFACTS, { query: ['a', 'b'] }), 3, 'too many values for field "query": a, b')
  }),
  shows('artifacts: page by page, and rows skipped', ['libraries.artifacts.list'], { reads: true }, async (api) => {
    const all = (await wholeList(api, {})).map(({ id }) => id)
    const first = await api.get(ARTIFACTS, { page_size: 3 })
    same(column(first, 'id'), all.slice(0, 3), 'the first page')
    same(api.member(first.body, 'total_artifacts'), all.length, 'total')
    const second = await api.get(ARTIFACTS, { page_size: 3, page_token: api.member(first.body, 'next_page_token') })
    same(column(second, 'id'), all.slice(3, 6), 'the second page')
    const skipped = await api.otherwise.get(ARTIFACTS, { page_size: 2, skip: 4 })
    same(column(skipped, 'id'), all.slice(4, 6), 'behind four')
    same(skipped.body.skipped, 4, 'skipped')
    same(items(await api.get(ARTIFACTS)).length, Math.min(50, all.length), 'a page when none is asked for')
    same(items(await api.get(ARTIFACTS, { page_size: 1000 })).length, Math.min(200, all.length), 'a large page')
    refused(await api.inAnyWords.get(ARTIFACTS, { page_size: -1 }), 3)
    refused(await api.get(ARTIFACTS, { skip: 'x' }), 3, /^parsing field "skip": /)
    refused(await api.get(ARTIFACTS, { page_token: 'nonsense' }), 3)
  }),
  shows('artifacts: counted', ['libraries.artifacts.count'], { roles: ['nobody'], reads: true }, async (api) => {
    const count = async (ecosystem: string) => (await wholeList(api.unrecorded, { ecosystems: ecosystem })).length
    const [java, python] = [await count('JAVA'), await count('PYTHON')]
    const counts = [
      { ecosystem: 'JAVA', total_artifacts: java },
      { ecosystem: 'PYTHON', total_artifacts: python },
    ]
    ok(api, await api.get(`${ARTIFACTS}/count`), { counts })
    ok(api, await api.get(`${ARTIFACTS}/count`, { ecosystems: ['JAVA', 'PYTHON'] }), { counts })
    ok(api, await api.get(`${ARTIFACTS}/count`, { ecosystems: 2 }), { counts: counts.slice(1) })
    refused(await api.get(`${ARTIFACTS}/count`, { ecosystems: 'COBOL' }), 3, /^parsing field "ecosystems": /)
    refused(await api.as('nobody').get(`${ARTIFACTS}/count`), 16)
  }),
  shows('versions: of nothing, and refused', ['libraries.artifacts.list_versions'], { roles: ['nobody'], reads: true }, async (api) => {
    const [{ id }] = items(await api.get(ARTIFACTS, { page_size: 1 }))
    const path = `${ARTIFACTS}/${encodeURIComponent(id)}/versions`
    ok(api, await api.get(`${ARTIFACTS}/no-such-artifact/versions`), { items: [] })
    refused(await api.get(path, { include_upstream: 'perhaps' }), 3, /^parsing field "include_upstream": /)
    refused(await api.get(path, { limit: 1, page: 1 }), 3)
    refused(await api.get(path, { order_by: 'colour' }), 3, /^Invalid argument: order_by: /)
    refused(await api.as('nobody').get(path), 16)
  }),
]
