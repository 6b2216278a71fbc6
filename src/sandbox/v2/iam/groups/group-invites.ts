import type { Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import {
  type Check,
  type Draft,
  duration,
  flag,
  listOf,
  type Message,
  nested,
  outputText,
  outputTime,
  text,
} from '../../../messages/message.ts'
import { formatTimestamp } from '../../../messages/timestamp.ts'
import type { GroupInvite } from '../../../world/iam-model.ts'
import { parentOf } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { getRoute, listRoute } from '../../reads.ts'
import type { CreateAct, Resource, View } from '../../resource.ts'
import { createRoute, deleteRoute } from '../../writes.ts'
import { roleViolations } from '../roles/role-violations.ts'

/** `"604800s"` in milliseconds. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * 1000

const positive: Check = (ttl: string) => (durationMs(ttl) > 0 ? undefined : 'must be a positive duration')

const inviteRoleMessage: Message = {
  name: 'chainguard.platform.iam.v2.GroupInviteRole',
  fields: { uid: outputText, name: outputText, description: outputText, capabilities: listOf(outputText) },
}

/** (semantics §3.7) */
export const groupInviteMessage: Message = {
  name: 'chainguard.platform.iam.v2.GroupInvite',
  fields: {
    uid: outputText,
    roleUid: text({ required: true }),
    role: nested(inviteRoleMessage, { outputOnly: true }),
    email: text(),
    ttl: duration({ required: true, inputOnly: true, check: positive }),
    expirationTime: outputTime,
    singleUse: flag(),
    code: outputText,
    keyId: outputText,
    createTime: outputTime,
  },
}

/** The code is a secret of the sandbox's own. Only its form, base64 text, is known (semantics §3.7). */
const prepare = (row: GroupInvite, { world }: CreateAct): GroupInvite => {
  const { ttl, role: _role, ...stored } = row as GroupInvite & { readonly ttl: string; readonly role?: unknown }
  return {
    ...stored,
    expirationTime: formatTimestamp(world.clock.now().getTime() + durationMs(ttl)),
    code: Buffer.from(world.random.bytes(32)).toString('base64'),
    keyId: world.random.hex(20),
  }
}

const view = (row: GroupInvite, { store }: World, kind: View): Draft => ({
  ...row,
  role: store.roles.get(row.roleUid),
  code: kind === 'create' ? row.code : '',
})

export const groupInvites: Resource<GroupInvite> = {
  type: 'iam.GroupInvite',
  message: groupInviteMessage,
  path: '/iam/v2/groupInvites',
  plural: 'groupInvites',
  table: (store) => store.groupInvites,
  // An invite promises a binding, so creating one also requires the right to bind (semantics §2.2).
  capabilities: { list: 'group_invites.list', create: ['group_invites.create', 'role_bindings.create'], delete: 'group_invites.delete' },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { expiration_time: ({ expirationTime }) => expirationTime },
  order: { name: 'created_at', descending: true },
  filters: (query) => equals(query, 'key_id', ({ keyId }) => keyId),
  checkCreate: (row, { world }) => roleViolations(world, 'role_uid', row.roleUid, parentOf(row.uid)),
  prepare,
  view,
}

export const groupInviteRoutes: readonly Route[] = [
  listRoute(groupInvites),
  getRoute(groupInvites),
  createRoute(groupInvites),
  deleteRoute(groupInvites),
]
