import type { Caller } from '../../caller.ts'
import { permissionDenied } from '../../status.ts'
import { parentOf } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import { type Capability, v2Name } from './capabilities.ts'
import { type Grants, grantsOf, holds } from './grants.ts'

/** One capability or several; several are all needed (semantics §2.2). */
export type Needed = Capability | readonly Capability[]

const namesOf = (needed: Needed): readonly string[] => (typeof needed === 'string' ? [needed] : needed).map(v2Name)

/** Nobody is above a user identity, so its owner reads it by being it (ASSUMPTIONS.md, "Access"). */
const isOwnIdentity = (caller: Caller, needed: Needed, uid: string): boolean => needed === 'identity.list' && uid === caller.identityUid

/** Whether the caller holds everything `needed` at `scopeUid`, by bindings at that uid or at any group above it. */
export const hasCapability = (world: World, caller: Caller, needed: Needed, scopeUid: string): boolean =>
  holds(grantsOf(world, caller), namesOf(needed), scopeUid) || isOwnIdentity(caller, needed, scopeUid)

/**
 * Throws PERMISSION_DENIED unless the caller holds everything `needed` at `scopeUid`. The check comes before any look-up, so a stranger
 * cannot tell a uid that exists from one that does not (semantics §3.17).
 */
export const requireCapability = (world: World, caller: Caller, needed: Needed, scopeUid: string): void => {
  if (!hasCapability(world, caller, needed, scopeUid)) permissionDenied()
}

/** The groups at which everything `needed` counts; whatever is at or below one of them is in reach. */
const placesWith = (grants: Grants, needed: readonly string[]): ReadonlySet<string> =>
  new Set([...grants.keys()].filter((group) => holds(grants, needed, group)))

/** Whether there is any group at all where the caller holds everything `needed`. */
export const hasCapabilitySomewhere = (world: World, caller: Caller, needed: Needed): boolean =>
  placesWith(grantsOf(world, caller), namesOf(needed)).size > 0

/**
 * A test for rows of a list: whether the row of that uid is within reach of the caller. Groups are worked out once and the answer for
 * each parent is remembered, so that 100,000 tags of one repo cost one look-up each.
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

/** Service staff are those who hold `internal`, which no customer role can carry (semantics §2.4). */
export const isStaff = (world: World, caller: Caller): boolean => hasCapabilitySomewhere(world, caller, 'internal')
