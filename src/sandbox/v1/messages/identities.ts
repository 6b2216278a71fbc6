import { choice, flag, list, map, message, object, oneof, readOnly, text, time } from '../message.ts'
import { prefixed } from '../vocabulary.ts'

const servicePrincipal = prefixed(
  'ServicePrincipal',
  'SERVICE_PRINCIPAL_',
  1,
  'COSIGNED',
  'INGESTER',
  'CATALOG_SYNCER',
  'APKO_BUILDER',
  'ENTITLEMENT_SYNCER',
  'TENANT_SCANNER',
  'SEDIMENTOLOGY',
  'SKILLUP',
  'MATERIALIZER',
  'MICROFLOW',
  'GUARDENER',
  'MICROVM',
  'SKILLS',
)

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
  text('name'),
  text('given_name'),
  text('family_name'),
  flag('updatesOptIn'),
])
