import { capabilities } from '../../auth/capabilities.ts'
import type { Query } from '../../http/route.ts'
import { equals, type Filter } from '../../lists.ts'
import { malformed } from '../../status.ts'
import { ORG_KINDS, ORG_STATUSES } from '../../v2/iam/groups.ts'
import { createAll, roleBindings, roles } from '../../v2/iam/roles.ts'
import { actOf, BY_NAME, createAct, uidParam } from '../../v2/resource.ts'
import type { Role, RoleBinding } from '../../world/model.ts'
import { parentOf } from '../../world/store.ts'
import { choice, flag, int32, list, map, message, object, readOnly, sameNames, strings, text, time } from '../message.ts'
import { decode, nameIn, type Operation } from '../operation.ts'
import {
  answerOf,
  createOperation,
  deleteOperation,
  type ListView,
  listOperation,
  relaxed,
  replaceOperation,
  type Written,
} from '../operations.ts'

const orgKind = sameNames('OrgKind', ...ORG_KINDS)
const orgStatus = sameNames('OrgStatus', ...ORG_STATUSES)

/** Group (facts §3.1). */
export const group = message(
  'Group',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    text('description'),
    readOnly(map(int32('resource_limits'))),
    flag('verified'),
    choice(orgKind)('kind'),
    readOnly(choice(orgStatus)('status')),
  ],
  ['created_at', 'updated_at', 'group_id'],
)

const capability = strings(
  'capability',
  capabilities.map((row) => [row.v1, row.v2]),
)

/** Role (facts §3.4): capabilities are dotted strings in v1. */
export const role = message(
  'Role',
  [readOnly(text('id', { from: 'uid' })), text('name'), text('description'), list(choice(capability)('capabilities'))],
  ['created_at', 'updated_at', 'group_id'],
)

/** RoleBinding: the answer of create, update and batch (facts §3.5). The group is the parent part of the id. */
export const roleBinding = message(
  'RoleBinding',
  [
    readOnly(text('id', { from: 'uid' })),
    text('identity', { from: 'identityUid' }),
    readOnly(text('group')),
    text('role', { from: 'roleUid' }),
  ],
  ['created_at', 'group_id'],
)

/** RoleBindingList.Binding: the hydrated list row (facts §3.5). */
export const hydratedBinding = message(
  'RoleBindingList.Binding',
  [
    text('id', { from: 'uid' }),
    object(group)('group'),
    text('identity', { from: 'identityUid' }),
    object(role)('role'),
    text('email'),
    text('claim_match_issuer'),
    text('claim_match_subject'),
    time('created_at', { from: 'createTime' }),
    text('email_unverified'),
  ],
  ['group_id'],
)

const written: Written<RoleBinding> = {
  resource: roleBindings,
  path: '/iam/v1/rolebindings',
  message: roleBinding,
  view: (row) => ({ ...row, group: parentOf(row.uid) }),
}

/** A list shows whole groups and roles and a summary of the identity (facts §3.5). A deleted part stays unset. */
const hydrated: ListView<RoleBinding> = (row, { store }) => {
  const identity = store.identities.get(row.identityUid)
  return {
    ...row,
    group: store.groups.get(parentOf(row.uid)),
    role: store.roles.get(row.roleUid),
    email: identity?.email,
    emailUnverified: identity?.emailUnverified,
    claimMatchIssuer: identity?.claimMatch?.issuer,
    claimMatchSubject: identity?.claimMatch?.subject,
  }
}

/** An empty body is an empty list. Any other body is the list itself, without an enclosing object (facts §3.5). */
function readBatch(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  const empty = typeof body === 'object' && body !== null && Object.keys(body).length === 0
  return empty ? [] : malformed('proto: syntax error: expected a list of role bindings')
}

const answerName = { name: 'role_bindings', json: 'roleBindings' }

/** Creates all or none and answers in the order of the request. v1 has no maximum batch size. */
const createBatch: Operation = {
  method: 'POST',
  template: `${written.path}/batch/{parent=**}`,
  message: roleBinding,
  answer: (ask, world) => {
    const act = createAct(roleBindings, actOf(ask, world), uidParam(ask, 'parent'))
    const bodies = readBatch(ask.body).map((body) => decode(body, roleBinding))
    const rows = createAll(act, bodies)
    return { [nameIn(answerName, world.options.v1Dialect)]: rows.map((row) => answerOf(written, row, {}, world)) }
  },
}

/** Role bindings (facts §3.5). */
export const roleBindingOperations: readonly Operation[] = [
  listOperation({ ...written, message: hydratedBinding, view: hydrated, idParameter: 'id', scoped: true }),
  createOperation(written, 'parent'),
  createBatch,
  replaceOperation(written, () => ['identityUid', 'roleUid']),
  deleteOperation(written),
]

const writtenRole: Written<Role> = { resource: relaxed(roles, 'capabilities'), path: '/iam/v1/roles', message: role }

/** v1's own filter for the roles directly below a group; `/` selects the built-in ones (semantics §1). */
const byParent = (query: Query): readonly Filter<Role>[] => equals<Role>(query, 'parent', ({ uid }) => parentOf(uid) || '/')

/** Roles (facts §3.4). */
export const roleOperations: readonly Operation[] = [
  listOperation({
    ...writtenRole,
    idParameter: 'id',
    scoped: true,
    filters: (query) => [...BY_NAME.filters<Role>(query), ...byParent(query)],
  }),
  createOperation(writtenRole, 'parent_id'),
  replaceOperation(writtenRole, () => ['name', 'description', 'capabilities']),
  deleteOperation(writtenRole),
]
