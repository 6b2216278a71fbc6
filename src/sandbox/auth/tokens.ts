import { createHash } from 'node:crypto'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
  SignJWT,
} from 'jose'
import { z } from 'zod'
import { isObject, LAST_TIME } from '../messages/message.ts'
import { invalidField, notFound, permissionDenied, unauthenticated } from '../status.ts'
import type { ClaimMatch, Identity } from '../world/model.ts'
import type { World } from '../world/store.ts'
import type { SessionCaller } from './sts.ts'

/** The sandbox's own OIDC issuer. It signs the access tokens of the STS and acts as a third-party issuer in demos and tests. */
type Issuer = {
  /** The public keys, as `/.well-known/jwks.json` shows them. */
  readonly keys: JSONWebKeySet
  readonly sign: (claims: JWTPayload, tokenType: TokenType) => Promise<string>
}

/** The `typ` of the JWT header. It separates access tokens of the sandbox from identity tokens of the same issuer (RFC 9068). */
type TokenType = 'JWT' | 'at+jwt' | 'rt+jwt'

const KEY_ID = 'sandbox-1'

const createIssuer = async (): Promise<Issuer> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const publicJwk = { ...(await exportJWK(publicKey)), kid: KEY_ID, alg: 'RS256', use: 'sig' }
  return {
    keys: { keys: [publicJwk] },
    sign: (claims, tokenType) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KEY_ID, typ: tokenType }).sign(privateKey),
  }
}

let issuer: Promise<Issuer> | undefined

/** The issuer of this process. Its keys are made on first use, which takes 200 ms. A restart invalidates every token. */
export const ownIssuer = (): Promise<Issuer> => {
  issuer ??= createIssuer()
  return issuer
}

/** True if `issuer` is the sandbox's base URL or a path below it. Paths let one sandbox act as several issuers. */
export const isOwnIssuer = (world: World, issuer: string): boolean => issuer === world.baseUrl() || issuer.startsWith(`${world.baseUrl()}/`)

/** The `iat` and `exp` claims of a token that expires in `seconds`. */
export const lifetime = (world: World, seconds: number): { readonly iat: number; readonly exp: number } => {
  const iat = Math.floor(world.clock.now().getTime() / 1000)
  return { iat, exp: iat + seconds }
}

/** Seconds: an hour for an access token, 30 days for a refresh token (semantics §2.5; the second is an assumption). */
const LIFETIME: Readonly<Record<'at+jwt' | 'rt+jwt', number>> = { 'at+jwt': 3600, 'rt+jwt': 30 * 24 * 3600 }

/** A signed token and the instant it expires, RFC 3339. */
type IssuedToken = { readonly token: string; readonly expiry: string }

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
  const { sign } = await ownIssuer()
  const token = await sign({ ...claims, ...(act && { act }) } as JWTPayload, tokenType)
  return { token, expiry: new Date(times.exp * 1000).toISOString() }
}

/**
 * Returns the caller of a token of the sandbox. Rejects if the token is foreign, expired or altered, or if its identity is gone. The
 * audience is not checked: the sandbox has several addresses, its own and a proxy's (ASSUMPTIONS.md, "Tokens").
 */
export const readToken = async (world: World, token: string, typ: TokenType): Promise<SessionCaller> => {
  const { keys } = await ownIssuer()
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

/** Host names of this machine as `URL` writes them. It normalises every spelling of an IPv4 address. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/

/** True if a URL leads to this machine. */
export const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.test(hostname)

const DISCOVERY_TIMEOUT_MS = 5_000

const readConfiguration = async (issuer: string): Promise<unknown> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(DISCOVERY_TIMEOUT_MS) })
  return response.json()
}

/**
 * Discovers the keys of a third-party issuer by OIDC from its URL. PERMISSION_DENIED if the issuer or its key set does not answer or is not
 * on a loopback address.
 */
const discoverKeys = async (issuer: string): Promise<JWTVerifyGetKey> => {
  // The sandbox must not become a way to reach other hosts.
  if (!URL.canParse(issuer) || !isLoopback(new URL(issuer)))
    return permissionDenied(`verifying token: issuer ${issuer} is not on this machine; store its keys as static_keys`)
  const configuration = await readConfiguration(issuer).catch(() => permissionDenied(`verifying token: issuer ${issuer} does not answer`))
  const keysUrl = isObject(configuration) ? configuration['jwks_uri'] : undefined
  if (typeof keysUrl !== 'string' || !URL.canParse(keysUrl) || !isLoopback(new URL(keysUrl)))
    return permissionDenied(`verifying token: issuer ${issuer} names no usable jwks_uri`)
  return createRemoteJWKSet(new URL(keysUrl))
}

/** Reads the claims without verification, only to choose how to verify. UNAUTHENTICATED if the token is no JWT, or its issuer no text. */
export const peek = (token: string): JWTPayload => {
  try {
    const claims: JWTPayload & { readonly iss?: unknown } = decodeJwt(token)
    return typeof (claims.iss ?? '') === 'string' ? claims : unauthenticated()
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
  // Keys come from outside: a broken one is an error of jose, of Node or of its WebCrypto.
  return permissionDenied(`verifying token: ${error instanceof Error ? error.message : String(error)}`)
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
  const keys = isOwnIssuer(world, iss) ? createLocalJWKSet((await ownIssuer()).keys) : await discoverKeys(iss)
  return verify(world, token, keys)
}

/** The same with a stored key set (static_keys); the issuer is not contacted. */
export const verifyWithStoredKeys = (world: World, token: string, issuerKeys: string): Promise<JWTPayload> =>
  verify(world, token, (...asked) => createLocalJWKSet(JSON.parse(issuerKeys) as JSONWebKeySet)(...asked))

/** A pattern must match the whole value. An invalid regular expression matches nothing (ASSUMPTIONS.md, "Tokens"). */
export const matchesPattern = (pattern: string, value: string): boolean => {
  try {
    return new RegExp(`^(?:${pattern})$`).test(value)
  } catch {
    return false
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'object' || value === undefined ? undefined : String(value))

/** The check of one claim: its name, its values in the token, and the test that one of them must pass. */
type Check = { readonly claim: string; readonly values: readonly string[]; readonly passes: (value: string) => boolean }

const exactOrPattern = (exact: string | undefined, pattern: string | undefined): ((value: string) => boolean) | undefined => {
  if (exact) return (value) => value === exact
  return pattern ? (value) => matchesPattern(pattern, value) : undefined
}

const never = (): boolean => false

const ownClaim = (payload: JWTPayload, claim: string): readonly string[] => {
  const text = Object.hasOwn(payload, claim) ? textOf(payload[claim]) : undefined
  return text === undefined ? [] : [text]
}

const checksOf = (match: ClaimMatch, payload: JWTPayload, defaultAudiences: readonly string[]): readonly Check[] => [
  { claim: 'iss', values: [payload.iss ?? []].flat(), passes: exactOrPattern(match.issuer, match.issuerPattern) ?? never },
  { claim: 'sub', values: [payload.sub ?? []].flat(), passes: exactOrPattern(match.subject, match.subjectPattern) ?? never },
  {
    claim: 'aud',
    values: [payload.aud ?? []].flat(),
    passes: exactOrPattern(match.audience, match.audiencePattern) ?? ((value) => defaultAudiences.includes(value)),
  },
  ...Object.entries(match.claims).map(([claim, wanted]) => ({
    claim,
    values: ownClaim(payload, claim),
    passes: (value: string) => value === wanted,
  })),
  ...Object.entries(match.claimPatterns).map(([claim, pattern]) => ({
    claim,
    values: ownClaim(payload, claim),
    passes: (value: string) => matchesPattern(pattern, value),
  })),
]

/**
 * The first claim of a verified token that does not match, or undefined if all match (semantics §2.6). A match without an audience requires
 * one of `defaultAudiences`.
 */
export const mismatchedClaim = (match: ClaimMatch, payload: JWTPayload, defaultAudiences: readonly string[]): string | undefined =>
  checksOf(match, payload, defaultAudiences).find(({ values, passes }) => !values.some(passes))?.claim

/**
 * The root uid of the user known as `subject` at `issuer`. It is computed, not random, because `lookupIdentity` returns it even before the
 * user's first sign-in. The real algorithm is unknown (ASSUMPTIONS.md, "Identities").
 */
export const humanUid = (issuer: string, subject: string): string => createHash('sha1').update(`${issuer}\n${subject}`).digest('hex')

const isFor = (identity: Identity, issuer: string, subject: string): boolean => {
  const relationship = identity.claimMatch ?? identity.staticKeys
  return relationship?.issuer === issuer && relationship.subject === subject
}

/**
 * The uid of `subject` at `issuer` (semantics §3.2): that of the registered user, else of an identity for exactly this pair, else the
 * future uid of the user.
 */
export const lookupIdentityUid = (world: World, issuer: string, subject: string): string => {
  const { identities } = world.store
  const uid = humanUid(issuer, subject)
  if (identities.get(uid)) return uid
  return identities.values().find((identity) => isFor(identity, issuer, subject))?.uid ?? uid
}

/** The token to mint: an access token of an existing identity, or an identity token of `subject` to match or exchange. */
export const mintOptions = z.union([
  z.strictObject({
    identity: z.string(),
    /** The default is the base URL. */
    audience: z.string().optional(),
  }),
  z.strictObject({
    subject: z.string().min(1),
    /** The sandbox's base URL (the default) or any URL below it, so that one sandbox can act as several issuers. */
    issuer: z.string().optional(),
    /** The default is the base URL. */
    audience: z.union([z.string(), z.array(z.string())]).optional(),
    /** More claims, for `claims` and `claimPatterns`. They cannot replace the registered ones. */
    claims: z.record(z.string(), z.unknown()).optional(),
    /** One hour by default. A negative number makes an expired token. */
    lifetimeSeconds: z.int().optional(),
  }),
])

type MintOptions = z.infer<typeof mintOptions>

const mintIdentityToken = async (world: World, options: Extract<MintOptions, { readonly subject: string }>): Promise<IssuedToken> => {
  const { subject, issuer: iss = world.baseUrl(), audience: aud = world.baseUrl(), claims = {}, lifetimeSeconds = 3600 } = options
  if (!isOwnIssuer(world, iss)) invalidField('issuer', `must be ${world.baseUrl()} or a URL below it`)
  const times = lifetime(world, lifetimeSeconds)
  if (Math.abs(times.exp) * 1000 > LAST_TIME) invalidField('lifetimeSeconds', 'must end before the year 10000')
  const { sign } = await ownIssuer()
  const token = await sign({ ...claims, iss, sub: subject, aud, ...times }, 'JWT')
  return { token, expiry: new Date(times.exp * 1000).toISOString() }
}

/**
 * Signs a token with the sandbox's own key, so that users need no identity provider to try the sandbox. NOT_FOUND for an unknown identity,
 * INVALID_ARGUMENT for a foreign issuer.
 */
export const mintToken = async (world: World, options: MintOptions): Promise<IssuedToken> => {
  if (!('identity' in options)) return mintIdentityToken(world, options)
  const identity = world.store.identities.get(options.identity) ?? notFound('iam.Identity', options.identity)
  return issueToken(world, 'at+jwt', { caller: { identityUid: identity.uid }, audience: [options.audience ?? world.baseUrl()] })
}
