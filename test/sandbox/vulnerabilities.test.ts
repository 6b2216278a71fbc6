import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../src/sandbox/start.ts'
import { column, type Reply, running, startV1 } from './stage.ts'

describe('advisories', () => {
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
})

describe('file', () => {
  const ORG = 'a'.repeat(40)

  const FILE = {
    groups: [{ uid: ORG, name: 'example.com' }],
    advisories: [{ uid: `${ORG}/${'1'.repeat(16)}`, advisoryId: 'CGA-1', events: [{ author: 'a', fixed: { fixedVersion: '1' } }] }],
    documents: [{ id: 'openssl', advisories: [{ id: 'CGA-1', aliases: ['CVE-1'] }] }],
    vulnerabilityMetadata: [{ id: 'CVE-1', severities: [{ type: 'TYPE_CVSS_V3', score: '9.8' }] }],
    artifacts: [{ uid: 'python:one', name: 'one', ecosystem: 'ECOSYSTEM_PYTHON' }],
    artifactVersions: [{ uid: 'python:one:1', artifactUid: 'python:one', version: '1', sizeBytes: 5 }],
    subscriptions: [{ uid: `${ORG}/${'2'.repeat(16)}`, sink: 'https://localhost/' }],
  }

  const served = running({ data: FILE })

  test('accepts every collection of these domains', async () => {
    const get = async (path: string) => (await served.get(path)).json
    expect(await get('/vulnerabilities/v2/advisories')).toMatchObject({ advisories: [{ events: [{ fixed: { fixedVersion: '1' } }] }] })
    expect(await get('/advisory/v2/documents?cves=CVE-1')).toMatchObject({ documents: [{ id: 'openssl' }] })
    expect(await get('/advisory/v2/metadata')).toMatchObject({ vulnerabilityMetadata: [{ id: 'CVE-1' }] })
    expect(await get('/libraries/v2/artifacts?ecosystems=2')).toMatchObject({ artifacts: [{ uid: 'python:one' }] })
    expect(await get('/libraries/v2/artifacts/python:one/versions')).toMatchObject({ artifactVersions: [{ sizeBytes: '5' }] })
    expect(await get('/events/v2/subscriptions')).toMatchObject({ totalCount: '1' })
  })

  test('stops the start for a subscription without a group', async () => {
    const data = { ...FILE, subscriptions: [{ uid: `${'b'.repeat(40)}/${'2'.repeat(16)}`, sink: 'https://localhost/' }] }
    await expect(startSandbox({ port: 0, data })).rejects.toThrow(/^data: subscriptions\[0\]\.uid: /)
  })
})

describe('vulnerabilities, v1', () => {
  const { get, world, organization } = startV1()
  const published = startV1('published')

  const PATH = '/vulnerabilities/v1/advisories'
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
      expect((await list('event_types=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED'))[0].events[1].component_location_changed).toEqual({
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
      const ids = column(await list(), 'id')
      expect(column(await list('order_by=ID_DESC'), 'id')).toEqual([...ids].reverse())
      expect(await list('orderBy=2')).toEqual(await list('order_by=ID_DESC'))
      const created = column(await list('order_by=CREATED_AT_DESC'), 'created_at')
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
})

describe('vuln reports', () => {
  const { send, get, organization } = startV1()
  const published = startV1('published')

  const COUNTS = '/registry/v1/vuln_reports/counts'
  const SPAN = 'from=2026-03-10T00:00:00Z&to=2026-03-12T23:59:59Z'

  const image = async (name: string) => {
    const repo = (await get(`/registry/v1/repos?name=${name}&uidp.children_of=${organization}`)).body.items[0].id
    const { digest } = (await get(`/registry/v1/tags?uidp.children_of=${repo}&name=latest`)).body.items[0]
    return { repo, digest }
  }

  describe('counts (semantics §9.3)', () => {
    test('give one report a day, both ends included', async () => {
      const { items } = (await get(`${COUNTS}?repo=nginx&tag=latest&${SPAN}`)).body
      expect(items.map(({ date }: { date: string }) => date.slice(0, 10))).toEqual(['2026-03-10', '2026-03-11', '2026-03-12'])
      const [report] = items
      expect(report).toMatchObject({ repo: 'nginx', tag: 'latest', size_bytes: expect.stringMatching(/^[1-9]\d+$/) })
      expect(report.cve_ids.length).toBeGreaterThan(0)
    })

    test('equal the lengths of the lists of ids', async () => {
      const [report] = (await get(`${COUNTS}?repo=python&${SPAN}`)).body.items
      const lists = {
        CRITICAL: report.crit_cve_ids,
        HIGH: report.high_cve_ids,
        MEDIUM: report.med_cve_ids,
        LOW: report.low_cve_ids,
        NEGLIGIBLE: report.negligible_cve_ids,
        UNKNOWN: report.unknown_cve_ids,
      }
      const counted = Object.entries(lists).flatMap(([severity, ids]) => (ids.length === 0 ? [] : [{ severity, count: ids.length }]))
      expect(report.vuln_counts).toEqual(counted)
      expect([...report.cve_ids].sort()).toEqual(Object.values(lists).flat().sort())
    })

    test('are the same by any name of the repo and from a form', async () => {
      const byName = (await get(`${COUNTS}?repo=nginx&${SPAN}`)).body.items
      const byPath = (await get(`${COUNTS}?repo=cgr.dev/example.com/nginx&${SPAN}`)).body.items
      expect(byPath).toEqual(byName.map((report: object) => ({ ...report, repo: 'cgr.dev/example.com/nginx' })))
      const text = `repo=nginx&${SPAN}`
      const form = await send(`POST ${COUNTS}`, undefined, { text, contentType: 'application/x-www-form-urlencoded' })
      expect(form.body.items).toEqual(byName)
    })

    test("describe the tag's target on each day", async () => {
      const query = `${COUNTS}?repo=nginx&from=2026-02-01T00:00:00Z&to=2026-03-31T00:00:00Z`
      const sizes = column((await get(query)).body.items, 'size_bytes')
      expect(new Set(sizes).size).toBeGreaterThan(3)
    })

    test('begin with the tag, end today and cover the last month by default', async () => {
      const all = (await get(`${COUNTS}?repo=nginx&from=2020-01-01T00:00:00Z&to=2030-01-01T00:00:00Z`)).body.items
      expect([all[0].date.slice(0, 10), all.at(-1).date.slice(0, 10)]).toEqual(['2026-01-31', '2026-06-01'])
      expect((await get(`${COUNTS}?repo=nginx`)).body.items).toEqual(all.slice(-31))
      expect((await get(`${COUNTS}?repo=nginx&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z`)).body.items).toEqual([])
    })

    test('are empty for a missing or hidden repo or tag and require a repo', async () => {
      expect((await get(`${COUNTS}?repo=nothing&${SPAN}`)).body).toEqual({ items: [] })
      expect((await get(`${COUNTS}?repo=nginx&tag=nothing&${SPAN}`)).body).toEqual({ items: [] })
      expect((await get(`${COUNTS}?repo=nginx&${SPAN}`, 'demo-outsider')).body).toEqual({ items: [] })
      expect((await get(COUNTS)).body).toMatchObject({ code: 3, message: 'Invalid argument: repo: is required', details: [] })
    })

    test('have the published names', async () => {
      const [report] = (await published.send(`GET ${COUNTS}?repo=nginx&${SPAN}`)).body.items
      expect(Object.keys(report)).toEqual([
        ...['repo', 'tag', 'date', 'vulnCounts', 'sizeBytes', 'cveIds', 'lowCveIds', 'medCveIds', 'highCveIds', 'critCveIds'],
        ...['negligibleCveIds', 'unknownCveIds'],
      ])
    })
  })

  describe('raw (semantics §9.3)', () => {
    test("shows the report in the scanner's format", async () => {
      const { digest } = await image('nginx')
      const { status, body } = await get(`/registry/v1/vuln_reports/raw?digest=${digest}&scanner=GRYPE`)
      expect([status, body.digest, body.scanner.name, body.raw_report_url]).toEqual([200, digest, 'GRYPE', ''])
      expect(body.created_at).toBe('2026-06-01T00:00:00.000Z')
      const report = JSON.parse(body.raw_report)
      const [counts] = (await get(`${COUNTS}?repo=nginx&from=2026-06-01T00:00:00Z`)).body.items
      expect(report.matches.map((match: { vulnerability: { id: string } }) => match.vulnerability.id)).toEqual(counts.cve_ids)
    })

    test('answers 404 for an unknown digest, another scanner, too early a time, a stranger', async () => {
      const { digest } = await image('nginx')
      const path = '/registry/v1/vuln_reports/raw'
      const asked = await Promise.all([
        get(`${path}?digest=sha256:${'0'.repeat(64)}`),
        get(`${path}?digest=${digest}&scanner=TRIVY`),
        get(`${path}?digest=${digest}&created_at=2026-01-01T00:00:00Z`),
        get(`${path}?digest=${digest}`, 'demo-outsider'),
      ])
      expect(asked.map(({ status, body }) => [status, body.code])).toEqual(asked.map(() => [404, 5]))
      expect((await get(path)).body.message).toBe('Invalid argument: digest: is required')
    })
  })

  describe('vulnreport (semantics §9.3)', () => {
    test('shows matches with their packages and fixes', async () => {
      const { repo, digest } = await image('python')
      const { body } = await get(`/registry/v1/repos/${repo}/digests/${digest}/vulnreport`)
      expect(body.scanner).toEqual({ name: 'grype', version: '0.92.0' })
      expect(body.vulnerability_matches.length).toBeGreaterThan(0)
      for (const { vulnerability, pkg, fix } of body.vulnerability_matches) {
        expect(vulnerability).toMatchObject({ id: expect.stringMatching(/^CVE-/), display_id: vulnerability.id })
        expect(['UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL']).toContain(vulnerability.severity)
        expect(pkg.name).not.toBe('')
        expect(fix.state === 'FIXED').toBe(fix.versions.length > 0)
      }
      expect(JSON.parse(Buffer.from(body.raw_vuln_report, 'base64').toString()).matches).toHaveLength(body.vulnerability_matches.length)
    })

    test('is empty for a missing image and refused to a stranger', async () => {
      const { repo, digest } = await image('python')
      const { status, body } = await get(`/registry/v1/repos/${repo}/digests/sha256:0/vulnreport`)
      expect([status, body.id, body.vulnerability_matches, body.scanner]).toEqual([200, '', [], null])
      expect((await get(`/registry/v1/repos/${repo}/digests/${digest}/vulnreport`, 'demo-outsider')).status).toBe(403)
    })
  })
})
