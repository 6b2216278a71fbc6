import { hasCapabilitySomewhere, isStaff, requireCapability, visible } from '../../../auth/rights/authorize.ts'
import { capabilityByV2, v2Name } from '../../../auth/rights/capabilities.ts'
import type { Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import { type Check, listOf, type Message, outputText, outputTime, text } from '../../../messages/message.ts'
import { descriptionRule, nameRule } from '../../../messages/validate.ts'
import { type FieldViolation, notFound, type PreconditionViolation, permissionDenied } from '../../../status.ts'
import type { Role } from '../../../world/iam-model.ts'
import { inRoot } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { getRoute, listRoute } from '../../reads.ts'
import type { Act, Resource } from '../../resource.ts'
import { createRoute, deleteRoute, updateRoute } from '../../writes.ts'

const knownCapabilities: Check = (names: readonly string[]) => {
  const unknown = names.find((name) => capabilityByV2(name) === undefined)
  return unknown === undefined ? undefined : `unknown capability ${JSON.stringify(unknown)}`
}

/** (specification §2, semantics §3.5) */
export const roleMessage: Message = {
  name: 'chainguard.platform.iam.v2.Role',
  fields: {
    uid: outputText,
    name: text({ required: true, check: nameRule }),
    description: text({ check: descriptionRule }),
    // Text instead of an enum: the real enum has other numbers than this table, and text refuses numbers.
    capabilities: listOf(text(), { required: true, check: knownCapabilities }),
    createTime: outputTime,
    updateTime: outputTime,
  },
}

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

export const roles: Resource<Role> = {
  type: 'iam.Role',
  message: roleMessage,
  path: '/iam/v2/roles',
  plural: 'roles',
  table: (store) => store.roles,
  capabilities: { list: 'roles.list', create: 'roles.create', update: 'roles.update', delete: 'roles.delete' },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { name: ({ name }) => name },
  filters: (query) => equals(query, 'name', ({ name }) => name),
  visible: inReach,
  readable,
  checkCreate: capabilityViolations,
  checkUpdate: (row, act) => {
    refuseBuiltIn(row)
    return act.touches('capabilities') ? capabilityViolations(row, act) : []
  },
  blockers,
}

export const roleRoutes: readonly Route[] = [listRoute(roles), getRoute(roles), createRoute(roles), updateRoute(roles), deleteRoute(roles)]
