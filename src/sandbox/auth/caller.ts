import { decodeProtectedHeader } from 'jose'
import type { Caller } from '../caller.ts'
import { unauthenticated } from '../status.ts'
import type { DemoToken, World } from '../world/world.ts'
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

/** True if the sandbox signed this token as a credential, not as an identity token to be matched. */
const isOwnCredential = (world: World, token: string): boolean =>
  typeOf(token)?.endsWith('+jwt') === true && isOwnIssuer(world, peek(token).iss ?? '')

/** A number behind a demo token is another client with the same identity: `demo-viewer-7`. */
const NUMBER = /-\d{1,4}$/

const demoToken = (world: World, token: string): DemoToken | undefined => world.tokens.get(token.replace(NUMBER, ''))

/**
 * The caller of a credential that the sandbox issued: a demo token or an access token. Undefined for a third-party token. UNAUTHENTICATED
 * for a refresh token and for an expired or altered access token.
 */
export const ownCaller = async (world: World, token: string): Promise<Caller | undefined> => {
  const demo = demoToken(world, token)
  if (demo) return { identityUid: demo.identityUid, everything: demo.everything }
  return isOwnCredential(world, token) ? readToken(world, token, 'at+jwt').catch(() => unauthenticated()) : undefined
}

const callerOfToken = async (world: World, token: string): Promise<Caller> => {
  const own = await ownCaller(world, token)
  return own ?? { identityUid: (await assumeMatchingIdentity(world, token)).identity.uid }
}

/**
 * The caller of a request. Its token is a demo token, an access token of the sandbox's STS, or a third-party JWT that matches exactly one
 * identity (specification §5). Asynchronous, because verification may fetch the issuer's keys. Undefined without a token, and for a token
 * that is unknown, expired or altered or whose identity is gone. The router answers these with UNAUTHENTICATED.
 */
export const authenticate = async (world: World, authorization: string | undefined): Promise<Caller | undefined> => {
  const token = bearerOf(authorization)
  // Every invalid token has the same result for its sender: no caller.
  const caller = token === undefined ? undefined : await callerOfToken(world, token).catch(() => undefined)
  return caller && world.store.identities.get(caller.identityUid) ? caller : undefined
}
