import type { Dated, Row } from './model.ts'

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
