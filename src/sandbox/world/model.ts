import { choice, messageType, type RowOf, snakeCase, text, valuesOf } from '../messages/message.ts'
import type { documentMessage, metadataMessage } from '../v2/advisory.ts'
import type { subscriptionMessage } from '../v2/events.ts'
import type { acceptanceMessage, accountAssociationMessage, groupInviteMessage, groupMessage } from '../v2/iam/groups.ts'
import type { identityMessage, identityMetadataMessage } from '../v2/iam/identities.ts'
import type { externalGroupRoleMappingMessage, identityProviderMessage } from '../v2/iam/providers.ts'
import type { roleBindingMessage, roleMessage } from '../v2/iam/roles.ts'
import type { artifactMessage, artifactVersionMessage } from '../v2/libraries.ts'
import type { readmeMessage, repoMessage } from '../v2/registry/repos.ts'
import type { tagMessage } from '../v2/registry/tags.ts'
import type { advisoryEventMessage, advisoryMessage } from '../v2/vulnerabilities.ts'

/** The organization of the public catalog, under its documented uid (semantics §1). Every caller may sync from it. */
export const PUBLIC_CATALOG_UID = '720909c9f5279097d847ad02a2f24ba8f59de36a'

/** Enums that advisories and the public feed share, by number (facts §18). */

export const FALSE_POSITIVE_TYPES = valuesOf(
  'TYPE',
  'VULNERABILITY_RECORD_ANALYSIS_CONTESTED',
  'COMPONENT_VULNERABILITY_MISMATCH',
  'VULNERABLE_CODE_VERSION_NOT_USED',
  'VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE',
  'VULNERABLE_CODE_NOT_IN_EXECUTION_PATH',
  'VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY',
  'INLINE_MITIGATIONS_EXIST',
)

export const SEVERITY_TYPES = valuesOf('TYPE', 'CVSS_V2', 'CVSS_V3', 'CVSS_V4')

export const REFERENCE_TYPES = valuesOf(
  'TYPE',
  'ADVISORY',
  'ARTICLE',
  'DETECTION',
  'DISCUSSION',
  'REPORT',
  'FIX',
  'INTRODUCED',
  'PACKAGE',
  'EVIDENCE',
  'WEB',
)

/** A score in one system. `package_` is the proto package, which declares its own copy. */
export const severityMessage = (package_: string) => messageType(`${package_}.Severity`, { type: choice(SEVERITY_TYPES), score: text() })

/** The members that determine the kind of an event, in the order of the filter enum's numbers, which start at 1 (facts §18). */
const EVENT_KINDS = [
  'detection',
  'truePositiveDetermination',
  'fixed',
  'falsePositiveDetermination',
  'analysisNotPlanned',
  'fixNotPlanned',
  'pendingUpstreamFix',
  'patched',
  'componentLocationChanged',
] as const satisfies readonly (keyof AdvisoryEvent)[]

type EventKind = (typeof EVENT_KINDS)[number]

/** The filter's name of a kind: `EVENT_TYPE_FILTER_FIX_NOT_PLANNED`. */
const filterName = (kind: EventKind): string => `EVENT_TYPE_FILTER_${snakeCase(kind).toUpperCase()}`

/** The values of the filter enum, by number, for the first `count` kinds. v2 lacks the last one. */
export const eventTypeNames = (count: number): readonly string[] => [
  'EVENT_TYPE_FILTER_UNSPECIFIED',
  ...EVENT_KINDS.slice(0, count).map(filterName),
]

/** The filter's name of the kind of `event`; undefined for an event without a type. */
export const eventType = (event: AdvisoryEvent): string | undefined => {
  const kind = EVENT_KINDS.find((name) => event[name] !== undefined)
  return kind && filterName(kind)
}

/** The current state of an advisory: its newest event approved by `at` (milliseconds), if any. */
export const latestApproved = ({ events }: Advisory, at = Number.POSITIVE_INFINITY): AdvisoryEvent | undefined =>
  events.filter(({ reviewState, createTime }) => reviewState === 'REVIEW_STATE_APPROVED' && Date.parse(createTime) <= at).at(-1)

/**
 * The rows of the store, one type for each collection. A row is the v2 resource with exactly its JSON member names (`sync_config` keeps its
 * snake_case, facts §16.1), so its type follows from its message. Unset scalars, lists and maps hold their zero value; only messages,
 * timestamps and oneof members may be undefined. Members added here are internal: no answer of v2 shows them.
 */

/** The members of every resource (specification §1). Some resources have no create or update time (facts §25). */
export type Row = {
  readonly uid: string
  readonly createTime?: string | undefined
  readonly updateTime?: string | undefined
}

export type AdvisoryEvent = RowOf<typeof advisoryEventMessage> & {
  /** v1 alone: in v2 such an event has no type (facts §5.2). */
  readonly componentLocationChanged?: { readonly note: string; readonly previousLocation: string; readonly newLocation: string } | undefined
}

/** Its parent is a group. `events` are in order of time, oldest first. No caller sees an advisory with a `deleteTime`. */
export type Advisory = Omit<RowOf<typeof advisoryMessage>, 'events'> & { readonly events: readonly AdvisoryEvent[] }

export type Severity = Advisory['severities'][number]

/** The published advisories of one package. `uid` repeats `id`, the name of the package. */
export type AdvisoryDocument = Row & RowOf<typeof documentMessage>

export type DocumentEvent = AdvisoryDocument['advisories'][number]['events'][number]

/** The data of one vulnerability. `uid` repeats `id`, e.g. `CVE-2026-10001`. */
export type VulnerabilityMetadata = Row & RowOf<typeof metadataMessage>

export type Group = RowOf<typeof groupMessage>

/** `capabilities` are v2 enum names (`CAP_…`). Built-in roles are root rows. */
export type Role = RowOf<typeof roleMessage>

/** The bound group is the parent part of the uid. The hydrated members of the API are looked up at rendering. */
export type RoleBinding = RowOf<typeof roleBindingMessage>

/** Only the answer to create renders the code (semantics §3.7). */
export type GroupInvite = Omit<RowOf<typeof groupInviteMessage>, 'ttl' | 'role'> & { readonly expirationTime: string }

/** Its uid is its group's uid. */
export type AccountAssociation = RowOf<typeof accountAssociationMessage>

/** Its parent is its identity provider. */
export type ExternalGroupRoleMapping = RowOf<typeof externalGroupRoleMappingMessage>

/** `uid` is the store's own key (`orgUid/…`). The API shows no uid of an acceptance. */
export type TermsAcceptance = Row & RowOf<typeof acceptanceMessage>

/** The data that `identities:updateIdentityMetadata` stores with an identity (semantics §3.2). */
export type IdentityMetadata = Omit<RowOf<typeof identityMetadataMessage>, 'uid' | 'name'>

/** Exactly one of the four relationships is set (semantics §3.2). */
export type Identity = RowOf<typeof identityMessage> & { readonly metadata?: IdentityMetadata | undefined }

export type ClaimMatch = NonNullable<Identity['claimMatch']>
export type StaticKeys = NonNullable<Identity['staticKeys']>

/** The secret is the current SCIM token and its predecessor. */
export type IdentityProvider = RowOf<typeof identityProviderMessage> & {
  readonly scimSecret?: { readonly token: string; readonly previousToken?: string | undefined } | undefined
}

export type Oidc = NonNullable<IdentityProvider['oidc']>
export type Scim = NonNullable<IdentityProvider['scim']>

/** Uids of the libraries are ids of the ecosystem: `python:requests`. `cudaVersions` are those it is built for. */
export type Artifact = RowOf<typeof artifactMessage> & { readonly cudaVersions?: readonly string[] | undefined }

/** The origin of a version, by number: built from source, built with backported fixes, or taken over unchanged. */
export const SOURCE_TYPES = [
  'SOURCE_TYPE_UNSPECIFIED',
  'SOURCE_TYPE_INTERNAL',
  'SOURCE_TYPE_INTERNAL_REMEDIATED',
  'SOURCE_TYPE_UPSTREAM_REGISTRY',
] as const

export type SourceType = (typeof SOURCE_TYPES)[number]

/** Its uid is `<artifact>:<version>:<source>`. v2 omits upstream versions; so does v1 unless asked for them. */
export type ArtifactVersion = RowOf<typeof artifactVersionMessage> & {
  readonly artifactUid: string
  /** Only genuine v1 shows the members below. */
  readonly sourceType: SourceType
  readonly malwareScanned: boolean
  readonly malwareMalicious: boolean
  readonly upstreamPublishedDate?: string | undefined
}

/** The source of `sync_config` is stored as a repo uid, whichever spelling the client used. */
export type Repo = RowOf<typeof repoMessage>

export type SyncConfig = NonNullable<Repo['sync_config']>
export type CustomOverlay = NonNullable<Repo['customOverlay']>

/** Keyed by the repo's uid. A repo without a row has an empty readme. */
export type Readme = RowOf<typeof readmeMessage>

/** A tag has no create time (facts §4.2). Its parent is its repo. */
export type Tag = RowOf<typeof tagMessage> & {
  /** The earlier targets, oldest first. */
  readonly history?: readonly TagPoint[] | undefined
  /** The time from which it points to its digest, if it was written since. */
  readonly since?: string | undefined
}

/** A digest that a tag pointed to, and the time from which it did. */
export type TagPoint = { readonly digest: string; readonly updateTime: string }

/** One digest of a repo. `uid` is `<repo uid>@<digest>`; `sizes` is bytes by architecture (layers and config). */
export type Image = Row & { readonly digest: string; readonly sizes: Readonly<Record<string, string>> }

/** The service sends events of the parent group, and of every group below, to `sink`. It has no dates (semantics §3.16). */
export type Subscription = RowOf<typeof subscriptionMessage>
