import { requireCapability, visible } from '../../../auth/rights/authorize.ts'
import { builtInRoleUid } from '../../../auth/rights/built-in-roles.ts'
import { ok, type Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import { invalidField, notFound } from '../../../status.ts'
import type { Group } from '../../../world/iam-model.ts'
import { newUid, validUid } from '../../../world/uid.ts'
import { actOf, getRoute, listRoute, present } from '../../reads.ts'
import type { Act, CreateAct, Resource } from '../../resource.ts'
import { create, deleteRoute, updateRoute } from '../../writes.ts'
import { groupMessage } from './group-message.ts'
import { checkChangedGroup, checkNewGroup, groupBlockers, removeWithGroup, settleChangedGroup, settleNewGroup } from './group-rules.ts'

/** The creator of an organization becomes its owner (semantics §2.1). */
const bindOwner = ({ uid, createTime }: Group, { world, caller, parent }: CreateAct): void => {
  if (parent !== '') return
  const binding = { uid: newUid(world.random, uid), createTime, identityUid: caller.identityUid, roleUid: builtInRoleUid('owner') }
  world.store.roleBindings.put(binding)
}

export const groups: Resource<Group> = {
  type: 'iam.Group',
  message: groupMessage,
  path: '/iam/v2/groups',
  plural: 'groups',
  table: (store) => store.groups,
  capabilities: { list: 'groups.list', create: 'groups.create', update: 'groups.update', delete: 'groups.delete' },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { name: ({ name }) => name },
  filters: (query) => equals(query, 'name', ({ name }) => name),
  checkCreate: checkNewGroup,
  checkUpdate: checkChangedGroup,
  prepare: settleNewGroup,
  revise: settleChangedGroup,
  created: bindOwner,
  blockers: groupBlockers,
  cascade: removeWithGroup,
}

/** Resolves a parent: a uid, the last part of one, or a name, of a group that the caller can create below (semantics §2.1). */
const resolveParent = (text: string, { world, caller }: Act): string => {
  if (text === '') return ''
  if (validUid(text)) {
    requireCapability(world, caller, 'groups.create', text)
    return world.store.groups.get(text)?.uid ?? notFound('iam.Group', text)
  }
  const inReach = visible(world, caller, 'groups.create')
  const meant = world.store.groups.values().filter(({ uid, name }) => (uid.endsWith(`/${text}`) || name === text) && inReach(uid))
  if (meant.length > 1) invalidField('parent', `${JSON.stringify(text)} names ${meant.length} groups; use a uid`)
  return meant[0]?.uid ?? notFound('iam.Group', text)
}

/** `POST /iam/v2/groups/{parent}`. With an empty parent any caller creates an organization (semantics §2.2). */
const createGroupRoute: Route = {
  method: 'POST',
  template: '/iam/v2/groups/{parent=**}',
  auth: 'required',
  handle: (ask, world) => {
    const act = actOf(ask, world)
    const row = create(groups, { ...act, parent: resolveParent(ask.params.parent ?? '', act) }, ask.body)
    return ok(present(groups, world, row, 'create'))
  },
}

export const groupRoutes: readonly Route[] = [
  listRoute(groups),
  getRoute(groups),
  createGroupRoute,
  updateRoute(groups),
  deleteRoute(groups),
]
