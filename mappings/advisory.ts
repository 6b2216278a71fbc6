import {
  action,
  ask,
  choice,
  enumMap,
  type Fields,
  int,
  list,
  long,
  type Mapping,
  message,
  object,
  objects,
  oneof,
  optional,
  prefixed,
  resource,
  text,
  texts,
  textsParam,
  time,
  timeParam,
  v2Query,
  wholeList,
  withoutToken,
} from '../src/tables/language.ts'
import { detection, FALSE_POSITIVE_TYPES, note, scan } from './vulnerabilities/advisory-event.ts'

const falsePositiveType = enumMap('FalsePositiveDetermination.Type of the feed', [
  ['FPT_TYPE_UNSPECIFIED', 'TYPE_UNSPECIFIED', 0, 0],
  ...FALSE_POSITIVE_TYPES.map((name, at) => [`FPT_TYPE_${name}`, `TYPE_${name}`, at + 1, at + 1] as const),
])

const severityType = enumMap(
  'Severity.Type',
  [
    ['UNSPECIFIED', 'TYPE_UNSPECIFIED', 0, 0],
    ['CVSS_V2', 'TYPE_CVSS_V2', 1, 1],
    ['CVSS_V3', 'TYPE_CVSS_V3', 2, 2],
    ['CVSS_V4', 'TYPE_CVSS_V4', 3, 3],
  ],
  [['UBUNTU', 4]],
)

const REFERENCE_TYPES = ['ADVISORY', 'ARTICLE', 'DETECTION', 'DISCUSSION', 'REPORT', 'FIX', 'INTRODUCED', 'PACKAGE', 'EVIDENCE', 'WEB']
const referenceType = prefixed(
  'Reference.Type',
  'TYPE_',
  ['UNSPECIFIED', 'TYPE_UNSPECIFIED'],
  REFERENCE_TYPES.map((name, at) => [name, at + 1]),
)

const severity: Fields = { type: choice('type', severityType), score: text('score') }

const event: Fields = {
  timestamp: time('timestamp'),
  true_positive_determination: oneof('data', object('truePositiveDetermination', note)),
  false_positive_determination: oneof('data', object('falsePositiveDetermination', { type: choice('type', falsePositiveType), ...note })),
  fixed: oneof('data', object('fixed', { fixed_version: text('fixedVersion'), ...scan })),
  detection: oneof('data', object('detection', detection('subpackageName', 'componentName'))),
  analysis_not_planned: oneof('data', object('analysisNotPlanned', note)),
  fix_not_planned: oneof('data', object('fixNotPlanned', note)),
  pending_upstream_fix: oneof('data', object('pendingUpstreamFix', note)),
}

/** A package and its advisories. `id` is the id of a package or a CGA and stays `id` in v2 (facts §7). */
const document: Fields = {
  id: text('id'),
  advisories: objects('advisories', {
    id: text('id'),
    events: objects('events', event),
    aliases: texts('aliases'),
    package_namespace: text('packageNamespace'),
  }),
}

const report: Fields = {
  date: time('date'),
  resolved_vulns: objects('resolvedVulns', {
    id: text('id'),
    aliases: texts('aliases'),
    cvss_severities: objects('cvssSeverities', severity),
  }),
}

const metadata = resource('vulnerability metadata', {
  v2: '/advisory/v2/metadata',
  plural: 'vulnerabilityMetadata',
  order: 'id',
  fields: {
    id: text('id'),
    summary: text('summary'),
    details: text('details'),
    references: objects('references', { type: choice('type', referenceType), url: text('url') }),
    severity: objects('severities', severity),
  },
})

const DOCUMENTS = '/advisory/v2/documents'
/** v2 answers all of them at once. */
const documents = message('documents', { items: objects('documents', document) })
const documentFilters = { id: 'id', cves: textsParam('cves') }

export const advisory: Mapping = {
  domain: 'advisory',
  operations: [
    withoutToken(
      wholeList('advisory.documents.list', 'GET /advisory/v1/documents', {
        calls: [`GET ${DOCUMENTS}`],
        params: documentFilters,
        row: message('document', document),
        rowsIn: 'documents',
        byId: true,
        *read({ query }) {
          const call = { method: 'GET', path: DOCUMENTS, query: v2Query(documentFilters, query) } as const
          return { rows: (yield* ask(call, documents)).documents }
        },
      }),
    ),
    action('advisory.resolved_vulns.list', 'GET /advisory/v1/images/resolved_vulns', {
      v2: 'GET /advisory/v2/images/resolvedVulns',
      params: { image_refs: { ...textsParam('image_refs'), neverTaken: true }, from: timeParam('start_time'), to: timeParam('end_time') },
      answer: message('resolved vulnerability reports', { items: objects('resolvedVulnsReports', report) }),
      missing: 'empty',
    }),
    withoutToken(
      list('advisory.vulnerability_metadata.list', 'GET /advisory/v1/metadata', metadata, {
        pages: true,
        skips: true,
        // v1 read the order as v2 does: by `id` (facts §7, §21).
        query: { id: 'id', ids: textsParam('ids'), order_by: 'order_by' },
        envelope: message('vulnerability metadata', {
          next_page_token: text('nextPageToken'),
          total_count: optional(long('totalCount')),
          skipped: int('skipped'),
        }),
      }),
    ),
  ],
}
