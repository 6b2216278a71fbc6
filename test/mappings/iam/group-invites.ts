import { invalidArgument } from '../../../src/errors.ts'
import { extra } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

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
const made = { id: 'org/i1', expiration: '2025-02-01T00:00:00Z', key_id: 'k1', role }
const below = { group_id: 'org' }
const invite = (more: object = {}) =>
  extra({ ...made, email: 'new@example.com', created_at: v2Invite.createTime, single_use: true, ...more }, below)

export const groupInvites: readonly Transcript[] = [
  transcript('iam.group_invites.list', 'of one group; an invite whose role is gone has none')
    .sent('GET /iam/v1/group_invites?group=org&keyId=k1')
    .asks('GET /iam/v2/groupInvites?uidp.children_of=org&key_id=k1&page_size=200', {
      groupInvites: [v2Invite, { ...v2Invite, uid: 'org/i0', role: null }],
    })
    .answers(items(invite(), invite({ id: 'org/i0', role: null }))),
  transcript('iam.group_invites.list', 'an id beside a key is checked here')
    .sent('GET /iam/v1/group_invites?id=org/i1&key_id=k2')
    .asks('GET /iam/v2/groupInvites/org/i1', v2Invite)
    .answers(items()),
  transcript('iam.group_invites.create', 'asked for with a uid, answered with a role and the code')
    .sent('POST /iam/v1/group_invites/org', { group: 'other', ttl: '604800s', role: 'viewer', singleUse: true })
    .writes('POST /iam/v2/groupInvites/org', { ttl: '604800s', roleUid: 'viewer', singleUse: true }, { ...v2Invite, code: 'c0de' })
    .answers(extra({ ...made, code: 'c0de' }, { created_at: v2Invite.createTime, ...below })),
  transcript('iam.group_invites.create', 'an error names v1’s member')
    .sent('POST /iam/v1/group_invites/org', { ttl: '60s' })
    .writes('POST /iam/v2/groupInvites/org', { ttl: '60s' }, invalidArgument({ field: 'role_uid', description: 'is required' }))
    .finds(['role', 'is required']),
  transcript('iam.group_invites.delete', 'the path is the invite, not the group')
    .sent('DELETE /iam/v1/group_invites/org/i1')
    .asks('DELETE /iam/v2/groupInvites/org/i1', {})
    .answers({}),
]
