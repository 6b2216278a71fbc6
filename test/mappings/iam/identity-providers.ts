import { extra } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const scimOfGet = {
  enabled: true,
  endpointUrl: 'https://scim.example/v2',
  tokenExpireTime: '2026-01-01T00:00:00Z',
  credentialState: 'CREDENTIAL_STATE_LIVE',
  etag: 'e1',
}
const v2Okta = {
  uid: 'org/okta',
  name: 'okta',
  defaultRole: 'viewer',
  oidc: { issuer: 'https://okta.example', clientId: 'c1', additionalScopes: ['groups'], pkceEnabled: true },
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
}
const withoutScim = {
  id: 'org/okta',
  name: 'okta',
  description: '',
  default_role: 'viewer',
  oidc: {
    issuer: 'https://okta.example',
    client_id: 'c1',
    client_secret: '',
    additional_scopes: ['groups'],
    groups_claim: '',
    correlation_rule: 'CORRELATION_RULE_UNSPECIFIED',
    pkce_enabled: true,
  },
  scim: null,
}
const stamps = { created_at: v2Okta.createTime, updated_at: v2Okta.updateTime, group_id: 'org' }
const scim = {
  enabled: true,
  endpoint_url: 'https://scim.example/v2',
  token_expire_time: '2026-01-01T00:00:00Z',
  previous_token_expire_time: null,
  credential_state: 'CREDENTIAL_STATE_LIVE',
  etag: 'e1',
}
const okta = extra({ ...withoutScim, scim }, stamps)
const MASK = 'name,description,default_role,oidc.issuer,oidc.client_id,oidc.additional_scopes,oidc.groups_claim,oidc.pkce_enabled'

export const identityProviders: readonly Transcript[] = [
  transcript('iam.identity_providers.list', 'a Get of each row brings the SCIM status; one that is gone by then shows none')
    .sent('GET /iam/v1/identityProviders?name=okta')
    .asks('GET /iam/v2/identityProviders?name=okta&page_size=200', { identityProviders: [v2Okta, { uid: 'org/other', name: 'okta' }] })
    .asks('GET /iam/v2/identityProviders/org/okta', { ...v2Okta, scim: scimOfGet })
    .asks('GET /iam/v2/identityProviders/org/other', 'NOT_FOUND')
    .answers(
      items(
        okta,
        extra(
          { id: 'org/other', name: 'okta', description: '', default_role: '', scim: null },
          { created_at: null, updated_at: null, group_id: 'org' },
        ),
      ),
    ),
  transcript('iam.identity_providers.list', 'by id it is one Get, not two')
    .sent('GET /iam/v1/identityProviders?id=org/okta')
    .asks('GET /iam/v2/identityProviders/org/okta', { ...v2Okta, scim: scimOfGet })
    .answers(items(okta)),
  transcript('iam.identity_providers.list', 'an outage in the middle fails the list')
    .sent('GET /iam/v1/identityProviders')
    .asks('GET /iam/v2/identityProviders?page_size=200', { identityProviders: [v2Okta] })
    .asks('GET /iam/v2/identityProviders/org/okta', 'UNAVAILABLE')
    .refuses('UNAVAILABLE'),
  transcript('iam.identity_providers.create', 'the secret goes in and does not come out; scim is output only')
    .sent('POST /iam/v1/identityProviders/org', {
      name: 'okta',
      default_role: 'viewer',
      oidc: { issuer: 'https://okta.example', client_id: 'c1', clientSecret: 's3', correlation_rule: 1 },
      scim: { enabled: true },
    })
    .writes(
      'POST /iam/v2/identityProviders/org',
      {
        name: 'okta',
        defaultRole: 'viewer',
        oidc: {
          issuer: 'https://okta.example',
          clientId: 'c1',
          clientSecret: 's3',
          correlationRule: 'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID',
        },
      },
      v2Okta,
    )
    .answers(extra(withoutScim, stamps)),
  transcript('iam.identity_providers.update', 'the empty secret that v1 shows is not written back')
    .sent('PUT /iam/v1/identityProviders/org/okta', {
      name: 'okta',
      oidc: { issuer: 'https://okta.example', client_id: 'c1', client_secret: '', correlation_rule: 'CORRELATION_RULE_UNSPECIFIED' },
    })
    .writes(
      `PATCH /iam/v2/identityProviders/org/okta?updateMask=${MASK}`,
      {
        name: 'okta',
        oidc: { issuer: 'https://okta.example', clientId: 'c1', clientSecret: '', correlationRule: 'CORRELATION_RULE_UNSPECIFIED' },
      },
      { ...v2Okta, scim: scimOfGet },
    )
    .answers(okta),
  transcript('iam.identity_providers.update', 'a new secret and the rule are named in the mask')
    .sent('PUT /iam/v1/identityProviders/org/okta', {
      name: 'okta',
      oidc: { client_secret: 's4', correlation_rule: 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' },
    })
    .writes(
      `PATCH /iam/v2/identityProviders/org/okta?updateMask=${MASK},oidc.client_secret,oidc.correlation_rule`,
      { name: 'okta', oidc: { clientSecret: 's4', correlationRule: 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' } },
      { ...v2Okta, scim: scimOfGet },
    )
    .answers(okta),
  transcript('iam.identity_providers.delete', 'gone before')
    .sent('DELETE /iam/v1/identityProviders/org/okta')
    .asks('DELETE /iam/v2/identityProviders/org/okta', 'NOT_FOUND')
    .answers({}),
  transcript('iam.identity_providers.generate_scim_token', 'the token is shown once, and the path names the provider')
    .sent('POST /iam/v1/identityProviders/org/okta:generateScimToken', { identity_provider_id: 'other', never_expires: true })
    .writes(
      'POST /iam/v2/identityProviders/org/okta:generateScimToken',
      { neverExpires: true },
      { token: 't0', endpointUrl: 'https://scim.example/v2', identityProviderUid: 'org/okta', etag: 'e1' },
    )
    .answers({ token: 't0', endpoint_url: 'https://scim.example/v2', expire_time: null, identity_provider_id: 'org/okta', etag: 'e1' }),
  transcript('iam.identity_providers.regenerate_scim_token', 'the old token lives on for a while')
    .sent('POST /iam/v1/identityProviders/org/okta:regenerateScimToken', {
      overlap: '3600s',
      expireTime: '2026-01-01T00:00:00Z',
      etag: 'e1',
    })
    .writes(
      'POST /iam/v2/identityProviders/org/okta:regenerateScimToken',
      { overlap: '3600s', expireTime: '2026-01-01T00:00:00Z', etag: 'e1' },
      { token: 't1', expireTime: '2026-01-01T00:00:00Z', previousTokenExpireTime: '2025-01-01T01:00:00Z', requestedOverlap: '3600s' },
    )
    .answers({
      token: 't1',
      endpoint_url: '',
      expire_time: '2026-01-01T00:00:00Z',
      identity_provider_id: '',
      etag: '',
      previous_token_expire_time: '2025-01-01T01:00:00Z',
      requested_overlap: '3600s',
    }),
  transcript('iam.identity_providers.regenerate_scim_token', 'a duration has its own form')
    .sent('POST /iam/v1/identityProviders/org/okta:regenerateScimToken', { overlap: '1h', etag: 'e1' })
    .finds(['overlap', 'must be a duration in seconds such as "3600s"']),
  transcript('iam.identity_providers.revoke_scim_token', 'no request members')
    .sent('POST /iam/v1/identityProviders/org/okta:revokeScimToken')
    .writes(
      'POST /iam/v2/identityProviders/org/okta:revokeScimToken',
      {},
      { identityProviderUid: 'org/okta', etag: 'e2', enabled: true, revokeTime: '2025-05-05T05:05:05Z' },
    )
    .answers({ identity_provider_id: 'org/okta', etag: 'e2', enabled: true, revoke_time: '2025-05-05T05:05:05Z' }),
  transcript('iam.identity_providers.set_scim_enabled', 'switched off: false is a value')
    .sent('POST /iam/v1/identityProviders/org/okta:setScimEnabled', { enabled: false, etag: 'e2' })
    .writes(
      'POST /iam/v2/identityProviders/org/okta:setScimEnabled',
      { enabled: false, etag: 'e2' },
      { identityProviderUid: 'org/okta', etag: 'e3' },
    )
    .answers({ identity_provider_id: 'org/okta', enabled: false, etag: 'e3' }),
]
