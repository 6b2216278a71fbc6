import { requireCapability } from '../../auth/rights/authorize.ts'
import { callerOf } from '../../http/route.ts'
import { equals } from '../../lists/filter.ts'
import { invalidArgument, invalidField } from '../../status.ts'
import { externalGroupRoleMappings } from '../../v2/iam/identities/external-group-role-mappings.ts'
import type { ExternalGroupRoleMapping } from '../../world/iam-model.ts'
import { parentOf, validUid } from '../../world/uid.ts'
import { type Decoded, decode } from '../decode.ts'
import { encode } from '../encode.ts'
import { getOperation } from '../get.ts'
import { listOperation } from '../list.ts'
import { batchDeleteAnswer, batchDeleteRequest, externalGroupRoleMapping } from '../messages/access.ts'
import type { Operation } from '../operation.ts'
import { createOperation, deleteOperation, type Written } from '../writes.ts'

const written: Written<ExternalGroupRoleMapping> = {
  resource: externalGroupRoleMappings,
  path: '/iam/v1/externalGroupRoleMappings',
  message: externalGroupRoleMapping,
}

function readBatch(body: unknown): { readonly parent: string; readonly names: readonly string[] } {
  const { parent = '', names = [] }: Decoded = decode(body, batchDeleteRequest)
  const wanted = names as readonly string[]
  if (!validUid(String(parent))) invalidField('parent_id', `${JSON.stringify(parent)} is not a valid uid`)
  const strangers = wanted.flatMap((name, at) => (parentOf(name) === parent ? [] : [`ids[${at}]`]))
  if (strangers.length > 0) invalidArgument(strangers.map((field) => ({ field, description: 'is not a mapping of the parent' })))
  return { parent: String(parent), names: wanted }
}

/** Skips missing mappings. The answer holds the removed ones (facts §14). */
const batchDelete: Operation = {
  method: 'POST',
  template: `${written.path}:batchDelete`,
  answer: (ask, world) => {
    const { parent, names } = readBatch(ask.body)
    requireCapability(world, callerOf(ask), 'identity_providers.delete', parent)
    const table = world.store.externalGroupRoleMappings
    const removed = [...new Set(names)].flatMap((uid) => table.get(uid) ?? [])
    for (const { uid } of removed) table.delete(uid)
    return encode({ parent, externalGroupRoleMappings: removed }, batchDeleteAnswer, world.options.v1Dialect)
  },
}

/** External group role mappings (facts §3.9). */
export const mappingOperations: readonly Operation[] = [
  listOperation({
    ...written,
    scoped: true,
    filters: (query) => equals(query, 'identity_provider_uidp', ({ identityProviderUid }) => identityProviderUid),
  }),
  // v1's only read of one resource in IAM, and one of its few reads with NOT_FOUND (facts §11).
  getOperation(written, 'uid'),
  createOperation(written, 'parent_id'),
  batchDelete,
  deleteOperation(written),
]
