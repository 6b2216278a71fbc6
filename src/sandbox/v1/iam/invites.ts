import { equals } from '../../lists/filter.ts'
import { groupInvites } from '../../v2/iam/groups/group-invites.ts'
import type { GroupInvite } from '../../world/iam-model.ts'
import { parentOf } from '../../world/uid.ts'
import { listOperation } from '../list.ts'
import { invite, inviteRequest, storedInvite } from '../messages/access.ts'
import type { Operation } from '../operation.ts'
import { createOperation, deleteOperation, type Written } from '../writes.ts'

/** The default lifetime of an invite. Unlike v2, v1 does not require one (facts §24.13). */
const DEFAULT_TTL = '604800s'

const written: Written<GroupInvite> = {
  resource: groupInvites,
  path: '/iam/v1/group_invites',
  message: invite,
  request: inviteRequest,
  view: (row, { store }) => ({ ...row, role: store.roles.get(row.roleUid) }),
  accept: (body) => ({ ttl: DEFAULT_TTL, ...body }),
}

/** Group invites (facts §3.8): the list never shows the code. */
export const inviteOperations: readonly Operation[] = [
  listOperation({
    ...written,
    message: storedInvite,
    idParameter: 'id',
    scoped: false,
    order: { name: 'created_at', descending: true },
    filters: (query) => [
      ...equals<GroupInvite>(query, 'group', ({ uid }) => parentOf(uid)),
      ...equals<GroupInvite>(query, 'key_id', ({ keyId }) => keyId),
    ],
  }),
  createOperation(written, 'group'),
  deleteOperation(written),
]
