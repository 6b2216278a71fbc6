import { describe, expect, test } from 'vitest'
import { column, names, type Reply, running, startV1 } from './stage.ts'

describe('feed', () => {
  const { call, get } = running()

  const publicly = async (path: string) => call('GET', path, { token: null })

  describe('documents (semantics §3.15)', () => {
    test('are public, one for each package, all on one page', async () => {
      const { status, json } = await publicly('/advisory/v2/documents')
      expect(status).toBe(200)
      expect(Object.keys(json)).toEqual(['documents'])
      expect(column(json.documents, 'id')).toEqual(['curl', 'glibc', 'go-1.24', 'libxml2', 'nodejs-24', 'openssl', 'python-3.12', 'zlib'])
    })

    test('are filtered by package and by vulnerability', async () => {
      const [document] = (await publicly('/advisory/v2/documents?id=openssl')).json.documents
      const [{ id, aliases, packageNamespace, events }] = document.advisories
      expect([id, packageNamespace]).toEqual([expect.stringMatching(/^CGA-/), 'wolfi'])
      expect(events[0].timestamp).toMatch(/^2026-/)
      expect((await publicly(`/advisory/v2/documents?cves=${aliases[0]}`)).json.documents).toEqual([document])
      expect((await publicly(`/advisory/v2/documents?id=curl&cves=${aliases[0]}`)).json.documents).toEqual([])
    })

    test('hold one determination for each event, in the names of the feed', async () => {
      const { json } = await publicly('/advisory/v2/documents')
      const events = json.documents.flatMap((document: { advisories: { events: object[] }[] }) =>
        document.advisories.flatMap((row) => row.events),
      )
      for (const { timestamp, ...data } of events)
        expect([timestamp, Object.keys(data)]).toEqual([expect.any(String), [expect.any(String)]])
      const scans = events.flatMap(({ detection }: { detection?: { scanv1?: object } }) => detection?.scanv1 ?? [])
      expect(scans[0]).toMatchObject({ subpackageName: expect.any(String), componentName: expect.any(String) })
      expect(events.some((event: object) => 'patched' in event)).toBe(false)
    })
  })

  describe('metadata (semantics §3.15)', () => {
    test('is public, paged and sorted by id', async () => {
      const first = (await publicly('/advisory/v2/metadata')).json
      const second = (await publicly(`/advisory/v2/metadata?page_token=${first.nextPageToken}`)).json
      const ids = [...first.vulnerabilityMetadata, ...second.vulnerabilityMetadata].map(({ id }) => id)
      expect(ids).toEqual([...new Set(ids)].sort())
      expect([first.vulnerabilityMetadata.length, first.totalCount, first.skipped]).toEqual([50, String(ids.length), 0])
    })

    test('accepts id, ids, order_by and skip', async () => {
      const path = '/advisory/v2/metadata'
      const only = (await publicly(`${path}?id=CVE-2026-90003`)).json
      expect(only.vulnerabilityMetadata).toEqual([
        {
          id: 'CVE-2026-90003',
          summary: expect.any(String),
          details: expect.any(String),
          references: expect.arrayContaining([{ type: 'TYPE_FIX', url: expect.stringMatching(/^https:/) }]),
          severities: [{ type: 'TYPE_CVSS_V3', score: '3.1' }],
        },
      ])
      const two = (await publicly(`${path}?ids=CVE-2026-90003&ids=CVE-2026-90001&orderBy=id%20desc`)).json
      expect(column(two.vulnerabilityMetadata, 'id')).toEqual(['CVE-2026-90003', 'CVE-2026-90001'])
      expect((await publicly(`${path}?skip=79`)).json.vulnerabilityMetadata).toHaveLength(1)
      expect((await publicly(`${path}?order_by=score`)).json.message).toContain('order_by')
    })

    test('accepts at most a thousand ids', async () => {
      const query = Array.from({ length: 1001 }, (_, index) => `ids=CVE-${index}`)
      expect((await publicly(`/advisory/v2/metadata?${query.slice(1).join('&')}&ids=CVE-1`)).status).toBe(200)
      const { status, json } = await publicly(`/advisory/v2/metadata?${query.join('&')}`)
      expect([status, json.message]).toEqual([400, 'Invalid argument: ids: must not hold more than 1000 different ids'])
    })
  })

  describe('resolved vulnerabilities (semantics §3.15)', () => {
    const path = '/advisory/v2/images/resolvedVulns'

    test('require a token and an argument that no query can carry', async () => {
      expect((await publicly(path)).status).toBe(401)
      const times = 'startTime=2026-01-01T00:00:00Z&end_time=2026-02-01T00:00:00Z'
      const { json } = await get(`${path}?${times}`)
      expect(json.message).toBe('Invalid argument: image_refs: is required')
      expect(column((await get(path)).json.details[1].fieldViolations, 'field')).toEqual(['image_refs', 'start_time', 'end_time'])
      expect((await get(`${path}?${times}&imageRefs.repo=nginx`)).json).toMatchObject({ code: 3, details: [] })
    })
  })
})

describe('advisory, v1', () => {
  const { send, world } = startV1()
  const published = startV1('published')

  const publicly = (path: string) => send(`GET ${path}`, undefined, { token: '' })

  test('shows documents to all, with the enum names of v1 (facts §7, §18)', async () => {
    const { items } = (await publicly('/advisory/v1/documents')).body
    expect(items).toHaveLength(world.store.documents.size())
    const text = JSON.stringify(items)
    expect(text).toContain('"type":"FPT_TYPE_')
    expect(text).toContain('"package_namespace":"wolfi"')
    expect(JSON.stringify((await published.send('GET /advisory/v1/documents')).body)).toContain('"packageNamespace":"wolfi"')
    const cve = items[0].advisories[0].aliases[0]
    expect((await publicly(`/advisory/v1/documents?cves=${cve}`)).body.items).toEqual([items[0]])
    expect((await publicly('/advisory/v1/documents?id=curl')).body.items).toEqual([items[0]])
    expect((await publicly('/advisory/v1/documents?limit=2')).body.items).toEqual(items.slice(0, 2))
  })

  test('shows metadata to all, in pages (facts §7, §10.2)', async () => {
    const { body } = await publicly('/advisory/v1/metadata?page_size=2&order_by=id%20desc&skip=1')
    expect(body).toMatchObject({
      total_count: String(world.store.vulnerabilityMetadata.size()),
      skipped: 1,
      next_page_token: expect.stringMatching(/./),
    })
    expect(column(body.items, 'id')).toEqual(['CVE-2026-90079', 'CVE-2026-90078'])
    expect(body.items[1]).toMatchObject({
      references: expect.arrayContaining([expect.objectContaining({ type: 'FIX' })]),
      severity: [{ type: 'CVSS_V3', score: '0.0' }],
    })
    expect((await publicly('/advisory/v1/metadata')).body.items).toHaveLength(50)
    const { status, body: error } = await publicly(
      `/advisory/v1/metadata?${Array.from({ length: 1001 }, (_, at) => `ids=${at}`).join('&')}`,
    )
    expect([status, error.code, error.details]).toEqual([400, 3, []])
  })

  test('always refuses resolved vulnerabilities over HTTP (facts §7)', async () => {
    expect((await publicly('/advisory/v1/images/resolved_vulns')).status).toBe(401)
    const { body } = await send('GET /advisory/v1/images/resolved_vulns?from=2026-01-01T00:00:00Z')
    expect(body).toEqual({ code: 3, message: 'Invalid argument: image_refs: is required; to: is required', details: [] })
  })
})

describe('access', () => {
  const { sandbox, get, post } = running({}, { fresh: true })

  /** A token of an identity that may only list repos. */
  const narrowToken = async (): Promise<string> => {
    const { organization } = sandbox()
    const role = (await post(`/iam/v2/roles/${organization}`, { name: 'repos', capabilities: ['CAP_REPO_LIST'] })).json
    const claimMatch = { issuer: sandbox().url, subject: 'narrow' }
    const identity = (await post(`/iam/v2/identities/${organization}`, { name: 'narrow', claimMatch })).json
    await post(`/iam/v2/roleBindings/${organization}`, { identityUid: identity.uid, roleUid: role.uid })
    return (await post('/-/token', { identity: identity.uid })).json.token
  }

  test('shows an empty catalog without libraries.artifacts.list', async () => {
    const token = await narrowToken()
    const rows = await get('/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON', token)
    expect([rows.status, rows.json.totalCount]).toEqual([200, '0'])
    const counts = await get('/libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_PYTHON', token)
    expect(counts.json.counts).toEqual([{ ecosystem: 'ECOSYSTEM_PYTHON', totalCount: '0' }])
    expect((await get('/libraries/v2/artifacts/python:requests/versions', token)).json.artifactVersions).toEqual([])
  })

  test('refuses a request without a token', async () => {
    expect((await get('/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON', 'nobody')).status).toBe(401)
  })
})

describe('libraries', () => {
  const { get } = running()

  const PATH = '/libraries/v2/artifacts'
  const PYTHON = 'ecosystems=ECOSYSTEM_PYTHON'

  const names = ({ json }: Reply): readonly string[] => column(json.artifacts, 'name')

  describe('artifacts (semantics §3.14)', () => {
    test('require ecosystems by name or by number', async () => {
      const { status, json } = await get(PATH)
      expect([status, json.message]).toEqual([400, 'Invalid argument: ecosystems: is required'])
      expect((await get(`${PATH}?ecosystems=0`)).status).toBe(400)
      expect((await get(`${PATH}?ecosystems=ECOSYSTEM_JAVASCRIPT`)).json.message).toContain('parsing field "ecosystems"')
      expect((await get(`${PATH}?ecosystems=1`)).json.totalCount).toBe('30')
      expect((await get(`${PATH}?${PYTHON}&ecosystems=ECOSYSTEM_JAVA`)).json.totalCount).toBe('70')
    })

    test('are listed by name in pages', async () => {
      const first = await get(`${PATH}?${PYTHON}&page_size=25`)
      const second = await get(`${PATH}?${PYTHON}&page_size=25&page_token=${first.json.nextPageToken}`)
      const all = [...names(first), ...names(second)]
      expect(all).toEqual([...all].sort())
      expect([all.length, first.json.totalCount, second.json.nextPageToken]).toEqual([40, '40', undefined])
      expect(names(await get(`${PATH}?${PYTHON}&order_by=name%20desc&page_size=1&skip=1`))).toEqual(['urllib3'])
    })

    test('show their description and their number of versions', async () => {
      const { json } = await get(`${PATH}?${PYTHON}&query=REQUESTS`)
      expect(json.artifacts).toEqual([
        {
          uid: 'python:requests',
          name: 'requests',
          description: expect.any(String),
          ecosystem: 'ECOSYSTEM_PYTHON',
          latestVersion: '5.11+cgr.1',
          versionCount: 61,
          createTime: expect.stringMatching(/Z$/),
          updateTime: expect.stringMatching(/Z$/),
        },
      ])
    })

    test('are filtered by remediated and cuda_version', async () => {
      expect(names(await get(`${PATH}?${PYTHON}&remediated=true`))).toEqual(['django', 'pillow', 'requests', 'urllib3'])
      expect(names(await get(`${PATH}?${PYTHON}&cudaVersion=12.8`))).toEqual(['torch'])
      expect(names(await get(`${PATH}?ecosystems=ECOSYSTEM_JAVA&cuda_version=12.8`))).toEqual([])
    })
  })

  describe('versions (semantics §3.14)', () => {
    test('are in descending order of their text, so 5.9 comes before 5.10', async () => {
      const { json } = await get(`${PATH}/python%3Arequests/versions?page_size=200`)
      const versions: string[] = column(json.artifactVersions, 'version')
      expect(versions).toEqual([...versions].sort().reverse())
      expect(versions.indexOf('5.9')).toBeLessThan(versions.indexOf('5.10'))
      expect(json.totalCount).toBe('61')
    })

    test('exclude upstream ones and the members that only v1 shows', async () => {
      const { json } = await get(`${PATH}/python:requests/versions?order_by=version&page_size=1`)
      expect(json.artifactVersions).toEqual([
        {
          uid: 'python:requests:1.0:internal',
          name: 'requests',
          version: '1.0',
          description: 'requests 1.0',
          createTime: expect.any(String),
          updateTime: expect.any(String),
          sizeBytes: expect.stringMatching(/^\d+$/),
        },
      ])
    })

    test('accept a Java coordinate as one segment', async () => {
      expect((await get(`${PATH}/java:org.apache.commons:commons-lang3/versions`)).json.artifactVersions[0].name).toBe(
        'org.apache.commons:commons-lang3',
      )
    })

    test('of a missing artifact are NOT_FOUND', async () => {
      const { status, json } = await get(`${PATH}/python:nothing/versions`)
      expect([status, json.details[1]]).toEqual([
        404,
        expect.objectContaining({ resourceType: 'libraries.chainguard.dev/Artifact', resourceName: 'python:nothing' }),
      ])
    })
  })

  describe('count (semantics §3.14)', () => {
    test('has one row for each requested ecosystem', async () => {
      const { json } = await get(`${PATH}/count?${PYTHON}&ecosystems=ECOSYSTEM_JAVA&${PYTHON}`)
      expect(json).toEqual({
        counts: [
          { ecosystem: 'ECOSYSTEM_PYTHON', totalCount: '40' },
          { ecosystem: 'ECOSYSTEM_JAVA', totalCount: '30' },
        ],
      })
      expect((await get(`${PATH}/count`)).json.message).toBe('Invalid argument: ecosystems: is required')
    })
  })
})

describe('libraries, v1', () => {
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
      const texts = column(built, 'version')
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
      expect(column(page.body.items, 'id')).toEqual(['python:requests:1.10:internal', 'python:requests:1.11:internal'])
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
})
