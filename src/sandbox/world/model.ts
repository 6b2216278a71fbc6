/**
 * The rows of the store, one type a collection. A row is the v2 resource with exactly its JSON member names (`sync_config` keeps its
 * snake_case, facts §16.1) and every scalar, list and map filled with its zero value when unset; only messages, timestamps and oneof
 * members may be undefined. Members under "never rendered" are the service's own: no API answer shows them.
 */

/** What every resource has (specification §1). Some resources know no create or update time (facts §25). */
export type Row = {
  readonly uid: string
  readonly createTime?: string | undefined
  readonly updateTime?: string | undefined
}

export type Dated = { readonly createTime: string; readonly updateTime: string }

export type Group = Row &
  Dated & {
    readonly name: string
    readonly description: string
    readonly resourceLimits: Readonly<Record<string, number>>
    readonly verified: boolean
    readonly kind: string
    readonly status: string
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

export type AwsIdentity = {
  readonly awsAccount: string
  readonly arn?: string | undefined
  readonly arnPattern?: string | undefined
  readonly userId?: string | undefined
  readonly userIdPattern?: string | undefined
}

/** What `identities:updateIdentityMetadata` keeps beside an identity (semantics §3.2). */
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
    /** Never rendered: the SCIM token in force and the one it replaced. */
    readonly scimSecret?: { readonly token: string; readonly previousToken?: string | undefined } | undefined
  }

/** `capabilities` are v2 enum names (`CAP_…`). Built-in roles are root rows. */
export type Role = Row & Dated & { readonly name: string; readonly description: string; readonly capabilities: readonly string[] }

/** The bound group is the parent part of the uid; the hydrated members of the API are looked up when it is rendered. */
export type RoleBinding = Row & { readonly createTime: string; readonly identityUid: string; readonly roleUid: string }

export type GroupInvite = Row & {
  readonly createTime: string
  readonly roleUid: string
  readonly email: string
  readonly expirationTime: string
  readonly singleUse: boolean
  readonly keyId: string
  /** Rendered in the answer to create only (semantics §3.7). */
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

/** `uid` is the store's own key (`orgUid/…`): the API shows none for an acceptance. */
export type TermsAcceptance = Row & {
  readonly createTime: string
  readonly docId: string
  readonly acceptedBy: string
  readonly orgUid: string
}

export type SyncConfig = {
  /** A repo uid, whatever spelling the client used. */
  readonly source: string
  readonly uniqueTags: boolean
  readonly expirationTime?: string | undefined
  readonly google: string
  readonly amazon: string
  readonly azure: string
  readonly apkoOverlay: string
  readonly gracePeriod: boolean
}

export type NamedContent = { readonly name: string; readonly content: string }

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

export type OverlayAccounts = {
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

/** Keyed by the repo's uid; no row is an empty readme. */
export type Readme = Row & { readonly content: string }

/** A tag has no create time (facts §4.2). Its parent is its repo. */
export type Tag = Row & {
  readonly updateTime: string
  readonly name: string
  readonly digest: string
  readonly deprecated: boolean
  readonly bundles: readonly string[]
  /** Never rendered with the tag: what it pointed to before, oldest first. */
  readonly history?: readonly TagPoint[] | undefined
}

/** A digest a tag pointed to, and since when. */
export type TagPoint = { readonly digest: string; readonly updateTime: string }

/** One digest of a repo: `uid` is `<repo uid>@<digest>`; bytes by architecture (layers and config). */
export type Image = Row & { readonly digest: string; readonly sizes: Readonly<Record<string, string>> }

/** Events of its parent group, and of every group below, are sent to `sink`. It has no dates (semantics §3.16). */
export type Subscription = Row & { readonly sink: string }
