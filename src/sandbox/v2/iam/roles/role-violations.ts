import type { FieldViolation } from '../../../status.ts'
import { inRoot, isAtOrBelow, parentOf } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'

/** True if the role exists and can be bound at `group`: a built-in role, or one created there or above (semantics §2.1). */
const isUsable = (world: World, roleUid: string, group: string): boolean =>
  world.store.roles.get(roleUid) !== undefined && (inRoot(roleUid) || isAtOrBelow(parentOf(roleUid), group))

/** A violation of `field` unless the role can be bound at `group`. */
export const roleViolations = (world: World, field: string, roleUid: string, group: string): readonly FieldViolation[] =>
  isUsable(world, roleUid, group) ? [] : [{ field, description: 'must be a built-in role, or a role of this group or of one above it' }]
