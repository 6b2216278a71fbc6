import type { Query } from '../../../http/query.ts'
import type { Route } from '../../../http/route.ts'
import { equals, type Filter } from '../../../lists/filter.ts'
import { type Draft, type Message, nested, outputText, outputTime, text } from '../../../messages/message.ts'
import { alreadyExists, type FieldViolation } from '../../../status.ts'
import type { RoleBinding } from '../../../world/iam-model.ts'
import type { Identity } from '../../../world/identity-model.ts'
import { parentOf } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { getRoute, listRoute } from '../../reads.ts'
import type { Act, Resource } from '../../resource.ts'
import { createRoute, deleteRoute, updateRoute } from '../../writes.ts'
import { roleViolations } from './role-violations.ts'

const hydrated = (name: string, ...members: readonly string[]): Message => ({
  name: `chainguard.platform.iam.v2.RoleBinding${name}`,
  fields: Object.fromEntries(['uid', 'name', 'description', ...members].map((member) => [member, outputText])),
})

/** The two uids are accepted and never shown: the answer has the hydrated objects instead (semantics §3.6). */
export const roleBindingMessage: Message = {
  name: 'chainguard.platform.iam.v2.RoleBinding',
  fields: {
    uid: outputText,
    identity: nested(hydrated('Identity', 'subject', 'issuer', 'email'), { outputOnly: true }),
    group: nested(hydrated('Group'), { outputOnly: true }),
    role: nested(hydrated('Role'), { outputOnly: true }),
    createTime: outputTime,
    identityUid: text({ required: true, inputOnly: true }),
    roleUid: text({ required: true, inputOnly: true }),
  },
}

/** Issuer and subject are those of a claim match. Other kinds of identities show none. */
const identityView = (identity: Identity): Draft => {
  const { issuer = '', subject = '' } = identity.claimMatch ?? {}
  return { ...identity, issuer, subject }
}

/** The row with the objects it refers to. A missing object is omitted. */
export const hydrate = (row: RoleBinding, { store }: World): Draft => {
  const identity = store.identities.get(row.identityUid)
  return {
    ...row,
    identity: identity && identityView(identity),
    group: store.groups.get(parentOf(row.uid)),
    role: store.roles.get(row.roleUid),
  }
}

const refuseDuplicate = (row: RoleBinding, world: World): void => {
  const twin = world.store.roleBindings
    .children(parentOf(row.uid))
    .find(({ uid, identityUid, roleUid }) => uid !== row.uid && identityUid === row.identityUid && roleUid === row.roleUid)
  if (twin) alreadyExists('iam.RoleBinding', twin.uid)
}

const check = (row: RoleBinding, { world }: Act): readonly FieldViolation[] => {
  const found = [
    ...(world.store.identities.get(row.identityUid) ? [] : [{ field: 'identity_uid', description: 'must be the uid of an identity' }]),
    ...roleViolations(world, 'role_uid', row.roleUid, parentOf(row.uid)),
  ]
  if (found.length === 0) refuseDuplicate(row, world)
  return found
}

const filters = (query: Query): readonly Filter<RoleBinding>[] => [
  ...equals<RoleBinding>(query, 'identity', ({ identityUid }) => identityUid),
  ...equals<RoleBinding>(query, 'group', ({ uid }) => parentOf(uid)),
  ...equals<RoleBinding>(query, 'role', ({ roleUid }) => roleUid),
]

export const roleBindings: Resource<RoleBinding> = {
  type: 'iam.RoleBinding',
  message: roleBindingMessage,
  path: '/iam/v2/roleBindings',
  plural: 'roleBindings',
  table: (store) => store.roleBindings,
  capabilities: {
    list: 'role_bindings.list',
    create: 'role_bindings.create',
    update: 'role_bindings.update',
    delete: 'role_bindings.delete',
  },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  filters,
  checkCreate: check,
  checkUpdate: check,
  deleteIsIdempotent: true,
  view: hydrate,
}

export const roleBindingRoutes: readonly Route[] = [
  listRoute(roleBindings),
  getRoute(roleBindings),
  createRoute(roleBindings),
  updateRoute(roleBindings),
  deleteRoute(roleBindings),
]
