import { invalidField, notFound } from '../status.ts'
import type { World } from '../world/world.ts'
import { type IssuedToken, issueToken } from './access-token.ts'
import { isOwnIssuer, issuerOf, lifetime } from './issuer.ts'

/** The token to mint: an access token of an existing identity, or an identity token of `subject` to match or exchange. */
export type MintOptions =
  | {
      readonly identity: string
      /** The default is the base URL. */
      readonly audience?: string | undefined
    }
  | {
      readonly subject: string
      /** The sandbox's base URL (the default) or any URL below it, so that one sandbox can act as several issuers. */
      readonly issuer?: string | undefined
      /** The default is the base URL. */
      readonly audience?: string | readonly string[] | undefined
      /** More claims, for `claims` and `claimPatterns`. They cannot replace the registered ones. */
      readonly claims?: Readonly<Record<string, unknown>> | undefined
      /** One hour by default. A negative number makes an expired token. */
      readonly lifetimeSeconds?: number | undefined
    }

const mintIdentityToken = async (world: World, options: Extract<MintOptions, { readonly subject: string }>): Promise<IssuedToken> => {
  const { subject, issuer: iss = world.baseUrl(), audience = world.baseUrl(), claims = {}, lifetimeSeconds = 3600 } = options
  if (!isOwnIssuer(world, iss)) invalidField('issuer', `must be ${world.baseUrl()} or a URL below it`)
  const times = lifetime(world, lifetimeSeconds)
  const aud = typeof audience === 'string' ? audience : [...audience]
  const issuer = await issuerOf(world)
  const token = await issuer.sign({ ...claims, iss, sub: subject, aud, ...times }, 'JWT')
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
