import type { Case } from '../case.ts'
import { advisories } from './advisories.ts'
import { associations } from './associations.ts'
import { bodies } from './bodies.ts'
import { differingCatalogue } from './differing-catalogue.ts'
import { differingErrors } from './differing-errors.ts'
import { differingIam } from './differing-iam.ts'
import { differingRegistry } from './differing-registry.ts'
import { eolTags } from './eol-tags.ts'
import { feed } from './feed.ts'
import { groups } from './groups.ts'
import { habits } from './habits.ts'
import { identities } from './identities.ts'
import { images } from './images.ts'
import { invites } from './invites.ts'
import { libraries } from './libraries.ts'
import { lists } from './lists.ts'
import { manners } from './manners.ts'
import { mappings } from './mappings.ts'
import { providers } from './providers.ts'
import { repos } from './repos.ts'
import { roleBindings } from './role-bindings.ts'
import { roles } from './roles.ts'
import { subscriptions } from './subscriptions.ts'
import { tags } from './tags.ts'
import { terms } from './terms.ts'
import { v1Only } from './v1-only.ts'
import { visible } from './visible.ts'

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
