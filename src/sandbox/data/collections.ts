import { choice, flag, listOf, type Message, mapOf, outputText, outputTime, text } from '../messages/message.ts'
import { documentMessage } from '../v2/advisory/document-message.ts'
import { metadataMessage } from '../v2/advisory/metadata-message.ts'
import { subscriptionMessage } from '../v2/events/subscriptions.ts'
import { accountAssociationMessage } from '../v2/iam/groups/account-association-message.ts'
import { groupInviteMessage } from '../v2/iam/groups/group-invites.ts'
import { groupMessage } from '../v2/iam/groups/group-message.ts'
import { externalGroupRoleMappingMessage } from '../v2/iam/identities/external-group-role-mappings.ts'
import { identityMessage } from '../v2/iam/identities/identity-message.ts'
import { identityProviderMessage } from '../v2/iam/identities/identity-provider-message.ts'
import { roleBindingMessage } from '../v2/iam/roles/role-bindings.ts'
import { roleMessage } from '../v2/iam/roles/roles.ts'
import { artifactMessage, artifactVersionMessage } from '../v2/libraries/artifact-message.ts'
import { readmeMessage } from '../v2/registry/readmes.ts'
import { repoMessage } from '../v2/registry/repo-message.ts'
import { tagMessage } from '../v2/registry/tags.ts'
import { advisoryMessage } from '../v2/vulnerabilities/advisory-message.ts'
import { SOURCE_TYPES } from '../world/library-model.ts'
import type { Store } from '../world/store.ts'

const termsMessage: Message = {
  name: 'chainguard.platform.iam.v2.TermsAcceptance',
  fields: { uid: outputText, docId: text(), acceptedBy: text(), orgUid: text({ required: true }), createTime: outputTime },
}

/** The API shows images only by repo and digest, so a file names both. */
const imageMessage: Message = {
  name: 'sandbox.Image',
  fields: { uid: outputText, repoUid: text({ required: true }), digest: text({ required: true }), sizes: mapOf(text()) },
}

/** The message of rows that have an id instead of a uid in the API. */
const keyed = (message: Message): Message => ({ ...message, fields: { uid: outputText, ...message.fields } })

const fileArtifactMessage: Message = {
  ...artifactMessage,
  fields: { ...artifactMessage.fields, cudaVersions: listOf(text()) },
}

/** A version as v1 alone shows it, with the artifact it belongs to. */
const fileVersionMessage: Message = {
  ...artifactVersionMessage,
  fields: {
    ...artifactVersionMessage.fields,
    artifactUid: text({ required: true }),
    sourceType: choice(SOURCE_TYPES),
    malwareScanned: flag(),
    malwareMalicious: flag(),
    upstreamPublishedDate: outputTime,
  },
}

/** The collections of a data file in the order of their checks: parents come first. */
export const COLLECTIONS: Readonly<Record<keyof Store, Message>> = {
  groups: groupMessage,
  identities: identityMessage,
  identityProviders: identityProviderMessage,
  roles: roleMessage,
  roleBindings: roleBindingMessage,
  groupInvites: groupInviteMessage,
  accountAssociations: accountAssociationMessage,
  externalGroupRoleMappings: externalGroupRoleMappingMessage,
  termsAcceptances: termsMessage,
  repos: repoMessage,
  readmes: readmeMessage,
  tags: tagMessage,
  images: imageMessage,
  advisories: advisoryMessage,
  documents: keyed(documentMessage),
  vulnerabilityMetadata: keyed(metadataMessage),
  artifacts: fileArtifactMessage,
  artifactVersions: fileVersionMessage,
  subscriptions: subscriptionMessage,
}
