import { choice, int32, int64, list, map, message, object, optional, text, time } from '../message.ts'
import { sameNames } from '../vocabulary.ts'

const severity = sameNames('Vulnerability.Severity', 'UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL', 'NEGLIGIBLE')
export const scannerName = sameNames('Scanner.Name', 'UNKNOWN', 'GRYPE', 'TRIVY')

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

export const vulnCountReportList = message('VulnCountReportList', [list(object(vulnCountReport)('items'))])

const scanner = message('Scanner', [choice(scannerName)('name'), text('version'), time('db_build_time')])

/** RawVulnReport (semantics §9.3). */
export const rawVulnReport = message('RawVulnReport', [
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
export const vulnReport = message('VulnReport', [
  text('id'),
  time('vulnerability_db_last_build_time'),
  list(object(match)('vulnerability_matches')),
  object(message('Scanner', [text('name'), text('version')]))('scanner'),
  time('report_generation'),
  text('raw_vuln_report'),
  time('last_seen'),
])
