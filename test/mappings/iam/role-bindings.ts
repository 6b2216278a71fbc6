import { ApiError, invalidArgument } from '../../../src/errors.ts'
import { failure, items, type Transcript } from '../transcript.ts'

const v2Binding = {
  uid: 'org/b1',
  identity: { uid: 'alice', name: 'alice', subject: 'sub', issuer: 'https://i', email: 'alice@example.com' },
  group: { uid: 'org', name: 'example.com', description: 'the org' },
  role: { uid: 'viewer', name: 'viewer', description: '' },
  createTime: '2025-01-02T03:04:05.678Z',
}
const row = {
  id: 'org/b1',
  group: {
    id: 'org',
    name: 'example.com',
    description: 'the org',
    resource_limits: { repositories: 10 },
    verified: true,
    kind: 'ORG_KIND_CUSTOMER',
    status: 'ORG_STATUS_READY',
  },
  identity: 'alice',
  role: { id: 'viewer', name: 'viewer', description: '', capabilities: ['groups.list'] },
  email: 'alice@example.com',
  claim_match_issuer: 'https://i',
  claim_match_subject: 'sub',
  created_at: '2025-01-02T03:04:05.678Z',
  email_unverified: 'a@example.com',
  group_id: 'org',
}
const publishedRow = {
  id: 'org/b1',
  group: {
    id: 'org',
    name: 'example.com',
    description: 'the org',
    resourceLimits: { repositories: 10 },
    verified: true,
    kind: 'ORG_KIND_CUSTOMER',
    status: 'ORG_STATUS_READY',
  },
  identity: 'alice',
  role: { id: 'viewer', name: 'viewer', description: '', capabilities: ['groups.list'] },
  email: 'alice@example.com',
  claimMatchIssuer: 'https://i',
  claimMatchSubject: 'sub',
  createdAt: '2025-01-02T03:04:05.678Z',
  emailUnverified: 'a@example.com',
}

const wholeGroup = {
  uid: 'org',
  name: 'example.com',
  resourceLimits: { repositories: 10 },
  verified: true,
  kind: 'ORG_KIND_CUSTOMER',
  status: 'ORG_STATUS_READY',
}
const wholeRole = { uid: 'viewer', name: 'viewer', capabilities: ['CAP_IAM_GROUPS_LIST'] }
const wholeIdentity = { uid: 'alice', emailUnverified: 'a@example.com' }
const findGroups = { call: 'GET /iam/v2/groups?uidp.ids=org&page_size=200', answer: { groups: [wholeGroup] } }
const findRoles = { call: 'GET /iam/v2/roles?uidp.ids=viewer&page_size=200', answer: { roles: [wholeRole] } }
const findIdentities = { call: 'GET /iam/v2/identities?uidp.ids=alice&page_size=200', answer: { identities: [wholeIdentity] } }

const { email_unverified: _, ...told } = row
const { emailUnverified: __, ...publishedTold } = publishedRow
const namesOnly = {
  group: { id: 'org', name: 'example.com', description: 'the org' },
  role: { id: 'viewer', name: 'viewer', description: '' },
}
const withheldRow = { ...told, ...namesOnly }
const publishedWithheldRow = { ...publishedTold, ...namesOnly }

const plain = { id: 'org/b1', identity: 'alice', group: 'org', role: 'viewer' }
const stamps = { created_at: '2025-01-02T03:04:05.678Z', group_id: 'org' }

export const roleBindings: readonly Transcript[] = [
  {
    title: 'group, role and identity are looked up once each, however many rows name them',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings?uidp.descendants_of=org',
    calls: [
      {
        call: 'GET /iam/v2/roleBindings?uidp.descendants_of=org&page_size=200',
        answer: { roleBindings: [v2Binding, { ...v2Binding, uid: 'org/b2' }] },
      },
      findGroups,
      findRoles,
      findIdentities,
    ],
    reply: items(row, { ...row, id: 'org/b2' }),
    published: items(publishedRow, { ...publishedRow, id: 'org/b2' }),
  },
  {
    title: 'what the caller may not see, or what is gone, is left out: no value of it would be true',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings?id=org/b1',
    calls: [
      { call: 'GET /iam/v2/roleBindings/org/b1', answer: v2Binding },
      { ...findGroups, answer: { groups: [] } },
      { ...findRoles, answer: { roles: [], totalCount: '0' } },
      { ...findIdentities, answer: { totalCount: '0' } },
    ],
    reply: items(withheldRow),
    published: items(publishedWithheldRow),
  },
  {
    title: 'all rows of a page are looked up with one call for each collection',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings',
    calls: [
      {
        call: 'GET /iam/v2/roleBindings?page_size=200',
        answer: { roleBindings: [v2Binding, { uid: 'org/b2', identityUid: 'bob', roleUid: 'editor' }] },
      },
      findGroups,
      {
        call: 'GET /iam/v2/roles?uidp.ids=editor&uidp.ids=viewer&page_size=200',
        answer: { roles: [{ uid: 'editor', name: 'editor', capabilities: [] }, wholeRole] },
      },
      { call: 'GET /iam/v2/identities?uidp.ids=alice&uidp.ids=bob&page_size=200', answer: { identities: [wholeIdentity] } },
    ],
    reply: items(row, {
      ...told,
      id: 'org/b2',
      group: { ...row.group, description: '' },
      identity: 'bob',
      role: { id: 'editor', name: 'editor', description: '', capabilities: [] },
      email: '',
      claim_match_issuer: '',
      claim_match_subject: '',
      created_at: null,
    }),
    published: items(publishedRow, {
      ...publishedTold,
      id: 'org/b2',
      group: { ...publishedRow.group, description: '' },
      identity: 'bob',
      role: { id: 'editor', name: 'editor', description: '', capabilities: [] },
      email: '',
      claimMatchIssuer: '',
      claimMatchSubject: '',
      createdAt: null,
    }),
  },
  {
    title: 'what a list by uids refuses, or does not show whole, is looked up one by one',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings?id=org/b1',
    calls: [
      { call: 'GET /iam/v2/roleBindings/org/b1', answer: v2Binding },
      { ...findGroups, answer: 'INVALID_ARGUMENT' },
      { ...findRoles, answer: { roles: [{ uid: 'another' }], nextPageToken: 'more' } },
      { ...findIdentities, answer: 'PERMISSION_DENIED' },
      { call: 'GET /iam/v2/groups/org', answer: wholeGroup },
      { call: 'GET /iam/v2/roles/viewer', answer: wholeRole },
      { call: 'GET /iam/v2/identities/alice', answer: 'PERMISSION_DENIED' },
    ],
    reply: items(told),
    published: items(publishedTold),
  },
  {
    title: 'a uid of v2 that no path can hold is not the client’s fault',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings',
    calls: [
      {
        call: 'GET /iam/v2/roleBindings?page_size=200',
        answer: { roleBindings: [{ ...v2Binding, identity: { uid: 'a//b' } }] },
      },
    ],
    status: 500,
    reply: failure('INTERNAL', 'the v2 service sent a uid that no path can hold'),
  },
  {
    title: 'a look-up without a uid is no answer',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings?id=org/b1',
    calls: [
      { call: 'GET /iam/v2/roleBindings/org/b1', answer: v2Binding },
      findGroups,
      { ...findRoles, answer: { roles: [{}] } },
      findIdentities,
    ],
    status: 500,
    reply: failure('INTERNAL', 'the v2 service sent an answer without what it must hold'),
  },
  {
    title: 'any other failure of a look-up fails the list',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings?id=org/b1',
    calls: [
      { call: 'GET /iam/v2/roleBindings/org/b1', answer: v2Binding },
      findGroups,
      { ...findRoles, answer: 'INTERNAL' },
      findIdentities,
    ],
    status: 500,
    reply: failure('INTERNAL'),
  },
  {
    title: 'a row that v2 did not hydrate is known by its uids',
    operation: 'iam.role_bindings.list',
    request: 'GET /iam/v1/rolebindings?id=org/b3',
    calls: [
      { call: 'GET /iam/v2/roleBindings/org/b3', answer: { uid: 'org/b3', identityUid: 'alice' } },
      { ...findGroups, answer: { groups: [] } },
      findIdentities,
    ],
    reply: items({
      id: 'org/b3',
      group: { id: 'org' },
      identity: 'alice',
      role: null,
      email: '',
      claim_match_issuer: '',
      claim_match_subject: '',
      created_at: null,
      email_unverified: 'a@example.com',
      group_id: 'org',
    }),
    published: items({
      id: 'org/b3',
      group: { id: 'org' },
      identity: 'alice',
      role: null,
      email: '',
      claimMatchIssuer: '',
      claimMatchSubject: '',
      createdAt: null,
      emailUnverified: 'a@example.com',
    }),
  },
  {
    title: 'uids in, uids out; the group is the parent',
    operation: 'iam.role_bindings.create',
    request: 'POST /iam/v1/rolebindings/org',
    body: { id: 'x', identity: 'alice', role: 'viewer', group: 'elsewhere' },
    calls: [{ call: 'POST /iam/v2/roleBindings/org', body: { identityUid: 'alice', roleUid: 'viewer' }, answer: v2Binding }],
    reply: { ...plain, ...stamps },
    published: plain,
  },
  {
    title: 'errors name v1’s members, in the message too',
    operation: 'iam.role_bindings.create',
    request: 'POST /iam/v1/rolebindings/org',
    body: { role: 'viewer' },
    calls: [
      {
        call: 'POST /iam/v2/roleBindings/org',
        body: { roleUid: 'viewer' },
        answer: invalidArgument({ field: 'identity_uid', description: 'is required' }),
      },
    ],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: identity: is required', [
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'identity', description: 'is required' }] },
    ]),
  },
  {
    title: 'both uids are replaced; without hydration the answer falls back to them',
    operation: 'iam.role_bindings.update',
    request: 'PUT /iam/v1/rolebindings/org/b1',
    body: { identity: 'alice', role: 'viewer' },
    calls: [
      {
        call: 'PATCH /iam/v2/roleBindings/org/b1?updateMask=*',
        body: { identityUid: 'alice', roleUid: 'viewer' },
        answer: { uid: 'org/b1', identityUid: 'alice', roleUid: 'viewer', createTime: stamps.created_at },
      },
    ],
    reply: { ...plain, ...stamps },
    published: plain,
  },
  {
    title: 'gone',
    operation: 'iam.role_bindings.delete',
    request: 'DELETE /iam/v1/rolebindings/org/b1',
    calls: [{ call: 'DELETE /iam/v2/roleBindings/org/b1', answer: {} }],
    reply: {},
  },
  {
    title: 'a bare array in; the parent moves into the body and into every request',
    operation: 'iam.role_bindings.create_batch',
    request: 'POST /iam/v1/rolebindings/batch/org',
    body: [
      { identity: 'alice', role: 'viewer' },
      { identity: 'bob', role: 'viewer', group: 'elsewhere' },
    ],
    calls: [
      {
        call: 'POST /iam/v2/roleBindings:batchCreate',
        body: {
          parent: 'org',
          requests: [
            { parent: 'org', roleBinding: { identityUid: 'alice', roleUid: 'viewer' } },
            { parent: 'org', roleBinding: { identityUid: 'bob', roleUid: 'viewer' } },
          ],
        },
        answer: { roleBindings: [v2Binding, { ...v2Binding, uid: 'org/b2', identity: { uid: 'bob' } }] },
      },
    ],
    reply: {
      role_bindings: [
        { ...plain, ...stamps },
        { ...plain, ...stamps, id: 'org/b2', identity: 'bob' },
      ],
    },
    published: { roleBindings: [plain, { ...plain, id: 'org/b2', identity: 'bob' }] },
  },
  {
    title: 'v2 may say no more than the uids',
    operation: 'iam.role_bindings.create_batch',
    request: 'POST /iam/v1/rolebindings/batch/org',
    body: [],
    calls: [
      {
        call: 'POST /iam/v2/roleBindings:batchCreate',
        body: { parent: 'org', requests: [] },
        answer: {
          roleBindings: [
            { uid: 'org/b1', identityUid: 'alice', roleUid: 'viewer' },
            { uid: 'org/b2', group: { uid: 'elsewhere' } },
            { uid: 'b3' },
          ],
        },
      },
    ],
    reply: {
      role_bindings: [
        { id: 'org/b1', identity: 'alice', group: 'org', role: 'viewer', created_at: null, group_id: 'org' },
        { id: 'org/b2', identity: '', group: 'elsewhere', role: '', created_at: null, group_id: 'org' },
        { id: 'b3', identity: '', group: '', role: '', created_at: null },
      ],
    },
    published: {
      roleBindings: [
        { id: 'org/b1', identity: 'alice', group: 'org', role: 'viewer' },
        { id: 'org/b2', identity: '', group: 'elsewhere', role: '' },
        { id: 'b3', identity: '', group: '', role: '' },
      ],
    },
  },
  {
    title: 'an empty answer has no bindings',
    operation: 'iam.role_bindings.create_batch',
    request: 'POST /iam/v1/rolebindings/batch/org',
    body: [],
    calls: [{ call: 'POST /iam/v2/roleBindings:batchCreate', body: { parent: 'org', requests: [] }, answer: { roleBindings: [] } }],
    reply: { role_bindings: [] },
    published: { roleBindings: [] },
  },
  {
    title: 'an error of one entry keeps its index',
    operation: 'iam.role_bindings.create_batch',
    request: 'POST /iam/v1/rolebindings/batch/org',
    body: [{ role: 'viewer' }],
    calls: [
      {
        call: 'POST /iam/v2/roleBindings:batchCreate',
        body: { parent: 'org', requests: [{ parent: 'org', roleBinding: { roleUid: 'viewer' } }] },
        answer: invalidArgument({ field: 'requests[0].role_binding.identity_uid', description: 'is required' }),
      },
    ],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: role_bindings[0].identity: is required', [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'role_bindings[0].identity', description: 'is required' }],
      },
    ]),
  },
  {
    title: 'too many at once: v2’s limit is the client’s to see',
    operation: 'iam.role_bindings.create_batch',
    request: 'POST /iam/v1/rolebindings/batch/org',
    calls: [
      {
        call: 'POST /iam/v2/roleBindings:batchCreate',
        body: { parent: 'org', requests: [] },
        answer: new ApiError('INVALID_ARGUMENT', 'Invalid argument: requests: must hold 1 to 25 entries'),
      },
    ],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: requests: must hold 1 to 25 entries'),
  },
  {
    title: 'anything but an array is refused',
    operation: 'iam.role_bindings.create_batch',
    request: 'POST /iam/v1/rolebindings/batch/org',
    body: { identity: 'alice', role: 'viewer' },
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: role_bindings: must be a list', [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'role_bindings', description: 'must be a list' }],
      },
    ]),
  },
]
