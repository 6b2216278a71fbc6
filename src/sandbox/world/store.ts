import type { Advisory, AdvisoryDocument, VulnerabilityMetadata } from './advisory-model.ts'
import type { AccountAssociation, ExternalGroupRoleMapping, Group, GroupInvite, Role, RoleBinding, TermsAcceptance } from './iam-model.ts'
import type { Identity, IdentityProvider } from './identity-model.ts'
import type { Artifact, ArtifactVersion } from './library-model.ts'
import type { Subscription } from './model.ts'
import type { Image, Readme, Repo, Tag } from './registry-model.ts'
import { createTable, type Table } from './table.ts'

/** Every collection of the service. v2 and genuine v1 share one store. */
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
  readonly advisories: Table<Advisory>
  readonly documents: Table<AdvisoryDocument>
  readonly vulnerabilityMetadata: Table<VulnerabilityMetadata>
  readonly artifacts: Table<Artifact>
  readonly artifactVersions: Table<ArtifactVersion>
  readonly subscriptions: Table<Subscription>
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
  advisories: createTable(),
  documents: createTable(),
  vulnerabilityMetadata: createTable(),
  artifacts: createTable(),
  artifactVersions: createTable(),
  subscriptions: createTable(),
})

/** The number of writes to the whole store. */
export const revisionOf = (store: Store): number => Object.values(store).reduce((sum, table) => sum + table.revision(), 0)
