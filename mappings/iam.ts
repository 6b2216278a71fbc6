import type { Mapping } from '../src/tables/language.ts'
import { accountAssociationOperations } from './iam/account-associations.ts'
import { externalGroupRoleMappingOperations } from './iam/external-group-role-mappings.ts'
import { groupInviteOperations } from './iam/group-invites.ts'
import { groupOperations } from './iam/groups.ts'
import { identityOperations } from './iam/identities.ts'
import { identityMetadataOperations } from './iam/identity-metadata.ts'
import { identityProviderOperations } from './iam/identity-providers.ts'
import { roleBindingOperations } from './iam/role-bindings.ts'
import { roleOperations } from './iam/roles.ts'
import { scimOperations } from './iam/scim.ts'
import { termsOperations } from './iam/terms.ts'

export const iam: Mapping = {
  domain: 'iam',
  operations: [
    ...groupOperations,
    ...identityOperations,
    ...identityMetadataOperations,
    ...roleOperations,
    ...roleBindingOperations,
    ...identityProviderOperations,
    ...scimOperations,
    ...accountAssociationOperations,
    ...groupInviteOperations,
    ...externalGroupRoleMappingOperations,
    ...termsOperations,
  ],
}
