import { describe, expect, test } from 'vitest'
import { type Got, startV1 } from '../v1/harness.ts'

const { send, world, organization } = startV1()
const published = startV1('published')

const PATH = '/vulnerabilities/v1/advisories'
const get = (path: string, token?: string): Promise<Got> => send(`GET ${path}`, undefined, token === undefined ? {} : { token })
/** The number of advisories of the organization. */
const all = world.store.advisories.below(organization).length
const list = async (query = '') => (await get(`${PATH}?page_size=200&${query}`)).body.items

describe('GET /vulnerabilities/v1/advisories (facts §5.1)', () => {
  test('pages as ever: 50 rows by default, 200 at most', async () => {
    const first = (await get(PATH)).body
    expect([first.items.length, first.total_count, first.id]).toEqual([50, String(all), organization])
    const second = (await get(`${PATH}?pageToken=${first.next_page_token}`)).body
    expect([second.items.length, second.next_page_token]).toEqual([all - 50, ''])
    expect((await get(`${PATH}?page_size=1000`)).body.items).toHaveLength(all)
  })

  test('finds zero or one row by id and ignores parameters outside the v1 contract', async () => {
    const [row] = await list()
    expect((await get(`${PATH}?id=${row.id}`)).body).toEqual({ id: organization, items: [row], next_page_token: '', total_count: '1' })
    expect((await get(`${PATH}?id=nothing`)).body).toEqual({ id: '', items: [], next_page_token: '', total_count: '0' })
    expect(await list('skip=5&query=zlib')).toHaveLength(all)
    expect((await get(`${PATH}?uidp.children_of=${organization}&id=nothing`)).body.id).toBe(organization)
  })

  test.each([
    ['artifact_name=curl&artifactName=zlib', 'artifact_name', ['curl', 'zlib']],
    ['artifact_type=library', 'artifact_type', ['library']],
    ['artifactArchitecture=aarch64', 'artifact_architecture', ['aarch64']],
    ['component_name=glibc', 'component_name', ['glibc']],
    ['legacyAdvisoryIds=LEGACY-6', 'legacyAdvisoryID', ['LEGACY-6']],
    ['origin=curl&artifact_name=zlib', 'artifact_name', ['curl']],
  ])('filters by %s', async (query, member, values) => {
    expect(new Set((await list(query)).map((row: Record<string, unknown>) => row[member]))).toEqual(new Set(values))
  })

  test('filters by events', async () => {
    const statuses = (query: string) => list(query).then((rows) => rows.flatMap((row: { events: { status: string }[] }) => row.events))
    expect((await statuses('event_statuses=REJECTED')).some(({ status }: { status: string }) => status === 'REJECTED')).toBe(true)
    expect(await list('eventStatuses=4')).toEqual(await list('event_statuses=REJECTED'))
    const moved = await list('event_types=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED')
    expect(moved[0].events[1].component_location_changed).toEqual({
      previous_location: expect.any(String),
      new_location: expect.any(String),
      note: '',
    })
    expect((await list('latest_event_type=EVENT_TYPE_FILTER_PATCHED')).length).toBeGreaterThan(0)
    const by = await list('event_author=alice@example.com')
    expect(by.length + (await list('exclude_event_author=alice@example.com')).length).toBe(all)
    expect(await list('event_reviewer=nobody')).toEqual([])
  })

  test('takes order_by as an enum', async () => {
    const ids = (await list()).map(({ id }: { id: string }) => id)
    expect((await list('order_by=ID_DESC')).map(({ id }: { id: string }) => id)).toEqual([...ids].reverse())
    expect(await list('orderBy=2')).toEqual(await list('order_by=ID_DESC'))
    const created = (await list('order_by=CREATED_AT_DESC')).map((row: { created_at: string }) => row.created_at)
    expect(created).toEqual([...created].sort().reverse())
    const { status, body } = await get(`${PATH}?order_by=created_at`)
    expect([status, body.code, body.message]).toEqual([400, 3, expect.stringContaining('parsing field "order_by"')])
  })

  test('shows unset members by their type and omits optional ones and oneofs', async () => {
    const rows = await list('artifact_name=openssl')
    expect(rows.some((row: object) => !('component_name' in row))).toBe(true)
    expect(rows.every((row: object) => !('deleted_at' in row))).toBe(true)
    const [event] = rows[0].events
    expect(event).toMatchObject({ timestamp: expect.any(String), status: 'APPROVED', findings: expect.any(String) })
    expect(Object.keys(event)).not.toContain('fixed')
    expect(event.detection.scanv1 ?? event.detection.nvdapi ?? event.detection.manual).toBeDefined()
  })

  test('uses the published names', async () => {
    const { body } = await published.send(`GET ${PATH}?legacy_advisory_ids=LEGACY-3`)
    expect(Object.keys(body)).toEqual(['id', 'items', 'nextPageToken', 'totalCount'])
    expect(body.items[0]).toMatchObject({ legacyAdvisoryID: 'LEGACY-3', createdAt: expect.any(String), advisoryId: expect.any(String) })
  })

  test('shows none of it to a stranger', async () => {
    expect((await get(`${PATH}?uidp.descendants_of=${organization}`, 'demo-outsider')).body.items).toEqual([])
  })
})

describe('GET …/advisories/{id}/events (facts §5.2)', () => {
  test('lists the events of an advisory, or one of them', async () => {
    const [row] = await list('event_types=EVENT_TYPE_FILTER_FIXED')
    const { body } = await get(`${PATH}/${row.id}/events`)
    expect(body).toEqual({ parent_id: organization, items: row.events })
    expect((await get(`${PATH}/${row.events[1].id}/events`)).body).toEqual({ parent_id: organization, items: [row.events[1]] })
  })

  test('is empty for a missing advisory', async () => {
    expect((await get(`${PATH}/${organization}/0123456789abcdef/events`)).body).toEqual({ parent_id: '', items: [] })
  })

  test("is refused for another organization's advisory", async () => {
    const [row] = await list()
    expect((await get(`${PATH}/${row.id}/events`, 'demo-outsider')).status).toBe(403)
  })
})

test('hides a withdrawn advisory everywhere', async () => {
  const [row] = world.store.advisories.children(organization)
  if (!row) throw new Error('the demo has no advisories')
  world.store.advisories.put({ ...row, deleteTime: '2026-05-01T00:00:00.000Z' })
  expect((await get(`${PATH}?id=${row.uid}`)).body.items).toEqual([])
  expect((await get(`${PATH}/${row.uid}/events`)).body.items).toEqual([])
  world.store.advisories.put(row)
})
