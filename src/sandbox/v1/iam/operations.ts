import type { Operation } from '../operation.ts'
import { associationOperations } from './associations.ts'
import { groupOperations } from './groups.ts'
import { identityOperations } from './identities.ts'
import { inviteOperations } from './invites.ts'
import { mappingOperations } from './mappings.ts'
import { providerOperations } from './providers.ts'
import { roleBindingOperations } from './role-bindings.ts'
import { roleOperations } from './roles.ts'
import { scimOperations } from './scim.ts'
import { termsOperations } from './terms.ts'

/** Everything v1 serves below `/iam/v1` (facts §3). */
export const iamOperations: readonly Operation[] = [
  ...groupOperations,
  ...identityOperations,
  ...roleOperations,
  ...roleBindingOperations,
  ...inviteOperations,
  ...providerOperations,
  ...scimOperations,
  ...associationOperations,
  ...mappingOperations,
  ...termsOperations,
]
