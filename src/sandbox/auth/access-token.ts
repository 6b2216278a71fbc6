import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { unauthenticated } from '../status.ts'
import type { World } from '../world/world.ts'
import { issuerOf, lifetime, type TokenType } from './issuer.ts'
import type { SessionCaller } from './provider-login.ts'

/** Seconds: an hour for an access token, 30 days for a refresh token (semantics §2.5; the second is an assumption). */
const LIFETIME: Readonly<Record<'at+jwt' | 'rt+jwt', number>> = { 'at+jwt': 3600, 'rt+jwt': 30 * 24 * 3600 }

/** A signed token and the instant it expires, RFC 3339. */
export type IssuedToken = { readonly token: string; readonly expiry: string }

/** The content of a token. `act` records claims of the external token (semantics §2.5). */
type Grantee = { readonly caller: SessionCaller; readonly audience: readonly string[]; readonly act?: JWTPayload | undefined }

/** The registered claims, the restrictions of the caller and the groups of a sign-in. */
type OurClaims = JWTPayload & Omit<SessionCaller, 'identityUid'>

/** Signs an access token (`at+jwt`) or a refresh token (`rt+jwt`) for a caller. */
export const issueToken = async (world: World, tokenType: 'at+jwt' | 'rt+jwt', grantee: Grantee): Promise<IssuedToken> => {
  const { caller, audience, act } = grantee
  const times = lifetime(world, LIFETIME[tokenType])
  const { identityUid, ...restrictions } = caller
  const [only] = audience
  const claims = { iss: world.baseUrl(), sub: identityUid, aud: audience.length === 1 ? only : [...audience], ...times, ...restrictions }
  const issuer = await issuerOf(world)
  const token = await issuer.sign({ ...claims, ...(act && { act }) } as JWTPayload, tokenType)
  return { token, expiry: new Date(times.exp * 1000).toISOString() }
}

/**
 * Returns the caller of a token of the sandbox. Rejects if the token is foreign, expired or altered, or if its identity is gone. The
 * audience is not checked: the sandbox has several addresses, its own and a proxy's (ASSUMPTIONS.md, "Tokens").
 */
export const readToken = async (world: World, token: string, typ: TokenType): Promise<SessionCaller> => {
  const { keys } = await issuerOf(world)
  const verified = await jwtVerify<OurClaims>(token, createLocalJWKSet(keys), {
    issuer: world.baseUrl(),
    typ,
    currentDate: world.clock.now(),
    requiredClaims: ['sub', 'exp'],
  })
  const { sub = '', scopes, capabilities, everything, session } = verified.payload
  if (!world.store.identities.get(sub)) unauthenticated()
  return { identityUid: sub, scopes, capabilities, everything, session }
}
