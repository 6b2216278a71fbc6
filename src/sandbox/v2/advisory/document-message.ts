import { choice, listOf, type Message, nested, text, time } from '../../messages/message.ts'
import { FALSE_POSITIVE_TYPES } from './enums.ts'

const PACKAGE = 'chainguard.platform.advisory.v2'

const message = (name: string, fields: Message['fields']): Message => ({ name: `${PACKAGE}.${name}`, fields })

const NVD = message('Detection.DetectionTypeNVDAPI', { cpeSearched: text(), cpeFound: text() })
const MANUAL = message('Detection.DetectionTypeManual', {})
const SCAN = message('Detection.DetectionTypeScanV1', {
  scanner: text(),
  subpackageName: text(),
  componentId: text(),
  componentName: text(),
  componentVersion: text(),
  componentType: text(),
  componentLocation: text(),
  artifactVersion: text(),
  scannerVersion: text(),
  grypeDbBuilt: text(),
  grypeDbChecksum: text(),
})

const DETECTION = message('Detection', {
  nvdapi: nested(NVD, { oneof: 'type' }),
  manual: nested(MANUAL, { oneof: 'type' }),
  scanv1: nested(SCAN, { oneof: 'type' }),
})

const FIXED = message('Fixed', { fixedVersion: text(), scannerVersion: text(), grypeDbBuilt: text(), grypeDbChecksum: text() })
const FALSE_POSITIVE = message('FalsePositiveDetermination', { type: choice(FALSE_POSITIVE_TYPES), note: text() })

const noted = (name: string) => nested(message(name, { note: text() }), { oneof: 'data' })

const EVENT = message('DocumentEvent', {
  timestamp: time(),
  truePositiveDetermination: noted('TruePositiveDetermination'),
  falsePositiveDetermination: nested(FALSE_POSITIVE, { oneof: 'data' }),
  fixed: nested(FIXED, { oneof: 'data' }),
  detection: nested(DETECTION, { oneof: 'data' }),
  analysisNotPlanned: noted('AnalysisNotPlanned'),
  fixNotPlanned: noted('FixNotPlanned'),
  pendingUpstreamFix: noted('PendingUpstreamFix'),
})

const ADVISORY = message('DocumentAdvisory', {
  id: text(),
  events: listOf(nested(EVENT)),
  aliases: listOf(text()),
  packageNamespace: text(),
})

/** The published advisories of one package (semantics §3.15). */
export const documentMessage = message('Document', { id: text(), advisories: listOf(nested(ADVISORY)) })
