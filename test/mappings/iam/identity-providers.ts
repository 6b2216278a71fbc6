import { failure, items, type Transcript } from '../transcript.ts'

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
const okta = {
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
  scim: {
    enabled: true,
    endpoint_url: 'https://scim.example/v2',
    token_expire_time: '2026-01-01T00:00:00Z',
    previous_token_expire_time: null,
    credential_state: 'CREDENTIAL_STATE_LIVE',
    etag: 'e1',
  },
}
const stamps = { created_at: v2Okta.createTime, updated_at: v2Okta.updateTime, group_id: 'org' }
const publishedOkta = {
  id: 'org/okta',
  name: 'okta',
  description: '',
  defaultRole: 'viewer',
  oidc: {
    issuer: 'https://okta.example',
    clientId: 'c1',
    clientSecret: '',
    additionalScopes: ['groups'],
    groupsClaim: '',
    correlationRule: 'CORRELATION_RULE_UNSPECIFIED',
    pkceEnabled: true,
  },
  scim: {
    enabled: true,
    endpointUrl: 'https://scim.example/v2',
    tokenExpireTime: '2026-01-01T00:00:00Z',
    previousTokenExpireTime: null,
    credentialState: 'CREDENTIAL_STATE_LIVE',
    etag: 'e1',
  },
}
const MASK = 'name,description,default_role,oidc.issuer,oidc.client_id,oidc.additional_scopes,oidc.groups_claim,oidc.pkce_enabled'

export const identityProviders: readonly Transcript[] = [
  {
    title: 'a Get of each row brings the SCIM status; one that is gone by then shows none',
    operation: 'iam.identity_providers.list',
    request: 'GET /iam/v1/identityProviders?name=okta',
    calls: [
      {
        call: 'GET /iam/v2/identityProviders?name=okta&page_size=200',
        answer: { identityProviders: [v2Okta, { uid: 'org/other', name: 'okta' }] },
      },
      { call: 'GET /iam/v2/identityProviders/org/okta', answer: { ...v2Okta, scim: scimOfGet } },
      { call: 'GET /iam/v2/identityProviders/org/other', answer: 'NOT_FOUND' },
    ],
    reply: items(
      { ...okta, ...stamps },
      {
        id: 'org/other',
        name: 'okta',
        description: '',
        default_role: '',
        scim: null,
        created_at: null,
        updated_at: null,
        group_id: 'org',
      },
    ),
    published: items(publishedOkta, { id: 'org/other', name: 'okta', description: '', defaultRole: '', scim: null }),
  },
  {
    title: 'by id it is one Get, not two',
    operation: 'iam.identity_providers.list',
    request: 'GET /iam/v1/identityProviders?id=org/okta',
    calls: [{ call: 'GET /iam/v2/identityProviders/org/okta', answer: { ...v2Okta, scim: scimOfGet } }],
    reply: items({ ...okta, ...stamps }),
    published: items(publishedOkta),
  },
  {
    title: 'an outage in the middle fails the list',
    operation: 'iam.identity_providers.list',
    request: 'GET /iam/v1/identityProviders',
    calls: [
      { call: 'GET /iam/v2/identityProviders?page_size=200', answer: { identityProviders: [v2Okta] } },
      { call: 'GET /iam/v2/identityProviders/org/okta', answer: 'UNAVAILABLE' },
    ],
    status: 503,
    reply: failure('UNAVAILABLE'),
  },
  {
    title: 'the secret goes in and does not come out; scim is output only',
    operation: 'iam.identity_providers.create',
    request: 'POST /iam/v1/identityProviders/org',
    body: {
      name: 'okta',
      default_role: 'viewer',
      oidc: { issuer: 'https://okta.example', client_id: 'c1', clientSecret: 's3', correlation_rule: 1 },
      scim: { enabled: true },
    },
    calls: [
      {
        call: 'POST /iam/v2/identityProviders/org',
        body: {
          name: 'okta',
          defaultRole: 'viewer',
          oidc: {
            issuer: 'https://okta.example',
            clientId: 'c1',
            clientSecret: 's3',
            correlationRule: 'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID',
          },
        },
        answer: v2Okta,
      },
    ],
    reply: { ...okta, scim: null, ...stamps },
    published: { ...publishedOkta, scim: null },
  },
  {
    title: 'the empty secret that v1 shows is not written back',
    operation: 'iam.identity_providers.update',
    request: 'PUT /iam/v1/identityProviders/org/okta',
    body: {
      name: 'okta',
      oidc: { issuer: 'https://okta.example', client_id: 'c1', client_secret: '', correlation_rule: 'CORRELATION_RULE_UNSPECIFIED' },
    },
    calls: [
      {
        call: `PATCH /iam/v2/identityProviders/org/okta?updateMask=${MASK}`,
        body: {
          name: 'okta',
          oidc: { issuer: 'https://okta.example', clientId: 'c1', clientSecret: '', correlationRule: 'CORRELATION_RULE_UNSPECIFIED' },
        },
        answer: { ...v2Okta, scim: scimOfGet },
      },
    ],
    reply: { ...okta, ...stamps },
    published: publishedOkta,
  },
  {
    title: 'a new secret and the rule are named in the mask',
    operation: 'iam.identity_providers.update',
    request: 'PUT /iam/v1/identityProviders/org/okta',
    body: { name: 'okta', oidc: { client_secret: 's4', correlation_rule: 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' } },
    calls: [
      {
        call: `PATCH /iam/v2/identityProviders/org/okta?updateMask=${MASK},oidc.client_secret,oidc.correlation_rule`,
        body: { name: 'okta', oidc: { clientSecret: 's4', correlationRule: 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' } },
        answer: { ...v2Okta, scim: scimOfGet },
      },
    ],
    reply: { ...okta, ...stamps },
    published: publishedOkta,
  },
  {
    title: 'gone before',
    operation: 'iam.identity_providers.delete',
    request: 'DELETE /iam/v1/identityProviders/org/okta',
    calls: [{ call: 'DELETE /iam/v2/identityProviders/org/okta', answer: 'NOT_FOUND' }],
    reply: {},
  },
  {
    title: 'the token is shown once, and the path names the provider',
    operation: 'iam.identity_providers.generate_scim_token',
    request: 'POST /iam/v1/identityProviders/org/okta:generateScimToken',
    body: { identity_provider_id: 'other', never_expires: true },
    calls: [
      {
        call: 'POST /iam/v2/identityProviders/org/okta:generateScimToken',
        body: { neverExpires: true },
        answer: { token: 't0', endpointUrl: 'https://scim.example/v2', identityProviderUid: 'org/okta', etag: 'e1' },
      },
    ],
    reply: { token: 't0', endpoint_url: 'https://scim.example/v2', expire_time: null, identity_provider_id: 'org/okta', etag: 'e1' },
    published: { token: 't0', endpointUrl: 'https://scim.example/v2', expireTime: null, identityProviderId: 'org/okta', etag: 'e1' },
  },
  {
    title: 'the old token lives on for a while',
    operation: 'iam.identity_providers.regenerate_scim_token',
    request: 'POST /iam/v1/identityProviders/org/okta:regenerateScimToken',
    body: { overlap: '3600s', expireTime: '2026-01-01T00:00:00Z', etag: 'e1' },
    calls: [
      {
        call: 'POST /iam/v2/identityProviders/org/okta:regenerateScimToken',
        body: { overlap: '3600s', expireTime: '2026-01-01T00:00:00Z', etag: 'e1' },
        answer: {
          token: 't1',
          expireTime: '2026-01-01T00:00:00Z',
          previousTokenExpireTime: '2025-01-01T01:00:00Z',
          requestedOverlap: '3600s',
        },
      },
    ],
    reply: {
      token: 't1',
      endpoint_url: '',
      expire_time: '2026-01-01T00:00:00Z',
      identity_provider_id: '',
      etag: '',
      previous_token_expire_time: '2025-01-01T01:00:00Z',
      requested_overlap: '3600s',
    },
    published: {
      token: 't1',
      endpointUrl: '',
      expireTime: '2026-01-01T00:00:00Z',
      identityProviderId: '',
      etag: '',
      previousTokenExpireTime: '2025-01-01T01:00:00Z',
      requestedOverlap: '3600s',
    },
  },
  {
    title: 'a duration has its own form',
    operation: 'iam.identity_providers.regenerate_scim_token',
    request: 'POST /iam/v1/identityProviders/org/okta:regenerateScimToken',
    body: { overlap: '1h', etag: 'e1' },
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: overlap: must be a duration in seconds such as "3600s"', [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'overlap', description: 'must be a duration in seconds such as "3600s"' }],
      },
    ]),
  },
  {
    title: 'no request members',
    operation: 'iam.identity_providers.revoke_scim_token',
    request: 'POST /iam/v1/identityProviders/org/okta:revokeScimToken',
    calls: [
      {
        call: 'POST /iam/v2/identityProviders/org/okta:revokeScimToken',
        body: {},
        answer: { identityProviderUid: 'org/okta', etag: 'e2', enabled: true, revokeTime: '2025-05-05T05:05:05Z' },
      },
    ],
    reply: { identity_provider_id: 'org/okta', etag: 'e2', enabled: true, revoke_time: '2025-05-05T05:05:05Z' },
    published: { identityProviderId: 'org/okta', etag: 'e2', enabled: true, revokeTime: '2025-05-05T05:05:05Z' },
  },
  {
    title: 'switched off: false is a value',
    operation: 'iam.identity_providers.set_scim_enabled',
    request: 'POST /iam/v1/identityProviders/org/okta:setScimEnabled',
    body: { enabled: false, etag: 'e2' },
    calls: [
      {
        call: 'POST /iam/v2/identityProviders/org/okta:setScimEnabled',
        body: { enabled: false, etag: 'e2' },
        answer: { identityProviderUid: 'org/okta', etag: 'e3' },
      },
    ],
    reply: { identity_provider_id: 'org/okta', enabled: false, etag: 'e3' },
    published: { identityProviderId: 'org/okta', enabled: false, etag: 'e3' },
  },
]
