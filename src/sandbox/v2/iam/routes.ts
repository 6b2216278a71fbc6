import type { Route } from '../../http/route.ts'
import { accountAssociationRoutes } from './account-associations.ts'
import { externalGroupRoleMappingRoutes } from './external-group-role-mappings.ts'
import { groupActionRoutes } from './group-actions.ts'
import { groupInviteRoutes } from './group-invites.ts'
import { groupRoutes } from './groups.ts'
import { identityRoutes } from './identities.ts'
import { identityMetadataRoute } from './identity-metadata.ts'
import { identityProviderRoutes } from './identity-providers.ts'
import { roleBindingBatchRoute } from './role-binding-batch.ts'
import { roleBindingRoutes } from './role-bindings.ts'
import { roleRoutes } from './roles.ts'
import { scimRoutes } from './scim-routes.ts'
import { termsRoutes } from './terms.ts'

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
