import { listOf, type Message, nested, outputText, outputTime, text } from '../../messages/message.ts'
import { severityMessage } from '../advisory/enums.ts'
import { advisoryEventMessage } from './event-message.ts'

const PACKAGE = 'chainguard.platform.vulnerabilities.v2'

/** (specification §2, semantics §3.13) */
export const advisoryMessage: Message = {
  name: `${PACKAGE}.Advisory`,
  fields: {
    uid: outputText,
    advisoryId: outputText,
    createTime: outputTime,
    updateTime: outputTime,
    deleteTime: outputTime,
    author: text(),
    artifactName: text(),
    artifactType: text(),
    artifactArchitecture: text(),
    componentName: text(),
    componentLocation: text(),
    componentType: text(),
    aliases: listOf(text()),
    events: listOf(nested(advisoryEventMessage)),
    legacyAdvisoryId: outputText,
    severities: listOf(nested(severityMessage(PACKAGE))),
  },
}
