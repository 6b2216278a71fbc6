import { expect, test } from 'vitest'
import { startV1 } from '../v1/harness.ts'

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
  expect(body.items.map(({ id }: { id: string }) => id)).toEqual(['CVE-2026-90079', 'CVE-2026-90078'])
  expect(body.items[1]).toMatchObject({
    references: expect.arrayContaining([expect.objectContaining({ type: 'FIX' })]),
    severity: [{ type: 'CVSS_V3', score: '0.0' }],
  })
  expect((await publicly('/advisory/v1/metadata')).body.items).toHaveLength(50)
  const { status, body: error } = await publicly(`/advisory/v1/metadata?${Array.from({ length: 1001 }, (_, at) => `ids=${at}`).join('&')}`)
  expect([status, error.code, error.details]).toEqual([400, 3, []])
})

test('always refuses resolved vulnerabilities over HTTP (facts §7)', async () => {
  expect((await publicly('/advisory/v1/images/resolved_vulns')).status).toBe(401)
  const { body } = await send('GET /advisory/v1/images/resolved_vulns?from=2026-01-01T00:00:00Z')
  expect(body).toEqual({ code: 3, message: 'Invalid argument: image_refs: is required; to: is required', details: [] })
})
