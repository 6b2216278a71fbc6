import {
  create,
  duration,
  flag,
  list,
  message,
  type Operation,
  object,
  readOnly,
  remove,
  resource,
  text,
  time,
} from '../../src/tables/language.ts'
import { role } from './roles.ts'

/** A stored invitation into a group (facts §3.8). `role` is null after the role is deleted. */
const groupInvite = resource('group invite', {
  v2: '/iam/v2/groupInvites',
  plural: 'groupInvites',
  stamps: ['group_id'],
  order: 'created_at desc',
  fields: {
    id: readOnly('uid'),
    expiration: readOnly(time('expirationTime')),
    key_id: readOnly('keyId'),
    role: readOnly(object('role', role.fields)),
    email: readOnly('email'),
    created_at: readOnly(time('createTime')),
    single_use: readOnly(flag('singleUse')),
  },
})

/** The request differs from the answer: the role is a uid, the lifetime a duration. */
const wanted = message('group invite request', {
  ttl: duration('ttl'),
  role: text('roleUid'),
  email: text('email'),
  single_use: flag('singleUse'),
})

/** The answer to a create, the only one that shows the code. */
const issued = message(
  'issued group invite',
  {
    id: readOnly('uid'),
    expiration: readOnly(time('expirationTime')),
    key_id: readOnly('keyId'),
    role: readOnly(object('role', role.fields)),
    code: readOnly('code'),
  },
  ['created_at', 'group_id'],
)

export const groupInviteOperations: readonly Operation[] = [
  // v2's only filter for the owning group is the uidp one (facts §10.5).
  list('iam.group_invites.list', 'GET /iam/v1/group_invites', groupInvite, {
    query: { group: 'uidp.children_of', key_id: 'key_id' },
    byId: 'id',
  }),
  create('iam.group_invites.create', 'POST /iam/v1/group_invites/{group=**}', groupInvite, {
    ...{ request: wanted, answer: issued, holds: { code: 'some' } },
  }),
  remove('iam.group_invites.delete', 'DELETE /iam/v1/group_invites/{id=**}', groupInvite),
]
