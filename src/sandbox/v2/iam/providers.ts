import { grantsOf, holds, requireCapability } from '../../auth/rights.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import { equals } from '../../lists.ts'
import { NAMED } from '../../messages/field-mask.ts'
import {
  choice,
  DATED,
  type Draft,
  decode,
  fill,
  flag,
  listOf,
  messageType,
  nested,
  outputText,
  outputTime,
  type RowOf,
  text,
  time,
  valuesOf,
} from '../../messages/message.ts'
import {
  alreadyExists,
  type FieldViolation,
  invalidArgument,
  invalidField,
  type PreconditionViolation,
  permissionDenied,
} from '../../status.ts'
import type { ExternalGroupRoleMapping, IdentityProvider, Oidc, Role } from '../../world/model.ts'
import { inRoot, parentOf, rootOf, validUid, type World } from '../../world/store.ts'
import { BY_NAME, type CreateAct, checkedUid, present, resourceOf, routesOf, type UpdateAct, type View } from '../resource.ts'
import { roleViolations } from './roles.ts'
import { scimNow, unissuedScim } from './scim.ts'

/** (semantics §3.4) */
export const externalGroupRoleMappingMessage = messageType('chainguard.platform.iam.v2.ExternalGroupRoleMapping', {
  uid: outputText,
  identityProviderUid: outputText,
  externalGroupId: text({ required: true }),
  roleUid: text({ required: true }),
  scope: text({ required: true }),
  createTime: outputTime,
})

/** A caller cannot grant a role with more capabilities than their own (semantics §2.2). */
const refuseEscalation = ({ capabilities }: Role, scope: string, { world, caller }: CreateAct): void => {
  if (!holds(grantsOf(world, caller), capabilities, scope)) permissionDenied('the mapped role has capabilities the caller lacks')
}

const refuseDuplicate = (row: ExternalGroupRoleMapping, world: World): void => {
  const twin = world.store.externalGroupRoleMappings
    .children(parentOf(row.uid))
    .find((other) => other.externalGroupId === row.externalGroupId && other.roleUid === row.roleUid && other.scope === row.scope)
  if (twin) alreadyExists('iam.ExternalGroupRoleMapping', twin.uid)
}

const checkCreate = (row: ExternalGroupRoleMapping, act: CreateAct): readonly FieldViolation[] => {
  const organization = rootOf(act.parent)
  const found = [
    ...roleViolations(act.world, 'role_uid', row.roleUid, organization),
    ...(row.scope === organization ? [] : [{ field: 'scope', description: 'must be the organization of the identity provider' }]),
  ]
  const role = act.world.store.roles.get(row.roleUid)
  if (found.length === 0 && role) {
    refuseEscalation(role, row.scope, act)
    refuseDuplicate(row, act.world)
  }
  return found
}

/** Mappings are made below an identity provider and never change. */
export const externalGroupRoleMappings = resourceOf('iam.ExternalGroupRoleMapping', 'externalGroupRoleMappings', {
  message: externalGroupRoleMappingMessage,
  capabilities: {
    list: 'identity_providers.list',
    create: ['identity_providers.create', 'role_bindings.create'],
    delete: 'identity_providers.delete',
  },
  parent: { type: 'iam.IdentityProvider', table: (store) => store.identityProviders },
  filters: (query) => equals(query, 'identity_provider_uid', ({ identityProviderUid }) => identityProviderUid),
  checkCreate,
  prepare: (row, { parent }) => ({ ...row, identityProviderUid: parent }),
})

const batchMessage = messageType('chainguard.platform.iam.v2.BatchDeleteExternalGroupRoleMappingsRequest', {
  parent: text(),
  names: listOf(text()),
})

type Batch = RowOf<typeof batchMessage>

/** Deletes the named mappings of a provider and returns them. Missing ones are skipped. `fields` are the names of both members in violations. */
export const deleteMappings = (
  ask: Ask,
  world: World,
  { parent, names }: Batch,
  fields: Batch['names'],
): readonly ExternalGroupRoleMapping[] => {
  const [parentField = '', namesField] = fields
  checkedUid(parentField, parent)
  const strangers = names.flatMap((name, at) => (parentOf(name) === parent ? [] : [`${namesField}[${at}]`]))
  if (strangers.length > 0) invalidArgument(strangers.map((field) => ({ field, description: 'is not a mapping of the parent' })))
  requireCapability(world, callerOf(ask), 'identity_providers.delete', parent)
  const table = world.store.externalGroupRoleMappings
  const removed = [...new Set(names)].flatMap((name) => table.get(name) ?? [])
  for (const { uid } of removed) table.delete(uid)
  return removed
}

/** `POST …:batchDelete`: skips missing mappings and answers with the removed ones. */
const batchDeleteRoute: Route = {
  method: 'POST',
  template: '/iam/v2/externalGroupRoleMappings:batchDelete',
  handle: (ask, world) => {
    const batch = fill(batchMessage, decode(batchMessage, ask.body))
    if (validUid(batch.parent) && batch.names.length === 0) invalidField('names', 'is required')
    const removed = deleteMappings(ask, world, batch, ['parent', 'names'])
    return ok({
      parent: batch.parent,
      externalGroupRoleMappings: removed.map((row) => present(externalGroupRoleMappings, world, row, 'get')),
    })
  },
}

export const externalGroupRoleMappingRoutes: readonly Route[] = [...routesOf(externalGroupRoleMappings), batchDeleteRoute]

/** An unset rule means the second one (semantics §3.3). */
export const CORRELATION_RULES = valuesOf('CORRELATION_RULE', 'SUB_EQUALS_EXTERNAL_ID', 'OID_EQUALS_EXTERNAL_ID')

export const CREDENTIAL_STATES = valuesOf('CREDENTIAL_STATE', 'NOT_ISSUED', 'LIVE', 'EXPIRED', 'REVOKED', 'ROTATING')

const oidcMessage = messageType('chainguard.platform.iam.v2.IdentityProvider.OIDC', {
  issuer: text({ required: true }),
  clientId: text({ required: true }),
  clientSecret: text({ inputOnly: true }),
  additionalScopes: listOf(text()),
  groupsClaim: text(),
  correlationRule: choice(CORRELATION_RULES),
  pkceEnabled: flag(),
})

const scimMessage = messageType('chainguard.platform.iam.v2.IdentityProvider.SCIM', {
  enabled: flag(),
  endpointUrl: text(),
  tokenExpireTime: time(),
  previousTokenExpireTime: time(),
  credentialState: choice(CREDENTIAL_STATES),
  etag: text(),
})

/** (semantics §3.3) */
export const identityProviderMessage = messageType('chainguard.platform.iam.v2.IdentityProvider', {
  ...NAMED,
  ...DATED,
  defaultRole: text({ required: true }),
  oidc: nested(oidcMessage, { oneof: 'configuration' }),
  scim: nested(scimMessage, { outputOnly: true }),
})

const UNSET_RULE = 'CORRELATION_RULE_UNSPECIFIED'
const DEFAULT_RULE = 'CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID'

const credentialViolations = ({ oidc }: IdentityProvider): readonly FieldViolation[] =>
  oidc && oidc.clientSecret === '' && !oidc.pkceEnabled
    ? [{ field: 'oidc.client_secret', description: 'is required unless pkce_enabled is set' }]
    : []

const newProviderViolations = (row: IdentityProvider, { world, parent }: CreateAct): readonly FieldViolation[] => [
  ...(inRoot(parent) ? [] : [{ field: 'parent', description: 'parent id must be an organization (root group)' }]),
  ...roleViolations(world, 'default_role', row.defaultRole, parent),
  ...credentialViolations(row),
]

/**
 * True if the request changes the secret: its mask names the secret, or everything with `*`. A mask of just `oidc` does not: no answer
 * shows the secret, so such an update would lose it (semantics §3.3).
 */
const writesSecret = (act: UpdateAct<IdentityProvider>): boolean => {
  const wildcard = act.query.text('update_mask').trim() === '*'
  const wholeOidc = act.touches('oidc.*')
  return wildcard || (act.touches('oidc.clientSecret') && !wholeOidc)
}

const keep = (oidc: Oidc, before: Oidc, act: UpdateAct<IdentityProvider>): Oidc => ({
  ...oidc,
  clientSecret: oidc.clientSecret === '' && !writesSecret(act) ? before.clientSecret : oidc.clientSecret,
  correlationRule: oidc.correlationRule === UNSET_RULE ? before.correlationRule : oidc.correlationRule,
})

/** The row with the values that an update keeps: the secret unless named, and the correlation rule, which cannot change. */
const settleProvider = (row: IdentityProvider, act: UpdateAct<IdentityProvider>): IdentityProvider => {
  const before = act.previous.oidc
  return row.oidc && before ? { ...row, oidc: keep(row.oidc, before, act) } : row
}

const ruleOf = (oidc: Oidc): string => (oidc.correlationRule === UNSET_RULE ? DEFAULT_RULE : oidc.correlationRule)

const ruleViolations = ({ oidc }: IdentityProvider, { previous }: UpdateAct<IdentityProvider>): readonly FieldViolation[] =>
  oidc && previous.oidc && ruleOf(oidc) !== ruleOf(previous.oidc)
    ? [{ field: 'oidc.correlation_rule', description: 'cannot be changed' }]
    : []

const changedProviderViolations = (row: IdentityProvider, act: UpdateAct<IdentityProvider>): readonly FieldViolation[] => {
  const settled = settleProvider(row, act)
  return [
    ...(act.touches('defaultRole') ? roleViolations(act.world, 'default_role', row.defaultRole, parentOf(row.uid)) : []),
    ...(act.touches('oidc') ? [...credentialViolations(settled), ...ruleViolations(settled, act)] : []),
  ]
}

const providerBlockers = ({ uid }: IdentityProvider, { store }: World): readonly PreconditionViolation[] =>
  store.externalGroupRoleMappings.children(uid).length > 0
    ? [{ type: 'RESOURCE_NOT_EMPTY', description: 'cannot delete identity provider with external group role mappings' }]
    : []

/** Only reads of one provider show SCIM; a list omits it (semantics §3.3). */
const view = (row: IdentityProvider, world: World, kind: View): Draft => ({
  ...row,
  scim: kind === 'list' ? undefined : scimNow(row, world),
})

export const identityProviders = resourceOf('iam.IdentityProvider', 'identityProviders', {
  message: identityProviderMessage,
  // A provider grants its default role to every user who signs in, hence the right to bind (semantics §2.2).
  capabilities: {
    list: 'identity_providers.list',
    create: ['identity_providers.create', 'role_bindings.create'],
    update: ['identity_providers.update', 'role_bindings.create'],
    delete: 'identity_providers.delete',
  },
  ...BY_NAME,
  checkCreate: newProviderViolations,
  checkUpdate: changedProviderViolations,
  prepare: (row, { world }) => ({ ...row, scim: unissuedScim(row.uid, world) }),
  revise: settleProvider,
  blockers: providerBlockers,
  view,
})

export const identityProviderRoutes = routesOf(identityProviders)
