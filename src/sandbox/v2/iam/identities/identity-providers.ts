import type { Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import type { Draft } from '../../../messages/message.ts'
import type { IdentityProvider } from '../../../world/identity-model.ts'
import type { World } from '../../../world/world.ts'
import { getRoute, listRoute } from '../../reads.ts'
import type { Resource, View } from '../../resource.ts'
import { createRoute, deleteRoute, updateRoute } from '../../writes.ts'
import { scimNow, unissuedScim } from '../scim/scim.ts'
import { identityProviderMessage } from './identity-provider-message.ts'
import { changedProviderViolations, newProviderViolations, providerBlockers, settleProvider } from './identity-provider-rules.ts'

/** Only reads of one provider show SCIM; a list omits it (semantics §3.3). */
const view = (row: IdentityProvider, world: World, kind: View): Draft => ({
  ...row,
  scim: kind === 'list' ? undefined : scimNow(row, world),
})

export const identityProviders: Resource<IdentityProvider> = {
  type: 'iam.IdentityProvider',
  message: identityProviderMessage,
  path: '/iam/v2/identityProviders',
  plural: 'identityProviders',
  table: (store) => store.identityProviders,
  // A provider grants its default role to every user who signs in, hence the right to bind (semantics §2.2).
  capabilities: {
    list: 'identity_providers.list',
    create: ['identity_providers.create', 'role_bindings.create'],
    update: ['identity_providers.update', 'role_bindings.create'],
    delete: 'identity_providers.delete',
  },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { name: ({ name }) => name },
  filters: (query) => equals(query, 'name', ({ name }) => name),
  checkCreate: newProviderViolations,
  checkUpdate: changedProviderViolations,
  prepare: (row, { world }) => ({ ...row, scim: unissuedScim(row.uid, world) }),
  revise: settleProvider,
  blockers: providerBlockers,
  view,
}

export const identityProviderRoutes: readonly Route[] = [
  listRoute(identityProviders),
  getRoute(identityProviders),
  createRoute(identityProviders),
  updateRoute(identityProviders),
  deleteRoute(identityProviders),
]
