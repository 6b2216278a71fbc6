import { extra, map } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const v2Robot = {
  uid: 'org/robot',
  name: 'robot',
  company: 'Example',
  email: 'robot@example.com',
  claimMatch: { issuer: 'https://issuer.example', subjectPattern: '^repo:.*', claims: { __proto_like: 'a', camelKey: 'b' } },
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
  lastSeenTime: '2025-01-02T03:04:05.676Z',
}
const below = { group_id: 'org' }
const robot = extra(
  {
    id: 'org/robot',
    name: 'robot',
    description: '',
    created_at: '2025-01-02T03:04:05.678Z',
    updated_at: '2025-01-02T03:04:05.678Z',
    last_seen: '2025-01-02T03:04:05.676Z',
    claim_match: {
      issuer: 'https://issuer.example',
      subject_pattern: '^repo:.*',
      claims: map({ __proto_like: 'a', camelKey: 'b' }),
      claim_patterns: {},
    },
  },
  below,
)
const v2Syncer = { uid: 'org/syncer', name: 'syncer', servicePrincipal: 'SERVICE_PRINCIPAL_CATALOG_SYNCER' }
const unseen = (id: string, more: object) =>
  extra({ id: `org/${id}`, name: id, description: '', created_at: null, updated_at: null, last_seen: null, ...more }, below)
const syncer = unseen('syncer', { service_principal: 'CATALOG_SYNCER' })
const v2Keyed = {
  uid: 'org/keyed',
  name: 'keyed',
  staticKeys: { issuer: 'https://i', subject: 's', issuerKeys: '{"keys":[]}', expirationTime: '2026-01-01T00:00:00Z' },
}
const v2Aws = { uid: 'org/aws', name: 'aws', awsIdentity: { awsAccount: '123456789012', arnPattern: '^arn:.*', userId: 'AIDA' } }

export const identities: readonly Transcript[] = [
  transcript('iam.identities.list', 'one relationship each; members that only v2 has stay out')
    .sent('GET /iam/v1/identities?uidp.children_of=org')
    .asks('GET /iam/v2/identities?uidp.children_of=org&page_size=200', { identities: [v2Robot, v2Syncer, v2Keyed, v2Aws] })
    .answers(
      items(
        robot,
        syncer,
        unseen('keyed', {
          static: { issuer: 'https://i', subject: 's', issuer_keys: '{"keys":[]}', expiration: '2026-01-01T00:00:00Z', audiences: [] },
        }),
        unseen('aws', { aws_identity: { aws_account: '123456789012', arn_pattern: '^arn:.*', user_id: 'AIDA' } }),
      ),
    ),
  transcript('iam.identities.list', 'by id')
    .sent('GET /iam/v1/identities?id=org/robot')
    .asks('GET /iam/v2/identities/org/robot', v2Robot)
    .answers(items(robot)),
  transcript('iam.identities.create', 'either spelling of a member is read; the keys of claims are data')
    .sent('POST /iam/v1/identities/org', {
      name: 'robot',
      claim_match: { issuer: 'https://issuer.example', subjectPattern: '^repo:.*', claims: { __proto_like: 'a', camelKey: 'b' } },
      created_at: '2020-01-01T00:00:00Z',
    })
    .writes(
      'POST /iam/v2/identities/org',
      {
        name: 'robot',
        claimMatch: { issuer: 'https://issuer.example', subjectPattern: '^repo:.*', claims: { __proto_like: 'a', camelKey: 'b' } },
      },
      v2Robot,
    )
    .answers(robot),
  transcript('iam.identities.update', 'a PUT without a relationship keeps it, and company too')
    .sent('PUT /iam/v1/identities/org/robot', { name: 'robot', claim_match: null })
    .writes('PATCH /iam/v2/identities/org/robot?updateMask=name,description', { name: 'robot' }, v2Robot)
    .answers(robot),
  transcript('iam.identities.update', 'a relationship is named as a whole')
    .sent('PUT /iam/v1/identities/org/keyed', { name: 'keyed', static: { issuer: 'https://i', expiration: '2026-01-01T01:00:00+01:00' } })
    .writes(
      'PATCH /iam/v2/identities/org/keyed?updateMask=name,description,static_keys',
      { name: 'keyed', staticKeys: { issuer: 'https://i', expirationTime: '2026-01-01T01:00:00+01:00' } },
      v2Syncer,
    )
    .answers(syncer),
  ...[
    ['claim_match', 'claimMatch', { issuer: 'https://i', subject: 's' }] as const,
    ['aws_identity', 'awsIdentity', { arn: 'arn:aws:iam::1:role/r', userId: 'AIDA' }] as const,
  ].map(
    ([member, inV2, value]): Transcript =>
      transcript('iam.identities.update', `so is ${member}`)
        .sent('PUT /iam/v1/identities/org/robot', { name: 'robot', [member]: value })
        .writes(`PATCH /iam/v2/identities/org/robot?updateMask=name,description,${member}`, { name: 'robot', [inV2]: value }, v2Robot)
        .answers(robot),
  ),
  transcript('iam.identities.update', 'the mask can be spelled in camelCase')
    .sent('PUT /iam/v1/identities/org/syncer', { name: 'syncer', service_principal: 3 })
    .under({ maskCase: 'camel' })
    .writes(
      'PATCH /iam/v2/identities/org/syncer?updateMask=name,description,servicePrincipal',
      { name: 'syncer', servicePrincipal: 'SERVICE_PRINCIPAL_CATALOG_SYNCER' },
      v2Syncer,
    )
    .answers(syncer),
  transcript('iam.identities.delete', 'gone before')
    .sent('DELETE /iam/v1/identities/org/robot')
    .asks('DELETE /iam/v2/identities/org/robot', 'NOT_FOUND')
    .answers({}),
  transcript('iam.identities.lookup', 'the uid, then the identity')
    .sent('GET /iam/v1/identities/lookup?issuer=https://issuer.example&subject=repo:x')
    .asks('GET /iam/v2/identities:lookupIdentity?issuer=https://issuer.example&subject=repo:x', { uid: 'org/robot' })
    .asks('GET /iam/v2/identities/org/robot', v2Robot)
    .answers(robot),
  transcript('iam.identities.lookup', 'a uid that v2 made up is no identity')
    .sent('GET /iam/v1/identities/lookup?issuer=https://i&subject=nobody')
    .asks('GET /iam/v2/identities:lookupIdentity?issuer=https://i&subject=nobody', { uid: 'made-up' })
    .asks('GET /iam/v2/identities/made-up', 'NOT_FOUND')
    .refuses('NOT_FOUND'),
  transcript('iam.identities.lookup', 'an identity that the caller may not read still has an id')
    .sent('GET /iam/v1/identities/lookup?issuer=https://i&subject=other')
    .asks('GET /iam/v2/identities:lookupIdentity?issuer=https://i&subject=other', { uid: 'other' })
    .asks('GET /iam/v2/identities/other', 'PERMISSION_DENIED')
    .answers({ id: 'other' }),
  transcript('iam.identities.lookup', 'an outage is an outage')
    .sent('GET /iam/v1/identities/lookup?issuer=https://i&subject=x')
    .asks('GET /iam/v2/identities:lookupIdentity?issuer=https://i&subject=x', { uid: 'other' })
    .asks('GET /iam/v2/identities/other', 'UNAVAILABLE')
    .refuses('UNAVAILABLE'),
]

const questions = {
  company_name: 'Example',
  providers: [],
  product: '',
  job_title: 'CTO',
  utm_campaign: '',
  utm_content: '',
  utm_medium: '',
  utm_source: '',
  utm_term: '',
  latest_form_submit_url: '',
  latest_internal_referring_url: '',
  hubspot_utk: '',
  self_serve: true,
}
export const identityMetadata: readonly Transcript[] = [
  transcript('iam.identity_metadata.update', 'v1 nests, v2 is flat; the members that are present are the mask')
    .sent('PATCH /iam/v1/identities/metadata', {
      onboardingQuestions: { companyName: 'Example', job_title: 'CTO', self_serve: true, providers: [] },
      updatesOptIn: false,
      name: 'Mallory',
    })
    .writes(
      'PATCH /iam/v2/identities:updateIdentityMetadata',
      {
        identityMetadata: { company: 'Example', jobTitle: 'CTO', selfServe: true, updatesOptIn: false },
        updateMask: 'company,jobTitle,selfServe,updatesOptIn',
      },
      { uid: 'alice', name: 'Alice A.', givenName: 'Alice', company: 'Example', jobTitle: 'CTO', selfServe: true },
    )
    .answers({ onboarding_questions: questions, name: 'Alice A.', given_name: 'Alice', family_name: '', updatesOptIn: false }),
  transcript('iam.identity_metadata.update', 'what v2 has no member for is refused, and nothing is written')
    .sent('PATCH /iam/v1/identities/metadata', { onboarding_questions: { job_title: 'CTO', providers: ['github'] } })
    .finds(['onboarding_questions.providers', 'is not kept by v2']),
]
