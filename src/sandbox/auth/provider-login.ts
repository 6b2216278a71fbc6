import type { JWTPayload } from 'jose'
import type { Caller } from '../caller.ts'
import { notFound, permissionDenied } from '../status.ts'
import { timestamp } from '../world/clock.ts'
import type { Identity, IdentityProvider, Oidc } from '../world/identity-model.ts'
import { newUid, parentOf } from '../world/uid.ts'
import type { World } from '../world/world.ts'
import { denyClaim } from './assume.ts'
import { verifyWithIssuerKeys } from './external-token.ts'
import { humanUid } from './lookup.ts'

/**
 * The groups of a user in the directory. Their roles count for the life of the token, through the current mappings of the provider; no
 * binding is made (semantics §2.6).
 */
export type Session = { readonly provider: string; readonly groups: readonly string[] }

/** A caller who signed in through an identity provider. */
export type SessionCaller = Caller & { readonly session?: Session | undefined }

const textOf = (claim: unknown): string => (typeof claim === 'string' ? claim : '')

/** The claim that identifies the user (semantics §3.3). */
const subjectOf = ({ correlationRule }: Oidc, claims: JWTPayload): string =>
  textOf(correlationRule === 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' ? claims['oid'] : claims.sub)

const newUser = (world: World, uid: string, claims: JWTPayload): Identity => {
  const now = timestamp(world.clock)
  const email = textOf(claims['email'])
  const verified = claims['email_verified'] === true
  return {
    uid,
    name: email || textOf(claims.sub),
    description: '',
    email: verified ? email : '',
    emailUnverified: verified ? '' : email,
    company: '',
    lastSeenTime: now,
    createTime: now,
    updateTime: now,
  }
}

/** The first sign-in creates the user and grants the provider's default role at its organization. */
const register = (world: World, provider: IdentityProvider, uid: string, claims: JWTPayload): void => {
  if (world.store.identities.get(uid)) return
  world.store.identities.put(newUser(world, uid, claims))
  const bindingUid = newUid(world.random, parentOf(provider.uid))
  const binding = { uid: bindingUid, createTime: timestamp(world.clock), identityUid: uid, roleUid: provider.defaultRole }
  world.store.roleBindings.put(binding)
}

const groupsOf = ({ groupsClaim }: Oidc, claims: JWTPayload): readonly string[] => {
  const groups = groupsClaim !== '' && Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined
  return [groups ?? []].flat().filter((group) => typeof group === 'string')
}

const checkClaims = (oidc: Oidc, claims: JWTPayload): void => {
  if (claims.iss !== oidc.issuer) denyClaim('iss')
  if (![claims.aud ?? []].flat().includes(oidc.clientId)) denyClaim('aud')
  if (subjectOf(oidc, claims) === '') denyClaim('sub')
}

/**
 * Signs a user in with a token of the issuer that an identity provider names. The first sign-in registers the user. NOT_FOUND for an
 * unknown provider, PERMISSION_DENIED with the claim if the token is from another issuer or for another client.
 */
export const signIn = async (
  world: World,
  token: string,
  providerUid: string,
): Promise<{ readonly caller: SessionCaller; readonly claims: JWTPayload }> => {
  const provider = world.store.identityProviders.get(providerUid) ?? notFound('iam.IdentityProvider', providerUid)
  const oidc = provider.oidc ?? permissionDenied('the identity provider is not configured')
  const claims = await verifyWithIssuerKeys(world, token)
  checkClaims(oidc, claims)
  const uid = humanUid(oidc.issuer, subjectOf(oidc, claims))
  register(world, provider, uid, claims)
  const groups = groupsOf(oidc, claims)
  return { caller: { identityUid: uid, ...(groups.length > 0 && { session: { provider: provider.uid, groups } }) }, claims }
}
