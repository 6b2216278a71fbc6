import { capabilityByV2, v2Name } from '../../auth/capabilities.ts'
import { hasCapabilitySomewhere, isStaff, requireCapability, visible } from '../../auth/rights.ts'
import { ok, type Query, type Route } from '../../http/route.ts'
import { equals, type Filter } from '../../lists.ts'
import { NAMED } from '../../messages/field-mask.ts'
import {
  type Check,
  DATED,
  type Draft,
  decode,
  fill,
  listOf,
  type Message,
  messageType,
  nested,
  outputText,
  outputTime,
  type RowOf,
  text,
} from '../../messages/message.ts'
import {
  alreadyExists,
  type FieldViolation,
  invalidArgument,
  invalidField,
  notFound,
  type PreconditionViolation,
  permissionDenied,
} from '../../status.ts'
import type { Identity, Role, RoleBinding } from '../../world/model.ts'
import { inRoot, isAtOrBelow, parentOf, type World } from '../../world/store.ts'
import { type Act, actOf, BY_NAME, type CreateAct, checkedUid, create, createAct, present, resourceOf, routesOf } from '../resource.ts'

/** True if the role exists and can be bound at `group`: a built-in role, or one created there or above (semantics §2.1). */
const isUsable = (world: World, roleUid: string, group: string): boolean =>
  world.store.roles.get(roleUid) !== undefined && (inRoot(roleUid) || isAtOrBelow(parentOf(roleUid), group))

/** A violation of `field` unless the role can be bound at `group`. */
export const roleViolations = (world: World, field: string, roleUid: string, group: string): readonly FieldViolation[] =>
  isUsable(world, roleUid, group) ? [] : [{ field, description: 'must be a built-in role, or a role of this group or of one above it' }]

const hydrated = (name: string, ...members: readonly string[]): Message =>
  messageType(
    `chainguard.platform.iam.v2.RoleBinding${name}`,
    Object.fromEntries(['uid', 'name', 'description', ...members].map((member) => [member, outputText])),
  )

/** The two uids are accepted and never shown: the answer has the hydrated objects instead (semantics §3.6). */
export const roleBindingMessage = messageType('chainguard.platform.iam.v2.RoleBinding', {
  uid: outputText,
  identity: nested(hydrated('Identity', 'subject', 'issuer', 'email'), { outputOnly: true }),
  group: nested(hydrated('Group'), { outputOnly: true }),
  role: nested(hydrated('Role'), { outputOnly: true }),
  createTime: outputTime,
  identityUid: text({ required: true, inputOnly: true }),
  roleUid: text({ required: true, inputOnly: true }),
})

/** Issuer and subject are those of a claim match. Other kinds of identities show none. */
const identityView = (identity: Identity): Draft => {
  const { issuer = '', subject = '' } = identity.claimMatch ?? {}
  return { ...identity, issuer, subject }
}

/** The row with the objects it refers to. A missing object is omitted. */
const hydrate = (row: RoleBinding, { store }: World): Draft => {
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

export const roleBindings = resourceOf('iam.RoleBinding', 'roleBindings', {
  message: roleBindingMessage,
  capabilities: {
    list: 'role_bindings.list',
    create: 'role_bindings.create',
    update: 'role_bindings.update',
    delete: 'role_bindings.delete',
  },
  filters,
  checkCreate: check,
  checkUpdate: check,
  deleteIsIdempotent: true,
  view: hydrate,
})

export const roleBindingRoutes = routesOf(roleBindings)

/** The most bindings in one batch (semantics §3.6). */
const MAX_REQUESTS = 25

const createMessage = messageType('chainguard.platform.iam.v2.CreateRoleBindingRequest', {
  parent: text(),
  roleBinding: nested(roleBindingMessage),
})

const batchMessage = messageType('chainguard.platform.iam.v2.BatchCreateRoleBindingsRequest', {
  parent: text(),
  requests: listOf(nested(createMessage)),
  roleUid: text(),
})

type Batch = RowOf<typeof batchMessage>

/** `parent` and `roleUid` of the batch apply to each request. A request with another value is a violation. */
const conflicts = ({ parent, roleUid, requests }: Batch): readonly FieldViolation[] =>
  requests.flatMap((request, index) => {
    const own = request.roleBinding?.roleUid ?? ''
    return [
      ...(request.parent !== '' && request.parent !== parent
        ? [{ field: `requests[${index}].parent`, description: 'differs from the parent of the batch' }]
        : []),
      ...(roleUid !== '' && own !== '' && own !== roleUid
        ? [{ field: `requests[${index}].role_binding.role_uid`, description: 'differs from the role of the batch' }]
        : []),
    ]
  })

const readBatch = (body: unknown): Batch => {
  const batch = fill(batchMessage, decode(batchMessage, body))
  checkedUid('parent', batch.parent)
  const count = batch.requests.length
  if (count === 0 || count > MAX_REQUESTS) invalidField('requests', `must hold 1 to ${MAX_REQUESTS} requests`)
  const found = conflicts(batch)
  if (found.length > 0) invalidArgument(found)
  return batch
}

const bodyOf = ({ roleBinding }: Batch['requests'][number], roleUid: string): Draft => ({
  identityUid: roleBinding?.identityUid ?? '',
  roleUid: roleBinding?.roleUid || roleUid,
})

/** Creates a binding for each body, in order, all or none: a refusal removes those already stored (facts §3.5). */
export const createAll = (act: CreateAct, bodies: readonly Draft[]): readonly RoleBinding[] => {
  const made: RoleBinding[] = []
  try {
    for (const body of bodies) made.push(create(roleBindings, act, body))
  } catch (error) {
    for (const { uid } of made) act.world.store.roleBindings.delete(uid)
    throw error
  }
  return made
}

/** `POST /iam/v2/roleBindings:batchCreate` answers in the order of the requests. */
export const roleBindingBatchRoute: Route = {
  method: 'POST',
  template: '/iam/v2/roleBindings:batchCreate',
  handle: (ask, world) => {
    const batch = readBatch(ask.body)
    const act = createAct(roleBindings, actOf(ask, world), batch.parent)
    const bodies = batch.requests.map((request) => bodyOf(request, batch.roleUid))
    return ok({ roleBindings: createAll(act, bodies).map((row) => present(roleBindings, world, row, 'create')) })
  },
}

const knownCapabilities: Check = (names: readonly string[]) => {
  const unknown = names.find((name) => capabilityByV2(name) === undefined)
  return unknown === undefined ? undefined : `unknown capability ${JSON.stringify(unknown)}`
}

/** (specification §2, semantics §3.5) */
export const roleMessage = messageType('chainguard.platform.iam.v2.Role', {
  ...NAMED,
  // Text instead of an enum: the real enum has other numbers than this table, and text refuses numbers.
  capabilities: listOf(text(), { required: true, check: knownCapabilities }),
  ...DATED,
})

const INTERNAL = v2Name('internal')

/** Only a role with `internal` may hold internal capabilities, and only staff can create such a role (semantics §2.4). */
const capabilityViolations = (row: Role, { world, caller }: Act): readonly FieldViolation[] => {
  if (row.capabilities.includes(INTERNAL)) return isStaff(world, caller) ? [] : permissionDenied('only staff can give out internal')
  const internal = row.capabilities.find((name) => capabilityByV2(name)?.internalOnly)
  return internal === undefined ? [] : [{ field: 'capabilities', description: `${internal} needs ${INTERNAL} in the same role` }]
}

const refuseBuiltIn = ({ uid }: Role): void => {
  if (inRoot(uid)) permissionDenied('built-in roles cannot be changed')
}

const blockers = (row: Role, { store }: World): readonly PreconditionViolation[] => {
  refuseBuiltIn(row)
  const bound = store.roleBindings.values().some(({ roleUid }) => roleUid === row.uid)
  return bound ? [{ type: 'RESOURCE_NOT_EMPTY', description: 'cannot delete role with role bindings' }] : []
}

/** Built-in roles are visible to every caller who may list roles anywhere (semantics §2.2). */
const inReach = ({ world, caller }: Act): ((uid: string) => boolean) => {
  const below = visible(world, caller, 'roles.list')
  const anywhere = hasCapabilitySomewhere(world, caller, 'roles.list')
  return (uid) => (inRoot(uid) ? anywhere : below(uid))
}

/** Without access a custom role counts as missing. Built-in ones are no secret (semantics §3.17). */
const readable = (act: Act, uid: string): void => {
  if (inReach(act)(uid)) return
  if (inRoot(uid)) requireCapability(act.world, act.caller, 'roles.list', uid)
  else notFound('iam.Role', uid)
}

export const roles = resourceOf('iam.Role', 'roles', {
  message: roleMessage,
  capabilities: { list: 'roles.list', create: 'roles.create', update: 'roles.update', delete: 'roles.delete' },
  ...BY_NAME,
  visible: inReach,
  readable,
  checkCreate: capabilityViolations,
  checkUpdate: (row, act) => {
    refuseBuiltIn(row)
    return act.touches('capabilities') ? capabilityViolations(row, act) : []
  },
  blockers,
})

export const roleRoutes = routesOf(roles)
