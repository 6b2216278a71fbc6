import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { permissionDenied, unauthenticated } from '../status.ts'
import type { World } from '../world/world.ts'
import { discoverKeys } from './discovery.ts'
import { isOwnIssuer, issuerOf } from './issuer.ts'

/** Reads the claims without verification, only to choose how to verify. UNAUTHENTICATED if the token is not a JWT. */
export const peek = (token: string): JWTPayload => {
  try {
    return decodeJwt(token)
  } catch {
    return unauthenticated()
  }
}

/** `2026-01-02 03:04:05 +0000 UTC`: the time format of the service in this message (semantics §2.6). */
const expiryText = (seconds: number | undefined): string =>
  new Date((seconds ?? 0) * 1000).toISOString().replace('T', ' ').replace('.000Z', ' +0000 UTC')

const refuse = (error: unknown): never => {
  if (error instanceof errors.JWTExpired) {
    return permissionDenied(`verifying token: oidc: token is expired (Token Expiry: ${expiryText(error.payload.exp)})`)
  }
  if (error instanceof errors.JOSEError || error instanceof TypeError) return permissionDenied(`verifying token: ${error.message}`)
  throw error
}

const verify = async (world: World, token: string, keys: JWTVerifyGetKey): Promise<JWTPayload> => {
  const options = { currentDate: world.clock.now(), requiredClaims: ['iss', 'sub', 'exp'] }
  const verified = await jwtVerify(token, keys, options).catch(refuse)
  return verified.payload
}

/**
 * Verifies a third-party token with its issuer's keys (the sandbox's, or those found by discovery on a loopback address). Returns its
 * claims. PERMISSION_DENIED with a text that begins "verifying token:" if verification fails (semantics §2.6).
 */
export const verifyWithIssuerKeys = async (world: World, token: string): Promise<JWTPayload> => {
  const { iss = '' } = peek(token)
  const keys = isOwnIssuer(world, iss) ? createLocalJWKSet((await issuerOf(world)).keys) : await discoverKeys(iss)
  return verify(world, token, keys)
}

/** The same with a stored key set (static_keys); the issuer is not contacted. */
export const verifyWithStoredKeys = (world: World, token: string, issuerKeys: string): Promise<JWTPayload> => {
  const keys = JSON.parse(issuerKeys) as JSONWebKeySet
  return verify(world, token, createLocalJWKSet(keys))
}
