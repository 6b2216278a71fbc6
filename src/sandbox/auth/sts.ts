import type { JWTPayload } from 'jose'
import type { Answer, Ask } from '../http/route.ts'
import { invalidField, permissionDenied, unauthenticated } from '../status.ts'
import { isAtOrBelow, validUid } from '../world/uid.ts'
import type { World } from '../world/world.ts'
import { issueToken, readToken } from './access-token.ts'
import { assumeIdentity, assumeOwnIdentity } from './assume.ts'
import { bearerOf, ownCaller } from './caller.ts'
import { type SessionCaller, signIn } from './provider-login.ts'
import { capabilityByV1, capabilityByV2 } from './rights/capabilities.ts'

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

/** The deprecated `scope` adds one more to `scopes`. */
const readWish = ({ query }: Ask): Wish => {
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
export const exchangeRefreshToken = async (ask: Ask, world: World): Promise<Answer> => {
  const bearer = bearerOf(ask.authorization) ?? unauthenticated()
  const wish = readWish(ask)
  const caller = await readToken(world, bearer, 'rt+jwt').catch(() => unauthenticated())
  const grantee = { caller: narrow(caller, wish), audience: wish.audience }
  const [access, refresh] = await Promise.all([issueToken(world, 'at+jwt', grantee), issueToken(world, 'rt+jwt', grantee)])
  return { body: { token: access, refreshToken: refresh } }
}
