import { action, duration, type Fields, flag, type Holds, message, nothing, type Operation, text, time } from '../../src/tables/language.ts'
import { identityProvider } from './identity-providers.ts'

/** Where an identity provider shows what a SCIM action answers; it never shows the token (facts §3.6). */
const shownAs = {
  identity_provider_id: 'id',
  etag: 'scim.etag',
  enabled: 'scim.enabled',
  endpoint_url: 'scim.endpoint_url',
  expire_time: 'scim.token_expire_time',
  previous_token_expire_time: 'scim.previous_token_expire_time',
}

/**
 * One of the four SCIM actions of an identity provider.
 * Verb and bodies are the same in both versions; only the name of the uid differs (facts §3.6).
 */
function scimAction(verb: string, suffix: string, request: Fields, answer: Fields, holds?: Holds): Operation {
  const path = `identityProviders/{identity_provider_id=**}:${suffix}`
  return action(`iam.identity_providers.${verb}`, `POST /iam/v1/${path}`, {
    v2: `POST /iam/v2/${path.replace('=**', '')}`,
    request: Object.keys(request).length > 0 ? message(`${suffix} request`, request) : nothing,
    answer: message(`${suffix} answer`, answer),
    readBack: { resource: identityProvider, named: { param: 'identity_provider_id' }, shownAs, ...(holds && { holds }) },
  })
}

const provider = { identity_provider_id: text('identityProviderUid') }
const expiry = { expire_time: time('expireTime') }
const neverExpires = { never_expires: flag('neverExpires') }
const etag = { etag: text('etag') }
const enabled = { enabled: flag('enabled') }
/** Shown only once: the plan neither caches nor repeats it. */
const secret = { token: text('token'), endpoint_url: text('endpointUrl') }

export const scimOperations: readonly Operation[] = [
  scimAction(
    'generate_scim_token',
    'generateScimToken',
    { ...expiry, ...neverExpires },
    { ...secret, ...expiry, ...provider, ...etag },
    { token: 'some' },
  ),
  scimAction(
    'regenerate_scim_token',
    'regenerateScimToken',
    { overlap: duration('overlap'), ...expiry, ...etag, ...neverExpires },
    {
      ...secret,
      ...expiry,
      ...provider,
      ...etag,
      previous_token_expire_time: time('previousTokenExpireTime'),
      requested_overlap: duration('requestedOverlap'),
    },
    { token: 'some', requested_overlap: { asked: 'overlap' } },
  ),
  scimAction(
    'revoke_scim_token',
    'revokeScimToken',
    {},
    { ...provider, ...etag, ...enabled, revoke_time: time('revokeTime') },
    { revoke_time: 'time' },
  ),
  scimAction('set_scim_enabled', 'setScimEnabled', { ...enabled, ...etag }, { ...provider, ...enabled, ...etag }),
]
