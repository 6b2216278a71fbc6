import { decodeProtectedHeader, type JWTPayload } from 'jose'
import { z } from 'zod'
import { type Answer, type Ask, ok, type Query, type Route, readQuery } from '../http/route.ts'
import { invalidField, malformed, notFound, permissionDenied, unauthenticated } from '../status.ts'
import type { Identity, IdentityProvider, Oidc, StaticKeys } from '../world/model.ts'
import { type DemoToken, isAtOrBelow, newUid, parentOf, timestamp, validUid, type World } from '../world/store.ts'
import { capabilityByV1, capabilityByV2 } from './capabilities.ts'
import {
  humanUid,
  isOwnIssuer,
  issueToken,
  matchesPattern,
  mintOptions,
  mintToken,
  mismatchedClaim,
  ownIssuer,
  peek,
  readToken,
  verifyWithIssuerKeys,
  verifyWithStoredKeys,
} from './tokens.ts'

/** The sender of a request, as `authenticate` established it. */
export type Caller = {
  /** The identity of the token. */
  readonly identityUid: string
  /** Holds every capability everywhere (the staff token). */
  readonly everything?: true | undefined
  /** If set, the token counts only at or below these groups, which the exchange named (semantics §2.5). */
  readonly scopes?: readonly string[] | undefined
  /** If set, the token carries at most these capabilities (dotted names). */
  readonly capabilities?: readonly string[] | undefined
}

/**
 * The groups of a user in the directory. Their roles count for the life of the token, through the current mappings of the provider; no
 * binding is made (semantics §2.6).
 */
export type Session = { readonly provider: string; readonly groups: readonly string[] }

/** A caller who signed in through an identity provider. */
export type SessionCaller = Caller & { readonly session?: Session | undefined }

/** An identity and the verified claims that let a token act as it. */
type Assumed = { readonly identity: Identity; readonly claims: JWTPayload }

/** The audiences of this service, for an identity that names none of its own (semantics §2.6). */
const defaultAudiences = (world: World): readonly string[] => {
  const { host, hostname } = new URL(world.baseUrl())
  return [world.baseUrl(), host, hostname]
}

/** Throws PERMISSION_DENIED and names the claim that does not match (semantics §2.6). */
const denyClaim = (claim: string): never => permissionDenied(`token does not match the identity: invalid ${JSON.stringify(claim)}`)

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
const assumeIdentity = async (world: World, token: string, uid: string): Promise<Assumed> => {
  const identity = world.store.identities.get(uid) ?? notFound('iam.Identity', uid)
  if (identity.staticKeys) return assumeStatic(world, token, identity, identity.staticKeys)
  if (!identity.claimMatch) return permissionDenied('the identity cannot be assumed with an OIDC token')
  const claims = await verifyWithIssuerKeys(world, token)
  const mismatch = mismatchedClaim(identity.claimMatch, claims, defaultAudiences(world))
  return mismatch === undefined ? { identity, claims } : denyClaim(mismatch)
}

/** Assumes the identity of the user who owns the token. PERMISSION_DENIED "identity not registered" if that user is unknown. */
const assumeOwnIdentity = async (world: World, token: string): Promise<Assumed> => {
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
const assumeMatchingIdentity = async (world: World, token: string): Promise<Assumed> => {
  const claims = peek(token)
  if (world.store.identities.get(humanUid(claims.iss ?? '', claims.sub ?? ''))) return assumeOwnIdentity(world, token)
  const candidates = world.store.identities.values().filter((identity) => isFor(identity, claims))
  const attempts = await Promise.allSettled(candidates.map(({ uid }) => assumeIdentity(world, token, uid)))
  const assumed = attempts.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
  const named = assumed.filter(({ identity }) => namesSubject(identity))
  const [first, second] = named.length > 0 ? named : assumed
  return first && !second ? first : permissionDenied('the token matches no single identity')
}

/**
 * The token of an `Authorization: Bearer …` header, or undefined for one with another scheme. A token alone is one, too: so the vendor's
 * SDK sends it (ASSUMPTIONS.md, "Tokens").
 */
const bearerOf = (authorization: string | undefined): string | undefined => /^(?:Bearer +)?(\S+) *$/i.exec(authorization ?? '')?.[1]

const typeOf = (token: string): string | undefined => {
  try {
    // A foreign header may hold anything.
    return String(decodeProtectedHeader(token).typ)
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
const ownCaller = async (world: World, token: string): Promise<Caller | undefined> => {
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
const signIn = async (
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

/** The parameters of an exchange beside its token (semantics §2.6). */
type Wish = {
  readonly audience: readonly string[]
  readonly identity: string
  readonly provider: string
  readonly scopes: readonly string[]
  readonly capabilities: readonly string[]
}

const readScope = (text: string): string => (validUid(text) ? text : invalidField('scopes', 'must be group uids'))

const readCapability = (text: string): string => {
  const row = capabilityByV1(text) ?? capabilityByV2(text)
  return row ? row.v1 : invalidField('cap', `unknown capability ${JSON.stringify(text)}`)
}

const jsonParameters = z.record(z.string(), z.union([z.string(), z.array(z.string())]))

/** The parameters of a query or form, and those of a JSON body. */
const readParameters = ({ query, body }: Ask): Query => {
  const read = jsonParameters.safeParse(body)
  if (!read.success) return malformed('the body must be an object of texts and lists of texts')
  return readQuery([
    ...query.pairs,
    ...Object.entries(read.data).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const)),
  ])
}

/** The deprecated `scope` adds one more to `scopes`. */
const readWish = (ask: Ask): Wish => {
  const query = readParameters(ask)
  const audience = query.texts('aud').filter((text) => text !== '')
  if (audience.length === 0) invalidField('aud', 'Audience must be specified')
  const scopes = [...query.texts('scopes'), query.text('scope')].filter((text) => text !== '')
  return {
    audience,
    identity: query.text('identity'),
    provider: query.text('identity_provider'),
    scopes: scopes.map(readScope),
    capabilities: query.texts('cap').map(readCapability),
  }
}

const narrowedScopes = (held: readonly string[] | undefined, wished: readonly string[]): readonly string[] | undefined => {
  if (wished.length === 0) return held
  const outside = held && wished.find((scope) => !held.some((group) => isAtOrBelow(group, scope)))
  return outside === undefined ? wished : permissionDenied(`scope ${outside} lies outside the scopes of the token`)
}

const narrowedCapabilities = (held: readonly string[] | undefined, wished: readonly string[]): readonly string[] | undefined =>
  wished.length === 0 ? held : wished.filter((name) => held?.includes(name) ?? true)

/** An exchange can narrow a token, never widen it. */
const narrow = (caller: SessionCaller, { scopes, capabilities }: Wish): SessionCaller => ({
  ...caller,
  scopes: narrowedScopes(caller.scopes, scopes),
  capabilities: narrowedCapabilities(caller.capabilities, capabilities),
})

/** The caller of the new token, the claims of the old one, and whether a refresh token is issued as well. */
type Assumer = { readonly caller: SessionCaller; readonly claims?: JWTPayload; readonly refreshable: boolean }

/** A user signs in, a credential of the sandbox is exchanged for itself, or a third-party token assumes an identity. */
const assume = async (world: World, token: string, { provider, identity: wanted }: Wish): Promise<Assumer> => {
  const own = await ownCaller(world, token)
  if (provider !== '') {
    return own
      ? permissionDenied('signing in takes a token of the provider')
      : { ...(await signIn(world, token, provider)), refreshable: false }
  }
  if (own && (wanted === '' || wanted === own.identityUid)) return { caller: own, refreshable: false }
  const { identity, claims } = wanted === '' ? await assumeOwnIdentity(world, token) : await assumeIdentity(world, token, wanted)
  // A restricted token of the sandbox stays restricted even if an identity accepts it as a third-party token.
  const { scopes, capabilities } = own ?? {}
  return { caller: { identityUid: identity.uid, scopes, capabilities }, claims, refreshable: wanted === '' }
}

/** The claims that the new token repeats from the old one. */
const actOf = ({ iss, sub, aud }: JWTPayload): JWTPayload => ({ ...(iss && { iss }), ...(sub && { sub }), ...(aud && { aud }) })

/** An exchange updates the last-seen time of an identity; a request with a token does not (ASSUMPTIONS.md, "Identities"). */
const markSeen = (world: World, uid: string): void => {
  const identity = world.store.identities.get(uid)
  if (identity) world.store.identities.put({ ...identity, lastSeenTime: world.clock.now().toISOString() })
}

/**
 * `/sts/exchange` exchanges a third-party token, or one of the sandbox, for an access token (semantics §2.6). Parameters come from the
 * query or a form: `aud` (required), `identity` to assume or `identity_provider` to sign in with, `scopes` and `cap` to narrow. A user's
 * own exchange returns a refresh token as well.
 */
export const exchange = async (ask: Ask, world: World): Promise<Answer> => {
  const bearer = bearerOf(ask.authorization) ?? unauthenticated()
  const wish = readWish(ask)
  const { caller, claims, refreshable } = await assume(world, bearer, wish)
  const grantee = { caller: narrow(caller, wish), audience: wish.audience, act: claims && actOf(claims) }
  const { token, expiry } = await issueToken(world, 'at+jwt', grantee)
  const refresh = refreshable ? (await issueToken(world, 'rt+jwt', grantee)).token : ''
  markSeen(world, caller.identityUid)
  return { body: { token, refreshToken: refresh, expiry } }
}

/** `/sts/exchange_refresh_token` exchanges a refresh token for a new access token and the next refresh token. */
const exchangeRefreshToken = async (ask: Ask, world: World): Promise<Answer> => {
  const bearer = bearerOf(ask.authorization) ?? unauthenticated()
  const wish = readWish(ask)
  const caller = await readToken(world, bearer, 'rt+jwt').catch(() => unauthenticated())
  const grantee = { caller: narrow(caller, wish), audience: wish.audience }
  const [access, refresh] = await Promise.all([issueToken(world, 'at+jwt', grantee), issueToken(world, 'rt+jwt', grantee)])
  return { body: { token: access, refreshToken: refresh } }
}

const KEYS_PATH = '/.well-known/jwks.json'

/** Both methods read parameters from the query; a POST may send them as a form (semantics §2.6), or as JSON as the vendor's SDK does. */
const exchangeRoutes: readonly Route[] = [
  { method: 'GET', template: '/sts/exchange', auth: 'none', handle: exchange },
  { method: 'POST', template: '/sts/exchange', auth: 'none', form: true, handle: exchange },
  { method: 'POST', template: '/sts/exchange_refresh_token', auth: 'none', form: true, handle: exchangeRefreshToken },
]

/** The documents that OIDC libraries read before they verify a token of the sandbox. */
const discoveryRoutes: readonly Route[] = [
  {
    method: 'GET',
    template: '/.well-known/openid-configuration',
    auth: 'none',
    handle: (_ask, world) =>
      ok({
        issuer: world.baseUrl(),
        jwks_uri: `${world.baseUrl()}${KEYS_PATH}`,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      }),
  },
  { method: 'GET', template: KEYS_PATH, auth: 'none', handle: async () => ok((await ownIssuer()).keys) },
]

/** `POST /-/token` with `{"identity": <uid>}` or `{"subject": …}` mints a token for tests and for `crosswalk sandbox token`. */
const mintRoute: Route = {
  method: 'POST',
  template: '/-/token',
  auth: 'none',
  handle: async ({ body }, world) => {
    const read = mintOptions.safeParse(body)
    if (!read.success)
      return malformed(
        'the body must be {"identity": <uid>} with audience, or {"subject": …} with issuer, audience, claims, lifetimeSeconds',
      )
    return ok(await mintToken(world, read.data))
  },
}

/** The endpoints of the token service, of the sandbox's issuer, and of the control endpoint that mints tokens. */
export const stsRoutes: readonly Route[] = [...exchangeRoutes, ...discoveryRoutes, mintRoute]
