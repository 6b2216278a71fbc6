import { requireCapability, visible } from '../../auth/rights.ts'
import { type Ask, callerOf, type Query } from '../../http/route.ts'
import {
  daysBetween,
  digestOn,
  type Finding,
  type Level,
  pointsOf,
  rawReportOf,
  repoNamed,
  SCANNER,
  type Scan,
  scanAt,
  scanOf,
} from '../../scans.ts'
import { invalidField, notFound } from '../../status.ts'
import { imageUid } from '../../v2/registry/tags.ts'
import { uidParam } from '../../v2/resource.ts'
import type { Repo, Tag } from '../../world/model.ts'
import type { World } from '../../world/store.ts'
import { choice, int32, int64, list, map, message, object, optional, sameNames, text, time, v1Names } from '../message.ts'
import { encode, type Operation } from '../operation.ts'

const severity = sameNames('Vulnerability.Severity', 'UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL', 'NEGLIGIBLE')
const scannerName = sameNames('Scanner.Name', 'UNKNOWN', 'GRYPE', 'TRIVY')

const vulnCount = message('VulnCount', [choice(severity)('severity'), int32('count')])

const vulnCountReport = message('VulnCountReport', [
  text('repo'),
  text('tag'),
  time('date'),
  list(object(vulnCount)('vuln_counts')),
  int64('size_bytes'),
  list(text('cve_ids')),
  list(text('low_cve_ids')),
  list(text('med_cve_ids')),
  list(text('high_cve_ids')),
  list(text('crit_cve_ids')),
  list(text('negligible_cve_ids')),
  list(text('unknown_cve_ids')),
])

const vulnCountReportList = message('VulnCountReportList', [list(object(vulnCountReport)('items'))])

const scanner = message('Scanner', [choice(scannerName)('name'), text('version'), time('db_build_time')])

/** RawVulnReport (semantics §9.3). */
const rawVulnReport = message('RawVulnReport', [
  text('digest'),
  object(scanner)('scanner'),
  time('created_at'),
  text('raw_report'),
  text('raw_report_url'),
])

/** The older report has no NEGLIGIBLE. */
const recordSeverity = sameNames('VulnerabilityRecord.Severity', 'UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL')
const fixState = sameNames('Fix.State', 'UNKNOWN', 'FIXED', 'NOT_FIXED', 'WONT_FIX')

const record = message('VulnerabilityRecord', [
  text('id'),
  text('description'),
  choice(recordSeverity)('severity'),
  text('source'),
  list(object(message('VulnerabilityRecord.Cvss', [text('score'), text('version')]))('cvss')),
  list(text('cpe_uri')),
  list(text('related_urls')),
  map(text('advisories')),
  list(object(message('VulnerabilityRecord.RelatedVulnerability', [text('id'), text('source')]))('related_vulnerabilities')),
  text('display_id'),
])

const package_ = message('Package2', [text('id'), text('name'), text('version'), text('license'), text('description'), text('purl')])

const match = message('VulnerabilityMatch', [
  object(record)('vulnerability'),
  object(package_)('pkg'),
  optional(object(message('Fix', [list(text('versions')), choice(fixState)('state')]))('fix')),
])

/** VulnReport of the tenant service (semantics §9.3). */
const vulnReport = message('VulnReport', [
  text('id'),
  time('vulnerability_db_last_build_time'),
  list(object(match)('vulnerability_matches')),
  object(message('Scanner', [text('name'), text('version')]))('scanner'),
  time('report_generation'),
  text('raw_vuln_report'),
  time('last_seen'),
])

const DEFAULT_SPAN_MS = 30 * 24 * 60 * 60 * 1000

/** Level → the member that lists its ids, in the order of the counts. */
const ID_LISTS: Readonly<Record<Level, string>> = {
  CRITICAL: 'critCveIds',
  HIGH: 'highCveIds',
  MEDIUM: 'medCveIds',
  LOW: 'lowCveIds',
  NEGLIGIBLE: 'negligibleCveIds',
  UNKNOWN: 'unknownCveIds',
}

/** The requested days in milliseconds. The default is the last 30 days. */
const spanOf = (query: Query, now: number): readonly [from: number, to: number] => {
  const to = Math.min(query.time('to') ?? now, now)
  return [query.time('from') ?? to - DEFAULT_SPAN_MS, to]
}

const idsAt = (findings: readonly Finding[], level: Level): readonly string[] =>
  findings.filter((finding) => finding.level === level).map(({ id }) => id)

const levels = Object.keys(ID_LISTS) as readonly Level[]

/** The members of a report that derive from its findings. */
const counted = (findings: readonly Finding[]) => {
  const ids = levels.map((level) => ({ level, ids: idsAt(findings, level) }))
  return {
    vulnCounts: ids.flatMap((row) => (row.ids.length === 0 ? [] : [{ severity: row.level, count: row.ids.length }])),
    cveIds: findings.map(({ id }) => id),
    ...Object.fromEntries(ids.map((row) => [ID_LISTS[row.level], row.ids])),
  }
}

/** The report of one day about the tag's target at its end. None before the tag existed. */
const reportOf = (world: World, repo: Repo, tag: Tag, day: number) => {
  const digest = digestOn(world, tag, day)
  if (digest === undefined) return []
  const { date, findings } = scanOf(world, repo.uid, digest, day)
  const sizeBytes = world.store.images.get(imageUid(repo.uid, digest))?.sizes['amd64']
  return [{ tag: tag.name, date, sizeBytes, ...counted(findings) }]
}

/** The reports of a tag for each day from `from` to `to` on which it existed. */
const reportsOf = (world: World, repo: Repo, tag: Tag, [from, to]: readonly [number, number]) => {
  const born = Date.parse(pointsOf(tag)[0]!.updateTime)
  return daysBetween(Math.max(from, born), to).flatMap((day) => reportOf(world, repo, tag, day))
}

/** A tag, as a request names it. */
type Reference = { readonly repo?: string; readonly tag?: string }

/** The tags of a request: one in the query, or several, which only gRPC can carry. */
const referencesOf = ({ query, body }: Ask): readonly Reference[] => {
  const { references = [] } = body as { readonly references?: readonly Reference[] }
  const [repo, tag] = [query.text('repo'), query.text('tag')]
  return repo === '' && references.length > 0 ? references : [{ repo, tag }, ...references]
}

/** Vulnerabilities of tags by day (semantics §9.3). Scripts also post the parameters as a form. */
export const vulnCountsOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/vuln_reports/counts',
  answer: (ask, world) => {
    const span = spanOf(ask.query, world.clock.now().getTime())
    const items = referencesOf(ask).flatMap(({ repo: name = '', tag: tagName = '' }) => {
      const repo = repoNamed(world, callerOf(ask), 'vuln_report.list', name || invalidField('repo', 'is required'))
      const [tag] = repo ? world.store.tags.named(repo.uid, tagName || 'latest') : []
      return repo && tag ? reportsOf(world, repo, tag, span).map((report) => ({ repo: name, ...report })) : []
    })
    return encode({ items }, vulnCountReportList, world.options.v1Dialect)
  },
}

/** The repo part of an image's key. */
const repoOf = (imageKey: string): string => imageKey.slice(0, imageKey.indexOf('@'))

/** The report of one image in the scanner's own format. NOT_FOUND without one, which clients read as "not scanned" (semantics §9.3). */
export const rawVulnReportOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/vuln_reports/raw',
  answer: (ask, world) => {
    const { query } = ask
    const digest = query.text('digest') || invalidField('digest', 'is required')
    const scanner = query.choice('scanner', v1Names(scannerName))
    const at = query.time('created_at') ?? world.clock.now().getTime()
    const inReach = visible(world, callerOf(ask), 'vuln_report.list')
    const image = world.store.images.values().find((row) => row.digest === digest && inReach(repoOf(row.uid)))
    const scan = image && scanner !== 'TRIVY' ? scanAt(world, repoOf(image.uid), digest, at) : undefined
    if (!scan) return notFound('registry.VulnReport', digest)
    const by = { ...SCANNER, dbBuildTime: scan.databaseBuilt }
    return encode({ digest, scanner: by, createdAt: scan.date, rawReport: rawReportOf(scan) }, rawVulnReport, world.options.v1Dialect)
  },
}

const matchOf = ({ id, aliases, level, score, packageName, advisoryId, fix }: Finding) => ({
  vulnerability: {
    id,
    displayId: id,
    severity: level,
    source: 'nvd',
    cvss: score === '' ? [] : [{ score, version: '3.1' }],
    advisories: { [advisoryId]: packageName },
    relatedVulnerabilities: aliases.map((alias) => ({ id: alias, source: 'github' })),
  },
  pkg: { id: packageName, name: packageName, purl: `pkg:apk/${packageName}` },
  fix,
})

const scanReportOf = (uid: string, scan: Scan) => ({
  id: `${uid}@${scan.date}`,
  vulnerabilityDbLastBuildTime: scan.databaseBuilt,
  vulnerabilityMatches: scan.findings.map(matchOf),
  scanner: { name: SCANNER.name.toLowerCase(), version: SCANNER.version },
  reportGeneration: scan.date,
  rawVulnReport: Buffer.from(rawReportOf(scan)).toString('base64'),
  lastSeen: scan.date,
})

/** The newest report about an image (semantics §9.3). An image that was never scanned has an empty one. */
export const vulnReportOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/repos/{repo_id=**}/digests/{digest}/vulnreport',
  answer: (ask, world) => {
    const repo = uidParam(ask, 'repo_id')
    requireCapability(world, callerOf(ask), ['repo.list', 'vuln_reports.list'], repo)
    const image = world.store.images.get(imageUid(repo, ask.params['digest'] ?? ''))
    const scan = image && scanAt(world, repo, image.digest, world.clock.now().getTime())
    return encode(image && scan ? scanReportOf(image.uid, scan) : {}, vulnReport, world.options.v1Dialect)
  },
}
