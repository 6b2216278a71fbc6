import type { Dated, Row } from './model.ts'

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
