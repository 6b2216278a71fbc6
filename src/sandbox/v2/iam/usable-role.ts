import type { Role } from '../../model.ts'
import type { FieldViolation } from '../../status.ts'
import { inRoot, isAtOrBelow, parentOf } from '../../uid.ts'
import type { World } from '../../world.ts'

/** The role of that uid if it can be given out at `group`: a built-in one, or one made at that group or above it (semantics §2.1). */
export const usableRole = (world: World, roleUid: string, group: string): Role | undefined => {
  const role = world.store.roles.get(roleUid)
  return role && (inRoot(role.uid) || isAtOrBelow(parentOf(role.uid), group)) ? role : undefined
}

/** A violation of `field` unless the role can be given out at `group`. */
export const roleViolations = (world: World, field: string, roleUid: string, group: string): readonly FieldViolation[] =>
  usableRole(world, roleUid, group) ? [] : [{ field, description: 'must be a built-in role, or a role of this group or of one above it' }]
