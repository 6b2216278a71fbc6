import { spell } from '../contract/target.ts'
import { type Transcript, transcript } from './transcript.ts'

const scan = { scanner_version: '0.9', grype_db_built: 'monday', grype_db_checksum: 'sha256:db' }
const noScan = { scanner_version: '', grype_db_built: '', grype_db_checksum: '' }
const where = { component_id: 'c1', component_version: '1', component_type: 'apk', component_location: '/lib', artifact_version: '2' }
const nowhere = { component_id: '', component_version: '', component_type: '', component_location: '', artifact_version: '' }

const full = { scanner: 'grype', subpackage_name: 'libssl3', component_name: 'openssl', ...where, ...scan }
const empty = { scanner: '', subpackage_name: '', component_name: '', ...nowhere, ...noScan }

/** One event of each type, full and bare. Both versions have the same names here, except for the type of a false positive (facts §7). */
const EVENTS: readonly (readonly [v1: Record<string, unknown>, v2?: Record<string, unknown>])[] = [
  [{ true_positive_determination: { note: 'tp' } }],
  [{ true_positive_determination: { note: '' } }, { true_positive_determination: {} }],
  [
    { false_positive_determination: { type: 'FPT_TYPE_COMPONENT_VULNERABILITY_MISMATCH', note: 'fp' } },
    { false_positive_determination: { type: 'TYPE_COMPONENT_VULNERABILITY_MISMATCH', note: 'fp' } },
  ],
  [{ false_positive_determination: { type: 'FPT_TYPE_UNSPECIFIED', note: '' } }, { false_positive_determination: {} }],
  [{ fixed: { fixed_version: '3.0.1-r2', ...scan } }],
  [{ fixed: { fixed_version: '', ...noScan } }, { fixed: {} }],
  [{ detection: { nvdapi: { cpe_searched: 'cpe:a', cpe_found: 'cpe:b' } } }],
  [{ detection: { nvdapi: { cpe_searched: '', cpe_found: '' } } }, { detection: { nvdapi: {} } }],
  [{ detection: { manual: {} } }],
  [{ detection: { scanv1: full } }],
  [{ detection: { scanv1: empty } }, { detection: { scanv1: {} } }],
  [{ analysis_not_planned: { note: 'anp' } }],
  [{ analysis_not_planned: { note: '' } }, { analysis_not_planned: {} }],
  [{ fix_not_planned: { note: 'fnp' } }],
  [{ fix_not_planned: { note: '' } }, { fix_not_planned: {} }],
  [{ pending_upstream_fix: { note: 'puf' } }],
  [{ pending_upstream_fix: { note: '' } }, { pending_upstream_fix: {} }],
]
const TIME = '2025-01-01T00:00:00Z'
const events = [...EVENTS.map(([v1]) => ({ timestamp: TIME, ...v1 })), { timestamp: null }]
const v2Events = [...EVENTS.map(([v1, v2 = v1]) => spell({ timestamp: TIME, ...v2 }, 'camel')), {}]

const documents = {
  items: [
    {
      id: 'openssl',
      advisories: [
        { id: 'CGA-1', events, aliases: ['CVE-2025-1'], package_namespace: 'wolfi' },
        { id: '', events: [], aliases: [], package_namespace: '' },
      ],
    },
    { id: '', advisories: [] },
  ],
}

const severity = (type: string, score = '') => ({ type, score })
const reports = {
  items: [
    {
      date: TIME,
      resolved_vulns: [
        { id: 'CGA-1', aliases: ['CVE-1'], cvss_severities: [severity('CVSS_V2', '5'), severity('UNSPECIFIED'), severity('UNSPECIFIED')] },
        { id: '', aliases: [], cvss_severities: [] },
      ],
    },
    { date: null, resolved_vulns: [] },
  ],
}

const REFERENCES = ['ADVISORY', 'ARTICLE', 'DETECTION', 'DISCUSSION', 'REPORT', 'FIX', 'INTRODUCED', 'PACKAGE', 'EVIDENCE', 'WEB']
const references = (prefix: string) => REFERENCES.map((type) => ({ type: prefix + type, url: `https://${type}` }))
const severities = (prefix: string) => [
  severity(`${prefix}CVSS_V3`, '9.8'),
  severity(`${prefix}CVSS_V4`, '9'),
  severity(`${prefix}UNSPECIFIED`),
]
const metadata = {
  items: [
    { id: 'CVE-1', summary: 's', details: 'd', references: references(''), severity: severities('') },
    { id: 'CVE-2', summary: '', details: '', references: [{ type: 'UNSPECIFIED', url: '' }], severity: [] },
    { id: 'CVE-3', summary: '', details: '', references: [], severity: [] },
  ],
  next_page_token: 'next',
  total_count: '9007199254740993',
  skipped: 1,
}

export const advisory: readonly Transcript[] = [
  transcript('advisory.documents.list', 'every member, events of every type')
    .sent('GET /advisory/v1/documents?id=openssl&cves=CVE-1&cves=CVE-2')
    .asks('GET /advisory/v2/documents?id=openssl&cves=CVE-1&cves=CVE-2', {
      documents: [
        { id: 'openssl', advisories: [{ id: 'CGA-1', events: v2Events, aliases: ['CVE-2025-1'], packageNamespace: 'wolfi' }, {}] },
        {},
      ],
    })
    .answers(documents),
  transcript('advisory.documents.list', 'a window of them, the other way round')
    .sent('GET /advisory/v1/documents?order_by=id desc&offset=1&limit=1')
    .asks('GET /advisory/v2/documents', { documents: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] })
    .answers({ items: [{ id: 'b', advisories: [] }] }),
  transcript('advisory.documents.list', 'in an order that documents do not know')
    .sent('GET /advisory/v1/documents?order_by=name')
    .asks('GET /advisory/v2/documents', { documents: [{ id: 'a' }, { id: 'b' }] })
    .answers({
      items: [
        { id: 'a', advisories: [] },
        { id: 'b', advisories: [] },
      ],
    }),
  transcript('advisory.documents.list', 'no document')
    .sent('GET /advisory/v1/documents')
    .asks('GET /advisory/v2/documents', 'NOT_FOUND')
    .answers({ items: [] }),
  transcript('advisory.resolved_vulns.list', 'from and to are start and end')
    .sent('GET /advisory/v1/images/resolved_vulns?from=2025-01-01T00:00:00Z&to=2025-02-01T00:00:00%2B01:00')
    .asks('GET /advisory/v2/images/resolvedVulns?start_time=2025-01-01T00:00:00Z&end_time=2025-02-01T00:00:00+01:00', {
      resolvedVulnsReports: [
        {
          date: TIME,
          resolvedVulns: [
            { id: 'CGA-1', aliases: ['CVE-1'], cvssSeverities: [{ type: 'TYPE_CVSS_V2', score: '5' }, { type: 'TYPE_UBUNTU' }, {}] },
            {},
          ],
        },
        {},
      ],
    })
    .answers(reports),
  transcript('advisory.resolved_vulns.list', 'nothing was resolved')
    .sent('GET /advisory/v1/images/resolved_vulns')
    .asks('GET /advisory/v2/images/resolvedVulns', { resolvedVulnsReports: [] })
    .answers({ items: [] }),
  ...['from', 'to'].map(
    (name): Transcript =>
      transcript('advisory.resolved_vulns.list', `${name} is a time`)
        .sent(`GET /advisory/v1/images/resolved_vulns?${name}=yesterday`)
        .refuses('INVALID_ARGUMENT', `parsing field "${name}": "yesterday" is not an RFC 3339 time`),
  ),
  transcript('advisory.resolved_vulns.list', 'image references are refused by v2, as they were by v1')
    .sent('GET /advisory/v1/images/resolved_vulns?image_refs=a&imageRefs=b')
    .asks('GET /advisory/v2/images/resolvedVulns?image_refs=a&image_refs=b', 'INVALID_ARGUMENT')
    .refuses('INVALID_ARGUMENT'),
  transcript('advisory.vulnerability_metadata.list', 'every member; severity is severities')
    .sent('GET /advisory/v1/metadata?ids=CVE-1&ids=CVE-2&page_size=3&skip=1&orderBy=id desc')
    .asks('GET /advisory/v2/metadata?ids=CVE-1&ids=CVE-2&order_by=id desc&page_size=3&skip=1', {
      vulnerabilityMetadata: [
        { id: 'CVE-1', summary: 's', details: 'd', references: references('TYPE_'), severities: severities('TYPE_') },
        { id: 'CVE-2', references: [{}] },
        { id: 'CVE-3' },
      ],
      nextPageToken: 'next',
      totalCount: '9007199254740993',
      skipped: 1,
    })
    .answers(metadata),
  transcript('advisory.vulnerability_metadata.list', 'by id; a total that v2 does not say is absent')
    .sent('GET /advisory/v1/metadata?id=CVE-3')
    .asks('GET /advisory/v2/metadata?id=CVE-3&page_size=50', { vulnerabilityMetadata: [{ id: 'CVE-3' }] })
    .answers(
      { items: metadata.items.slice(2), next_page_token: '', skipped: 0 },
      { items: metadata.items.slice(2), nextPageToken: '', skipped: 0 },
    ),
  transcript('advisory.vulnerability_metadata.list', 'an order that v2 refuses, as v1 did')
    .sent('GET /advisory/v1/metadata?order_by=name sideways')
    .asks('GET /advisory/v2/metadata?order_by=name sideways&page_size=50', 'INVALID_ARGUMENT')
    .refuses('INVALID_ARGUMENT'),
]
