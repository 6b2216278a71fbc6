import type { Case } from '../target.ts'
import { advisories } from './advisories.ts'
import { bodies } from './bodies.ts'
import { differingCatalogue } from './differing/differing-catalogue.ts'
import { differingErrors } from './differing/differing-errors.ts'
import { differingIam } from './differing/differing-iam.ts'
import { differingRegistry } from './differing/differing-registry.ts'
import { feed, subscriptions } from './feed.ts'
import { associations } from './iam/associations.ts'
import { groups } from './iam/groups.ts'
import { identities } from './iam/identities.ts'
import { invites } from './iam/invites.ts'
import { mappings } from './iam/mappings.ts'
import { providers } from './iam/providers.ts'
import { roleBindings } from './iam/role-bindings.ts'
import { roles } from './iam/roles.ts'
import { terms } from './iam/terms.ts'
import { libraries } from './libraries.ts'
import { lists, visible } from './lists.ts'
import { habits, manners } from './manners.ts'
import { eolTags } from './registry/eol-tags.ts'
import { images } from './registry/images.ts'
import { repos } from './registry/repos.ts'
import { tags } from './registry/tags.ts'
import { v1Only } from './v1-only.ts'

/** Every promise of the v1 API, by resource. */
export const cases: readonly Case[] = [
  ...manners,
  ...bodies,
  ...habits,
  ...lists,
  ...groups,
  ...identities,
  ...roles,
  ...roleBindings,
  ...providers,
  ...mappings,
  ...invites,
  ...associations,
  ...terms,
  ...repos,
  ...tags,
  ...images,
  ...eolTags,
  ...advisories,
  ...libraries,
  ...feed,
  ...subscriptions,
  ...visible,
  ...differingErrors,
  ...differingIam,
  ...differingRegistry,
  ...differingCatalogue,
  ...v1Only,
]
