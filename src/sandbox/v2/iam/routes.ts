import type { Route } from '../../http/route.ts'
import { accountAssociationRoutes } from './groups/account-associations.ts'
import { groupActionRoutes } from './groups/group-actions.ts'
import { groupInviteRoutes } from './groups/group-invites.ts'
import { groupRoutes } from './groups/groups.ts'
import { termsRoutes } from './groups/terms.ts'
import { externalGroupRoleMappingRoutes } from './identities/external-group-role-mappings.ts'
import { identityRoutes } from './identities/identities.ts'
import { identityMetadataRoute } from './identities/identity-metadata.ts'
import { identityProviderRoutes } from './identities/identity-providers.ts'
import { roleBindingBatchRoute } from './roles/role-binding-batch.ts'
import { roleBindingRoutes } from './roles/role-bindings.ts'
import { roleRoutes } from './roles/roles.ts'
import { scimRoutes } from './scim/scim-routes.ts'

/** Everything below `/iam/v2`. */
export const iamRoutes: readonly Route[] = [
  ...groupRoutes,
  ...groupActionRoutes,
  ...identityRoutes,
  identityMetadataRoute,
  ...identityProviderRoutes,
  ...scimRoutes,
  ...roleRoutes,
  ...roleBindingRoutes,
  roleBindingBatchRoute,
  ...groupInviteRoutes,
  ...accountAssociationRoutes,
  ...externalGroupRoleMappingRoutes,
  ...termsRoutes,
]
