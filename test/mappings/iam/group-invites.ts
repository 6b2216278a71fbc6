import { invalidArgument } from '../../../src/errors.ts'
import { failure, items, type Transcript } from '../transcript.ts'

const v2Invite = {
  uid: 'org/i1',
  roleUid: 'viewer',
  role: { uid: 'viewer', name: 'viewer', capabilities: ['CAP_IAM_GROUPS_LIST'] },
  email: 'new@example.com',
  expirationTime: '2025-02-01T00:00:00Z',
  singleUse: true,
  keyId: 'k1',
  createTime: '2025-01-02T03:04:05.678Z',
}
const role = { id: 'viewer', name: 'viewer', description: '', capabilities: ['groups.list'] }
const invite = {
  id: 'org/i1',
  expiration: '2025-02-01T00:00:00Z',
  key_id: 'k1',
  role,
  email: 'new@example.com',
  created_at: '2025-01-02T03:04:05.678Z',
  single_use: true,
}
const publishedInvite = {
  id: 'org/i1',
  expiration: '2025-02-01T00:00:00Z',
  keyId: 'k1',
  role,
  email: 'new@example.com',
  createdAt: '2025-01-02T03:04:05.678Z',
  singleUse: true,
}

export const groupInvites: readonly Transcript[] = [
  {
    title: 'of one group; an invite whose role is gone has none',
    operation: 'iam.group_invites.list',
    request: 'GET /iam/v1/group_invites?group=org&keyId=k1',
    calls: [
      {
        call: 'GET /iam/v2/groupInvites?uidp.children_of=org&key_id=k1&page_size=200',
        answer: { groupInvites: [v2Invite, { ...v2Invite, uid: 'org/i0', role: null }] },
      },
    ],
    reply: items({ ...invite, group_id: 'org' }, { ...invite, id: 'org/i0', role: null, group_id: 'org' }),
    published: items(publishedInvite, { ...publishedInvite, id: 'org/i0', role: null }),
  },
  {
    title: 'an id beside a key is checked here',
    operation: 'iam.group_invites.list',
    request: 'GET /iam/v1/group_invites?id=org/i1&key_id=k2',
    calls: [{ call: 'GET /iam/v2/groupInvites/org/i1', answer: v2Invite }],
    reply: items(),
  },
  {
    title: 'asked for with a uid, answered with a role and the code',
    operation: 'iam.group_invites.create',
    request: 'POST /iam/v1/group_invites/org',
    body: { group: 'other', ttl: '604800s', role: 'viewer', singleUse: true },
    calls: [
      {
        call: 'POST /iam/v2/groupInvites/org',
        body: { ttl: '604800s', roleUid: 'viewer', singleUse: true },
        answer: { ...v2Invite, code: 'c0de' },
      },
    ],
    reply: {
      id: 'org/i1',
      expiration: '2025-02-01T00:00:00Z',
      key_id: 'k1',
      role,
      code: 'c0de',
      created_at: '2025-01-02T03:04:05.678Z',
      group_id: 'org',
    },
    published: { id: 'org/i1', expiration: '2025-02-01T00:00:00Z', keyId: 'k1', role, code: 'c0de' },
  },
  {
    title: 'an error names v1’s member',
    operation: 'iam.group_invites.create',
    request: 'POST /iam/v1/group_invites/org',
    body: { ttl: '60s' },
    calls: [
      {
        call: 'POST /iam/v2/groupInvites/org',
        body: { ttl: '60s' },
        answer: invalidArgument({ field: 'role_uid', description: 'is required' }),
      },
    ],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: role: is required', [
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'role', description: 'is required' }] },
    ]),
  },
  {
    title: 'the path is the invite, not the group',
    operation: 'iam.group_invites.delete',
    request: 'DELETE /iam/v1/group_invites/org/i1',
    calls: [{ call: 'DELETE /iam/v2/groupInvites/org/i1', answer: {} }],
    reply: {},
  },
]
