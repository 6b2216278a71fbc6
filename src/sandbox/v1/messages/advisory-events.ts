import { choice, list, type Member, message, object, oneof, optional, text, time } from '../message.ts'
import { prefixed, zeroed } from '../vocabulary.ts'

/** The seven kinds of false positive without the prefixes of either version (facts §18). */
export const FALSE_POSITIVES = [
  'VULNERABILITY_RECORD_ANALYSIS_CONTESTED',
  'COMPONENT_VULNERABILITY_MISMATCH',
  'VULNERABLE_CODE_VERSION_NOT_USED',
  'VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE',
  'VULNERABLE_CODE_NOT_IN_EXECUTION_PATH',
  'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY',
  'INLINE_MITIGATIONS_EXIST',
] as const

export const reviewStatus = prefixed('ReviewStatus', 'REVIEW_STATE_', 1, 'PENDING', 'APPROVED', 'REQUEST_CHANGES', 'REJECTED')
const falsePositive = zeroed('FalsePositiveDetermination.Type', ['UNSPECIFIED', ...FALSE_POSITIVES], { stored: 'TYPE_' })

const nvd = message('Detection.NVDAPI', [text('cpe_searched'), text('cpe_found')])

/** A run of a scanner and its finding. The feed and advisories store two of the members under different names. */
export const scanMessage = (subpackage: string, component: string) =>
  message('Detection.ScanV1', [
    text('scanner'),
    text('subpackage_name', { from: subpackage }),
    text('component_id'),
    text('component_name', { from: component }),
    text('component_version'),
    text('component_type'),
    text('component_location'),
    text('artifact_version'),
    text('scanner_version'),
    text('grype_db_built'),
    text('grype_db_checksum'),
  ])

export const detectionMessage = (scan: ReturnType<typeof scanMessage>) =>
  message('Detection', oneof('type', object(nvd)('nvdapi'), object(message('Detection.Manual', []))('manual'), object(scan)('scanv1')))

/** The members of a fix that advisories and the feed share. */
export const FIX_MEMBERS: readonly Member[] = [
  text('fixed_version'),
  text('scanner_version'),
  text('grype_db_built'),
  text('grype_db_checksum'),
]

/** An object that holds a note and `members`. */
export const noted = (name: string, ...members: readonly Member[]): Member => object(message(name, [...members, text('note')]))(name)

/** AdvisoryEvent (facts §5.2). */
export const advisoryEvent = message('AdvisoryEvent', [
  text('id', { from: 'uid' }),
  time('timestamp', { from: 'createTime' }),
  ...oneof(
    'type',
    object(detectionMessage(scanMessage('subpackage', 'component')))('detection'),
    noted('fixed', ...FIX_MEMBERS),
    noted('false_positive_determination', choice(falsePositive)('type')),
    noted('analysis_not_planned'),
    noted('fix_not_planned'),
    noted('pending_upstream_fix'),
    noted('true_positive_determination'),
    noted('patched', list(text('patched_versions'))),
    noted('component_location_changed', text('previous_location'), text('new_location')),
  ),
  text('findings'),
  text('author'),
  text('reviewer'),
  choice(reviewStatus)('status', { from: 'reviewState' }),
  optional(text('issue')),
])

export const advisoryEventList = message('AdvisoryEventList', [text('parent_id'), list(object(advisoryEvent)('items'))])
