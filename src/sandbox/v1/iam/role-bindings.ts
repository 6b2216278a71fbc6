import { malformed } from '../../status.ts'
import { createAll } from '../../v2/iam/roles/role-binding-batch.ts'
import { roleBindings } from '../../v2/iam/roles/role-bindings.ts'
import type { RoleBinding } from '../../world/iam-model.ts'
import { parentOf } from '../../world/uid.ts'
import { decode } from '../decode.ts'
import { nameIn } from '../encode.ts'
import { type ListView, listOperation } from '../list.ts'
import { hydratedBinding, roleBinding } from '../messages/access.ts'
import type { Operation } from '../operation.ts'
import { answerOf, createAct, createOperation, deleteOperation, replaceOperation, type Written } from '../writes.ts'

const written: Written<RoleBinding> = {
  resource: roleBindings,
  path: '/iam/v1/rolebindings',
  message: roleBinding,
  view: (row) => ({ ...row, group: parentOf(row.uid) }),
}

/** A list shows whole groups and roles and a summary of the identity (facts §3.5). A deleted part stays unset. */
const hydrated: ListView<RoleBinding> = (row, { store }) => {
  const identity = store.identities.get(row.identityUid)
  return {
    ...row,
    group: store.groups.get(parentOf(row.uid)),
    role: store.roles.get(row.roleUid),
    email: identity?.email,
    emailUnverified: identity?.emailUnverified,
    claimMatchIssuer: identity?.claimMatch?.issuer,
    claimMatchSubject: identity?.claimMatch?.subject,
  }
}

/** An empty body is an empty list. Any other body is the list itself, without an enclosing object (facts §3.5). */
function readBatch(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  const empty = typeof body === 'object' && body !== null && Object.keys(body).length === 0
  return empty ? [] : malformed('proto: syntax error: expected a list of role bindings')
}

const answerName = { name: 'role_bindings', json: 'roleBindings' }

/** Creates all or none and answers in the order of the request. v1 has no maximum batch size. */
const createBatch: Operation = {
  method: 'POST',
  template: `${written.path}/batch/{parent=**}`,
  message: roleBinding,
  answer: (ask, world) => {
    const act = createAct(ask, world, roleBindings, 'parent')
    const bodies = readBatch(ask.body).map((body) => decode(body, roleBinding))
    const rows = createAll(act, bodies)
    return { [nameIn(answerName, world.options.v1Dialect)]: rows.map((row) => answerOf(written, row, {}, world)) }
  },
}

/** Role bindings (facts §3.5). */
export const roleBindingOperations: readonly Operation[] = [
  listOperation({ ...written, message: hydratedBinding, view: hydrated, idParameter: 'id', scoped: true }),
  createOperation(written, 'parent'),
  createBatch,
  replaceOperation(written, () => ['identityUid', 'roleUid']),
  deleteOperation(written),
]
