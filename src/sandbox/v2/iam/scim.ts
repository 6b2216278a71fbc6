import { builtInRoleUid, requireCapability } from '../../auth/rights.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import { type Draft, decode, duration, fill, flag, formatTimestamp, type Message, render, text, time } from '../../messages/message.ts'
import { aborted, type FieldViolation, failedPrecondition, invalidArgument, invalidField, notFound } from '../../status.ts'
import type { IdentityProvider, Scim } from '../../world/model.ts'
import { parentOf, timestamp, type World } from '../../world/store.ts'
import { uidParam } from '../resource.ts'
import { durationMs } from './groups.ts'

const HOUR_MS = 60 * 60 * 1000
const YEAR_MS = 365 * 24 * HOUR_MS

/**
 * A token lives one year by default, two at most. Its predecessor stays valid for one hour by default, one day at most (semantics §3.3).
 */
const DEFAULT_LIFETIME_MS = YEAR_MS
const MAX_LIFETIME_MS = 2 * YEAR_MS
const DEFAULT_OVERLAP_MS = HOUR_MS
const MAX_OVERLAP_MS = 24 * HOUR_MS

/** Enabling requires people who could still sign in if the directory failed. */
const OWNERS_NEEDED = 2

const NOT_ISSUED = 'CREDENTIAL_STATE_NOT_ISSUED'
const REVOKED = 'CREDENTIAL_STATE_REVOKED'

/** The SCIM state of a provider before its first token. */
export const unissuedScim = (uid: string, world: World): Scim => ({
  enabled: false,
  endpointUrl: `${world.baseUrl()}/scim/v2/${uid}`,
  credentialState: NOT_ISSUED,
  etag: '',
})

const isPast = (time: string | undefined, world: World): boolean => time !== undefined && Date.parse(time) <= world.clock.now().getTime()

const stateNow = (scim: Scim, world: World): string => {
  if (scim.credentialState === NOT_ISSUED || scim.credentialState === REVOKED) return scim.credentialState
  if (isPast(scim.tokenExpireTime, world)) return 'CREDENTIAL_STATE_EXPIRED'
  const rotating = scim.previousTokenExpireTime !== undefined && !isPast(scim.previousTokenExpireTime, world)
  return rotating ? 'CREDENTIAL_STATE_ROTATING' : 'CREDENTIAL_STATE_LIVE'
}

/** The SCIM state of a provider now: expiry needs no write. */
export const scimNow = ({ uid, scim }: IdentityProvider, world: World): Scim => {
  const known = scim ?? unissuedScim(uid, world)
  return { ...known, credentialState: stateNow(known, world) }
}

/** The members of all four requests. The path names the provider. */
type Request = {
  readonly expireTime?: string
  readonly neverExpires: boolean
  readonly overlap?: string
  readonly etag: string
  readonly enabled: boolean
}

const expiryViolations = ({ expireTime, neverExpires }: Request, now: number): readonly FieldViolation[] => {
  if (expireTime === undefined) return []
  if (neverExpires) return [{ field: 'expire_time', description: 'cannot be set together with never_expires' }]
  const end = Date.parse(expireTime)
  return end > now && end <= now + MAX_LIFETIME_MS ? [] : [{ field: 'expire_time', description: 'must lie within the next two years' }]
}

/** The expiry of a new token; undefined if it never expires. */
const endOf = (request: Request, world: World): string | undefined => {
  const now = world.clock.now().getTime()
  const found = expiryViolations(request, now)
  if (found.length > 0) invalidArgument(found)
  return request.neverExpires ? undefined : (request.expireTime ?? formatTimestamp(now + DEFAULT_LIFETIME_MS))
}

const newToken = (world: World): string => `cgscim_${world.random.hex(32)}`

const save = (row: IdentityProvider, world: World, scim: Scim, scimSecret: IdentityProvider['scimSecret']): IdentityProvider => {
  const saved = { ...row, scim: { ...scim, etag: world.random.hex(16) }, scimSecret }
  world.store.identityProviders.put(saved)
  return saved
}

const refuseStale = (scim: Scim, etag: string): void => {
  if (etag === '') invalidField('etag', 'is required')
  if (etag !== scim.etag) aborted('the etag is stale; read the identity provider again')
}

const issued = (row: IdentityProvider): Scim =>
  row.scim && row.scim.credentialState !== NOT_ISSUED ? row.scim : notFound('iam.ScimToken', row.uid)

/** Makes the first token, or the next one after a revocation. FAILED_PRECONDITION if there is one. Provisioning starts disabled. */
const generateScimToken = (row: IdentityProvider, world: World, request: Request): IdentityProvider => {
  const scim = row.scim ?? unissuedScim(row.uid, world)
  if (scim.credentialState !== NOT_ISSUED && scim.credentialState !== REVOKED) {
    failedPrecondition([{ type: 'SCIM_TOKEN_EXISTS', description: 'the identity provider has a SCIM token; regenerate it' }])
  }
  const tokenExpireTime = endOf(request, world)
  return save(row, world, { ...scim, credentialState: 'CREDENTIAL_STATE_LIVE', tokenExpireTime }, { token: newToken(world) })
}

/**
 * Makes a new token. The old one stays valid for `overlap` (an hour by default, a day at most). NOT_FOUND before the first, ABORTED for a
 * stale etag.
 */
const regenerateScimToken = (row: IdentityProvider, world: World, request: Request): IdentityProvider => {
  const scim = issued(row)
  refuseStale(scim, request.etag)
  const overlap = request.overlap === undefined ? DEFAULT_OVERLAP_MS : Math.min(durationMs(request.overlap), MAX_OVERLAP_MS)
  if (overlap < 0) invalidField('overlap', 'must be non-negative')
  const tokenExpireTime = endOf(request, world)
  const previous = scim.credentialState === REVOKED || overlap === 0 ? undefined : row.scimSecret?.token
  const previousTokenExpireTime = previous && formatTimestamp(world.clock.now().getTime() + overlap)
  const rotated = { ...scim, credentialState: 'CREDENTIAL_STATE_LIVE', tokenExpireTime, previousTokenExpireTime }
  return save(row, world, rotated, { token: newToken(world), previousToken: previous })
}

/** Invalidates both tokens at once. The switch stays as it is. */
const revokeScimToken = (row: IdentityProvider, world: World): IdentityProvider => {
  const scim = { ...issued(row), credentialState: REVOKED, tokenExpireTime: undefined, previousTokenExpireTime: undefined }
  return save(row, world, scim, undefined)
}

const ownersOf = (group: string, world: World): number => {
  const owner = builtInRoleUid('owner')
  const bound = world.store.roleBindings.children(group).filter(({ roleUid }) => roleUid === owner)
  return new Set(bound.map(({ identityUid }) => identityUid)).size
}

/** Switches provisioning. NOT_FOUND before the first token, ABORTED for a stale etag, FAILED_PRECONDITION with too few owners. */
const setScimEnabled = (row: IdentityProvider, world: World, { enabled, etag }: Request): IdentityProvider => {
  const scim = issued(row)
  refuseStale(scim, etag)
  if (enabled && ownersOf(parentOf(row.uid), world) < OWNERS_NEEDED) {
    failedPrecondition([{ type: 'OWNERS_REQUIRED', description: `the organization needs ${OWNERS_NEEDED} owners bound by hand` }])
  }
  return save(row, world, { ...scim, enabled }, row.scimSecret)
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
    run: regenerateScimToken,
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
    run: setScimEnabled,
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
  handle: (ask, world) => ok(handle(ask, world, action)),
}))
