import { describe, expect, test } from 'vitest'
import { type Reply, running } from '../running.ts'

const { sandbox, get } = running()

type Row = Reply['json']

const PATH = '/vulnerabilities/v2/advisories'

/** Every advisory visible to example.com for a query. */
const list = async (query = ''): Promise<readonly Row[]> => {
  const { status, json } = await get(`${PATH}?page_size=200&${query}`)
  expect(status).toBe(200)
  return json.advisories
}

const events = (rows: readonly Row[]) => rows.flatMap((row) => row['events'])

describe('GET /vulnerabilities/v2/advisories (specification §4, semantics §3.13)', () => {
  test('pages through all rows in uid order', async () => {
    const first = (await get(`${PATH}?page_size=40`)).json
    const second = (await get(`${PATH}?page_size=40&page_token=${first.nextPageToken}`)).json
    const uids = [...first.advisories, ...second.advisories].map(({ uid }) => uid)
    expect(uids).toEqual([...new Set(uids)].sort())
    expect([first.totalCount, first.skipped, second.nextPageToken]).toEqual([String(uids.length), 0, undefined])
  })

  test('shows every kind of event and every review state', async () => {
    const all = events(await list())
    const kinds = [
      'detection',
      'fixed',
      'falsePositiveDetermination',
      'analysisNotPlanned',
      'fixNotPlanned',
      'pendingUpstreamFix',
      'truePositiveDetermination',
      'patched',
    ]
    for (const kind of kinds) expect(all.some((event) => event[kind] !== undefined)).toBe(true)
    expect(all.some((event) => kinds.every((kind) => event[kind] === undefined))).toBe(true)
    expect(new Set(all.map(({ reviewState }) => reviewState))).toEqual(
      new Set(['REVIEW_STATE_PENDING', 'REVIEW_STATE_APPROVED', 'REVIEW_STATE_REQUEST_CHANGES', 'REVIEW_STATE_REJECTED']),
    )
    expect(new Set(all.flatMap(({ detection }) => Object.keys(detection ?? {})))).toEqual(new Set(['nvdapi', 'manual', 'scanv1']))
  })

  test('uses the alphabet of GHSA in ids; aliases are a CVE and a GHSA', async () => {
    for (const row of await list()) {
      expect(row['advisoryId']).toMatch(/^CGA(-[23456789cfghjmpqrvwx]{4}){3}$/)
      expect(row['aliases']).toEqual([expect.stringMatching(/^CVE-/), expect.stringMatching(/^GHSA-/)])
    }
  })

  test.each([
    ['artifactNames=curl&artifactNames=zlib', 'artifactName', ['curl', 'zlib']],
    ['artifact_types=library', 'artifactType', ['library']],
    ['artifactArchitectures=aarch64', 'artifactArchitecture', ['aarch64']],
    ['component_names=glibc', 'componentName', ['glibc']],
    ['componentTypes=library', 'componentType', ['library']],
    ['component_locations=/usr/lib/curl', 'componentLocation', ['/usr/lib/curl']],
    ['legacy_advisory_ids=LEGACY-3', 'legacyAdvisoryId', ['LEGACY-3']],
    ['origin=curl&artifact_names=zlib', 'artifactName', ['curl']],
  ])('%s narrows by %s', async (query, member, values) => {
    const rows = await list(query)
    expect(new Set(rows.map((row) => row[member]))).toEqual(new Set(values))
    const others = (await list()).filter((row) => !rows.some(({ uid }) => uid === row['uid']))
    expect(others.some((row) => values.includes(String(row[member])))).toBe(false)
  })

  test('combines values of one filter with OR and filters with AND', async () => {
    const [curl, zlib, both] = await Promise.all([
      list('artifact_names=curl'),
      list('artifact_names=zlib'),
      list('artifact_names=curl,zlib'),
    ])
    expect((await list('artifact_names=curl&artifact_names=zlib')).length).toBe(curl.length + zlib.length)
    expect(both).toEqual([])
    expect(await list('artifact_names=curl&artifact_types=library')).toEqual([])
  })

  test('filters by advisory id and by alias', async () => {
    const [row] = await list()
    expect(await list(`advisoryIds=${row.advisoryId}`)).toEqual([row])
    expect(await list(`aliases=${row.aliases[1]}`)).toEqual([row])
  })

  test('searches names and aliases by query, ignoring case', async () => {
    expect((await list('query=OPENSS')).every(({ artifactName }) => artifactName === 'openssl')).toBe(true)
    expect(await list('query=cve-2026-90007')).toHaveLength(1)
  })

  test('filters by event type', async () => {
    const patched = await list('event_types=EVENT_TYPE_FILTER_PATCHED')
    expect(patched.length).toBeGreaterThan(0)
    expect(await list('eventTypes=8')).toEqual(patched)
    const rejected = await list('event_review_states=REVIEW_STATE_REJECTED')
    expect(rejected.every((row) => events([row]).some(({ reviewState }) => reviewState === 'REVIEW_STATE_REJECTED'))).toBe(true)
    expect(rejected.length).toBeGreaterThan(0)
  })

  test('takes the latest type from the newest approved event', async () => {
    const fixed = await list('latest_event_type=EVENT_TYPE_FILTER_FIXED')
    const touched = await list('event_types=EVENT_TYPE_FILTER_FIXED')
    expect(fixed.length).toBeGreaterThan(0)
    // A fix that awaits review does not count.
    expect(touched.length).toBeGreaterThan(fixed.length)
  })

  test('filters by authors and reviewers and excludes one author', async () => {
    const by = await list('event_authors=alice@example.com')
    const without = await list('exclude_event_authors=alice@example.com')
    expect(by.length + without.length).toBe((await list()).length)
    expect(events(without).some(({ author }) => author === 'alice@example.com')).toBe(false)
    expect((await list('event_reviewers=carol@example.com')).length).toBeGreaterThan(0)
    expect(await list('event_reviewers=nobody@example.com')).toEqual([])
  })

  test.each<[string, (row: Row) => string]>([
    ['uid', ({ uid }) => uid],
    ['created_at', ({ createTime }) => createTime],
    ['updated_at', ({ updateTime }) => updateTime],
    ['advisory_id', ({ advisoryId }) => advisoryId],
    ['artifact_name', ({ artifactName }) => artifactName],
    ['aliases', ({ aliases }) => aliases.join(',')],
  ])('sorts by order_by %s, both ways', async (column, read) => {
    const ascending = (await list(`order_by=${column}`)).map(read)
    expect(ascending).toEqual([...ascending].sort())
    expect((await list(`order_by=${column}%20desc`)).map(read)).toEqual([...ascending].reverse())
  })

  test('refuses an unknown enum value in the words of the gateway', async () => {
    const { status, json } = await get(`${PATH}?event_types=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED`)
    expect([status, json.code, json.message]).toEqual([400, 3, expect.stringContaining('parsing field "event_types"')])
  })
})

describe('visibility', () => {
  test('limits a stranger to its own organization', async () => {
    const { json } = await get(`${PATH}?page_size=200`, 'demo-outsider')
    expect(json.totalCount).toBe('3')
    expect(json.advisories.some(({ uid }: { uid: string }) => uid.startsWith(sandbox().organization))).toBe(false)
    expect((await get(`${PATH}?uidp.descendants_of=${sandbox().organization}`, 'demo-outsider')).json.totalCount).toBe('0')
  })

  test('applies to Get by uid and its errors', async () => {
    const [row] = await list()
    expect((await get(`${PATH}/${row.uid}`)).json).toEqual(row)
    expect((await get(`${PATH}/${row.uid}`, 'demo-outsider')).status).toBe(403)
    const missing = await get(`${PATH}/${sandbox().organization}/0123456789abcdef`)
    expect([missing.status, missing.json.details[1].resourceType]).toEqual([404, 'vulnerabilities.chainguard.dev/Advisory'])
    expect((await get(`${PATH}/not-a-uid`)).status).toBe(400)
  })
})
