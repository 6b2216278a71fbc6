/**
 * Every capability of the service: its dotted name in v1 and its enum name in v2 (facts §18, semantics §2.4). A row has the beginnings of
 * both, of which no rule derives one from the other, and how names with these beginnings end.
 */
const table = [
  ['internal', 'INTERNAL'],
  ['groups', 'IAM_GROUPS', 'create', 'update', 'list', 'delete'],
  ['group_invites', 'IAM_GROUP_INVITES', 'create', 'list', 'delete'],
  ['roles', 'IAM_ROLES', 'create', 'update', 'list', 'delete'],
  ['role_bindings', 'IAM_ROLE_BINDINGS', 'create', 'update', 'list', 'delete'],
  ['clusters', 'TENANT_CLUSTERS', 'create', 'update', 'list', 'delete', 'discover'],
  ['records', 'TENANT_RECORDS', 'list'],
  ['record_contexts', 'TENANT_RECORD_CONTEXTS', 'list'],
  ['record_signatures', 'TENANT_RECORD_SIGNATURES', 'list'],
  ['record_policy_results', 'TENANT_RECORD_POLICY_RESULTS', 'list'],
  ['risks', 'TENANT_RISKS', 'list'],
  ['sboms', 'TENANT_SBOMS', 'list'],
  ['vuln_reports', 'TENANT_VULN_REPORTS', 'list'],
  ['attestations', 'TENANT_ATTESTATIONS', 'list'],
  ['account_associations', 'IAM_ACCOUNT_ASSOCIATIONS', 'create', 'update', 'list', 'delete'],
  ['policy', 'IAM_POLICY', 'create', 'update', 'list', 'delete'],
  ['identity', 'IAM_IDENTITY', 'create', 'update', 'list', 'delete'],
  ['nodes', 'TENANT_NODES', 'list'],
  ['namespaces', 'TENANT_NAMESPACES', 'list'],
  ['workloads', 'TENANT_WORKLOADS', 'list'],
  ['identity_providers', 'IAM_IDENTITY_PROVIDERS', 'create', 'update', 'list', 'delete'],
  ['identity_providers.scim', 'IAM_SCIM', 'manage'],
  ['subscriptions', 'EVENTS_SUBSCRIPTION', 'create', 'update', 'list', 'delete'],
  ['repo.blobs', 'REPO_BLOBS', 'get'],
  ['repo', 'REPO', 'create', 'update', 'list', 'delete'],
  ['manifest', 'MANIFEST', 'create', 'update', 'list', 'delete'],
  ['tag', 'TAG', 'create', 'update', 'list', 'delete'],
  ['manifest.metadata', 'MANIFEST_METADATA', 'list'],
  ['referrers', 'REFERRERS', 'list'],
  ['repo.internal', 'REPO_INTERNAL', 'admin'],
  ['apk.blobs', 'APK_BLOBS', 'get'],
  ['apk', 'APK', 'create', 'update', 'list', 'delete'],
  ['version', 'VERSION', 'list'],
  ['vuln_report', 'VULN_REPORT', 'create', 'list'],
  ['vuln', 'VULN', 'create'],
  ['build_report', 'BUILD_REPORT', 'list'],
  ['libraries.entitlements', 'LIBRARIES_ENTITLEMENTS', 'create', 'list', 'delete'],
  ['libraries.artifacts', 'LIBRARIES_ARTIFACTS', 'list'],
  ['libraries.python', 'LIBRARIES_PYTHON', 'list', 'create'],
  ['libraries.java', 'LIBRARIES_JAVA', 'list', 'create'],
  ['libraries.javascript', 'LIBRARIES_JAVASCRIPT', 'list', 'create'],
  ['libraries.dotnet', 'LIBRARIES_DOTNET', 'list', 'create'],
  ['libraries.go', 'LIBRARIES_GO', 'list', 'create'],
  ['libraries.cache', 'LIBRARIES_CACHE', 'invalidate', 'list'],
  ['libraries.rebuilder.requests', 'LIBRARIES_REBUILDER_REQUESTS', 'create', 'list', 'cancel'],
  ['libraries.rebuilder.requests.group', 'LIBRARIES_REBUILDER_REQUESTS_GROUP', 'update'],
  ['libraries.rebuilder.artifacts', 'LIBRARIES_REBUILDER_ARTIFACTS', 'invalidate'],
  ['libraries.rebuilder.exclusions', 'LIBRARIES_REBUILDER_EXCLUSIONS', 'manage'],
  ['libraries.rebuilder.builds', 'LIBRARIES_REBUILDER_BUILDS', 'read'],
  ['libraries.rebuilder.builds.tokens', 'LIBRARIES_REBUILDER_BUILDS_TOKENS', 'fetch'],
  ['libraries.rebuilder.builds', 'LIBRARIES_REBUILDER_BUILDS', 'untrusted'],
  ['libraries.rebuilder.remediated_artifacts', 'LIBRARIES_REBUILDER_REMEDIATED_ARTIFACTS', 'read'],
  ['libraries.rebuilder.new_versions', 'LIBRARIES_REBUILDER_NEW_VERSIONS', 'read', 'refresh'],
  ['libraries.rebuilder.malware.status', 'LIBRARIES_REBUILDER_MALWARE_STATUS', 'read'],
  ['libraries.rebuilder.cve_remediations', 'LIBRARIES_REBUILDER_CVE_REMEDIATIONS', 'list', 'update'],
  ['libraries.rebuilder.source_coordinates', 'LIBRARIES_REBUILDER_SOURCE_COORDINATES', 'write', 'resolve'],
  ['libraries.aws_marketplace.subscriptions', 'LIBRARIES_AWS_MARKETPLACE_SUBSCRIPTIONS', 'create', 'update', 'list'],
  ['libraries.request_groups', 'LIBRARIES_REQUEST_GROUPS', 'create', 'list', 'update', 'delete', 'submit'],
  ['libraries.request_groups.items', 'LIBRARIES_REQUEST_GROUPS_ITEMS', 'update'],
  ['libraries.request_groups', 'LIBRARIES_REQUEST_GROUPS', 'refresh_coverage', 'delete_submitted'],
  ['libraries.remote_registries', 'LIBRARIES_REMOTE_REGISTRIES', 'create', 'list', 'delete'],
  ['registry.entitlements', 'REGISTRY_ENTITLEMENTS', 'list', 'create', 'delete'],
  ['registry.entitlements.images', 'REGISTRY_ENTITLEMENTS_IMAGES', 'add', 'remove', 'swap'],
  ['registry.settings', 'REGISTRY_SETTINGS', 'list', 'update'],
  ['registry.overlays', 'REGISTRY_OVERLAYS', 'list', 'edit'],
  ['sigstore', 'SIGSTORE', 'create', 'update', 'list', 'delete'],
  ['sigstore.certificate', 'SIGSTORE_CERTIFICATE', 'create'],
  ['advisories', 'ADVISORIES', 'create', 'update', 'list', 'delete', 'approve'],
  ['registry.deployments', 'REGISTRY_DEPLOYMENTS', 'create', 'update', 'list'],
  ['policies.policy', 'POLICIES_POLICY', 'create', 'update', 'list', 'delete'],
  ['policies.binding', 'POLICIES_BINDING', 'create', 'update', 'list', 'delete'],
  ['policies.decision', 'POLICIES_DECISION', 'list'],
  ['policies.override', 'POLICIES_OVERRIDE', 'create', 'list', 'delete'],
  ['repo', 'REPO', 'check_policies'],
  ['packages.entitlements', 'PACKAGES_ENTITLEMENTS', 'list'],
  ['terms', 'TERMS', 'accept', 'list'],
  ['gulfstream', 'GULFSTREAM'],
  ['guardener.dfc', 'GUARDENER_DFC', 'convert'],
  ['guardener.association', 'GUARDENER_ASSOCIATION', 'manage', 'list'],
  ['guardener.entitlement', 'GUARDENER_ENTITLEMENT', 'manage', 'list'],
  ['guardener.actions', 'GUARDENER_ACTIONS', 'migrate'],
  ['guardener.scan', 'GUARDENER_SCAN', 'list', 'get'],
  ['mcp.tool', 'MCP_TOOL', 'call'],
  ['skills', 'SKILLS', 'publish'],
  ['skills.entitlements', 'SKILLS_ENTITLEMENTS', 'create', 'list', 'delete'],
  ['skills', 'SKILLS', 'list', 'write', 'delete'],
  ['skills.harden', 'SKILLS_HARDEN', 'read', 'write', 'cancel'],
  ['argos.documents', 'ARGOS_DOCUMENTS', 'create', 'list', 'delete'],
  ['argos.osv', 'ARGOS_OSV', 'read', 'dump'],
  ['libraries.policy', 'LIBRARIES_POLICY', 'create', 'update', 'list', 'delete'],
  ['libraries.policy.binding', 'LIBRARIES_POLICY_BINDING', 'create', 'update', 'list', 'delete'],
  ['libraries.policy.block_event', 'LIBRARIES_POLICY_BLOCK_EVENT', 'list'],
  ['buildapi.build', 'BUILDAPI_BUILD', 'create', 'list'],
  ['buildapi.worker', 'BUILDAPI_WORKER', 'sync'],
  ['buildapi.build', 'BUILDAPI_BUILD', 'cancel'],
  ['cassie.cas', 'CASSIE_CAS', 'read', 'write'],
  ['cassie.ac', 'CASSIE_AC', 'read', 'write'],
  ['loggie.logs', 'LOGGIE_LOGS', 'read', 'write', 'create'],
  ['rex.executions', 'REX_EXECUTIONS', 'create', 'list'],
  ['rex.workers', 'REX_WORKERS', 'connect'],
  ['rex.class', 'REX_CLASS', 'use', 'serve'],
  ['actions', 'ACTIONS', 'list'],
] as const

type NameOf<R> = R extends readonly [infer Name, string]
  ? Name
  : R extends readonly [infer Begin extends string, string, ...infer Ends extends readonly string[]]
    ? `${Begin}.${Ends[number]}`
    : never

/** A capability by its dotted v1 name: `groups.list`. */
export type Capability = NameOf<(typeof table)[number]>

/** Both names, and whether only a role with `internal` may carry the capability. */
type CapabilityRow = { readonly v1: Capability; readonly v2: string; readonly internalOnly: boolean }

/** The names that the sources call internal. A role that carries one also needs `internal` itself (semantics §2.4). */
const internalOnly = /^(repo\.internal\.admin|registry\.deployments\.update|libraries\.rebuilder\..+)$/

const rowOf = (v1: string, v2: string): CapabilityRow => ({ v1: v1 as Capability, v2: `CAP_${v2}`, internalOnly: internalOnly.test(v1) })

export const capabilities: readonly CapabilityRow[] = table.flatMap(([v1, v2, ...ends]) =>
  ends.length === 0 ? [rowOf(v1, v2)] : ends.map((end) => rowOf(`${v1}.${end}`, `${v2}_${end.toUpperCase()}`)),
)

const byV1 = new Map<string, CapabilityRow>(capabilities.map((row) => [row.v1, row]))
const byV2 = new Map<string, CapabilityRow>(capabilities.map((row) => [row.v2, row]))

/** The row of a dotted name, or undefined for an unknown name. */
export const capabilityByV1 = (name: string): CapabilityRow | undefined => byV1.get(name)

/** The row of an enum name, or undefined for an unknown name. */
export const capabilityByV2 = (name: string): CapabilityRow | undefined => byV2.get(name)

/** The enum name of a capability: `CAP_IAM_GROUPS_LIST` for `groups.list`. */
export const v2Name = (capability: Capability): string => (byV1.get(capability) as CapabilityRow).v2
