import { choice, listOf, type Message, nested, text } from '../../messages/message.ts'
import { REFERENCE_TYPES, severityMessage } from './enums.ts'

const PACKAGE = 'chainguard.platform.advisory.v2'

const REFERENCE: Message = { name: `${PACKAGE}.Reference`, fields: { type: choice(REFERENCE_TYPES), url: text() } }

/** The data of one vulnerability (semantics §3.15). */
export const metadataMessage: Message = {
  name: `${PACKAGE}.VulnerabilityMetadata`,
  fields: {
    id: text(),
    summary: text(),
    details: text(),
    references: listOf(nested(REFERENCE)),
    severities: listOf(nested(severityMessage(PACKAGE))),
  },
}
