import { ApiError, invalidArgument } from '../../../src/errors.ts'
import { extra } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const v2Binding = {
  uid: 'org/b1',
  identity: { uid: 'alice', name: 'alice', subject: 'sub', issuer: 'https://i', email: 'alice@example.com' },
  group: { uid: 'org', name: 'example.com', description: 'the org' },
  role: { uid: 'viewer', name: 'viewer', description: '' },
  createTime: '2025-01-02T03:04:05.678Z',
}
const told = {
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
}
const unverified = { email_unverified: 'a@example.com' }
const below = { group_id: 'org' }
const row = extra({ ...told, ...unverified }, below)
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

const withheldRow = extra(
  { ...told, group: { id: 'org', name: 'example.com', description: 'the org' }, role: { id: 'viewer', name: 'viewer', description: '' } },
  below,
)

const stamps = { created_at: '2025-01-02T03:04:05.678Z', group_id: 'org' }
const plain = (more: object = {}) => extra({ id: 'org/b1', identity: 'alice', group: 'org', role: 'viewer', ...more }, stamps)

export const roleBindings: readonly Transcript[] = [
  transcript('iam.role_bindings.list', 'group, role and identity are looked up once each, however many rows name them')
    .sent('GET /iam/v1/rolebindings?uidp.descendants_of=org')
    .asks('GET /iam/v2/roleBindings?uidp.descendants_of=org&page_size=200', { roleBindings: [v2Binding, { ...v2Binding, uid: 'org/b2' }] })
    .calls(findGroups, findRoles, findIdentities)
    .answers(items(row, extra({ ...told, ...unverified, id: 'org/b2' }, below))),
  transcript('iam.role_bindings.list', 'what the caller may not see, or what is gone, is left out: no value of it would be true')
    .sent('GET /iam/v1/rolebindings?id=org/b1')
    .asks('GET /iam/v2/roleBindings/org/b1', v2Binding)
    .calls(
      { ...findGroups, answer: { groups: [] } },
      { ...findRoles, answer: { roles: [], totalCount: '0' } },
      { ...findIdentities, answer: { totalCount: '0' } },
    )
    .answers(items(withheldRow)),
  transcript('iam.role_bindings.list', 'all rows of a page are looked up with one call for each collection')
    .sent('GET /iam/v1/rolebindings')
    .asks('GET /iam/v2/roleBindings?page_size=200', { roleBindings: [v2Binding, { uid: 'org/b2', identityUid: 'bob', roleUid: 'editor' }] })
    .calls(findGroups)
    .asks('GET /iam/v2/roles?uidp.ids=editor&uidp.ids=viewer&page_size=200', {
      roles: [{ uid: 'editor', name: 'editor', capabilities: [] }, wholeRole],
    })
    .asks('GET /iam/v2/identities?uidp.ids=alice&uidp.ids=bob&page_size=200', { identities: [wholeIdentity] })
    .answers(
      items(
        row,
        extra(
          {
            ...told,
            id: 'org/b2',
            group: { ...told.group, description: '' },
            identity: 'bob',
            role: { id: 'editor', name: 'editor', description: '', capabilities: [] },
            email: '',
            claim_match_issuer: '',
            claim_match_subject: '',
            created_at: null,
          },
          below,
        ),
      ),
    ),
  transcript('iam.role_bindings.list', 'what a list by uids refuses, or does not show whole, is looked up one by one')
    .sent('GET /iam/v1/rolebindings?id=org/b1')
    .asks('GET /iam/v2/roleBindings/org/b1', v2Binding)
    .calls(
      { ...findGroups, answer: 'INVALID_ARGUMENT' },
      { ...findRoles, answer: { roles: [{ uid: 'another' }], nextPageToken: 'more' } },
      { ...findIdentities, answer: 'PERMISSION_DENIED' },
    )
    .asks('GET /iam/v2/groups/org', wholeGroup)
    .asks('GET /iam/v2/roles/viewer', wholeRole)
    .asks('GET /iam/v2/identities/alice', 'PERMISSION_DENIED')
    .answers(items(extra(told, below))),
  transcript('iam.role_bindings.list', 'a uid of v2 that no path can hold is not the client’s fault')
    .sent('GET /iam/v1/rolebindings')
    .asks('GET /iam/v2/roleBindings?page_size=200', { roleBindings: [{ ...v2Binding, identity: { uid: 'a//b' } }] })
    .refuses('INTERNAL', 'the v2 service sent a uid that no path can hold'),
  transcript('iam.role_bindings.list', 'a look-up without a uid is no answer')
    .sent('GET /iam/v1/rolebindings?id=org/b1')
    .asks('GET /iam/v2/roleBindings/org/b1', v2Binding)
    .calls(findGroups, { ...findRoles, answer: { roles: [{}] } }, findIdentities)
    .refuses('INTERNAL', 'the v2 service sent an answer without what it must hold'),
  transcript('iam.role_bindings.list', 'any other failure of a look-up fails the list')
    .sent('GET /iam/v1/rolebindings?id=org/b1')
    .asks('GET /iam/v2/roleBindings/org/b1', v2Binding)
    .calls(findGroups, { ...findRoles, answer: 'INTERNAL' }, findIdentities)
    .refuses('INTERNAL'),
  transcript('iam.role_bindings.list', 'a row that v2 did not hydrate is known by its uids')
    .sent('GET /iam/v1/rolebindings?id=org/b3')
    .asks('GET /iam/v2/roleBindings/org/b3', { uid: 'org/b3', identityUid: 'alice' })
    .calls({ ...findGroups, answer: { groups: [] } }, findIdentities)
    .answers(
      items(
        extra(
          {
            id: 'org/b3',
            group: { id: 'org' },
            identity: 'alice',
            role: null,
            email: '',
            claim_match_issuer: '',
            claim_match_subject: '',
            created_at: null,
            ...unverified,
          },
          below,
        ),
      ),
    ),
  transcript('iam.role_bindings.create', 'uids in, uids out; the group is the parent')
    .sent('POST /iam/v1/rolebindings/org', { id: 'x', identity: 'alice', role: 'viewer', group: 'elsewhere' })
    .writes('POST /iam/v2/roleBindings/org', { identityUid: 'alice', roleUid: 'viewer' }, v2Binding)
    .answers(plain()),
  transcript('iam.role_bindings.create', 'errors name v1’s members, in the message too')
    .sent('POST /iam/v1/rolebindings/org', { role: 'viewer' })
    .writes('POST /iam/v2/roleBindings/org', { roleUid: 'viewer' }, invalidArgument({ field: 'identity_uid', description: 'is required' }))
    .finds(['identity', 'is required']),
  transcript('iam.role_bindings.update', 'both uids are replaced; without hydration the answer falls back to them')
    .sent('PUT /iam/v1/rolebindings/org/b1', { identity: 'alice', role: 'viewer' })
    .writes(
      'PATCH /iam/v2/roleBindings/org/b1?updateMask=*',
      { identityUid: 'alice', roleUid: 'viewer' },
      { uid: 'org/b1', identityUid: 'alice', roleUid: 'viewer', createTime: stamps.created_at },
    )
    .answers(plain()),
  transcript('iam.role_bindings.delete', 'gone')
    .sent('DELETE /iam/v1/rolebindings/org/b1')
    .asks('DELETE /iam/v2/roleBindings/org/b1', {})
    .answers({}),
  transcript('iam.role_bindings.create_batch', 'a bare array in; the parent moves into the body and into every request')
    .sent('POST /iam/v1/rolebindings/batch/org', [
      { identity: 'alice', role: 'viewer' },
      { identity: 'bob', role: 'viewer', group: 'elsewhere' },
    ])
    .writes(
      'POST /iam/v2/roleBindings:batchCreate',
      {
        parent: 'org',
        requests: [
          { parent: 'org', roleBinding: { identityUid: 'alice', roleUid: 'viewer' } },
          { parent: 'org', roleBinding: { identityUid: 'bob', roleUid: 'viewer' } },
        ],
      },
      { roleBindings: [v2Binding, { ...v2Binding, uid: 'org/b2', identity: { uid: 'bob' } }] },
    )
    .answers({ role_bindings: [plain(), plain({ id: 'org/b2', identity: 'bob' })] }),
  transcript('iam.role_bindings.create_batch', 'v2 may say no more than the uids')
    .sent('POST /iam/v1/rolebindings/batch/org', [])
    .writes(
      'POST /iam/v2/roleBindings:batchCreate',
      { parent: 'org', requests: [] },
      {
        roleBindings: [
          { uid: 'org/b1', identityUid: 'alice', roleUid: 'viewer' },
          { uid: 'org/b2', group: { uid: 'elsewhere' } },
          { uid: 'b3' },
        ],
      },
    )
    .answers({
      role_bindings: [
        extra({ id: 'org/b1', identity: 'alice', group: 'org', role: 'viewer' }, { created_at: null, ...below }),
        extra({ id: 'org/b2', identity: '', group: 'elsewhere', role: '' }, { created_at: null, ...below }),
        extra({ id: 'b3', identity: '', group: '', role: '' }, { created_at: null }),
      ],
    }),
  transcript('iam.role_bindings.create_batch', 'an empty answer has no bindings')
    .sent('POST /iam/v1/rolebindings/batch/org', [])
    .writes('POST /iam/v2/roleBindings:batchCreate', { parent: 'org', requests: [] }, { roleBindings: [] })
    .answers({ role_bindings: [] }),
  transcript('iam.role_bindings.create_batch', 'an error of one entry keeps its index')
    .sent('POST /iam/v1/rolebindings/batch/org', [{ role: 'viewer' }])
    .writes(
      'POST /iam/v2/roleBindings:batchCreate',
      { parent: 'org', requests: [{ parent: 'org', roleBinding: { roleUid: 'viewer' } }] },
      invalidArgument({ field: 'requests[0].role_binding.identity_uid', description: 'is required' }),
    )
    .finds(['role_bindings[0].identity', 'is required']),
  transcript('iam.role_bindings.create_batch', 'too many at once: v2’s limit is the client’s to see')
    .sent('POST /iam/v1/rolebindings/batch/org')
    .writes(
      'POST /iam/v2/roleBindings:batchCreate',
      { parent: 'org', requests: [] },
      new ApiError('INVALID_ARGUMENT', 'Invalid argument: requests: must hold 1 to 25 entries'),
    )
    .refuses('INVALID_ARGUMENT', 'Invalid argument: requests: must hold 1 to 25 entries'),
  transcript('iam.role_bindings.create_batch', 'v2 gets the parent as often as a body has room for it')
    .sent(`POST /iam/v1/rolebindings/batch/${'a'.repeat(1001)}`, Array(1000).fill({ role: 'viewer' }))
    .finds(['role_bindings', 'must be fewer below a parent with so long an id']),
  transcript('iam.role_bindings.create_batch', 'anything but an array is refused')
    .sent('POST /iam/v1/rolebindings/batch/org', { identity: 'alice', role: 'viewer' })
    .finds(['role_bindings', 'must be a list']),
]
