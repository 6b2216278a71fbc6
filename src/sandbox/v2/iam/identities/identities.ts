import { lookupIdentityUid } from '../../../auth/lookup.ts'
import { ok, type Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import { invalidArgument } from '../../../status.ts'
import type { Identity } from '../../../world/identity-model.ts'
import type { World } from '../../../world/world.ts'
import { getRoute, listRoute } from '../../reads.ts'
import type { Resource } from '../../resource.ts'
import { createRoute, deleteRoute, updateRoute } from '../../writes.ts'
import { identityMessage } from './identity-message.ts'
import { changedRelationshipViolations, relationshipFilter, relationshipViolations, withExpiry } from './relationships.ts'

/** Deletes the bindings of a deleted identity. An identity that is later created under the same uid must not inherit them. */
const removeBindings = ({ uid }: Identity, { store }: World): void => {
  for (const binding of store.roleBindings.values()) if (binding.identityUid === uid) store.roleBindings.delete(binding.uid)
}

export const identities: Resource<Identity> = {
  type: 'iam.Identity',
  message: identityMessage,
  path: '/iam/v2/identities',
  plural: 'identities',
  table: (store) => store.identities,
  capabilities: { list: 'identity.list', create: 'identity.create', update: 'identity.update', delete: 'identity.delete' },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { name: ({ name }) => name, last_seen_time: ({ lastSeenTime }) => lastSeenTime ?? '' },
  filters: (query) => [...equals<Identity>(query, 'name', ({ name }) => name), ...relationshipFilter(query)],
  checkCreate: relationshipViolations,
  checkUpdate: changedRelationshipViolations,
  prepare: (row, act) => withExpiry({ ...row, lastSeenTime: row.createTime }, act),
  revise: withExpiry,
  cascade: removeBindings,
}

/** `GET /iam/v2/identities:lookupIdentity?issuer=…&subject=…`, for any caller. Answers a uid even for an unregistered pair. */
const lookupRoute: Route = {
  method: 'GET',
  template: '/iam/v2/identities:lookupIdentity',
  auth: 'required',
  handle: ({ query }, world) => {
    const missing = ['issuer', 'subject'].filter((name) => query.text(name) === '')
    if (missing.length > 0) invalidArgument(missing.map((field) => ({ field, description: 'is required' })))
    return ok({ uid: lookupIdentityUid(world, query.text('issuer'), query.text('subject')) })
  },
}

export const identityRoutes: readonly Route[] = [
  listRoute(identities),
  getRoute(identities),
  createRoute(identities),
  updateRoute(identities),
  deleteRoute(identities),
  lookupRoute,
]
