import { anything, below, like, list, time, uid } from './expect.ts'
import { extra, map } from './target.ts'

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
    { id: below(organization), name: '', description: '', default_role: defaultRole, oidc: shownOidc({}), scim: anything, ...members },
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
    { id: below(parent), expiration: time, key_id: anything, role: anything, email: '', created_at: time, single_use: false, ...members },
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

const scan = { scanner_version: anything, grype_db_built: anything, grype_db_checksum: anything }
const noted = (members: Members = {}) => ({ ...members, note: anything })

const scanv1 = {
  scanner: anything,
  subpackage_name: anything,
  component_id: anything,
  component_name: anything,
  component_version: anything,
  component_type: anything,
  component_location: anything,
  artifact_version: anything,
  ...scan,
}

/** The source of a finding: one of three, which the answer itself names. */
const detections: Members = { nvdapi: { cpe_searched: anything, cpe_found: anything }, manual: {}, scanv1 }

/** The types of an event and their members (facts §5.2). */
const TYPES: Members = {
  fixed: noted({ fixed_version: anything, ...scan }),
  false_positive_determination: noted({ type: like(/^(?!TYPE_)[A-Z_]+$/) }),
  analysis_not_planned: noted(),
  fix_not_planned: noted(),
  pending_upstream_fix: noted(),
  true_positive_determination: noted(),
  patched: noted({ patched_versions: list }),
}

/** `member` returns a member of an answer by its proto name, in either dialect. */
type Member = (body: unknown, name: string) => unknown

/** Returns the one member of `types` in the answer. An answer without a type, or of an unknown one, matches nothing. */
function typeOf(answer: unknown, types: Members, member: Member): Members {
  const [found] = Object.keys(types).filter((name) => member(answer, name) !== undefined)
  return found === undefined ? { 'one of': Object.keys(types) } : { [found]: types[found] }
}

/** facts §5.2; the type determines the members of an event, and an existing issue its issue. */
export function advisoryEvent(advisory: string, answer: unknown, member: Member): Members {
  const detection = member(answer, 'detection')
  return {
    id: below(advisory),
    timestamp: time,
    findings: like(/^[A-Za-z0-9+/]*={0,2}$/),
    author: anything,
    reviewer: anything,
    status: like(/^(?:UNKNOWN|PENDING|APPROVED|REQUEST_CHANGES|REJECTED)$/),
    ...(member(answer, 'issue') !== undefined && { issue: like(/./) }),
    ...(detection === undefined ? typeOf(answer, TYPES, member) : { detection: typeOf(detection, detections, member) }),
  }
}

const OPTIONAL = ['component_name', 'component_location', 'component_type', 'deleted_at', 'legacyAdvisoryID']

/** facts §5.1; optional members are present if they have a value. */
export function advisory(parent: string, answer: Members, member: Member): Members {
  const events = member(answer, 'events')
  return {
    id: below(parent),
    artifact_type: anything,
    artifact_name: anything,
    artifact_architecture: anything,
    created_at: time,
    updated_at: time,
    aliases: list,
    events: Array.isArray(events) ? events.map((event) => advisoryEvent(String(answer['id']), event, member)) : list,
    advisory_id: like(/./),
    author: anything,
    ...Object.fromEntries(OPTIONAL.filter((name) => member(answer, name) !== undefined).map((name) => [name, like(/./)])),
  }
}
