import type { Query } from '../../http/query.ts'
import { equals, type Filter } from '../../lists/filter.ts'
import { roles } from '../../v2/iam/roles/roles.ts'
import type { Role } from '../../world/iam-model.ts'
import { parentOf } from '../../world/uid.ts'
import { byName, listOperation } from '../list.ts'
import { role } from '../messages/access.ts'
import type { Operation } from '../operation.ts'
import { relaxed } from '../relaxed.ts'
import { createOperation, deleteOperation, replaceOperation, type Written } from '../writes.ts'

const written: Written<Role> = { resource: relaxed(roles, 'capabilities'), path: '/iam/v1/roles', message: role }

/** v1's own filter for the roles directly below a group; `/` selects the built-in ones (semantics §1). */
const byParent = (query: Query): readonly Filter<Role>[] => equals<Role>(query, 'parent', ({ uid }) => parentOf(uid) || '/')

/** Roles (facts §3.4). */
export const roleOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true, filters: (query) => [...byName<Role>(query), ...byParent(query)] }),
  createOperation(written, 'parent_id'),
  replaceOperation(written, () => ['name', 'description', 'capabilities']),
  deleteOperation(written),
]
