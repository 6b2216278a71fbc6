import type { Answer, Route } from '../../http/route.ts'
import { equals } from '../../lists.ts'
import { explicitMask } from '../../messages/field-mask.ts'
import { type FieldViolation, notFound } from '../../status.ts'
import { identities, identityMetadataMessage, lookedUp, PRINCIPALS, writeMetadata } from '../../v2/iam/identities.ts'
import {
  CORRELATION_RULES,
  CREDENTIAL_STATES,
  deleteMappings,
  externalGroupRoleMappings,
  identityProviders,
} from '../../v2/iam/providers.ts'
import { scimNow, scimRoutes } from '../../v2/iam/scim.ts'
import { BY_NAME, type Resource } from '../../v2/resource.ts'
import type { ExternalGroupRoleMapping, Identity, IdentityProvider } from '../../world/model.ts'
import {
  choice,
  duration,
  flag,
  list,
  map,
  message,
  object,
  oneof,
  prefixed,
  readOnly,
  sameNames,
  text,
  time,
  writeOnly,
} from '../message.ts'
import { type Decoded, decode, encode, encodeResource, type Operation } from '../operation.ts'
import { createOperation, deleteOperation, getOperation, listOperation, relaxed, replaceOperation, type Written } from '../operations.ts'

const servicePrincipal = prefixed('ServicePrincipal', 'SERVICE_PRINCIPAL_', 1, ...PRINCIPALS)

const claimMatch = message('Identity.ClaimMatch', [
  ...oneof('iss', text('issuer'), text('issuer_pattern')),
  ...oneof('sub', text('subject'), text('subject_pattern')),
  ...oneof('aud', text('audience'), text('audience_pattern')),
  map(text('claims')),
  map(text('claim_patterns')),
])

const staticKeys = message('Identity.StaticKeys', [
  text('issuer'),
  text('subject'),
  text('issuer_keys'),
  time('expiration', { from: 'expirationTime' }),
  list(text('audiences')),
])

const awsIdentity = message('Identity.AWSIdentity', [
  text('aws_account'),
  ...oneof('aws_arn', text('arn'), text('arn_pattern')),
  ...oneof('aws_user_id', text('user_id'), text('user_id_pattern')),
])

/** Identity (facts §3.2). `email` and `company` of the stored row are not part of v1. */
export const identity = message(
  'Identity',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    text('description'),
    readOnly(time('created_at', { from: 'createTime' })),
    readOnly(time('updated_at', { from: 'updateTime' })),
    readOnly(time('last_seen', { from: 'lastSeenTime' })),
    ...oneof(
      'relationship',
      object(claimMatch)('claim_match'),
      object(staticKeys)('static', { from: 'staticKeys' }),
      choice(servicePrincipal)('service_principal'),
      object(awsIdentity)('aws_identity'),
    ),
  ],
  ['created_at', 'updated_at', 'group_id'],
)

const onboardingQuestions = message('IdentityMetadata.OnboardingQuestions', [
  text('company_name', { from: 'company' }),
  list(text('providers')),
  text('product'),
  text('job_title'),
  text('utm_campaign'),
  text('utm_content'),
  text('utm_medium'),
  text('utm_source'),
  text('utm_term'),
  text('latest_form_submit_url'),
  text('latest_internal_referring_url'),
  text('hubspot_utk'),
  flag('self_serve'),
])

/** The caller's own metadata (facts §3.3). The stored row is flat; `onboarding_questions` is a view of the same row. */
export const identityMetadata = message('IdentityMetadata', [
  object(onboardingQuestions)('onboarding_questions'),
  // No caller writes names.
  readOnly(text('name')),
  readOnly(text('given_name')),
  readOnly(text('family_name')),
  flag('updatesOptIn'),
])

const correlationRule = sameNames('CorrelationRule', ...CORRELATION_RULES)
const credentialState = sameNames('CredentialState', ...CREDENTIAL_STATES)

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

const written: Written<Identity> = { resource: identities, path: '/iam/v1/identities', message: identity }

const RELATIONSHIPS = ['claimMatch', 'staticKeys', 'awsIdentity', 'servicePrincipal']

/** A PUT without a relationship keeps the stored one, because every identity needs one (facts §13). */
const replaced = (body: Decoded): readonly string[] => ['name', 'description', ...RELATIONSHIPS.filter((member) => member in body)]

/** The whole identity of an issuer and subject, for any caller. An unregistered pair is NOT_FOUND (facts §3.2). */
const lookup: Operation = {
  method: 'GET',
  template: `${written.path}/lookup`,
  answer: ({ query }, world) => {
    const uid = lookedUp(query, world)
    return encodeResource(world.store.identities.get(uid) ?? notFound('iam.Identity', uid), identity, world.options.v1Dialect)
  },
}

/** Flattens a metadata body to its stored form, which has no `providers` (facts §3.3). */
function flatten({ onboardingQuestions = {}, ...own }: Decoded): Decoded {
  const { providers: _providers, ...questions } = onboardingQuestions as Decoded
  return { ...questions, ...own }
}

/** The caller's own metadata: a PATCH without a mask, which changes the members that the body names (facts §13.8). */
const patchMetadata: Operation = {
  method: 'PATCH',
  template: `${written.path}/metadata`,
  message: identityMetadata,
  answer: (ask, world) => {
    const input = flatten(decode(ask.body, identityMetadata))
    const mask = explicitMask(identityMetadataMessage, Object.keys(input).join(','))
    const flat = writeMetadata(ask, world, input, mask)
    return encode({ ...flat, onboardingQuestions: flat }, identityMetadata, world.options.v1Dialect)
  },
}

/** Identities (facts §3.2, §3.3). */
export const identityOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true }),
  lookup,
  patchMetadata,
  createOperation(written, 'parent_id'),
  replaceOperation(written, replaced),
  deleteOperation(written),
]

/** ExternalGroupRoleMapping (facts §3.9): its parent is an identity provider. */
export const externalGroupRoleMapping = message('ExternalGroupRoleMapping', [
  readOnly(text('id', { from: 'uid' })),
  readOnly(text('identity_provider_uidp', { from: 'identityProviderUid' })),
  text('external_group_id'),
  text('role_uidp', { from: 'roleUid' }),
  text('scope'),
  readOnly(time('created_at', { from: 'createTime' })),
])

export const batchDeleteRequest = message('BatchDeleteExternalGroupRoleMappingsRequest', [
  text('parent_id', { from: 'parent' }),
  list(text('ids', { from: 'names' })),
])

export const batchDeleteAnswer = message('BatchDeleteExternalGroupRoleMappingsResponse', [
  text('parent_id', { from: 'parent' }),
  list(object(externalGroupRoleMapping)('items', { from: 'externalGroupRoleMappings' })),
])

const writtenMapping: Written<ExternalGroupRoleMapping> = {
  resource: externalGroupRoleMappings,
  path: '/iam/v1/externalGroupRoleMappings',
  message: externalGroupRoleMapping,
}

/** Skips missing mappings. The answer holds the removed ones (facts §14). */
const batchDelete: Operation = {
  method: 'POST',
  template: `${writtenMapping.path}:batchDelete`,
  answer: (ask, world) => {
    const { parent = '', names = [] }: Decoded = decode(ask.body, batchDeleteRequest)
    const batch = { parent: String(parent), names: names as readonly string[] }
    const removed = deleteMappings(ask, world, batch, ['parent_id', 'ids'])
    return encode({ parent, externalGroupRoleMappings: removed }, batchDeleteAnswer, world.options.v1Dialect)
  },
}

/** External group role mappings (facts §3.9). */
export const mappingOperations: readonly Operation[] = [
  listOperation({
    ...writtenMapping,
    scoped: true,
    filters: (query) => equals(query, 'identity_provider_uidp', ({ identityProviderUid }) => identityProviderUid),
  }),
  // v1's only read of one resource in IAM, and one of its few reads with NOT_FOUND (facts §11).
  getOperation(writtenMapping, 'uid'),
  createOperation(writtenMapping, 'parent_id'),
  batchDelete,
  deleteOperation(writtenMapping),
]

const withoutRole = relaxed(identityProviders, 'defaultRole')

const ofGivenRole = ({ defaultRole }: IdentityProvider, found: readonly FieldViolation[] = []): readonly FieldViolation[] =>
  found.filter(({ field }) => field !== 'default_role' || defaultRole !== '')

/** v1 accepts a provider without a default role (facts §3.6). A given role is checked as in v2. */
const v1Providers: Resource<IdentityProvider> = {
  ...withoutRole,
  checkCreate: (row, act) => ofGivenRole(row, withoutRole.checkCreate?.(row, act)),
  checkUpdate: (row, act) => ofGivenRole(row, withoutRole.checkUpdate?.(row, act)),
}

/** v1 shows the SCIM state in every read, lists included (facts §10.9). */
const writtenProvider: Written<IdentityProvider> = {
  resource: v1Providers,
  path: '/iam/v1/identityProviders',
  message: identityProvider,
  view: (row, world) => ({ ...row, scim: scimNow(row, world) }),
}

const ALWAYS = [
  'name',
  'description',
  'defaultRole',
  'oidc.issuer',
  'oidc.clientId',
  'oidc.additionalScopes',
  'oidc.groupsClaim',
  'oidc.pkceEnabled',
]

/** A PUT without a secret keeps the stored one. It may repeat the correlation rule (facts §13). */
function replacedProvider({ oidc = {} }: Decoded): readonly string[] {
  const given = oidc as Decoded
  return [
    ...ALWAYS,
    ...(given['clientSecret'] ? ['oidc.clientSecret'] : []),
    ...(given['correlationRule'] === undefined ? [] : ['oidc.correlationRule']),
  ]
}

/** Identity providers (facts §3.6). */
export const providerOperations: readonly Operation[] = [
  listOperation({ ...writtenProvider, idParameter: 'id', scoped: true, filters: BY_NAME.filters }),
  createOperation(writtenProvider, 'parent_id'),
  replaceOperation(writtenProvider, replacedProvider),
  deleteOperation(writtenProvider),
]

const isVerb = (verb: string): verb is keyof typeof scimMessages => Object.hasOwn(scimMessages, verb)

/** Runs the service's own action with one name translated, the provider's: the versions differ in that alone (facts §3.6). */
function operationOf({ template, handle }: Route): Operation {
  const verb = template.slice(template.lastIndexOf(':') + 1)
  if (!isVerb(verb)) throw new Error(`v1 has no message for ${template}`)
  const { request, answer } = scimMessages[verb]
  return {
    method: 'POST',
    template: `/iam/v1/identityProviders/{identity_provider_id=**}:${verb}`,
    message: answer,
    answer: (ask, world) => {
      const params = { identity_provider_uid: ask.params['identity_provider_id'] ?? '' }
      const { body } = handle({ ...ask, params, body: decode(ask.body, request) }, world) as Answer
      return encode(body as Readonly<Record<string, unknown>>, answer, world.options.v1Dialect)
    },
  }
}

/** The SCIM token of a provider: generate, regenerate, revoke, switch (facts §3.6). */
export const scimOperations: readonly Operation[] = scimRoutes.map(operationOf)
