import { choice, listOf, type Message, nested, outputText, outputTime, text } from '../../messages/message.ts'
import { FALSE_POSITIVE_TYPES } from '../advisory/enums.ts'

const PACKAGE = 'chainguard.platform.vulnerabilities.v2.AdvisoryEvent'

/** By number (facts §18). */
export const REVIEW_STATES: readonly string[] = [
  'REVIEW_STATE_UNSPECIFIED',
  'REVIEW_STATE_PENDING',
  'REVIEW_STATE_APPROVED',
  'REVIEW_STATE_REQUEST_CHANGES',
  'REVIEW_STATE_REJECTED',
]

const noted = (name: string, fields: Message['fields'] = {}): Message => ({
  name: `${PACKAGE}.${name}`,
  fields: { ...fields, note: text() },
})

const NVD: Message = { name: `${PACKAGE}.Detection.NVDAPI`, fields: { cpeSearched: text(), cpeFound: text() } }

const MANUAL: Message = { name: `${PACKAGE}.Detection.Manual`, fields: {} }

const SCAN: Message = {
  name: `${PACKAGE}.Detection.ScanV1`,
  fields: {
    scanner: text(),
    subpackage: text(),
    componentId: text(),
    component: text(),
    componentVersion: text(),
    componentType: text(),
    componentLocation: text(),
    artifactVersion: text(),
    scannerVersion: text(),
    grypeDbBuilt: text(),
    grypeDbChecksum: text(),
  },
}

const DETECTION: Message = {
  name: `${PACKAGE}.Detection`,
  fields: {
    nvdapi: nested(NVD, { oneof: 'type' }),
    manual: nested(MANUAL, { oneof: 'type' }),
    scanv1: nested(SCAN, { oneof: 'type' }),
  },
}

const FIXED = noted('Fixed', { fixedVersion: text(), scannerVersion: text(), grypeDbBuilt: text(), grypeDbChecksum: text() })

/** An event of an advisory. At most one member of `type` is set (semantics §3.13). */
export const advisoryEventMessage: Message = {
  name: PACKAGE,
  fields: {
    uid: outputText,
    createTime: outputTime,
    findings: text(),
    author: text(),
    reviewer: text(),
    reviewState: choice(REVIEW_STATES),
    issue: text(),
    detection: nested(DETECTION, { oneof: 'type' }),
    fixed: nested(FIXED, { oneof: 'type' }),
    falsePositiveDetermination: nested(noted('FalsePositiveDetermination', { type: choice(FALSE_POSITIVE_TYPES) }), { oneof: 'type' }),
    analysisNotPlanned: nested(noted('AnalysisNotPlanned'), { oneof: 'type' }),
    fixNotPlanned: nested(noted('FixNotPlanned'), { oneof: 'type' }),
    pendingUpstreamFix: nested(noted('PendingUpstreamFix'), { oneof: 'type' }),
    truePositiveDetermination: nested(noted('TruePositiveDetermination'), { oneof: 'type' }),
    patched: nested(noted('Patched', { patchedVersions: listOf(text()) }), { oneof: 'type' }),
  },
}
