import type { Sandbox } from '../../../src/sandbox/start.ts'
import type { Role } from '../stage/differ.ts'
import type { Uids } from './uids.ts'

/** A read that is compared. */
export interface Read {
  readonly operation: string
  /** v1 path and query. */
  readonly path: string
  /** The default is the owner. */
  readonly role?: Role
}

/** Reads of every served operation: whole lists, windows, filters, one resource, and resources that are missing. */
export function readsOf({ organization }: Sandbox, uids: Uids): readonly Read[] {
  return [...accessReads(organization, uids), ...registryReads(organization, uids), ...catalogueReads(organization, uids)]
}

const MISSING = '0123456789abcdef0123456789abcdef01234567'

function accessReads(organization: string, { folder, group, identity, role, provider, mapping, binding }: Uids): readonly Read[] {
  const iam = '/iam/v1'
  return [
    { operation: 'iam.groups.list', path: `${iam}/groups` },
    { operation: 'iam.groups.list', path: `${iam}/groups?uidp.descendants_of=${organization}&offset=1&limit=2&order_by=name` },
    { operation: 'iam.groups.list', path: `${iam}/groups?id=${MISSING}` },
    { operation: 'iam.groups.list', path: `${iam}/groups`, role: 'outsider' },
    { operation: 'iam.groups.lookup', path: `${iam}/groups:lookupGroup` },
    { operation: 'iam.groups.check_eligibility', path: `${iam}/groups:checkEligibility` },
    { operation: 'iam.identities.list', path: `${iam}/identities` },
    { operation: 'iam.identities.list', path: `${iam}/identities?id=${identity}` },
    { operation: 'iam.identities.lookup', path: `${iam}/identities/lookup?issuer=https://accounts.example.com&subject=bob@example.com` },
    { operation: 'iam.identities.lookup', path: `${iam}/identities/lookup?issuer=https://accounts.example.com&subject=eve@acme.dev` },
    { operation: 'iam.roles.list', path: `${iam}/roles` },
    { operation: 'iam.roles.list', path: `${iam}/roles?id=${role}` },
    { operation: 'iam.roles.list', path: `${iam}/roles?page=2&page_size=5&order_by=name+desc`, role: 'viewer' },
    { operation: 'iam.role_bindings.list', path: `${iam}/rolebindings` },
    { operation: 'iam.role_bindings.list', path: `${iam}/rolebindings?id=${binding}` },
    { operation: 'iam.identity_providers.list', path: `${iam}/identityProviders` },
    { operation: 'iam.external_group_role_mappings.list', path: `${iam}/externalGroupRoleMappings` },
    {
      operation: 'iam.external_group_role_mappings.list',
      path: `${iam}/externalGroupRoleMappings?identity_provider_uidp=${provider}&limit=1`,
    },
    { operation: 'iam.external_group_role_mappings.get', path: `${iam}/externalGroupRoleMappings/${mapping}` },
    { operation: 'iam.external_group_role_mappings.get', path: `${iam}/externalGroupRoleMappings/${provider}/0123456789abcdef` },
    { operation: 'iam.group_invites.list', path: `${iam}/group_invites` },
    { operation: 'iam.account_associations.list', path: `${iam}/account_associations` },
    { operation: 'iam.account_associations.list', path: `${iam}/account_associations?group=${group}` },
    { operation: 'iam.terms.list', path: `${iam}/terms/${organization}` },
    { operation: 'iam.terms.list', path: `${iam}/terms/${folder}` },
    { operation: 'events.subscriptions.list', path: '/events/v1/subscriptions' },
    { operation: 'ping.ping.ping', path: '/ping/v1/ping' },
  ]
}

function registryReads(organization: string, { repo, small, source, digest }: Uids): readonly Read[] {
  const registry = '/registry/v1'
  const image = `${registry}/repos/${repo}/digests`
  return [
    { operation: 'registry.repos.list', path: `${registry}/repos?uidp.descendants_of=${organization}` },
    { operation: 'registry.repos.list', path: `${registry}/repos?id=${repo}` },
    { operation: 'registry.repos.list', path: `${registry}/repos?uidp.children_of=${organization}&offset=2&limit=3`, role: 'viewer' },
    { operation: 'registry.tags.list', path: `${registry}/tags?uidp.children_of=${repo}` },
    { operation: 'registry.tags.list', path: `${registry}/tags?uidp.children_of=${repo}&exclude_dates=true&name=latest` },
    { operation: 'registry.eol_tags.list', path: `${registry}/eoltags?uidp.children_of=${small}` },
    { operation: 'registry.repo_tags_summary.get', path: `${registry}/repotagssummary/${repo}` },
    { operation: 'registry.repo_count_by_source.get', path: `${registry}/repocountbysource/${source}`, role: 'admin' },
    { operation: 'registry.images.architectures', path: `${image}/${digest}/architectures` },
    { operation: 'registry.images.size', path: `${image}/${digest}/size?arch=arm64` },
    { operation: 'registry.images.size', path: `${image}/sha256:${'0'.repeat(64)}/size` },
  ]
}

function catalogueReads(organization: string, { advisory }: Uids): readonly Read[] {
  const artifacts = '/libraries/v1/artifacts'
  const advisories = '/vulnerabilities/v1/advisories'
  return [
    { operation: 'vulnerabilities.advisories.list', path: `${advisories}?uidp.descendants_of=${organization}&page_size=20` },
    { operation: 'vulnerabilities.advisories.list', path: `${advisories}?id=${advisory}` },
    { operation: 'vulnerabilities.advisory_events.list', path: `${advisories}/${advisory}/events` },
    { operation: 'libraries.artifacts.list', path: `${artifacts}?page_size=4&query=re` },
    { operation: 'libraries.artifacts.list', path: `${artifacts}?ecosystems=JAVA&page_size=3` },
    { operation: 'libraries.artifacts.count', path: `${artifacts}/count` },
    { operation: 'libraries.artifacts.list_versions', path: `${artifacts}/python:requests/versions?limit=5` },
    { operation: 'libraries.artifacts.list_versions', path: `${artifacts}/java:junit:junit/versions` },
    { operation: 'advisory.documents.list', path: '/advisory/v1/documents' },
    { operation: 'advisory.documents.list', path: '/advisory/v1/documents?id=openssl' },
    { operation: 'advisory.vulnerability_metadata.list', path: '/advisory/v1/metadata?page_size=3' },
    { operation: 'advisory.resolved_vulns.list', path: '/advisory/v1/images/resolved_vulns' },
  ]
}
