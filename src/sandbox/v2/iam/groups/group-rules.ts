import { isStaff } from '../../../auth/rights/authorize.ts'
import { alreadyExists, type FieldViolation, type PreconditionViolation, permissionDenied } from '../../../status.ts'
import type { Group } from '../../../world/iam-model.ts'
import type { Store } from '../../../world/store.ts'
import { inRoot, rootOf } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import type { Act, CreateAct, UpdateAct } from '../../resource.ts'

const NO_KIND = 'ORG_KIND_UNSPECIFIED'
const NO_STATUS = 'ORG_STATUS_UNSPECIFIED'

const refuseVerifying = (before: boolean, after: boolean, { world, caller }: Act): void => {
  if (before !== after && !isStaff(world, caller)) permissionDenied('verified may only be changed by staff')
}

/** The name of a verified organization is its domain. No other organization may take it (semantics §3.1). */
const refuseTakenName = (row: Group, world: World): void => {
  const taken =
    row.verified && world.store.groups.values().some((other) => other.verified && other.name === row.name && other.uid !== row.uid)
  if (taken) alreadyExists('iam.Group', row.name)
}

const kindViolations = (row: Group, inherited: string): readonly FieldViolation[] => {
  if (!inRoot(row.uid)) return row.kind === inherited ? [] : [{ field: 'kind', description: 'cannot be set below an organization' }]
  return row.verified && row.kind === NO_KIND ? [{ field: 'kind', description: 'is required for a verified organization' }] : []
}

export const checkNewGroup = (row: Group, act: CreateAct): readonly FieldViolation[] => {
  refuseVerifying(false, row.verified, act)
  const found = kindViolations(row, NO_KIND)
  if (found.length === 0) refuseTakenName(row, act.world)
  return found
}

/** `*` would write kind and status too. The service refuses it if these hold values (semantics §3.1). */
const wildcardViolations = (previous: Group, act: UpdateAct<Group>): readonly FieldViolation[] => {
  const settled = previous.kind !== NO_KIND || previous.status !== NO_STATUS
  const wildcard = act.query.text('update_mask').trim() === '*'
  return wildcard && settled ? [{ field: 'update_mask', description: '"*" cannot be used on a group with a kind and a status' }] : []
}

export const checkChangedGroup = (row: Group, act: UpdateAct<Group>): readonly FieldViolation[] => {
  const wildcard = wildcardViolations(act.previous, act)
  if (wildcard.length > 0) return wildcard
  refuseVerifying(act.previous.verified, row.verified, act)
  const found = kindViolations(row, act.previous.kind)
  if (found.length === 0) refuseTakenName(row, act.world)
  return found
}

/** Folders take the kind and status of their organization. In the sandbox an organization with a kind is ready at once. */
export const settleNewGroup = (row: Group, { world }: CreateAct): Group => {
  const organization = world.store.groups.get(rootOf(row.uid))
  if (organization) return { ...row, kind: organization.kind, status: organization.status }
  return { ...row, status: row.kind === NO_KIND ? NO_STATUS : 'ORG_STATUS_READY' }
}

/** A new kind of an organization applies to every folder below it. */
export const settleChangedGroup = (row: Group, { world, previous }: UpdateAct<Group>): Group => {
  if (row.kind === previous.kind) return row
  const { groups } = world.store
  const settled = { ...row, status: row.status === NO_STATUS ? 'ORG_STATUS_READY' : row.status }
  for (const folder of groups.below(row.uid)) groups.put({ ...folder, kind: settled.kind, status: settled.status })
  return settled
}

/** The dependents that block the delete of a group, by their name in the message (specification §7 rule 2, semantics §3.1). */
const DEPENDENTS: Readonly<Record<string, (store: Store, uid: string) => boolean>> = {
  repos: (store, uid) => store.repos.children(uid).length > 0,
  groups: (store, uid) => store.groups.children(uid).length > 0,
  identities: (store, uid) => store.identities.children(uid).length > 0,
  roles: (store, uid) => store.roles.children(uid).length > 0,
  'identity providers': (store, uid) => store.identityProviders.children(uid).length > 0,
  subscriptions: (store, uid) => store.subscriptions.children(uid).length > 0,
  'account associations': (store, uid) => store.accountAssociations.get(uid) !== undefined,
}

export const groupBlockers = ({ uid }: Group, { store }: World): readonly PreconditionViolation[] =>
  Object.entries(DEPENDENTS)
    .filter(([, found]) => found(store, uid))
    .map(([word]) => ({ type: 'RESOURCE_NOT_EMPTY', description: `cannot delete group with child ${word}` }))

/**
 * Deletes the rows that do not block a delete: bindings (every organization has its owner's), invites and terms concern the group itself,
 * and no caller can delete advisories.
 */
export const removeWithGroup = ({ uid }: Group, { store }: World): void => {
  for (const table of [store.roleBindings, store.groupInvites, store.termsAcceptances, store.advisories]) {
    for (const row of table.children(uid)) table.delete(row.uid)
  }
}
