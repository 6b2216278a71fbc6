import { choice, type Message, messageType, snakeCase, text } from '../messages/message.ts'

/** The organization of the public catalog, under its documented uid (semantics §1). Every caller may sync from it. */
export const PUBLIC_CATALOG_UID = '720909c9f5279097d847ad02a2f24ba8f59de36a'

/** Enums that advisories and the public feed share, by number (facts §18). */

export const FALSE_POSITIVE_TYPES: readonly string[] = [
  'TYPE_UNSPECIFIED',
  'TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED',
  'TYPE_COMPONENT_VULNERABILITY_MISMATCH',
  'TYPE_VULNERABLE_CODE_VERSION_NOT_USED',
  'TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE',
  'TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH',
  'TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY',
  'TYPE_INLINE_MITIGATIONS_EXIST',
]

const SEVERITY_TYPES: readonly string[] = ['TYPE_UNSPECIFIED', 'TYPE_CVSS_V2', 'TYPE_CVSS_V3', 'TYPE_CVSS_V4']

export const REFERENCE_TYPES: readonly string[] = [
  'TYPE_UNSPECIFIED',
  'TYPE_ADVISORY',
  'TYPE_ARTICLE',
  'TYPE_DETECTION',
  'TYPE_DISCUSSION',
  'TYPE_REPORT',
  'TYPE_FIX',
  'TYPE_INTRODUCED',
  'TYPE_PACKAGE',
  'TYPE_EVIDENCE',
  'TYPE_WEB',
]

/** A score in one system. `package_` is the proto package, which declares its own copy. */
export const severityMessage = (package_: string): Message =>
  messageType(`${package_}.Severity`, { type: choice(SEVERITY_TYPES), score: text() })

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

/** Rows about vulnerabilities, with the conventions of `model.ts`. Only genuine v1 shows the members marked "v1 alone". */

export type Severity = { readonly type: string; readonly score: string }

type Note = { readonly note: string }
type Manual = Readonly<Record<string, never>>
type Nvd = { readonly cpeSearched: string; readonly cpeFound: string }

/** The scanner and the age of its data. */
type ScannerRun = { readonly scannerVersion: string; readonly grypeDbBuilt: string; readonly grypeDbChecksum: string }

type Scan = ScannerRun & {
  readonly scanner: string
  readonly componentId: string
  readonly componentVersion: string
  readonly componentType: string
  readonly componentLocation: string
  readonly artifactVersion: string
}

/** At most one member of a detection is set. */
type Detection<Found> = { readonly nvdapi?: Nvd | undefined; readonly manual?: Manual | undefined; readonly scanv1?: Found | undefined }

/** The determination of an event, in advisories and in the feed alike. At most one member is set. */
type Determination = {
  readonly falsePositiveDetermination?: (Note & { readonly type: string }) | undefined
  readonly analysisNotPlanned?: Note | undefined
  readonly fixNotPlanned?: Note | undefined
  readonly pendingUpstreamFix?: Note | undefined
  readonly truePositiveDetermination?: Note | undefined
}

export type AdvisoryEvent = Determination & {
  /** A uid below that of its advisory. */
  readonly uid: string
  readonly createTime: string
  readonly detection?: Detection<Scan & { readonly subpackage: string; readonly component: string }> | undefined
  readonly fixed?: (Note & ScannerRun & { readonly fixedVersion: string }) | undefined
  readonly patched?: (Note & { readonly patchedVersions: readonly string[] }) | undefined
  /** v1 alone: in v2 such an event has no type (facts §5.2). */
  readonly componentLocationChanged?: (Note & { readonly previousLocation: string; readonly newLocation: string }) | undefined
  /** Base64 of a JSON text. */
  readonly findings: string
  readonly author: string
  readonly reviewer: string
  readonly reviewState: string
  readonly issue: string
}

/** An advisory. Its parent is a group. */
export type Advisory = Row &
  Dated & {
    readonly advisoryId: string
    /** Set on a withdrawn advisory, which no caller sees any more. */
    readonly deleteTime?: string | undefined
    readonly author: string
    readonly artifactName: string
    readonly artifactType: string
    readonly artifactArchitecture: string
    readonly componentName: string
    readonly componentLocation: string
    readonly componentType: string
    readonly aliases: readonly string[]
    /** In order of time, oldest first. */
    readonly events: readonly AdvisoryEvent[]
    readonly legacyAdvisoryId: string
    readonly severities: readonly Severity[]
  }

export type DocumentEvent = Determination & {
  readonly timestamp: string
  readonly detection?: Detection<Scan & { readonly subpackageName: string; readonly componentName: string }> | undefined
  readonly fixed?: (ScannerRun & { readonly fixedVersion: string }) | undefined
}

/** The published advisories of one package. `uid` repeats `id`, the name of the package. */
export type AdvisoryDocument = Row & {
  readonly id: string
  readonly advisories: readonly {
    readonly id: string
    readonly events: readonly DocumentEvent[]
    readonly aliases: readonly string[]
    readonly packageNamespace: string
  }[]
}

/** The data of one vulnerability. `uid` repeats `id`, e.g. `CVE-2026-10001`. */
export type VulnerabilityMetadata = Row & {
  readonly id: string
  readonly summary: string
  readonly details: string
  readonly references: readonly { readonly type: string; readonly url: string }[]
  readonly severities: readonly Severity[]
}

export type Group = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly resourceLimits: Readonly<Record<string, number>>
    readonly verified: boolean
    readonly kind: string
    readonly status: string
  }

/** `capabilities` are v2 enum names (`CAP_…`). Built-in roles are root rows. */
export type Role = Row & Dated & { readonly name: string; readonly description: string; readonly capabilities: readonly string[] }

/** The bound group is the parent part of the uid. The hydrated members of the API are looked up at rendering. */
export type RoleBinding = Row & { readonly createTime: string; readonly identityUid: string; readonly roleUid: string }

export type GroupInvite = Row & {
  readonly createTime: string
  readonly roleUid: string
  readonly email: string
  readonly expirationTime: string
  readonly singleUse: boolean
  readonly keyId: string
  /** Only the answer to create renders it (semantics §3.7). */
  readonly code: string
}

/** Its uid is its group's uid. */
export type AccountAssociation = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly amazon?: { readonly account: string } | undefined
    readonly google?: { readonly projectId: string; readonly projectNumber: string } | undefined
    readonly chainguard?: { readonly serviceBindings: Readonly<Record<string, string>> } | undefined
    readonly azure?: { readonly tenantId: string; readonly clientIds: Readonly<Record<string, string>> } | undefined
    readonly github?: { readonly appInstallations: Readonly<Record<string, GitHubAppInstallations>> } | undefined
  }

export type GitHubAppInstallations = {
  readonly installations: readonly { readonly installationId: string; readonly name: string }[]
}

/** Its parent is its identity provider. */
export type ExternalGroupRoleMapping = Row & {
  readonly createTime: string
  readonly identityProviderUid: string
  readonly externalGroupId: string
  readonly roleUid: string
  readonly scope: string
}

/** `uid` is the store's own key (`orgUid/…`). The API shows no uid of an acceptance. */
export type TermsAcceptance = Row & {
  readonly createTime: string
  readonly docId: string
  readonly acceptedBy: string
  readonly orgUid: string
}

export type ClaimMatch = {
  readonly issuer?: string | undefined
  readonly issuerPattern?: string | undefined
  readonly subject?: string | undefined
  readonly subjectPattern?: string | undefined
  readonly audience?: string | undefined
  readonly audiencePattern?: string | undefined
  readonly claims: Readonly<Record<string, string>>
  readonly claimPatterns: Readonly<Record<string, string>>
}

export type StaticKeys = {
  readonly issuer: string
  readonly subject: string
  readonly issuerKeys: string
  readonly expirationTime?: string | undefined
  readonly audiences: readonly string[]
}

type AwsIdentity = {
  readonly awsAccount: string
  readonly arn?: string | undefined
  readonly arnPattern?: string | undefined
  readonly userId?: string | undefined
  readonly userIdPattern?: string | undefined
}

/** The data that `identities:updateIdentityMetadata` stores with an identity (semantics §3.2). */
export type IdentityMetadata = {
  readonly givenName: string
  readonly familyName: string
  readonly company: string
  readonly updatesOptIn: boolean
  readonly product: string
  readonly jobTitle: string
  readonly utmCampaign: string
  readonly utmContent: string
  readonly utmMedium: string
  readonly utmSource: string
  readonly utmTerm: string
  readonly latestFormSubmitUrl: string
  readonly latestInternalReferringUrl: string
  readonly hubspotUtk: string
  readonly selfServe: boolean
}

/** Exactly one of the four relationships is set (semantics §3.2). */
export type Identity = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly email: string
    readonly emailUnverified: string
    readonly company: string
    readonly lastSeenTime?: string | undefined
    readonly claimMatch?: ClaimMatch | undefined
    readonly staticKeys?: StaticKeys | undefined
    readonly awsIdentity?: AwsIdentity | undefined
    readonly servicePrincipal?: string | undefined
    /** Never rendered with the identity. */
    readonly metadata?: IdentityMetadata | undefined
  }

export type Oidc = {
  readonly issuer: string
  readonly clientId: string
  /** Never rendered: input only. */
  readonly clientSecret: string
  readonly additionalScopes: readonly string[]
  readonly groupsClaim: string
  readonly correlationRule: string
  readonly pkceEnabled: boolean
}

export type Scim = {
  readonly enabled: boolean
  readonly endpointUrl: string
  readonly tokenExpireTime?: string | undefined
  readonly previousTokenExpireTime?: string | undefined
  readonly credentialState: string
  readonly etag: string
}

export type IdentityProvider = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly defaultRole: string
    readonly oidc?: Oidc | undefined
    readonly scim?: Scim | undefined
    /** Never rendered: the current SCIM token and its predecessor. */
    readonly scimSecret?: { readonly token: string; readonly previousToken?: string | undefined } | undefined
  }

/** Rows of the libraries domain, with the conventions of `model.ts`. Uids are ids of the ecosystem: `python:requests`. */

export type Artifact = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly ecosystem: string
    readonly latestVersion: string
    readonly versionCount: number
    /** Never rendered: the CUDA versions it is built for. */
    readonly cudaVersions?: readonly string[] | undefined
  }

/** The origin of a version, by number: built from source, built with backported fixes, or taken over unchanged. */
export const SOURCE_TYPES = [
  'SOURCE_TYPE_UNSPECIFIED',
  'SOURCE_TYPE_INTERNAL',
  'SOURCE_TYPE_INTERNAL_REMEDIATED',
  'SOURCE_TYPE_UPSTREAM_REGISTRY',
] as const

export type SourceType = (typeof SOURCE_TYPES)[number]

/** Its uid is `<artifact>:<version>:<source>`. */
export type ArtifactVersion = Row &
  Dated & {
    readonly name: string
    readonly version: string
    readonly description: string
    /** An int64 as a string. */
    readonly sizeBytes: string
    /** Never rendered: the uid of its artifact. */
    readonly artifactUid: string
    /** Only genuine v1 shows the members below. v2 omits upstream versions; so does v1 unless asked for them. */
    readonly sourceType: SourceType
    readonly malwareScanned: boolean
    readonly malwareMalicious: boolean
    readonly upstreamPublishedDate?: string | undefined
  }

export type SyncConfig = {
  /** A repo uid, whichever spelling the client used. */
  readonly source: string
  readonly uniqueTags: boolean
  readonly expirationTime?: string | undefined
  readonly google: string
  readonly amazon: string
  readonly azure: string
  readonly apkoOverlay: string
  readonly gracePeriod: boolean
}

type NamedContent = { readonly name: string; readonly content: string }

export type CustomOverlay = {
  readonly contents?:
    | {
        readonly packages: readonly string[]
        readonly runtimeRepositories: readonly string[]
        readonly runtimeKeyring: readonly NamedContent[]
      }
    | undefined
  readonly environment: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly accounts?: OverlayAccounts | undefined
  readonly certificates?: { readonly additional: readonly NamedContent[]; readonly providers: readonly string[] } | undefined
}

type OverlayAccounts = {
  readonly runAs: string
  readonly users: readonly {
    readonly username: string
    readonly uid: number
    readonly gid: number
    readonly groupName: string
    readonly shell: string
    readonly homeDir: string
  }[]
  readonly groups: readonly { readonly groupname: string; readonly gid: number; readonly members: readonly string[] }[]
}

export type Repo = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly catalogTier: string
    readonly bundles: readonly string[]
    readonly aliases: readonly string[]
    readonly activeTags: readonly string[]
    readonly sync_config?: SyncConfig | undefined
    readonly customOverlay?: CustomOverlay | undefined
  }

/** Keyed by the repo's uid. A repo without a row has an empty readme. */
export type Readme = Row & { readonly content: string }

/** A tag has no create time (facts §4.2). Its parent is its repo. */
export type Tag = Row & {
  readonly updateTime: string
  readonly name: string
  readonly digest: string
  readonly deprecated: boolean
  readonly bundles: readonly string[]
  /** Never rendered with the tag: its earlier targets, oldest first. */
  readonly history?: readonly TagPoint[] | undefined
}

/** A digest that a tag pointed to, and the time from which it did. */
export type TagPoint = { readonly digest: string; readonly updateTime: string }

/** One digest of a repo. `uid` is `<repo uid>@<digest>`; `sizes` is bytes by architecture (layers and config). */
export type Image = Row & { readonly digest: string; readonly sizes: Readonly<Record<string, string>> }

/**
 * The rows of the store, one type for each collection. A row is the v2 resource with exactly its JSON member names (`sync_config` keeps its
 * snake_case, facts §16.1). Unset scalars, lists and maps hold their zero value; only messages, timestamps and oneof members may be
 * undefined. Members under "never rendered" are internal: no API answer shows them.
 */

/** The members of every resource (specification §1). Some resources have no create or update time (facts §25). */
export type Row = {
  readonly uid: string
  readonly createTime?: string | undefined
  readonly updateTime?: string | undefined
}

type Dated = { readonly createTime: string; readonly updateTime: string }

/** The service sends events of the parent group, and of every group below, to `sink`. It has no dates (semantics §3.16). */
export type Subscription = Row & { readonly sink: string }
