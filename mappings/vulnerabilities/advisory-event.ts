import {
  bytes,
  choice,
  type Fields,
  gone,
  object,
  oneof,
  optional,
  prefixed,
  readOnly,
  text,
  texts,
  time,
} from '../../src/tables/language.ts'

/** Reasons why a finding is no vulnerability. Both advisory domains have them, with different prefixes (facts §18). */
export const FALSE_POSITIVE_TYPES = [
  'VULNERABILITY_RECORD_ANALYSIS_CONTESTED',
  'COMPONENT_VULNERABILITY_MISMATCH',
  'VULNERABLE_CODE_VERSION_NOT_USED',
  'VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE',
  'VULNERABLE_CODE_NOT_IN_EXECUTION_PATH',
  'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY',
  'INLINE_MITIGATIONS_EXIST',
] as const

const falsePositiveType = prefixed(
  'FalsePositiveDetermination.Type',
  'TYPE_',
  ['UNSPECIFIED', 'TYPE_UNSPECIFIED'],
  FALSE_POSITIVE_TYPES.map((name, at) => [name, at + 1]),
)

export const reviewStatus = prefixed(
  'ReviewStatus',
  'REVIEW_STATE_',
  ['UNKNOWN', 'REVIEW_STATE_UNSPECIFIED'],
  [
    ['PENDING', 1],
    ['APPROVED', 2],
    ['REQUEST_CHANGES', 3],
    ['REJECTED', 4],
  ],
)

/** The run of a scanner that both domains show. */
export const scan = {
  scanner_version: text('scannerVersion'),
  grype_db_built: text('grypeDbBuilt'),
  grype_db_checksum: text('grypeDbChecksum'),
}
export const note = { note: text('note') }

/** The source of a finding. The two domains have different v2 names for the package and the component. */
export const detection = (subpackage: string, component: string): Fields => ({
  nvdapi: oneof('type', object('nvdapi', { cpe_searched: text('cpeSearched'), cpe_found: text('cpeFound') })),
  manual: oneof('type', object('manual', {})),
  scanv1: oneof(
    'type',
    object('scanv1', {
      scanner: text('scanner'),
      subpackage_name: text(subpackage),
      component_id: text('componentId'),
      component_name: text(component),
      component_version: text('componentVersion'),
      component_type: text('componentType'),
      component_location: text('componentLocation'),
      artifact_version: text('artifactVersion'),
      ...scan,
    }),
  ),
})

// facts §5.2
const LOCATION_CHANGED = 'v2 has no such event type, so the event arrives without a type'

/** One step in the life of an advisory; `type` says which (facts §5.2). */
export const advisoryEvent: Fields = {
  id: readOnly('uid'),
  timestamp: readOnly(time('createTime')),
  detection: oneof('type', object('detection', detection('subpackage', 'component'))),
  fixed: oneof('type', object('fixed', { fixed_version: text('fixedVersion'), ...note, ...scan })),
  false_positive_determination: oneof('type', object('falsePositiveDetermination', { type: choice('type', falsePositiveType), ...note })),
  analysis_not_planned: oneof('type', object('analysisNotPlanned', note)),
  fix_not_planned: oneof('type', object('fixNotPlanned', note)),
  pending_upstream_fix: oneof('type', object('pendingUpstreamFix', note)),
  true_positive_determination: oneof('type', object('truePositiveDetermination', note)),
  patched: oneof('type', object('patched', { patched_versions: texts('patchedVersions'), ...note })),
  component_location_changed: oneof(
    'type',
    gone(
      (source) => object(source, { previous_location: text('previousLocation'), new_location: text('newLocation'), ...note }),
      LOCATION_CHANGED,
    ),
  ),
  findings: bytes('findings'),
  author: text('author'),
  reviewer: text('reviewer'),
  status: choice('reviewState', reviewStatus),
  issue: optional(text('issue')),
}
