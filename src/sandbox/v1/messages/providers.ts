import { choice, duration, flag, list, message, object, oneof, readOnly, text, time, writeOnly } from '../message.ts'
import { sameNames } from '../vocabulary.ts'

const correlationRule = sameNames(
  'CorrelationRule',
  'CORRELATION_RULE_UNSPECIFIED',
  'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID',
  'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID',
)
const credentialState = sameNames(
  'CredentialState',
  'CREDENTIAL_STATE_UNSPECIFIED',
  'CREDENTIAL_STATE_NOT_ISSUED',
  'CREDENTIAL_STATE_LIVE',
  'CREDENTIAL_STATE_EXPIRED',
  'CREDENTIAL_STATE_REVOKED',
  'CREDENTIAL_STATE_ROTATING',
)

const oidc = message('IdentityProvider.OIDC', [
  text('issuer'),
  text('client_id'),
  writeOnly(text('client_secret')),
  list(text('additional_scopes')),
  text('groups_claim'),
  choice(correlationRule)('correlation_rule'),
  flag('pkce_enabled'),
])

const scim = message('IdentityProvider.SCIM', [
  flag('enabled'),
  text('endpoint_url'),
  time('token_expire_time'),
  time('previous_token_expire_time'),
  choice(credentialState)('credential_state'),
  text('etag'),
])

/** IdentityProvider (facts §3.6). */
export const identityProvider = message(
  'IdentityProvider',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    text('description'),
    text('default_role'),
    ...oneof('configuration', object(oidc)('oidc')),
    readOnly(object(scim)('scim')),
  ],
  ['created_at', 'updated_at', 'group_id'],
)

const providerId = text('identity_provider_id', { from: 'identityProviderUid' })
const revealedToken = [text('token'), text('endpoint_url'), time('expire_time'), providerId, text('etag')]

/** The SCIM verbs (facts §3.6), each with its request and answer. The path names the provider. */
export const scimMessages = {
  generateScimToken: {
    request: message('GenerateScimTokenRequest', [time('expire_time'), flag('never_expires')]),
    answer: message('GenerateScimTokenResponse', revealedToken),
  },
  regenerateScimToken: {
    request: message('RegenerateScimTokenRequest', [duration('overlap'), time('expire_time'), text('etag'), flag('never_expires')]),
    answer: message('RegenerateScimTokenResponse', [...revealedToken, time('previous_token_expire_time'), duration('requested_overlap')]),
  },
  revokeScimToken: {
    request: message('RevokeScimTokenRequest', []),
    answer: message('RevokeScimTokenResponse', [providerId, text('etag'), flag('enabled'), time('revoke_time')]),
  },
  setScimEnabled: {
    request: message('SetScimEnabledRequest', [flag('enabled'), text('etag')]),
    answer: message('SetScimEnabledResponse', [providerId, flag('enabled'), text('etag')]),
  },
} as const
