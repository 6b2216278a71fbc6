import { anything, below, time, uid } from '../match.ts'
import { extra, map } from '../spell.ts'

type Members = Readonly<Record<string, unknown>>

/** A folder below a group, as in every answer (facts §3.1). */
export const group = (parent: string, members: Members = {}) =>
  extra(
    {
      id: below(parent),
      name: '',
      description: '',
      resource_limits: map({}),
      verified: false,
      kind: anything,
      status: anything,
      ...members,
    },
    { created_at: time, updated_at: time, group_id: parent },
  )

/** facts §3.2; the members include the relationship, a oneof. */
export const identity = (parent: string, members: Members = {}) =>
  extra(
    { id: below(parent), name: 'robot', description: '', created_at: time, updated_at: time, last_seen: anything, ...members },
    { group_id: parent },
  )

/** An identity of which the caller may know only the id; the id reveals its group. */
export const lookedUp = (members: Members, parent: string) => extra({ ...members }, { group_id: parent })

/** facts §3.4 */
export const role = (parent: string, members: Members = {}) =>
  extra(
    { id: below(parent), name: 'reader', description: '', capabilities: ['groups.list', 'repo.list'], ...members },
    { created_at: time, updated_at: time, group_id: parent },
  )

/** A built-in role within another answer. */
export const nestedRole = (members: Members) => ({ id: uid, name: '', description: anything, capabilities: anything, ...members })

/** The plain binding of create, update and batch (facts §3.5). */
export const binding = (parent: string, identityId: string, roleId: string) =>
  extra({ id: below(parent), identity: identityId, group: parent, role: roleId }, { created_at: time, group_id: parent })

/** The hydrated binding of the list. */
export const listedBinding = (parent: string, members: Members = {}) =>
  extra(
    {
      id: below(parent),
      group: anything,
      identity: uid,
      role: anything,
      email: '',
      claim_match_issuer: '',
      claim_match_subject: '',
      created_at: time,
      email_unverified: '',
      ...members,
    },
    { group_id: parent },
  )

/** facts §3.6; the client secret is never shown. */
export const provider = (organization: string, defaultRole: unknown, members: Members = {}) =>
  extra(
    {
      id: below(organization),
      name: '',
      description: '',
      default_role: defaultRole,
      oidc: shownOidc({}),
      scim: anything,
      ...members,
    },
    { created_at: time, updated_at: time, group_id: organization },
  )

export const shownOidc = (members: Members) => ({
  issuer: 'https://login.example',
  client_id: 'client',
  client_secret: '',
  additional_scopes: ['email'],
  groups_claim: '',
  correlation_rule: anything,
  pkce_enabled: false,
  ...members,
})

/** facts §3.7; a provider that is not associated is null. */
export const association = (groupId: string, members: Members = {}) =>
  extra(
    { group: groupId, amazon: null, google: null, chainguard: null, azure: null, name: 'cloud', description: '', github: null, ...members },
    { created_at: time, updated_at: time },
  )

/** The invite of the list (facts §3.8). */
export const storedInvite = (parent: string, members: Members = {}) =>
  extra(
    {
      id: below(parent),
      expiration: time,
      key_id: anything,
      role: anything,
      email: '',
      created_at: time,
      single_use: false,
      ...members,
    },
    { group_id: parent },
  )

/** facts §3.9 */
export const mapping = (providerId: string, members: Members = {}) => ({
  id: below(providerId),
  identity_provider_uidp: providerId,
  external_group_id: '',
  role_uidp: uid,
  scope: uid,
  created_at: time,
  ...members,
})

/** facts §4.1 */
export const repo = (parent: string, members: Members = {}) =>
  extra(
    {
      id: below(parent),
      name: 'repo',
      catalog_tier: 'UNKNOWN',
      bundles: [],
      readme: '',
      sync_config: null,
      custom_overlay: null,
      aliases: [],
      create_time: time,
      active_tags: [],
      description: '',
      ...members,
    },
    { created_at: time, updated_at: time, group_id: parent },
  )

/** facts §4.2 */
export const tag = (repoId: string, members: Members = {}) =>
  extra(
    {
      id: below(repoId),
      name: 'latest',
      digest: `sha256:${'a'.repeat(64)}`,
      last_updated: time,
      deprecated: false,
      bundles: [],
      ...members,
    },
    { updated_at: time },
  )

/** facts §8 */
export const subscription = (parent: string, members: Members = {}) =>
  extra({ id: below(parent), sink: anything, ...members }, { group_id: parent })
