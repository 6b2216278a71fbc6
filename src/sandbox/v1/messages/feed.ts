import { choice, int32, int64, list, message, object, oneof, optional, text, time } from '../message.ts'
import { zeroed } from '../vocabulary.ts'
import { detectionMessage, FALSE_POSITIVES, FIX_MEMBERS, noted, scanMessage } from './advisory-events.ts'

const falsePositive = zeroed('FalsePositiveDetermination.Type', ['UNSPECIFIED', ...FALSE_POSITIVES], {
  stored: 'TYPE_',
  shown: 'FPT_TYPE_',
})

const referenceType = zeroed(
  'Reference.Type',
  ['UNSPECIFIED', 'ADVISORY', 'ARTICLE', 'DETECTION', 'DISCUSSION', 'REPORT', 'FIX', 'INTRODUCED', 'PACKAGE', 'EVIDENCE', 'WEB'],
  { stored: 'TYPE_' },
)

/** v1 has UBUNTU besides, which no stored row uses (facts §18). */
const severityType = zeroed('Severity.Type', ['UNSPECIFIED', 'CVSS_V2', 'CVSS_V3', 'CVSS_V4', 'UBUNTU'], { stored: 'TYPE_' })

const event = message('Event', [
  time('timestamp'),
  ...oneof(
    'data',
    noted('true_positive_determination'),
    noted('false_positive_determination', choice(falsePositive)('type')),
    object(message('Fixed', FIX_MEMBERS))('fixed'),
    object(detectionMessage(scanMessage('subpackageName', 'componentName')))('detection'),
    noted('analysis_not_planned'),
    noted('fix_not_planned'),
    noted('pending_upstream_fix'),
  ),
])

const documentAdvisory = message('Advisory', [text('id'), list(object(event)('events')), list(text('aliases')), text('package_namespace')])

/** Document (facts §7): `id` is a package here, not a uid. */
export const document = message('Document', [text('id'), list(object(documentAdvisory)('advisories'))])

const severity = message('Severity', [choice(severityType)('type'), text('score')])
const reference = message('Reference', [choice(referenceType)('type'), text('url')])

/** VulnerabilityMetadata (facts §7). */
const vulnerabilityMetadata = message('VulnerabilityMetadata', [
  text('id'),
  text('summary'),
  text('details'),
  list(object(reference)('references')),
  list(object(severity)('severity', { from: 'severities' })),
])

export const vulnerabilityMetadataList = message('VulnerabilityMetadataList', [
  list(object(vulnerabilityMetadata)('items')),
  text('next_page_token'),
  optional(int64('total_count')),
  int32('skipped'),
])

const resolvedVuln = message('ResolvedVuln', [text('id'), list(text('aliases')), list(object(severity)('cvss_severities'))])
const resolvedVulnsReport = message('ResolvedVulnsReport', [time('date'), list(object(resolvedVuln)('resolved_vulns'))])

/** ResolvedVulnsReportList (facts §7). */
export const resolvedVulnsReportList = message('ResolvedVulnsReportList', [list(object(resolvedVulnsReport)('items'))])
