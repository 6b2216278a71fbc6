import { failure, items, type Transcript } from '../transcript.ts'

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
const robot = {
  id: 'org/robot',
  name: 'robot',
  description: '',
  created_at: '2025-01-02T03:04:05.678Z',
  updated_at: '2025-01-02T03:04:05.678Z',
  last_seen: '2025-01-02T03:04:05.676Z',
  claim_match: {
    issuer: 'https://issuer.example',
    subject_pattern: '^repo:.*',
    claims: { __proto_like: 'a', camelKey: 'b' },
    claim_patterns: {},
  },
  group_id: 'org',
}
const publishedRobot = {
  id: 'org/robot',
  name: 'robot',
  description: '',
  createdAt: '2025-01-02T03:04:05.678Z',
  updatedAt: '2025-01-02T03:04:05.678Z',
  lastSeen: '2025-01-02T03:04:05.676Z',
  claimMatch: {
    issuer: 'https://issuer.example',
    subjectPattern: '^repo:.*',
    claims: { __proto_like: 'a', camelKey: 'b' },
    claimPatterns: {},
  },
}

const v2Syncer = { uid: 'org/syncer', name: 'syncer', servicePrincipal: 'SERVICE_PRINCIPAL_CATALOG_SYNCER' }
const unseen = { description: '', created_at: null, updated_at: null, last_seen: null, group_id: 'org' }
const publishedUnseen = { description: '', createdAt: null, updatedAt: null, lastSeen: null }
const v2Keyed = {
  uid: 'org/keyed',
  name: 'keyed',
  staticKeys: { issuer: 'https://i', subject: 's', issuerKeys: '{"keys":[]}', expirationTime: '2026-01-01T00:00:00Z' },
}
const v2Aws = { uid: 'org/aws', name: 'aws', awsIdentity: { awsAccount: '123456789012', arnPattern: '^arn:.*', userId: 'AIDA' } }

export const identities: readonly Transcript[] = [
  {
    title: 'one relationship each; members that only v2 has stay out',
    operation: 'iam.identities.list',
    request: 'GET /iam/v1/identities?uidp.children_of=org',
    calls: [
      {
        call: 'GET /iam/v2/identities?uidp.children_of=org&page_size=200',
        answer: { identities: [v2Robot, v2Syncer, v2Keyed, v2Aws] },
      },
    ],
    reply: items(
      robot,
      { id: 'org/syncer', name: 'syncer', service_principal: 'CATALOG_SYNCER', ...unseen },
      {
        id: 'org/keyed',
        name: 'keyed',
        static: { issuer: 'https://i', subject: 's', issuer_keys: '{"keys":[]}', expiration: '2026-01-01T00:00:00Z', audiences: [] },
        ...unseen,
      },
      { id: 'org/aws', name: 'aws', aws_identity: { aws_account: '123456789012', arn_pattern: '^arn:.*', user_id: 'AIDA' }, ...unseen },
    ),
    published: items(
      publishedRobot,
      { id: 'org/syncer', name: 'syncer', servicePrincipal: 'CATALOG_SYNCER', ...publishedUnseen },
      {
        id: 'org/keyed',
        name: 'keyed',
        static: { issuer: 'https://i', subject: 's', issuerKeys: '{"keys":[]}', expiration: '2026-01-01T00:00:00Z', audiences: [] },
        ...publishedUnseen,
      },
      {
        id: 'org/aws',
        name: 'aws',
        awsIdentity: { awsAccount: '123456789012', arnPattern: '^arn:.*', userId: 'AIDA' },
        ...publishedUnseen,
      },
    ),
  },
  {
    title: 'by id',
    operation: 'iam.identities.list',
    request: 'GET /iam/v1/identities?id=org/robot',
    calls: [{ call: 'GET /iam/v2/identities/org/robot', answer: v2Robot }],
    reply: items(robot),
    published: items(publishedRobot),
  },
  {
    title: 'either spelling of a member is read; the keys of claims are data',
    operation: 'iam.identities.create',
    request: 'POST /iam/v1/identities/org',
    body: {
      name: 'robot',
      claim_match: { issuer: 'https://issuer.example', subjectPattern: '^repo:.*', claims: { __proto_like: 'a', camelKey: 'b' } },
      created_at: '2020-01-01T00:00:00Z',
    },
    calls: [
      {
        call: 'POST /iam/v2/identities/org',
        body: {
          name: 'robot',
          claimMatch: { issuer: 'https://issuer.example', subjectPattern: '^repo:.*', claims: { __proto_like: 'a', camelKey: 'b' } },
        },
        answer: v2Robot,
      },
    ],
    reply: robot,
    published: publishedRobot,
  },
  {
    title: 'a PUT without a relationship keeps it, and company too',
    operation: 'iam.identities.update',
    request: 'PUT /iam/v1/identities/org/robot',
    body: { name: 'robot', claim_match: null },
    calls: [{ call: 'PATCH /iam/v2/identities/org/robot?updateMask=name,description', body: { name: 'robot' }, answer: v2Robot }],
    reply: robot,
    published: publishedRobot,
  },
  {
    title: 'a relationship is named as a whole',
    operation: 'iam.identities.update',
    request: 'PUT /iam/v1/identities/org/keyed',
    body: { name: 'keyed', static: { issuer: 'https://i', expiration: '2026-01-01T01:00:00+01:00' } },
    calls: [
      {
        call: 'PATCH /iam/v2/identities/org/keyed?updateMask=name,description,static_keys',
        body: { name: 'keyed', staticKeys: { issuer: 'https://i', expirationTime: '2026-01-01T01:00:00+01:00' } },
        answer: v2Syncer,
      },
    ],
    reply: { id: 'org/syncer', name: 'syncer', service_principal: 'CATALOG_SYNCER', ...unseen },
    published: { id: 'org/syncer', name: 'syncer', servicePrincipal: 'CATALOG_SYNCER', ...publishedUnseen },
  },
  ...[
    ['claim_match', 'claimMatch', { issuer: 'https://i', subject: 's' }] as const,
    ['aws_identity', 'awsIdentity', { arn: 'arn:aws:iam::1:role/r', userId: 'AIDA' }] as const,
  ].map(
    ([member, inV2, value]): Transcript => ({
      title: `so is ${member}`,
      operation: 'iam.identities.update',
      request: 'PUT /iam/v1/identities/org/robot',
      body: { name: 'robot', [member]: value },
      calls: [
        {
          call: `PATCH /iam/v2/identities/org/robot?updateMask=name,description,${member}`,
          body: { name: 'robot', [inV2]: value },
          answer: v2Robot,
        },
      ],
      reply: robot,
      published: publishedRobot,
    }),
  ),
  {
    title: 'the mask can be spelled in camelCase',
    operation: 'iam.identities.update',
    request: 'PUT /iam/v1/identities/org/syncer',
    body: { name: 'syncer', service_principal: 3 },
    settings: { maskCase: 'camel' },
    calls: [
      {
        call: 'PATCH /iam/v2/identities/org/syncer?updateMask=name,description,servicePrincipal',
        body: { name: 'syncer', servicePrincipal: 'SERVICE_PRINCIPAL_CATALOG_SYNCER' },
        answer: v2Syncer,
      },
    ],
    reply: { id: 'org/syncer', name: 'syncer', service_principal: 'CATALOG_SYNCER', ...unseen },
    published: { id: 'org/syncer', name: 'syncer', servicePrincipal: 'CATALOG_SYNCER', ...publishedUnseen },
  },
  {
    title: 'gone before',
    operation: 'iam.identities.delete',
    request: 'DELETE /iam/v1/identities/org/robot',
    calls: [{ call: 'DELETE /iam/v2/identities/org/robot', answer: 'NOT_FOUND' }],
    reply: {},
  },
  {
    title: 'the uid, then the identity',
    operation: 'iam.identities.lookup',
    request: 'GET /iam/v1/identities/lookup?issuer=https://issuer.example&subject=repo:x',
    calls: [
      {
        call: 'GET /iam/v2/identities:lookupIdentity?issuer=https://issuer.example&subject=repo:x',
        answer: { uid: 'org/robot' },
      },
      { call: 'GET /iam/v2/identities/org/robot', answer: v2Robot },
    ],
    reply: robot,
    published: publishedRobot,
  },
  {
    title: 'a uid that v2 made up is no identity',
    operation: 'iam.identities.lookup',
    request: 'GET /iam/v1/identities/lookup?issuer=https://i&subject=nobody',
    calls: [
      { call: 'GET /iam/v2/identities:lookupIdentity?issuer=https://i&subject=nobody', answer: { uid: 'made-up' } },
      { call: 'GET /iam/v2/identities/made-up', answer: 'NOT_FOUND' },
    ],
    status: 404,
    reply: failure('NOT_FOUND'),
  },
  {
    title: 'an identity that the caller may not read still has an id',
    operation: 'iam.identities.lookup',
    request: 'GET /iam/v1/identities/lookup?issuer=https://i&subject=other',
    calls: [
      { call: 'GET /iam/v2/identities:lookupIdentity?issuer=https://i&subject=other', answer: { uid: 'other' } },
      { call: 'GET /iam/v2/identities/other', answer: 'PERMISSION_DENIED' },
    ],
    reply: { id: 'other' },
  },
  {
    title: 'an outage is an outage',
    operation: 'iam.identities.lookup',
    request: 'GET /iam/v1/identities/lookup?issuer=https://i&subject=x',
    calls: [
      { call: 'GET /iam/v2/identities:lookupIdentity?issuer=https://i&subject=x', answer: { uid: 'other' } },
      { call: 'GET /iam/v2/identities/other', answer: 'UNAVAILABLE' },
    ],
    status: 503,
    reply: failure('UNAVAILABLE'),
  },
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
const publishedQuestions = {
  companyName: 'Example',
  providers: [],
  product: '',
  jobTitle: 'CTO',
  utmCampaign: '',
  utmContent: '',
  utmMedium: '',
  utmSource: '',
  utmTerm: '',
  latestFormSubmitUrl: '',
  latestInternalReferringUrl: '',
  hubspotUtk: '',
  selfServe: true,
}

export const identityMetadata: readonly Transcript[] = [
  {
    title: 'v1 nests, v2 is flat; the members that are present are the mask',
    operation: 'iam.identity_metadata.update',
    request: 'PATCH /iam/v1/identities/metadata',
    body: {
      onboardingQuestions: { companyName: 'Example', job_title: 'CTO', self_serve: true, providers: [] },
      updatesOptIn: false,
      name: 'Mallory',
    },
    calls: [
      {
        call: 'PATCH /iam/v2/identities:updateIdentityMetadata',
        body: {
          identityMetadata: { company: 'Example', jobTitle: 'CTO', selfServe: true, updatesOptIn: false },
          updateMask: 'company,jobTitle,selfServe,updatesOptIn',
        },
        answer: { uid: 'alice', name: 'Alice A.', givenName: 'Alice', company: 'Example', jobTitle: 'CTO', selfServe: true },
      },
    ],
    reply: { onboarding_questions: questions, name: 'Alice A.', given_name: 'Alice', family_name: '', updatesOptIn: false },
    published: { onboardingQuestions: publishedQuestions, name: 'Alice A.', givenName: 'Alice', familyName: '', updatesOptIn: false },
  },
  {
    title: 'what v2 has no member for is refused, and nothing is written',
    operation: 'iam.identity_metadata.update',
    request: 'PATCH /iam/v1/identities/metadata',
    body: { onboarding_questions: { job_title: 'CTO', providers: ['github'] } },
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: onboarding_questions.providers: is not kept by v2', [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'onboarding_questions.providers', description: 'is not kept by v2' }],
      },
    ]),
  },
]
