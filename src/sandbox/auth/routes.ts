import { z } from 'zod'
import { ok, type Route } from '../http/route.ts'
import { malformed } from '../status.ts'
import { issuerOf } from './issuer.ts'
import { type MintOptions, mintToken } from './mint.ts'
import { exchange, exchangeRefreshToken } from './sts.ts'

const KEYS_PATH = '/.well-known/jwks.json'

/** Both methods read parameters from the query; a POST may send them as a form (semantics §2.6). */
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
  { method: 'GET', template: KEYS_PATH, auth: 'none', handle: async (_ask, world) => ok((await issuerOf(world)).keys) },
]

const mintBody = z.union([
  z.strictObject({ identity: z.string(), audience: z.string().optional() }),
  z.strictObject({
    subject: z.string().min(1),
    issuer: z.string().optional(),
    audience: z.union([z.string(), z.array(z.string())]).optional(),
    claims: z.record(z.string(), z.unknown()).optional(),
    lifetimeSeconds: z.int().optional(),
  }),
])

/** `POST /-/token` with `{"identity": <uid>}` or `{"subject": …}` mints a token for tests and for `crosswalk sandbox token`. */
const mintRoute: Route = {
  method: 'POST',
  template: '/-/token',
  auth: 'none',
  handle: async ({ body }, world) => {
    const read = mintBody.safeParse(body)
    if (!read.success)
      return malformed(
        'the body must be {"identity": <uid>} with audience, or {"subject": …} with issuer, audience, claims, lifetimeSeconds',
      )
    const options: MintOptions = read.data
    return ok(await mintToken(world, options))
  },
}

/** The endpoints of the token service, of the sandbox's issuer, and of the control endpoint that mints tokens. */
export const stsRoutes: readonly Route[] = [...exchangeRoutes, ...discoveryRoutes, mintRoute]
