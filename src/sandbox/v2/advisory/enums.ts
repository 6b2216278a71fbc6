import { choice, type Message, text } from '../../messages/message.ts'

/** Enums that advisories and the public feed share, by number (facts §18). */

export const FALSE_POSITIVE_TYPES: readonly string[] = [
  'TYPE_UNSPECIFIED',
  'TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED',
  'TYPE_COMPONENT_VULNERABILITY_MISMATCH',
  'TYPE_VULNERABLE_CODE_VERSION_NOT_USED',
  'TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE',
  'TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH',
  'TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY',
  'TYPE_INLINE_MITIGATIONS_EXIST',
]

const SEVERITY_TYPES: readonly string[] = ['TYPE_UNSPECIFIED', 'TYPE_CVSS_V2', 'TYPE_CVSS_V3', 'TYPE_CVSS_V4']

export const REFERENCE_TYPES: readonly string[] = [
  'TYPE_UNSPECIFIED',
  'TYPE_ADVISORY',
  'TYPE_ARTICLE',
  'TYPE_DETECTION',
  'TYPE_DISCUSSION',
  'TYPE_REPORT',
  'TYPE_FIX',
  'TYPE_INTRODUCED',
  'TYPE_PACKAGE',
  'TYPE_EVIDENCE',
  'TYPE_WEB',
]

/** A score in one system. `package_` is the proto package, which declares its own copy. */
export const severityMessage = (package_: string): Message => ({
  name: `${package_}.Severity`,
  fields: { type: choice(SEVERITY_TYPES), score: text() },
})
