import { anything, type DeclaredDifference } from '../src/tables/language.ts'

/** The types of detail that v2 sends (specification §7). */
const DETAIL_TYPES = ['ErrorInfo', 'BadRequest', 'ResourceInfo', 'PreconditionFailure'].map(
  (name) => `type.googleapis.com/google.rpc.${name}`,
)

/** All that is shown of an identity that the caller may not read. `group_id` is part of the id. */
const ONLY_ID = { id: anything, group_id: anything }

/** v1 does not let the caller read the identity either. */
const HIDDEN = { read: 'iam.identities.list', uid: 'id', shows: 'nothing' } as const

/** What v1 says of the tag itself. */
const deprecated = (is: boolean) => ({ read: 'registry.tags.list', uid: 'id', shows: { deprecated: is }, filtered: true }) as const

const EMPTY_SUMMARY = { id: anything, tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }

/** Every known difference. The contract suite fails if one of these no longer occurs, or if another one does. */
export const differences: readonly DeclaredDifference[] = [
  {
    code: 'v1-only',
    operations: [
      'registry.vuln_reports.*',
      'registry.tag_history.*',
      'registry.sync_status.*',
      'registry.repos.update_status',
      'registry.manifests.*',
      'registry.sbom.*',
      'registry.charts.*',
      'registry.deployment.*',
      'registry.entitlements.*',
      'registry.settings.*',
      'registry.build_reports.*',
      'registry.images.config',
      'registry.policies.*',
      'registry.versions.*',
      'vulnerabilities.advisories.create',
      'vulnerabilities.advisories.update',
      'vulnerabilities.advisories.delete',
      'vulnerabilities.advisory_events.create',
      'vulnerabilities.advisory_events.update',
      'libraries.aws_marketplace_subscriptions.*',
      'libraries.blocked_packages.*',
      'libraries.entitlements.*',
      'libraries.malware.*',
      'libraries.npm_packages.*',
      'libraries.policies.*',
      'libraries.policy_bindings.*',
      'libraries.resolution_cache.*',
      'events.identities.*',
      'policies.*',
      'argos.*',
      'actions.*',
      'auth.*',
      'skills.*',
      'apk.*',
      'apko.*',
      'ecosystems.*',
      'packages.*',
      'image-recommendation.*',
    ],
    seen: 'Without upstream.v1 the answer is 501 code 12, and its message names that setting.',
    // facts §22, specification §4.7
    because: 'v2 has no counterpart; `crosswalk operations` gives the reason for each operation.',
    test: 'operations without a v2 counterpart say what they need',
  },
  {
    code: 'error-details',
    operations: ['*'],
    seen: 'details of an error hold those of v2 (ErrorInfo, BadRequest, ResourceInfo, PreconditionFailure), with fields under their v1 names. A genuine v1 sends an empty list.',
    // specification §7, facts §14, §15
    because: 'v2 errors are typed. The details help the person who reads them, and v1 clients may ignore them.',
    test: 'errors keep the details of v2',
    signs: [{ at: ['/details'], kinds: ['value'], v1: [], v2Items: { '@type': DETAIL_TYPES } }],
  },
  {
    code: 'refusal-words',
    operations: ['*'],
    seen: 'A request that is refused before it reaches the service gets the same code and status in other words. Such requests have a path or query that cannot be decoded or is not UTF-8, a body that is not JSON or not of its type, an unknown enum or capability name, or no id in the path.',
    // semantics §4.1
    because: 'No contract fixes these texts; they come from the parser that reads the request first.',
    test: 'words of a refusal that the service never sees',
  },
  {
    code: 'refused-first',
    operations: ['*'],
    seen: 'A request that the proxy itself refuses is 400 even if its credential is unknown or lacks the right. A genuine v1 looks at the credential first, and says 401 or 403. The proxy itself refuses wrong windows, orders, numbers, times and enum values in a query, and ids that are not uids.',
    // semantics §4.1
    because:
      'v2 alone knows the callers. If it were asked before each refusal, requests of strangers that cost nothing today would make it work, and each refusal would depend on its health. A stock gateway refuses a query that it cannot read before it knows the caller, too.',
    test: 'a refusal of the proxy itself comes before the credential is known',
  },
  {
    code: 'readme-needs-staff',
    operations: ['registry.repos.create', 'registry.repos.update'],
    seen: 'Writing a readme needs repo.internal.admin. Without it, a PUT that changes the readme is refused with 403 and writes nothing. A PUT that omits it keeps the stored text and shows it. A caller without repo.list may not read the stored text either. Any PUT with a readme is then refused with 403, and the answer to a PUT without one leaves the member out. A create with a readme is refused with 403. v2 has made the repo by then, and the proxy deletes it again. If the caller lacks repo.delete, the repo stays without its readme, and the error says so.',
    // facts §4.1, §13.6
    because: 'v2 keeps the readme apart from the repo. Writing it needs repo.internal.admin, a capability that no customer role has.',
    overGrpc: 'A message cannot lack a member: a readme that the caller may not read looks empty. All else is the same.',
    test: 'a readme is written by staff only',
  },
  {
    code: 'upsert-needs-update',
    operations: ['registry.repos.create'],
    seen: 'Creating a repo that exists needs repo.list and repo.update beside repo.create.',
    // facts §24.10, semantics §9.4
    because: 'v2 never updates on create, so the proxy finds the repo by its name and patches it.',
    test: 'a create that updates needs the capability to update',
  },
  {
    code: 'tag-update-needs-create',
    operations: ['registry.tags.update'],
    seen: 'Updating a tag needs tag.list and tag.create, not tag.update.',
    // facts §4.2, §26
    because: 'v2 has no tag update. The proxy uses its create-or-update, which needs tag.create.',
    test: 'a tag is updated by those who may create it',
  },
  {
    code: 'tag-rename',
    operations: ['registry.tags.update'],
    met: { sent: ['name'] },
    seen: 'A PUT with another name is refused with 400 code 3 on name. A genuine v1 renames the tag.',
    // facts §4.2
    because: 'v2 addresses a tag by its name on a write. A delete and a create would change the id of the tag.',
    test: 'a tag keeps its name',
  },
  {
    code: 'tag-digest-required',
    operations: ['registry.tags.create'],
    met: { missing: ['digest'] },
    seen: 'A new tag without a digest is refused with 400 code 3 on digest. An existing tag keeps its own. Without tag.list the proxy cannot know that the tag exists, and refuses it likewise.',
    // facts §24.9, semantics §3.11
    because: 'v2 requires the digest of a tag, v1 did not.',
    test: 'a new tag needs a digest',
  },
  {
    code: 'role-capabilities-required',
    operations: ['iam.roles.create', 'iam.roles.update'],
    met: { missing: ['capabilities'] },
    seen: 'A role without capabilities is refused with 400 code 3. A PUT that omits them does not empty the role.',
    // facts §3.4
    because: 'v2 requires at least one capability, v1 did not.',
    test: 'a role needs a capability',
  },
  {
    code: 'enum-number-unknown',
    operations: [
      'iam.groups.create',
      'iam.groups.update',
      'iam.identity_providers.create',
      'iam.identity_providers.update',
      'registry.repos.create',
      'registry.repos.update',
    ],
    met: { sent: ['kind', 'oidc', 'catalog_tier'] },
    seen: 'An enum number in a body that the tables do not hold is refused with 400 code 3. A genuine v1 reads it as the unknown value.',
    // facts §18
    because:
      'v2 numbers its enums differently. A number that the tables do not hold may be one that v1 has; the unknown value in its place would lose it.',
    test: 'a number of no known enum value',
  },
  {
    code: 'overlay-ids-signed',
    operations: ['registry.repos.create', 'registry.repos.update'],
    met: { sent: ['custom_overlay'] },
    seen: 'A uid or gid of custom_overlay above 2147483647 is refused with 400 code 3.',
    // facts §4.1
    because: 'v2 keeps them as signed 32-bit numbers, v1 as unsigned ones.',
    test: 'ids of an overlay that v2 cannot hold',
  },
  {
    code: 'association-name-required',
    operations: ['iam.account_associations.create', 'iam.account_associations.update'],
    met: { missing: ['name'] },
    seen: 'An account association without a name is refused with 400 code 3.',
    // facts §24.13
    because: 'v2 requires the name, v1 did not.',
    test: 'an account association needs a name',
  },
  {
    code: 'provider-default-role-required',
    operations: ['iam.identity_providers.create', 'iam.identity_providers.update'],
    met: { missing: ['default_role'] },
    seen: 'An identity provider without a default role is refused with 400 code 3.',
    // facts §3.6
    because: 'v2 requires the default role, v1 did not.',
    test: 'an identity provider needs a default role',
  },
  {
    code: 'invite-ttl-required',
    operations: ['iam.group_invites.create'],
    met: { missing: ['ttl'] },
    seen: 'An invite without a ttl is refused with 400 code 3.',
    // facts §24.13
    because: 'v2 requires the ttl, v1 did not.',
    test: 'an invite needs a ttl',
  },
  {
    code: 'batch-size',
    operations: ['iam.role_bindings.create_batch'],
    seen: 'A batch without role bindings, or with more than 25, is refused with 400 code 3.',
    // facts §3.5
    because: 'v2 takes 1 to 25 bindings, all or nothing. Several calls could not be undone together.',
    test: 'a batch of role bindings holds 1 to 25',
  },
  {
    code: 'batch-delete-needs-ids',
    operations: ['iam.external_group_role_mappings.batch_delete'],
    seen: 'A batch delete without ids is refused with 400 code 3. A genuine v1 deletes nothing and says so.',
    // facts §3.9
    because: 'v2 requires at least one id, v1 did not.',
    test: 'a batch of mappings to delete names at least one',
  },
  {
    code: 'binding-parts-withheld',
    operations: ['iam.role_bindings.list'],
    seen: 'A caller who may list bindings, but not read a group, role or identity in them, sees its id, name and description. Such a row lacks resource_limits, verified, kind and status, capabilities, or email_unverified. None of them is shown as unset.',
    // facts §3.5, §10.8
    because:
      'A binding of v2 shows no more; the rest needs groups.list, roles.list and identity.list. A refusal of the whole list would take away what the caller may see.',
    overGrpc: 'A message cannot lack a member: what is withheld looks empty.',
    test: 'bindings of a caller who may read nothing else',
    signs: [
      {
        at: ['/items/*/group/resource_limits', '/items/*/group/verified', '/items/*/group/kind', '/items/*/group/status'],
        kinds: ['missing'],
        v2Shows: { id: anything, name: anything, description: anything },
        provenBy: { read: 'iam.groups.list', uid: 'id', shows: 'nothing' },
      },
      {
        at: ['/items/*/role/capabilities'],
        kinds: ['missing'],
        v2Shows: { id: anything, name: anything, description: anything },
        provenBy: { read: 'iam.roles.list', uid: 'id', shows: 'nothing' },
      },
      {
        at: ['/items/*/email_unverified'],
        kinds: ['missing'],
        provenBy: { read: 'iam.identities.list', uid: 'identity', shows: 'nothing' },
      },
    ],
  },
  {
    code: 'lookup-unreadable',
    operations: ['iam.identities.lookup'],
    seen: 'For an identity that the caller may not read, the answer has the id and no other member. A pair of issuer and subject that nobody registered gets the same answer instead of 404.',
    // facts §3.2, §24.11
    because: 'v2 answers a uid for every pair, and its Get needs identity.list.',
    overGrpc: 'A message cannot lack a member: all but the id look empty.',
    test: 'a lookup of an identity that the caller may not read',
    signs: [
      { at: [''], kinds: ['status'], v1: 404, v2: 200, when: [{ param: 'issuer' }, { param: 'subject' }], v2Shows: ONLY_ID },
      { at: ['/name', '/description', '/created_at', '/updated_at', '/last_seen'], kinds: ['missing'], v2Shows: ONLY_ID, provenBy: HIDDEN },
      { at: ['/claim_match', '/static', '/service_principal', '/aws_identity'], kinds: ['missing'], v2Shows: ONLY_ID, provenBy: HIDDEN },
    ],
  },
  {
    code: 'sync-config-server-members',
    operations: ['registry.repos.create', 'registry.repos.update'],
    met: { sent: ['sync_config'] },
    seen: 'unique_tags, expiration, apko_overlay and grace_period of sync_config may be left out or repeat what is stored. Any other value is refused with 400 code 3, even for staff, whom a genuine v1 lets write them. To compare, the proxy reads the repo, which needs repo.list. A new repo has nothing to repeat.',
    // facts §4.1
    because: 'v2 sets these members itself, and a success would say that they were written.',
    test: 'members of sync_config that v2 keeps to itself',
  },
  {
    code: 'sign-up-providers-gone',
    operations: ['iam.identity_metadata.update'],
    met: { sent: ['onboarding_questions'] },
    seen: 'onboarding_questions.providers is refused with 400 code 3, unless it is empty.',
    // facts §3.3
    because: 'v2 has no such member, and a success would say that it was written.',
    test: 'cloud providers that were named at sign-up',
  },
  {
    code: 'eol-approximated',
    operations: ['registry.eol_tags.list'],
    seen: 'Package name and version, grace status and expiry are unset. tag_status is TAG_INACTIVE for deprecated tags, even if they are built or in grace. It is TAG_ACTIVE for all others, even for superseded builds and tags in grace. It is never TAG_IN_GRACE.',
    // specification §4.6, facts §4.4
    because: 'v2 has no end-of-life data. It says of a tag only whether it is deprecated.',
    test: 'end-of-life tags without package, grace and superseded builds',
    signs: [
      { at: ['/items/*/main_package_name'], kinds: ['value'], v2: '' },
      { at: ['/items/*/main_package_version', '/items/*/grace_period_expiry_date'], kinds: ['type'], v2: null },
      { at: ['/items/*/grace_status'], kinds: ['value'], v2: 'GRACE_NOT_ELIGIBLE' },
      {
        at: ['/items/*/tag_status'],
        kinds: ['value'],
        pairs: [
          ['TAG_ACTIVE', 'TAG_INACTIVE'],
          ['TAG_IN_GRACE', 'TAG_INACTIVE'],
        ],
        provenBy: deprecated(true),
      },
      {
        at: ['/items/*/tag_status'],
        kinds: ['value'],
        pairs: [
          ['TAG_INACTIVE', 'TAG_ACTIVE'],
          ['TAG_IN_GRACE', 'TAG_ACTIVE'],
        ],
        provenBy: deprecated(false),
      },
    ],
  },
  {
    code: 'token-lists-take-windows',
    operations: [
      'registry.eol_tags.list',
      'vulnerabilities.advisories.list',
      'libraries.artifacts.list',
      'advisory.vulnerability_metadata.list',
    ],
    met: { given: ['offset', 'limit', 'page', 'page_number', 'per_page', 'id'] },
    seen: 'offset/limit and page numbers are followed. v1 pages these lists by token and ignores other windows; the proxy ignores wrong ones. A page_token beside an id is ignored.',
    // specification §9.5, facts §10.2
    because:
      'v1 is specified to list by offset or page number, without an exception for these lists. A client that asks for a window gets it, and one that pages by token never notices.',
    test: 'a list that v1 paged by token takes windows too',
    // A row that lies in both windows must be on both sides, so that a row that v2 loses is found.
    signs: [
      { at: ['/items/*'], kinds: ['missing', 'extra'], otherWindow: true },
      { at: ['/next_page_token', '/skipped'], kinds: ['value'], otherWindow: true },
      // An empty window names no parent.
      { at: ['/id'], kinds: ['value'], v2: '', otherWindow: true },
    ],
  },
  {
    code: 'repo-count-lower-bound',
    operations: ['registry.repo_count_by_source.get'],
    seen: 'Only repos that the caller can see are counted, and no caller is refused. An id that is not a uid counts no repos instead of 400. A comparison expects that v2 counts fewer than v1, but not that it counts none.',
    // facts §4.4
    because: 'v2 has no such count, so the proxy lists the repos that the caller can see and counts them.',
    test: 'a count of synced repos sees what the caller sees',
    signs: [
      { at: ['/count'], kinds: ['value'], v2Counts: 'fewer' },
      { at: [''], kinds: ['status'], v1: 403, v2: 200, v2Shows: { count: anything } },
      { at: [''], kinds: ['status'], v1: 400, v2: 200, when: [{ param: 'id', isNot: 'uid' }], v2Shows: { count: '0' } },
    ],
  },
  {
    code: 'summary-narrowed',
    operations: ['registry.repo_tags_summary.get'],
    seen: 'A caller who may not list the tags of a repo gets an empty summary instead of 403. An id that is not a uid gets an empty summary instead of 400.',
    // facts §4.4, §10.8
    because: 'The proxy computes the summary from the list of tags, which v2 narrows to what the caller can see.',
    test: 'a summary of a repo that the caller may not see',
    signs: [
      { at: [''], kinds: ['status'], v1: 403, v2: 200, v2Shows: EMPTY_SUMMARY },
      { at: [''], kinds: ['status'], v1: 400, v2: 200, when: [{ param: 'repo_id', isNot: 'uid' }], v2Shows: EMPTY_SUMMARY },
    ],
  },
  {
    code: 'advisory-moves-lost',
    operations: ['vulnerabilities.advisories.list', 'vulnerabilities.advisory_events.list'],
    seen: 'An event that moved a component (component_location_changed) has no type. Asking for events of that type needs upstream.v1, and is 400 code 3 without it.',
    // facts §5.2, §18
    because: 'v2 has no such event type.',
    test: 'an event that moved a component has no type any more',
    signs: [{ at: ['/items/*/events/*/component_location_changed', '/items/*/component_location_changed'], kinds: ['missing'] }],
  },
  {
    code: 'ecosystems-gone',
    operations: ['libraries.artifacts.list', 'libraries.artifacts.count'],
    seen: 'Every ecosystem except JAVA and PYTHON needs upstream.v1, and is 400 code 3 without it. If a request names none, these two are listed and counted.',
    // facts §6.1, §18
    because: 'v2 has no other ecosystems, and requires a request to name the ones it wants.',
    test: 'ecosystems that v2 does not have',
  },
  {
    code: 'upstream-gone',
    operations: ['libraries.artifacts.list', 'libraries.artifacts.list_versions'],
    met: { given: ['include_upstream'] },
    seen: 'include_upstream=true needs upstream.v1, and is 400 code 3 without it.',
    // facts §6.1
    because: 'v2 has no packages of upstream registries, and an answer without them would be wrong.',
    test: 'packages of upstream registries',
  },
  {
    code: 'version-origin-lost',
    operations: ['libraries.artifacts.list_versions'],
    seen: 'source_type, malware_scanned, malware_malicious and upstream_published_date are unset.',
    // facts §6.1
    because: 'v2 does not say where a version comes from.',
    test: 'where a version comes from',
    signs: [
      { at: ['/items/*/source_type'], kinds: ['value'], v2: 'SOURCE_TYPE_UNSPECIFIED' },
      { at: ['/items/*/malware_scanned', '/items/*/malware_malicious'], kinds: ['value'], v2: false },
      { at: ['/items/*/upstream_published_date'], kinds: ['type'], v2: null },
    ],
  },
  {
    code: 'sink-needs-https',
    operations: ['events.subscriptions.create'],
    seen: 'A sink that does not speak https is refused with 400 code 3.',
    // facts §8, §24.13
    because: 'v2 takes https only, v1 took http too.',
    test: 'a sink speaks https',
  },
]

/** One difference that clients of gRPC alone can see. */
export interface GrpcDifference {
  readonly seen: string
  readonly because: string
}

/** What differs over gRPC, gRPC-Web and Connect besides. */
export const grpcDifferences: readonly GrpcDifference[] = [
  {
    seen: 'A write that may have been done is UNKNOWN (code 2). A genuine v1 says UNAVAILABLE (code 14).',
    because: 'Clients repeat a call that is UNAVAILABLE, even one that creates something.',
  },
  {
    seen: 'An answer of more than limits.messageBytes, or one without room in limits.messagesBytes, is RESOURCE_EXHAUSTED (code 8).',
    because: 'The length of a message stands before it, so a list is held until it is whole.',
  },
  {
    seen: 'The message of an error has at most 1,500 characters, and its details have 3,000 bytes together. A detail that does not fit is left out.',
    because: 'They travel in headers, of which some clients read 8 KiB.',
  },
  {
    seen: 'ListResolvedVulnsReports with image_refs is INVALID_ARGUMENT (code 3) if v2 is asked over REST (upstream.v2Grpc: rest).',
    because: 'It is a list of messages, which no query can hold.',
  },
  {
    seen: 'A read whose id is one segment of a path is INVALID_ARGUMENT (code 3) without upstream.v1 if the id is empty or has a slash: repo_id or digest of GetArchs and GetSize, id of ListVersions. A genuine v1 answers an empty message. With upstream.v1 as gRPC, v1 gets the call as it came.',
    because: 'No request of v2 names such an id, and an empty answer would be one that v2 did not say.',
  },
]
