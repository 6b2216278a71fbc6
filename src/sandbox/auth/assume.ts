import type { JWTPayload } from 'jose'
import { notFound, permissionDenied } from '../status.ts'
import type { Identity, StaticKeys } from '../world/identity-model.ts'
import type { World } from '../world/world.ts'
import { matchesPattern, mismatchedClaim } from './claim-match.ts'
import { peek, verifyWithIssuerKeys, verifyWithStoredKeys } from './external-token.ts'
import { humanUid } from './lookup.ts'

/** An identity and the verified claims that let a token act as it. */
type Assumed = { readonly identity: Identity; readonly claims: JWTPayload }

/** The audiences of this service, for an identity that names none of its own (semantics §2.6). */
const defaultAudiences = (world: World): readonly string[] => {
  const { host, hostname } = new URL(world.baseUrl())
  return [world.baseUrl(), host, hostname]
}

/** Throws PERMISSION_DENIED and names the claim that does not match (semantics §2.6). */
export const denyClaim = (claim: string): never => permissionDenied(`token does not match the identity: invalid ${JSON.stringify(claim)}`)

const staticMismatch = (keys: StaticKeys, claims: JWTPayload, audiences: readonly string[]): string | undefined => {
  const [wanted] = keys.audiences
  const given = [claims.aud ?? []].flat()
  if (claims.iss !== keys.issuer) return 'iss'
  if (claims.sub !== keys.subject) return 'sub'
  return given.some((audience) => (wanted === undefined ? audiences.includes(audience) : audience === wanted)) ? undefined : 'aud'
}

const assumeStatic = async (world: World, token: string, identity: Identity, keys: StaticKeys): Promise<Assumed> => {
  if (keys.expirationTime !== undefined && Date.parse(keys.expirationTime) <= world.clock.now().getTime()) {
    return permissionDenied('the keys of the identity have expired')
  }
  const claims = await verifyWithStoredKeys(world, token, keys.issuerKeys)
  const mismatch = staticMismatch(keys, claims, defaultAudiences(world))
  return mismatch === undefined ? { identity, claims } : denyClaim(mismatch)
}

/**
 * Assumes the identity of that uid with a third-party token. Exactly one relationship decides: claim match or static keys. AWS and
 * service-principal identities cannot be assumed here: only their own services can vouch for them. NOT_FOUND for an unknown uid,
 * PERMISSION_DENIED with the claim that does not match (semantics §2.6).
 */
export const assumeIdentity = async (world: World, token: string, uid: string): Promise<Assumed> => {
  const identity = world.store.identities.get(uid) ?? notFound('iam.Identity', uid)
  if (identity.staticKeys) return assumeStatic(world, token, identity, identity.staticKeys)
  if (!identity.claimMatch) return permissionDenied('the identity cannot be assumed with an OIDC token')
  const claims = await verifyWithIssuerKeys(world, token)
  const mismatch = mismatchedClaim(identity.claimMatch, claims, defaultAudiences(world))
  return mismatch === undefined ? { identity, claims } : denyClaim(mismatch)
}

/** Assumes the identity of the user who owns the token. PERMISSION_DENIED "identity not registered" if that user is unknown. */
export const assumeOwnIdentity = async (world: World, token: string): Promise<Assumed> => {
  const claims = await verifyWithIssuerKeys(world, token)
  const identity = world.store.identities.get(humanUid(claims.iss ?? '', claims.sub ?? ''))
  return identity ? { identity, claims } : permissionDenied('identity not registered')
}

/** Excludes identities that any issuer can vouch for: an exchange must ask for them by name. */
const isFor = (identity: Identity, { iss = '', sub = '' }: JWTPayload): boolean => {
  const { staticKeys, claimMatch } = identity
  if (staticKeys) return staticKeys.issuer === iss && staticKeys.subject === sub
  if (claimMatch?.issuer !== iss) return false
  return claimMatch.subject ? claimMatch.subject === sub : matchesPattern(claimMatch.subjectPattern ?? '', sub)
}

const namesSubject = ({ staticKeys, claimMatch }: Identity): boolean => staticKeys !== undefined || Boolean(claimMatch?.subject)

/**
 * Finds the identity that a bearer token matches without an exchange (specification §5). The registered user comes first, then the one
 * identity whose relationship matches; an exact subject beats a pattern. PERMISSION_DENIED if no identity matches, or several.
 */
export const assumeMatchingIdentity = async (world: World, token: string): Promise<Assumed> => {
  const claims = peek(token)
  if (world.store.identities.get(humanUid(claims.iss ?? '', claims.sub ?? ''))) return assumeOwnIdentity(world, token)
  const candidates = world.store.identities.values().filter((identity) => isFor(identity, claims))
  const attempts = await Promise.allSettled(candidates.map(({ uid }) => assumeIdentity(world, token, uid)))
  const assumed = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
  const named = assumed.filter(({ identity }) => namesSubject(identity))
  const [first, second] = named.length > 0 ? named : assumed
  return first && !second ? first : permissionDenied('the token matches no single identity')
}
