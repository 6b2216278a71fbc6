import type { Query } from '../../../http/query.ts'
import type { Filter } from '../../../lists/filter.ts'
import { formatTimestamp } from '../../../messages/timestamp.ts'
import type { FieldViolation } from '../../../status.ts'
import type { Identity } from '../../../world/identity-model.ts'
import type { Act, UpdateAct } from '../../resource.ts'

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
export const relationshipViolations = (row: Identity, { world }: Act): readonly FieldViolation[] => {
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
export const changedRelationshipViolations = (row: Identity, act: UpdateAct<Identity>): readonly FieldViolation[] =>
  hasRelationship(row) || hasRelationship(act.previous) ? relationshipViolations(row, act) : []

/** The row with the default expiry of its static keys if the request names none. */
export const withExpiry = (row: Identity, { world }: Act): Identity => {
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
export const relationshipFilter = (query: Query): readonly Filter<Identity>[] => {
  const type = query.choice('relationship_type', Object.keys(TYPES))
  const member = TYPES[type]
  return member === undefined ? [] : [{ key: `relationship_type=${type}`, matches: (row) => row[member] !== undefined }]
}
