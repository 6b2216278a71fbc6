import type {
  AccountAssociation,
  ExternalGroupRoleMapping,
  Group,
  GroupInvite,
  Identity,
  IdentityProvider,
  Image,
  Readme,
  Repo,
  Role,
  RoleBinding,
  Tag,
  TermsAcceptance,
} from './model.ts'
import { createTable, type Table } from './table.ts'

/** Every collection of the service. One store serves v2 and native v1 alike. */
export type Store = {
  readonly groups: Table<Group>
  readonly identities: Table<Identity>
  readonly identityProviders: Table<IdentityProvider>
  readonly roles: Table<Role>
  readonly roleBindings: Table<RoleBinding>
  readonly groupInvites: Table<GroupInvite>
  readonly accountAssociations: Table<AccountAssociation>
  readonly externalGroupRoleMappings: Table<ExternalGroupRoleMapping>
  readonly termsAcceptances: Table<TermsAcceptance>
  readonly repos: Table<Repo>
  readonly readmes: Table<Readme>
  readonly tags: Table<Tag>
  readonly images: Table<Image>
}

/** An empty store. */
export const createStore = (): Store => ({
  groups: createTable(),
  identities: createTable(),
  identityProviders: createTable(),
  roles: createTable(),
  roleBindings: createTable(),
  groupInvites: createTable(),
  accountAssociations: createTable(),
  externalGroupRoleMappings: createTable(),
  termsAcceptances: createTable(),
  repos: createTable(),
  readmes: createTable(),
  tags: createTable(),
  images: createTable(),
})
