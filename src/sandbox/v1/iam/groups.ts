import { isStaff, requireCapability, visible } from '../../auth/rights/authorize.ts'
import { callerOf } from '../../http/route.ts'
import { invalidField, notFound } from '../../status.ts'
import { groupOfCaller, isEligible, requestAccess } from '../../v2/iam/groups/group-actions.ts'
import { groups } from '../../v2/iam/groups/groups.ts'
import { actOf, uidParam } from '../../v2/reads.ts'
import type { Act } from '../../v2/resource.ts'
import { create } from '../../v2/writes.ts'
import type { Group } from '../../world/iam-model.ts'
import { validUid } from '../../world/uid.ts'
import { encode } from '../encode.ts'
import { byName, listOperation } from '../list.ts'
import { eligibility, group } from '../messages/groups.ts'
import type { Operation } from '../operation.ts'
import { answerOf, deleteOperation, type Replaced, readBody, replaceOperation, type Written } from '../writes.ts'

const written: Written<Group> = { resource: groups, path: '/iam/v1/groups', message: group }

/** True if `text` is the whole of `uid` or the beginning of its last part. Otherwise an organization's uid would match all its folders. */
const begins = (uid: string, text: string): boolean => uid.startsWith(text) && !uid.slice(text.length).includes('/')

/**
 * Resolves a parent: a uid, the beginning of one, or a name, of a group that the caller can create below. Empty means root (facts §3.1).
 */
function parentNamed(text: string, { world, caller }: Act): string {
  if (text === '') return ''
  if (validUid(text)) requireCapability(world, caller, 'groups.create', text)
  const inReach = visible(world, caller, 'groups.create')
  const meant = world.store.groups.values().filter(({ uid, name }) => (begins(uid, text) || name === text) && inReach(uid))
  if (meant.length > 1) invalidField('parent', `${JSON.stringify(text)} names ${meant.length} groups; use a uid`)
  return meant[0]?.uid ?? notFound('iam.Group', text)
}

const createGroup: Operation = {
  method: 'POST',
  template: `${written.path}/{parent=**}`,
  message: group,
  answer: (ask, world) => {
    const act = actOf(ask, world)
    const parent = parentNamed(ask.params['parent'] ?? '', act)
    const body = readBody(written, ask)
    return answerOf(written, create(groups, { ...act, parent }, body), body, world)
  },
}

/**
 * A PUT resets the description. It writes the kind only if the body names one. Only staff can write `verified`; others leave it unchanged
 * (facts §13).
 */
const replaced: Replaced = (body, ask, world) => [
  'name',
  'description',
  ...(body['verified'] === true || isStaff(world, callerOf(ask)) ? ['verified'] : []),
  ...(['ORG_KIND_UNSPECIFIED', undefined].includes(body['kind'] as string | undefined) ? [] : ['kind']),
]

/** Three operations that depend on the token alone (facts §3.1). */
const tokenDriven: readonly Operation[] = [
  {
    method: 'GET',
    template: `${written.path}:lookupGroup`,
    answer: (ask, world) => {
      const found = groupOfCaller(world, callerOf(ask).identityUid) ?? notFound('iam.Group', '')
      return { group: encode(found, group, world.options.v1Dialect) }
    },
  },
  {
    method: 'GET',
    template: `${written.path}:checkEligibility`,
    answer: (ask, world) => encode({ eligible: isEligible(world, callerOf(ask).identityUid) }, eligibility, world.options.v1Dialect),
  },
  {
    method: 'POST',
    template: `${written.path}/{group_id=**}:requestGroupAccess`,
    answer: (ask, world) => {
      requestAccess(world, callerOf(ask).identityUid, uidParam(ask, 'group_id'))
      return {}
    },
  },
]

/** Groups (facts §3.1). */
export const groupOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true, filters: byName }),
  createGroup,
  replaceOperation(written, replaced),
  deleteOperation(written),
  ...tokenDriven,
]
