import type { Route } from '../../http/route.ts'
import { accountAssociationRoutes, groupActionRoutes, groupInviteRoutes, groupRoutes, termsRoutes } from './groups.ts'
import { identityMetadataRoute, identityRoutes } from './identities.ts'
import { externalGroupRoleMappingRoutes, identityProviderRoutes } from './providers.ts'
import { roleBindingBatchRoute, roleBindingRoutes, roleRoutes } from './roles.ts'
import { scimRoutes } from './scim.ts'

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
