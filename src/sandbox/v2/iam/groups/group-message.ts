import { choice, flag, int32, type Message, mapOf, outputText, outputTime, text } from '../../../messages/message.ts'
import { descriptionRule, nameRule } from '../../../messages/validate.ts'

/** The zero value comes first and means "none". */
const ORG_KINDS = [
  'ORG_KIND_UNSPECIFIED',
  'ORG_KIND_STARTER',
  'ORG_KIND_CUSTOMER',
  'ORG_KIND_DEV',
  'ORG_KIND_INFRA',
  'ORG_KIND_AWS_MARKETPLACE',
] as const

const ORG_STATUSES = ['ORG_STATUS_UNSPECIFIED', 'ORG_STATUS_INITIALIZING', 'ORG_STATUS_READY', 'ORG_STATUS_SUSPENDED'] as const

/** (semantics §3.1) */
export const groupMessage: Message = {
  name: 'chainguard.platform.iam.v2.Group',
  fields: {
    uid: outputText,
    name: text({ required: true, check: nameRule }),
    description: text({ check: descriptionRule }),
    resourceLimits: mapOf(int32(), { outputOnly: true }),
    verified: flag(),
    createTime: outputTime,
    updateTime: outputTime,
    kind: choice(ORG_KINDS),
    status: choice(ORG_STATUSES, { outputOnly: true }),
  },
}
