import { lookupIdentityUid } from '../../auth/tokens.ts'
import { type Ask, callerOf, ok, type Query, type Route } from '../../http/route.ts'
import { equals, type Filter } from '../../lists.ts'
import { applyMask, each, explicitMask, type Mask, matching, NAMED } from '../../messages/field-mask.ts'
import {
  type Check,
  choice,
  DATED,
  type Draft,
  decode,
  fill,
  flag,
  formatTimestamp,
  isObject,
  isZero,
  listOf,
  mapOf,
  messageType,
  nested,
  outputText,
  outputTime,
  render,
  text,
  time,
  valuesOf,
} from '../../messages/message.ts'
import { type FieldViolation, invalidArgument, malformed, notFound } from '../../status.ts'
import type { Identity } from '../../world/model.ts'
import { timestamp, type World } from '../../world/store.ts'
import { type Act, resourceOf, routesOf, type UpdateAct } from '../resource.ts'

/** By number, from 1 (facts §18). */
export const PRINCIPALS = [
  'COSIGNED',
  'INGESTER',
  'CATALOG_SYNCER',
  'APKO_BUILDER',
  'ENTITLEMENT_SYNCER',
  'TENANT_SCANNER',
  'SEDIMENTOLOGY',
  'SKILLUP',
  'MATERIALIZER',
  'MICROFLOW',
  'GUARDENER',
  'MICROVM',
  'SKILLS',
] as const

/** The first means no principal. */
const SERVICE_PRINCIPALS = valuesOf('SERVICE_PRINCIPAL', ...PRINCIPALS)

/** Twelve digits (semantics §3.0). */
export const awsAccountRule = matching('account', /^[0-9]{12}$/)

const patternRule: Check = (pattern: string) => {
  try {
    new RegExp(pattern)
    return undefined
  } catch {
    return 'must be a regular expression'
  }
}

const patternsRule: Check = (patterns: Readonly<Record<string, string>>) => each(patternRule)(Object.values(patterns) as never)

const isKeySet = (value: unknown): boolean => isObject(value) && Array.isArray(value['keys']) && value['keys'].length > 0

const keySetRule: Check = (json: string) => {
  try {
    if (isKeySet(JSON.parse(json))) return undefined
  } catch {
    // Text that is not JSON gets the same message as JSON that is not a key set.
  }
  return 'must be a JSON Web Key Set with at least one key'
}

const oneAudienceRule: Check = (audiences: readonly string[]) => (audiences.length > 1 ? 'must hold exactly one audience' : undefined)

const claimMatchMessage = messageType('chainguard.platform.iam.v2.Identity.ClaimMatch', {
  issuer: text({ oneof: 'iss' }),
  issuerPattern: text({ oneof: 'iss', check: patternRule }),
  subject: text({ oneof: 'sub' }),
  subjectPattern: text({ oneof: 'sub', check: patternRule }),
  audience: text({ oneof: 'aud' }),
  audiencePattern: text({ oneof: 'aud', check: patternRule }),
  claims: mapOf(text()),
  claimPatterns: mapOf(text(), { check: patternsRule }),
})

const staticKeysMessage = messageType('chainguard.platform.iam.v2.Identity.StaticKeys', {
  issuer: text({ required: true }),
  subject: text({ required: true }),
  issuerKeys: text({ required: true, check: keySetRule }),
  expirationTime: time(),
  audiences: listOf(text(), { check: oneAudienceRule }),
})

const awsIdentityMessage = messageType('chainguard.platform.iam.v2.Identity.AWSIdentity', {
  awsAccount: text({ required: true, check: awsAccountRule }),
  arn: text({ oneof: 'aws_arn' }),
  arnPattern: text({ oneof: 'aws_arn', check: patternRule }),
  userId: text({ oneof: 'aws_user_id' }),
  userIdPattern: text({ oneof: 'aws_user_id', check: patternRule }),
})

/** (specification §2, semantics §3.2) */
export const identityMessage = messageType('chainguard.platform.iam.v2.Identity', {
  ...NAMED,
  email: outputText,
  emailUnverified: outputText,
  company: text(),
  lastSeenTime: outputTime,
  ...DATED,
  claimMatch: nested(claimMatchMessage, { oneof: 'relationship' }),
  staticKeys: nested(staticKeysMessage, { oneof: 'relationship' }),
  awsIdentity: nested(awsIdentityMessage, { oneof: 'relationship' }),
  servicePrincipal: choice(SERVICE_PRINCIPALS, { oneof: 'relationship' }),
})

/** The maximum and the default lifetime of static keys: one year (semantics §3.2). */
const MAX_LIFETIME_MS = 365 * 24 * 60 * 60 * 1000

/** Groups of members of which exactly one must be set: their path, and their names in the violation. */
const CHOICES: readonly (readonly [path: string, read: (identity: Identity) => readonly (string | undefined)[] | undefined])[] = [
  ['claim_match.issuer', ({ claimMatch }) => claimMatch && [claimMatch.issuer, claimMatch.issuerPattern]],
  ['claim_match.subject', ({ claimMatch }) => claimMatch && [claimMatch.subject, claimMatch.subjectPattern]],
  ['aws_identity.arn', ({ awsIdentity }) => awsIdentity && [awsIdentity.arn, awsIdentity.arnPattern]],
  ['aws_identity.user_id', ({ awsIdentity }) => awsIdentity && [awsIdentity.userId, awsIdentity.userIdPattern]],
]

const choiceViolations = (row: Identity): readonly FieldViolation[] =>
  CHOICES.filter(([, read]) => read(row)?.every((value) => !value)).map(([field]) => ({
    field,
    description: `one of ${field.slice(field.indexOf('.') + 1)} and its pattern is required`,
  }))

const hasRelationship = ({ claimMatch, staticKeys, awsIdentity, servicePrincipal }: Identity): boolean =>
  claimMatch !== undefined || staticKeys !== undefined || awsIdentity !== undefined || servicePrincipal !== undefined

const expiryViolations = ({ staticKeys }: Identity, now: number): readonly FieldViolation[] => {
  const expiry = staticKeys?.expirationTime
  return expiry !== undefined && Date.parse(expiry) > now + MAX_LIFETIME_MS
    ? [{ field: 'static_keys.expiration_time', description: 'must be at most 365 days away' }]
    : []
}

/** An identity has exactly one relationship, and each relationship its own conditions (semantics §2.6, §3.2). */
const relationshipViolations = (row: Identity, { world }: Act): readonly FieldViolation[] => {
  if (!hasRelationship(row))
    return [{ field: 'relationship', description: 'one of claim_match, static_keys, aws_identity, service_principal is required' }]
  const nobody = row.servicePrincipal === 'SERVICE_PRINCIPAL_UNSPECIFIED'
  return [
    ...choiceViolations(row),
    ...expiryViolations(row, world.clock.now().getTime()),
    ...(nobody ? [{ field: 'service_principal', description: 'must name a service' }] : []),
  ]
}

/** The same for an update. A user who signed in needs no relationship, so only the removal of one is refused. */
const changedRelationshipViolations = (row: Identity, act: UpdateAct<Identity>): readonly FieldViolation[] =>
  hasRelationship(row) || hasRelationship(act.previous) ? relationshipViolations(row, act) : []

/** The row with the default expiry of its static keys if the request names none. */
const withExpiry = (row: Identity, { world }: Act): Identity => {
  const { staticKeys } = row
  if (!staticKeys || staticKeys.expirationTime !== undefined) return row
  return { ...row, staticKeys: { ...staticKeys, expirationTime: formatTimestamp(world.clock.now().getTime() + MAX_LIFETIME_MS) } }
}

/** Values of `relationship_type` in order, each with its member of an identity. */
const TYPES: Readonly<Record<string, keyof Identity | undefined>> = {
  RELATIONSHIP_TYPE_UNSPECIFIED: undefined,
  RELATIONSHIP_TYPE_CLAIM_MATCH: 'claimMatch',
  RELATIONSHIP_TYPE_STATIC: 'staticKeys',
  RELATIONSHIP_TYPE_AWS_IDENTITY: 'awsIdentity',
  RELATIONSHIP_TYPE_SERVICE_PRINCIPAL: 'servicePrincipal',
}

/** The `relationship_type` filter of the list. */
const relationshipFilter = (query: Query): readonly Filter<Identity>[] => {
  const type = query.choice('relationship_type', Object.keys(TYPES))
  const member = TYPES[type]
  return member === undefined ? [] : [{ key: `relationship_type=${type}`, matches: (row) => row[member] !== undefined }]
}

/** Deletes the bindings of a deleted identity. An identity that is later created under the same uid must not inherit them. */
const removeBindings = ({ uid }: Identity, { store }: World): void => {
  for (const binding of store.roleBindings.values()) if (binding.identityUid === uid) store.roleBindings.delete(binding.uid)
}

export const identities = resourceOf('iam.Identity', 'identities', {
  message: identityMessage,
  capabilities: { list: 'identity.list', create: 'identity.create', update: 'identity.update', delete: 'identity.delete' },
  sortable: { name: ({ name }) => name, last_seen_time: ({ lastSeenTime }) => lastSeenTime ?? '' },
  filters: (query) => [...equals<Identity>(query, 'name', ({ name }) => name), ...relationshipFilter(query)],
  checkCreate: relationshipViolations,
  checkUpdate: changedRelationshipViolations,
  prepare: (row, act) => withExpiry({ ...row, lastSeenTime: row.createTime }, act),
  revise: withExpiry,
  cascade: removeBindings,
})

/** The uid of the issuer and subject that a query names. INVALID_ARGUMENT without them. */
export const lookedUp = (query: Query, world: World): string => {
  const missing = ['issuer', 'subject'].filter((name) => query.text(name) === '')
  if (missing.length > 0) invalidArgument(missing.map((field) => ({ field, description: 'is required' })))
  return lookupIdentityUid(world, query.text('issuer'), query.text('subject'))
}

/** `GET /iam/v2/identities:lookupIdentity?issuer=…&subject=…`, for any caller. Answers a uid even for an unregistered pair. */
const lookupRoute: Route = {
  method: 'GET',
  template: '/iam/v2/identities:lookupIdentity',
  handle: ({ query }, world) => ok({ uid: lookedUp(query, world) }),
}

export const identityRoutes: readonly Route[] = [...routesOf(identities), lookupRoute]

/** The answers of a user at sign-up (semantics §3.2). */
export const identityMetadataMessage = messageType('chainguard.platform.iam.v2.IdentityMetadata', {
  uid: outputText,
  name: outputText,
  givenName: outputText,
  familyName: outputText,
  company: text(),
  updatesOptIn: flag(),
  product: text(),
  jobTitle: text(),
  utmCampaign: text(),
  utmContent: text(),
  utmMedium: text(),
  utmSource: text(),
  utmTerm: text(),
  latestFormSubmitUrl: text(),
  latestInternalReferringUrl: text(),
  hubspotUtk: text(),
  selfServe: flag(),
})

/** The metadata of an identity. The company is a member of the identity itself. */
const metadataOf = (identity: Identity) =>
  fill(identityMetadataMessage, { ...identity.metadata, uid: identity.uid, name: identity.name, company: identity.company })

/** In a JSON body a mask is one string of camelCase paths. `*` and snake_case are invalid there (facts §13.3). */
const bodyMask = (mask: string): Mask => {
  if (!/^[a-z][A-Za-z0-9]*(,[a-z][A-Za-z0-9]*)*$/.test(mask)) malformed(`proto: invalid FieldMask ${JSON.stringify(mask)}`)
  return explicitMask(identityMetadataMessage, mask)
}

/** Without a mask: the members with a value, because no gateway sees which members the body named (semantics §6). */
const populatedMask = (input: Draft): Mask =>
  Object.entries(identityMetadataMessage.fields)
    .filter(([name, field]) => !isZero(field, input[name]))
    .map(([name]) => [name])

const readRequest = (body: unknown): { readonly input: Draft; readonly mask: Mask } => {
  const members = isObject(body) ? body : {}
  const input = decode(identityMetadataMessage, members.identityMetadata ?? members.identity_metadata ?? {})
  const mask = members.updateMask ?? members.update_mask ?? ''
  if (typeof mask !== 'string') return malformed(`proto: invalid FieldMask ${JSON.stringify(mask)}`)
  return { input, mask: mask === '' ? populatedMask(input) : bodyMask(mask) }
}

/** Writes the members of `mask` from `input` to the caller's own metadata and returns all of it. An empty mask changes nothing. */
export const writeMetadata = (ask: Ask, world: World, input: Draft, mask: Mask) => {
  const { identityUid } = callerOf(ask)
  const identity = world.store.identities.get(identityUid) ?? notFound('iam.Identity', identityUid)
  if (mask.length === 0) return metadataOf(identity)
  const { uid: _uid, name: _name, ...metadata } = applyMask(identityMetadataMessage, metadataOf(identity), input, mask)
  const changed = { ...identity, company: metadata.company, metadata, updateTime: timestamp(world.clock) }
  world.store.identities.put(changed)
  return metadataOf(changed)
}

/** `PATCH /iam/v2/identities:updateIdentityMetadata` always updates the caller's own identity. */
export const identityMetadataRoute: Route = {
  method: 'PATCH',
  template: '/iam/v2/identities:updateIdentityMetadata',
  handle: (ask, world) => {
    const { input, mask } = readRequest(ask.body)
    return ok(render(identityMetadataMessage, writeMetadata(ask, world, input, mask)))
  },
}
