import { callerOf, ok, type Route } from '../../../http/route.ts'
import { invalidField, notFound, resourceExhausted } from '../../../status.ts'
import type { Group } from '../../../world/iam-model.ts'
import type { Store } from '../../../world/store.ts'
import { inRoot } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { present, uidParam } from '../../reads.ts'
import { groups } from './groups.ts'

/** Milliseconds between two requests of one caller for access to the same group (ASSUMPTIONS.md, "Groups"). */
const REQUEST_INTERVAL_MS = 60 * 60 * 1000

/**
 * The time of each caller's last request for access to a group. The API shows these requests nowhere, so the store has no table for them.
 */
const requests = new WeakMap<Store, Map<string, number>>()

/** The domain of the caller's verified email address; undefined without one. */
const domainOf = (world: World, identityUid: string): string | undefined =>
  world.store.identities.get(identityUid)?.email.split('@')[1] || undefined

/** The verified organization whose name is the domain of the caller's verified email address (semantics §3.1). */
export const groupOfCaller = (world: World, identityUid: string): Group | undefined => {
  const domain = domainOf(world, identityUid)
  return domain === undefined ? undefined : world.store.groups.named('', domain).find(({ verified }) => verified)
}

/** True if a caller may ask for access: this takes a verified email address. */
export const isEligible = (world: World, identityUid: string): boolean => domainOf(world, identityUid) !== undefined

/**
 * Records a caller's request for access to an organization. NOT_FOUND for any other group, RESOURCE_EXHAUSTED after another request within
 * the last hour (semantics §3.1).
 */
export const requestAccess = (world: World, identityUid: string, groupUid: string): void => {
  const group = world.store.groups.get(groupUid)
  if (!group || !inRoot(groupUid)) notFound('iam.Group', groupUid)
  const asked = requests.get(world.store) ?? new Map<string, number>()
  const key = `${identityUid} ${groupUid}`
  const now = world.clock.now().getTime()
  if (now - (asked.get(key) ?? -Infinity) < REQUEST_INTERVAL_MS) resourceExhausted('access to this group was requested recently')
  requests.set(world.store, asked.set(key, now))
}

export const groupActionRoutes: readonly Route[] = [
  {
    method: 'GET',
    template: '/iam/v2/groups:lookupGroup',
    auth: 'required',
    handle: (ask, world) => {
      const { identityUid } = callerOf(ask)
      // Every cause has the same answer: a difference would reveal which domains are customers.
      const group = groupOfCaller(world, identityUid) ?? notFound('iam.Group', '')
      return ok({ group: present(groups, world, group, 'get') })
    },
  },
  {
    method: 'GET',
    template: '/iam/v2/groups:checkEligibility',
    auth: 'required',
    handle: (ask, world) => ok({ eligible: isEligible(world, callerOf(ask).identityUid) }),
  },
  {
    method: 'POST',
    template: '/iam/v2/groups/{group_uid=**}:requestGroupAccess',
    auth: 'required',
    handle: (ask, world) => {
      if (ask.params.group_uid === '') invalidField('group_uid', 'is required')
      requestAccess(world, callerOf(ask).identityUid, uidParam(ask, 'group_uid'))
      return ok({})
    },
  },
]
