import { createRouter } from '../../src/serve/route.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { operations } from '../properties/forms.ts'
import { missingById, refusals, scopes } from './across.ts'
import { advisory } from './advisory.ts'
import { events } from './events.ts'
import { accountAssociations } from './iam/account-associations.ts'
import { externalGroupRoleMappings } from './iam/external-group-role-mappings.ts'
import { groupInvites } from './iam/group-invites.ts'
import { groups } from './iam/groups.ts'
import { identities, identityMetadata } from './iam/identities.ts'
import { identityProviders } from './iam/identity-providers.ts'
import { roleBindings } from './iam/role-bindings.ts'
import { roles } from './iam/roles.ts'
import { terms } from './iam/terms.ts'
import { libraries } from './libraries.ts'
import { ping } from './ping.ts'
import { eolTags } from './registry/eol-tags.ts'
import { images } from './registry/images.ts'
import { repos } from './registry/repos.ts'
import { summaries } from './registry/summaries.ts'
import { tags } from './registry/tags.ts'
import { play, type Transcript } from './transcript.ts'
import { vulnerabilities } from './vulnerabilities.ts'

export const transcripts: readonly Transcript[] = [
  ...groups,
  ...identities,
  ...identityMetadata,
  ...roles,
  ...roleBindings,
  ...identityProviders,
  ...accountAssociations,
  ...groupInvites,
  ...externalGroupRoleMappings,
  ...terms,
  ...repos,
  ...tags,
  ...images,
  ...eolTags,
  ...summaries,
  ...ping,
  ...missingById,
  ...vulnerabilities,
  ...libraries,
  ...advisory,
  ...events,
  ...scopes,
  ...refusals,
]

/** One answer to v1 clients in a transcript. */
export interface Answered {
  readonly operation: string
  readonly title: string
  readonly status: number
  readonly reply: unknown
}

const router = createRouter(operations)

/** Returns the answers of all transcripts, in one dialect. */
export function answers(dialect: Dialect): Promise<readonly Answered[]> {
  return Promise.all(transcripts.map(async (transcript) => ({ ...(await play(transcript, router, dialect)), title: transcript.title })))
}
