import { describe, expect, test } from 'vitest'
import { running } from '../running.ts'

const { call, get } = running()

const publicly = async (path: string) => call('GET', path, { token: null })

describe('documents (semantics §3.15)', () => {
  test('are public, one for each package, all on one page', async () => {
    const { status, json } = await publicly('/advisory/v2/documents')
    expect(status).toBe(200)
    expect(Object.keys(json)).toEqual(['documents'])
    expect(json.documents.map(({ id }: { id: string }) => id)).toEqual([
      'curl',
      'glibc',
      'go-1.24',
      'libxml2',
      'nodejs-24',
      'openssl',
      'python-3.12',
      'zlib',
    ])
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
    for (const { timestamp, ...data } of events) expect([timestamp, Object.keys(data)]).toEqual([expect.any(String), [expect.any(String)]])
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
    expect(two.vulnerabilityMetadata.map(({ id }: { id: string }) => id)).toEqual(['CVE-2026-90003', 'CVE-2026-90001'])
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
    expect((await get(path)).json.details[1].fieldViolations.map(({ field }: { field: string }) => field)).toEqual([
      'image_refs',
      'start_time',
      'end_time',
    ])
    expect((await get(`${path}?${times}&imageRefs.repo=nginx`)).json).toMatchObject({ code: 3, details: [] })
  })
})
