import { describe, expect, test } from 'vitest'
import { type Got, startV1 } from '../v1/harness.ts'

const { send, organization } = startV1()
const published = startV1('published')

const get = (path: string, token?: string): Promise<Got> => send(`GET ${path}`, undefined, token === undefined ? {} : { token })

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
    const sizes = (await get(query)).body.items.map((report: { size_bytes: string }) => report.size_bytes)
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
