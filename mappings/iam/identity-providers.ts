import {
  choice,
  create,
  type Enrich,
  flag,
  hydrate,
  list,
  lookUp,
  made,
  type Operation,
  object,
  oneof,
  readOnly,
  remove,
  replace,
  resource,
  scope,
  text,
  texts,
  time,
  uidOf,
} from '../../src/tables/language.ts'
import { correlationRule, credentialState } from '../enums.ts'

const oidc = {
  issuer: text('issuer'),
  client_id: text('clientId'),
  // v2 never shows the secret, so v1 shows the unset value (facts §3.6).
  client_secret: text('clientSecret'),
  additional_scopes: texts('additionalScopes'),
  groups_claim: text('groupsClaim'),
  correlation_rule: choice('correlationRule', correlationRule),
  pkce_enabled: flag('pkceEnabled'),
}

const scim = {
  enabled: flag('enabled'),
  endpoint_url: text('endpointUrl'),
  token_expire_time: time('tokenExpireTime'),
  previous_token_expire_time: time('previousTokenExpireTime'),
  credential_state: choice('credentialState', credentialState),
  etag: text('etag'),
}

/** An organization's own login service (facts §3.6). */
export const identityProvider = resource('identity provider', {
  v2: '/iam/v2/identityProviders',
  plural: 'identityProviders',
  stamps: ['created_at', 'updated_at', 'group_id'],
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    description: text('description'),
    default_role: text('defaultRole'),
    oidc: oneof('configuration', object('oidc', oidc)),
    scim: made('scim of GET /iam/v2/identityProviders/{uid}', readOnly(object('scim', scim))),
  },
  mask: {
    always: [
      'name',
      'description',
      'defaultRole',
      'oidc.issuer',
      'oidc.clientId',
      'oidc.additionalScopes',
      'oidc.groupsClaim',
      'oidc.pkceEnabled',
    ],
    // The rule cannot be changed; repeating its value is allowed (facts §13.2).
    whenSet: ['oidc.clientSecret', 'oidc.correlationRule'],
    // facts §13.5
    because: '* would clear the client secret, which a v1 client cannot read and so does not send',
  },
})

/** v1 showed the SCIM status on every read. v2's list omits it, its Get does not (facts §3.6). */
const withScim: Enrich = function* (rows, _env, origin) {
  if (origin === 'get') return rows
  const whole = rows.map((row) => lookUp(identityProvider, uidOf(row)))
  const found = yield* hydrate(whole)
  return rows.map((row, at) => ({ ...row, ...scimOf(found.get(whole[at]?.path ?? '')) }))
}

function scimOf(provider: { readonly scim?: unknown } | undefined) {
  return provider?.scim === undefined ? {} : { scim: provider.scim }
}

export const identityProviderOperations: readonly Operation[] = [
  list('iam.identity_providers.list', 'GET /iam/v1/identityProviders', identityProvider, {
    query: { ...scope, name: 'name' },
    byId: 'id',
    enrich: withScim,
  }),
  create('iam.identity_providers.create', 'POST /iam/v1/identityProviders/{parent_id=**}', identityProvider),
  replace('iam.identity_providers.update', 'PUT /iam/v1/identityProviders/{id=**}', identityProvider),
  remove('iam.identity_providers.delete', 'DELETE /iam/v1/identityProviders/{id=**}', identityProvider, 'below'),
]
