import { describe, expect, test } from 'vitest'
import { names, startV1 } from '../v1/harness.ts'

const { send } = startV1()
const published = startV1('published')

const PATH = '/libraries/v1/artifacts'
const get = (path: string) => send(`GET ${path}`)

describe('artifacts (facts §6.1)', () => {
  test('accept ecosystems by name or number; none means all, unused ones are empty', async () => {
    const totals = async (query: string): Promise<number> => (await get(`${PATH}?${query}`)).body.total_artifacts
    expect(await Promise.all(['', 'ecosystems=JAVA', 'ecosystems=2', 'ecosystems=JAVASCRIPT'].map(totals))).toEqual([70, 30, 40, 0])
    expect((await get(`${PATH}?ecosystems=COBOL`)).body.message).toContain('parsing field "ecosystems"')
  })

  test('page by token and skip, in order of name, and ignore order_by', async () => {
    const first = await get(`${PATH}?ecosystems=PYTHON&page_size=30&skip=2`)
    expect([names(first).length, first.body.skipped, first.body.total_artifacts]).toEqual([30, 2, 40])
    const second = await get(`${PATH}?ecosystems=PYTHON&page_size=30&page_token=${first.body.next_page_token}`)
    expect([names(second).length, second.body.next_page_token]).toEqual([8, ''])
    expect(names(await get(`${PATH}?ecosystems=PYTHON&page_size=1&order_by=name%20desc`))).toEqual(['aiohttp'])
  })

  test('accept query, remediated and cuda_version', async () => {
    expect(names(await get(`${PATH}?query=JACKSON`))).toHaveLength(2)
    expect(names(await get(`${PATH}?remediated=true&ecosystems=JAVA`))).toEqual(['com.h2database:h2', 'org.yaml:snakeyaml'])
    expect(names(await get(`${PATH}?cuda_version=12.6`))).toEqual(['torch'])
  })

  test('look as documented in both dialects', async () => {
    const row = { id: 'python:torch', name: 'torch', ecosystem: 'PYTHON' }
    expect((await get(`${PATH}?query=torch`)).body.items[0]).toMatchObject({
      ...row,
      version_count: expect.any(Number),
      created_at: expect.any(String),
    })
    const { items } = (await published.send(`GET ${PATH}?query=torch`)).body
    expect(items[0]).toMatchObject({ ...row, versionCount: expect.any(Number), createdAt: expect.any(String) })
  })
})

describe('versions (facts §6.1)', () => {
  test('come all at once in descending order, upstream ones on request', async () => {
    const versions = async (query = '') => (await get(`${PATH}/python:requests/versions?${query}`)).body.items
    const built = await versions()
    expect(built.length).toBeGreaterThan(50)
    const texts = built.map(({ version }: { version: string }) => version)
    expect(texts).toEqual([...texts].sort().reverse())
    const all = await versions('include_upstream=true')
    expect(all.length).toBeGreaterThan(built.length)
    expect(all.at(-1)).toMatchObject({
      id: 'python:requests:0.8:upstream_registry',
      source_type: 'SOURCE_TYPE_UPSTREAM_REGISTRY',
      malware_scanned: true,
      upstream_published_date: '2024-05-01T00:00:00.000Z',
    })
    expect(built[0].upstream_published_date).toBe(null)
  })

  test('accept windows and an order by the columns of v1', async () => {
    const page = await get(`${PATH}/python:requests/versions?limit=2&offset=1&order_by=id`)
    expect(page.body.items.map(({ id }: { id: string }) => id)).toEqual(['python:requests:1.10:internal', 'python:requests:1.11:internal'])
    expect((await get(`${PATH}/python:requests/versions?order_by=version`)).status).toBe(400)
  })

  test('of a missing artifact are empty', async () => {
    expect(await get(`${PATH}/python:nothing/versions`)).toEqual({ status: 200, body: { items: [] } })
  })
})

test('shows counts as numbers', async () => {
  expect((await get(`${PATH}/count?ecosystems=PYTHON&ecosystems=GO`)).body).toEqual({
    counts: [
      { ecosystem: 'PYTHON', total_artifacts: 40 },
      { ecosystem: 'GO', total_artifacts: 0 },
    ],
  })
  expect((await get(`${PATH}/count`)).body.counts).toHaveLength(2)
})
