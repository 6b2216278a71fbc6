import { exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose'
import type { Store } from '../world/store.ts'
import type { World } from '../world/world.ts'

/** The sandbox's own OIDC issuer. It signs the access tokens of the STS and acts as a third-party issuer in demos and tests. */
export type Issuer = {
  /** The public keys, as `/.well-known/jwks.json` shows them. */
  readonly keys: JSONWebKeySet
  readonly sign: (claims: JWTPayload, tokenType: TokenType) => Promise<string>
}

/** The `typ` of the JWT header. It separates access tokens of the sandbox from identity tokens of the same issuer (RFC 9068). */
export type TokenType = 'JWT' | 'at+jwt' | 'rt+jwt'

const KEY_ID = 'sandbox-1'

const createIssuer = async (): Promise<Issuer> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const publicJwk = { ...(await exportJWK(publicKey)), kid: KEY_ID, alg: 'RS256', use: 'sig' }
  return {
    keys: { keys: [publicJwk] },
    sign: (claims, tokenType) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KEY_ID, typ: tokenType }).sign(privateKey),
  }
}

const issuers = new WeakMap<Store, Promise<Issuer>>()

/** The issuer of a store. Its key is made on first use and lives as long as the store, so a restart invalidates every token. */
export const issuerOf = ({ store }: World): Promise<Issuer> => {
  const known = issuers.get(store)
  if (known !== undefined) return known
  const made = createIssuer()
  issuers.set(store, made)
  return made
}

/** True if `issuer` is the sandbox's base URL or a path below it. Paths let one sandbox act as several issuers. */
export const isOwnIssuer = (world: World, issuer: string): boolean => issuer === world.baseUrl() || issuer.startsWith(`${world.baseUrl()}/`)

/** The `iat` and `exp` claims of a token that expires in `seconds`. */
export const lifetime = (world: World, seconds: number): { readonly iat: number; readonly exp: number } => {
  const iat = Math.floor(world.clock.now().getTime() / 1000)
  return { iat, exp: iat + seconds }
}
