import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { running, START } from '../running.ts'
import { grpcClient } from './grpc-client.ts'

const { sandbox, get } = running()
const { call } = grpcClient(() => sandbox().url)

const V1 = '/chainguard.platform.advisory.SecurityAdvisory/ListResolvedVulnsReports'
const V2 = '/chainguard.platform.advisory.v2.SecurityAdvisoryService/ListResolvedVulnsReports'

const from = '2026-01-27T00:00:00Z'
const to = '2026-01-29T12:00:00Z'

/** The ids of each day's report. */
const idsOf = (reports: readonly { readonly date: string; readonly resolvedVulns?: readonly { readonly id: string }[] }[]) =>
  reports.map(({ date, resolvedVulns = [] }) => [date.slice(0, 10), resolvedVulns.map(({ id }) => id)])

test('lists the vulnerabilities that were resolved in images, alike in both versions', async () => {
  const imageRefs = [{ repo: 'nginx' }, { repo: 'nowhere' }]
  const v1 = (await call(V1, { imageRefs, from, to })).json
  const v2 = (await call(V2, { imageRefs, startTime: from, endTime: to })).json
  expect(idsOf(v1.items)).toEqual(idsOf(v2.resolvedVulnsReports))
  expect(idsOf(v1.items)).toEqual([
    ['2026-01-27', []],
    ['2026-01-28', expect.arrayContaining(['CVE-2026-90027', 'CVE-2026-90015'])],
    ['2026-01-29', ['CVE-2026-90034']],
  ])
  const severities = (list: { resolvedVulns: { cvssSeverities: unknown }[] }[]) => list.at(-1)?.resolvedVulns[0]?.cvssSeverities
  expect([severities(v1.items), severities(v2.resolvedVulnsReports)]).toEqual([
    [{ type: 'CVSS_V3', score: '5.3' }],
    [{ type: 'TYPE_CVSS_V3', score: '5.3' }],
  ])
})

test('limits resolved vulnerabilities to the named tags', async () => {
  const { json } = await call(V1, { imageRefs: [{ repo: 'nginx', tags: ['latest'] }], from, to })
  expect(idsOf(json.items).map(([, ids]) => ids)).toEqual([[], [], []])
})

test('shows no resolved vulnerabilities of a repo that the caller may not see', async () => {
  const { json } = await call(V1, { imageRefs: [{ repo: 'nginx' }], from, to }, { token: 'demo-outsider' })
  expect(idsOf(json.items).map(([, ids]) => ids)).toEqual([[], [], []])
})

test('journals what REST cannot carry as the body', async () => {
  await call(V2, { imageRefs: [{ repo: 'nginx' }], startTime: to, endTime: to })
  const { query, body } = (await get('/-/journal')).json.at(-1)
  expect({ query, body }).toEqual({ query: { start_time: to, end_time: to }, body: { imageRefs: [{ repo: 'nginx' }] } })
})

test('requires images and both ends of resolved vulnerabilities', async () => {
  expect(await call(V1)).toMatchObject({
    code: status.INVALID_ARGUMENT,
    message: 'Invalid argument: image_refs: is required; from: is required; to: is required',
  })
  expect(await call(V2, { imageRefs: [{}], endTime: to })).toMatchObject({ message: 'Invalid argument: start_time: is required' })
})

test('counts the vulnerabilities of several tags', async () => {
  const path = '/chainguard.platform.registry.Vulnerabilities/ListVulnCountReports'
  const day = { from: new Date(START).toISOString(), to: new Date(START).toISOString() }
  const one = (await call(path, { repo: 'nginx', tag: 'latest', ...day })).json.items
  const other = (await call(path, { references: [{ repo: 'redis', tag: 'latest' }], ...day })).json.items
  expect([one.length, other.length]).toEqual([1, 1])
  const both = await call(path, { repo: 'nginx', references: [{ repo: 'redis' }], ...day })
  expect(both.json.items).toEqual([...one, ...other])
  expect((await call(path, { references: [{ tag: 'latest' }] })).message).toBe('Invalid argument: repo: is required')
})
