import { identityProviders } from '../../v2/iam/identities/identity-providers.ts'
import { scimNow } from '../../v2/iam/scim/scim.ts'
import type { Resource } from '../../v2/resource.ts'
import type { IdentityProvider } from '../../world/identity-model.ts'
import type { Decoded } from '../decode.ts'
import { byName, listOperation } from '../list.ts'
import { identityProvider } from '../messages/providers.ts'
import type { Operation } from '../operation.ts'
import { relaxed } from '../relaxed.ts'
import { createOperation, deleteOperation, replaceOperation, type Written } from '../writes.ts'

const withoutRole = relaxed(identityProviders, 'defaultRole')

/** v1 accepts a provider without a default role (facts §3.6). A given role is checked as in v2. */
const v1Providers: Resource<IdentityProvider> = {
  ...withoutRole,
  checkCreate: (row, act) =>
    (withoutRole.checkCreate?.(row, act) ?? []).filter(({ field }) => field !== 'default_role' || row.defaultRole !== ''),
  checkUpdate: (row, act) =>
    (withoutRole.checkUpdate?.(row, act) ?? []).filter(({ field }) => field !== 'default_role' || row.defaultRole !== ''),
}

/** v1 shows the SCIM state in every read, lists included (facts §10.9). */
const written: Written<IdentityProvider> = {
  resource: v1Providers,
  path: '/iam/v1/identityProviders',
  message: identityProvider,
  view: (row, world) => ({ ...row, scim: scimNow(row, world) }),
}

const ALWAYS = [
  'name',
  'description',
  'defaultRole',
  'oidc.issuer',
  'oidc.clientId',
  'oidc.additionalScopes',
  'oidc.groupsClaim',
  'oidc.pkceEnabled',
]

/** A PUT without a secret keeps the stored one. It may repeat the correlation rule (facts §13). */
function replaced({ oidc = {} }: Decoded): readonly string[] {
  const given = oidc as Decoded
  return [
    ...ALWAYS,
    ...(given['clientSecret'] ? ['oidc.clientSecret'] : []),
    ...(given['correlationRule'] === undefined ? [] : ['oidc.correlationRule']),
  ]
}

/** Identity providers (facts §3.6). */
export const providerOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true, filters: byName }),
  createOperation(written, 'parent_id'),
  replaceOperation(written, replaced),
  deleteOperation(written),
]
