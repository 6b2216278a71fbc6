import { choice, flag, listOf, type Message, nested, outputText, outputTime, text, time } from '../../../messages/message.ts'
import { descriptionRule, nameRule } from '../../../messages/validate.ts'

/** An unset rule means the second one (semantics §3.3). */
const CORRELATION_RULES = [
  'CORRELATION_RULE_UNSPECIFIED',
  'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID',
  'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID',
] as const

const CREDENTIAL_STATES = [
  'CREDENTIAL_STATE_UNSPECIFIED',
  'CREDENTIAL_STATE_NOT_ISSUED',
  'CREDENTIAL_STATE_LIVE',
  'CREDENTIAL_STATE_EXPIRED',
  'CREDENTIAL_STATE_REVOKED',
  'CREDENTIAL_STATE_ROTATING',
] as const

const oidcMessage: Message = {
  name: 'chainguard.platform.iam.v2.IdentityProvider.OIDC',
  fields: {
    issuer: text({ required: true }),
    clientId: text({ required: true }),
    clientSecret: text({ inputOnly: true }),
    additionalScopes: listOf(text()),
    groupsClaim: text(),
    correlationRule: choice(CORRELATION_RULES),
    pkceEnabled: flag(),
  },
}

const scimMessage: Message = {
  name: 'chainguard.platform.iam.v2.IdentityProvider.SCIM',
  fields: {
    enabled: flag(),
    endpointUrl: text(),
    tokenExpireTime: time(),
    previousTokenExpireTime: time(),
    credentialState: choice(CREDENTIAL_STATES),
    etag: text(),
  },
}

/** (semantics §3.3) */
export const identityProviderMessage: Message = {
  name: 'chainguard.platform.iam.v2.IdentityProvider',
  fields: {
    uid: outputText,
    name: text({ required: true, check: nameRule }),
    description: text({ check: descriptionRule }),
    createTime: outputTime,
    updateTime: outputTime,
    defaultRole: text({ required: true }),
    oidc: nested(oidcMessage, { oneof: 'configuration' }),
    scim: nested(scimMessage, { outputOnly: true }),
  },
}
