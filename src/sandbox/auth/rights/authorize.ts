import type { Caller } from '../../caller.ts'
import { permissionDenied } from '../../status.ts'
import { parentOf } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import { type Capability, v2Name } from './capabilities.ts'
import { type Grants, grantsOf, holds } from './grants.ts'

/** One capability, or several that are all required (semantics §2.2). */
export type Needed = Capability | readonly Capability[]

const namesOf = (needed: Needed): readonly string[] => (typeof needed === 'string' ? [needed] : needed).map(v2Name)

/** No group is above a user identity, so its owner may read it without a binding (ASSUMPTIONS.md, "Access"). */
const isOwnIdentity = (caller: Caller, needed: Needed, uid: string): boolean => needed === 'identity.list' && uid === caller.identityUid

/** True if the caller holds all of `needed` at `scopeUid`, through bindings there or at any group above. */
export const hasCapability = (world: World, caller: Caller, needed: Needed, scopeUid: string): boolean =>
  holds(grantsOf(world, caller), namesOf(needed), scopeUid) || isOwnIdentity(caller, needed, scopeUid)

/**
 * Throws PERMISSION_DENIED unless the caller holds all of `needed` at `scopeUid`. The check precedes any look-up, so a caller without
 * access cannot tell an existing uid from an unknown one (semantics §3.17).
 */
export const requireCapability = (world: World, caller: Caller, needed: Needed, scopeUid: string): void => {
  if (!hasCapability(world, caller, needed, scopeUid)) permissionDenied()
}

/** The groups where the caller holds all of `needed`. These groups and everything below them are visible. */
const placesWith = (grants: Grants, needed: readonly string[]): ReadonlySet<string> =>
  new Set([...grants.keys()].filter((group) => holds(grants, needed, group)))

/** True if the caller holds all of `needed` at any group. */
export const hasCapabilitySomewhere = (world: World, caller: Caller, needed: Needed): boolean =>
  placesWith(grantsOf(world, caller), namesOf(needed)).size > 0

/**
 * Returns a test for the rows of a list: true if the caller may see the row of that uid. It computes the groups once and remembers the
 * result for each parent, so 100,000 tags of one repo cost one look-up each.
 */
export const visible = (world: World, caller: Caller, needed: Needed): ((uid: string) => boolean) => {
  const places = placesWith(grantsOf(world, caller), namesOf(needed))
  const remembered = new Map([['', places.has('')]])
  const within = (group: string): boolean => {
    const known = remembered.get(group)
    if (known !== undefined) return known
    const answer = reached(group)
    remembered.set(group, answer)
    return answer
  }
  const reached = (uid: string): boolean => places.has(uid) || within(parentOf(uid))
  return (uid) => reached(uid) || isOwnIdentity(caller, needed, uid)
}

/** True for service staff, who hold `internal`. No customer role can carry it (semantics §2.4). */
export const isStaff = (world: World, caller: Caller): boolean => hasCapabilitySomewhere(world, caller, 'internal')
