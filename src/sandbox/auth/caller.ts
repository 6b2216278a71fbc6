import { decodeProtectedHeader } from 'jose'
import type { Caller } from '../caller.ts'
import { unauthenticated } from '../status.ts'
import type { World } from '../world/world.ts'
import { readToken } from './access-token.ts'
import { assumeMatchingIdentity } from './assume.ts'
import { peek } from './external-token.ts'
import { isOwnIssuer } from './issuer.ts'

/** The token of an `Authorization: Bearer …` header, or undefined for any other header. */
export const bearerOf = (authorization: string | undefined): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]

const typeOf = (token: string): string | undefined => {
  try {
    return decodeProtectedHeader(token).typ
  } catch {
    return undefined
  }
}

/** Whether the sandbox signed this token as a credential of its own, not as an identity token to be matched. */
const isOwnCredential = (world: World, token: string): boolean =>
  typeOf(token)?.endsWith('+jwt') === true && isOwnIssuer(world, peek(token).iss ?? '')

/**
 * The caller of a credential the sandbox itself gave out: a demo token or an access token. Undefined for a third party's token;
 * UNAUTHENTICATED for an access token that is expired or altered, and for a refresh token.
 */
export const ownCaller = async (world: World, token: string): Promise<Caller | undefined> => {
  const demo = world.tokens.get(token)
  if (demo) return { identityUid: demo.identityUid, everything: demo.everything }
  return isOwnCredential(world, token) ? readToken(world, token, 'at+jwt').catch(() => unauthenticated()) : undefined
}

const callerOfToken = async (world: World, token: string): Promise<Caller> => {
  const own = await ownCaller(world, token)
  return own ?? { identityUid: (await assumeMatchingIdentity(world, token)).identity.uid }
}

/**
 * Who sends a request: a demo token, an access token of the sandbox's own STS, or a third-party JWT that matches exactly one identity
 * (specification §5). Asynchronous because verifying a signature may ask the issuer for its keys. Undefined without a token and for
 * one that is unknown, expired, altered, or stands for an identity that is gone: the router answers these with UNAUTHENTICATED.
 */
export const authenticate = async (world: World, authorization: string | undefined): Promise<Caller | undefined> => {
  const token = bearerOf(authorization)
  // Every way a token can fail to convince looks the same to the one who sent it: no caller.
  const caller = token === undefined ? undefined : await callerOfToken(world, token).catch(() => undefined)
  return caller && world.store.identities.get(caller.identityUid) ? caller : undefined
}
