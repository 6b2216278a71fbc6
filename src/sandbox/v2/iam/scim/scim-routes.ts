import { requireCapability } from '../../../auth/rights/authorize.ts'
import { type Ask, callerOf, ok, type Route } from '../../../http/route.ts'
import { decode } from '../../../messages/decode.ts'
import { type Draft, duration, fill, flag, type Message, text, time } from '../../../messages/message.ts'
import { render } from '../../../messages/render.ts'
import { notFound } from '../../../status.ts'
import { timestamp } from '../../../world/clock.ts'
import type { IdentityProvider, Scim } from '../../../world/identity-model.ts'
import type { World } from '../../../world/world.ts'
import { uidParam } from '../../reads.ts'
import { durationMs } from '../groups/group-invites.ts'
import { generateScimToken, regenerateScimToken, revokeScimToken, scimNow, setScimEnabled } from './scim.ts'

/** The members of all four requests. The path names the provider. */
type Request = {
  readonly expireTime?: string
  readonly neverExpires: boolean
  readonly overlap?: string
  readonly etag: string
  readonly enabled: boolean
}

/** The members of all four answers. */
const answerFields: Message['fields'] = {
  token: text(),
  endpointUrl: text(),
  expireTime: time(),
  identityProviderUid: text(),
  etag: text(),
  previousTokenExpireTime: time(),
  requestedOverlap: duration(),
  enabled: flag(),
  revokeTime: time(),
}

/** One action: the members it accepts, its effect, and the members of its answer. */
type Action = {
  readonly verb: string
  readonly request: Message
  readonly answer: Message
  readonly run: (row: IdentityProvider, world: World, request: Request) => IdentityProvider
}

const message = (name: string, fields: Message['fields']): Message => ({ name: `chainguard.platform.iam.v2.${name}`, fields })

const answer = (name: string, ...members: readonly string[]): Message =>
  message(name, Object.fromEntries(members.map((member) => [member, answerFields[member]!])))

const tokenMembers = ['token', 'endpointUrl', 'expireTime', 'identityProviderUid', 'etag'] as const

const ACTIONS: readonly Action[] = [
  {
    verb: 'generateScimToken',
    request: message('GenerateScimTokenRequest', { expireTime: time(), neverExpires: flag() }),
    answer: answer('GenerateScimTokenResponse', ...tokenMembers),
    run: generateScimToken,
  },
  {
    verb: 'regenerateScimToken',
    request: message('RegenerateScimTokenRequest', { overlap: duration(), expireTime: time(), etag: text(), neverExpires: flag() }),
    answer: answer('RegenerateScimTokenResponse', ...tokenMembers, 'previousTokenExpireTime', 'requestedOverlap'),
    run: (row, world, request) =>
      regenerateScimToken(row, world, {
        ...request,
        expireTime: request.expireTime,
        overlapMs: request.overlap === undefined ? undefined : durationMs(request.overlap),
      }),
  },
  {
    verb: 'revokeScimToken',
    request: message('RevokeScimTokenRequest', {}),
    answer: answer('RevokeScimTokenResponse', 'identityProviderUid', 'etag', 'enabled', 'revokeTime'),
    run: revokeScimToken,
  },
  {
    verb: 'setScimEnabled',
    request: message('SetScimEnabledRequest', { enabled: flag(), etag: text() }),
    answer: answer('SetScimEnabledResponse', 'identityProviderUid', 'enabled', 'etag'),
    run: (row, world, { enabled, etag }) => setScimEnabled(row, world, enabled, etag),
  },
]

const answerOf = (row: IdentityProvider, scim: Scim, request: Request, world: World): Draft => ({
  token: row.scimSecret?.token ?? '',
  endpointUrl: scim.endpointUrl,
  expireTime: scim.tokenExpireTime,
  identityProviderUid: row.uid,
  etag: scim.etag,
  previousTokenExpireTime: scim.previousTokenExpireTime,
  requestedOverlap: request.overlap,
  enabled: scim.enabled,
  revokeTime: timestamp(world.clock),
})

const handle = (ask: Ask, world: World, action: Action): Draft => {
  const uid = uidParam(ask, 'identity_provider_uid')
  requireCapability(world, callerOf(ask), ['identity_providers.scim.manage', 'identity_providers.list'], uid)
  const row = world.store.identityProviders.get(uid) ?? notFound('iam.IdentityProvider', uid)
  const request = fill(action.request, decode(action.request, ask.body)) as Request
  const changed = action.run(row, world, request)
  return render(action.answer, answerOf(changed, scimNow(changed, world), request, world))
}

export const scimRoutes: readonly Route[] = ACTIONS.map((action) => ({
  method: 'POST',
  template: `/iam/v2/identityProviders/{identity_provider_uid=**}:${action.verb}`,
  auth: 'required',
  handle: (ask, world) => ok(handle(ask, world, action)),
}))
