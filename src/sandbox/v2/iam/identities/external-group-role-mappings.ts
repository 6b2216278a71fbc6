import { requireCapability } from '../../../auth/rights/authorize.ts'
import { grantsOf, holds } from '../../../auth/rights/grants.ts'
import { ok, type Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import { decode } from '../../../messages/decode.ts'
import { fill, listOf, type Message, outputText, outputTime, text } from '../../../messages/message.ts'
import { alreadyExists, type FieldViolation, invalidArgument, invalidField, permissionDenied } from '../../../status.ts'
import type { ExternalGroupRoleMapping, Role } from '../../../world/iam-model.ts'
import { parentOf, rootOf, validUid } from '../../../world/uid.ts'
import type { World } from '../../../world/world.ts'
import { actOf, getRoute, listRoute, present } from '../../reads.ts'
import type { CreateAct, Resource } from '../../resource.ts'
import { createRoute, deleteRoute } from '../../writes.ts'
import { roleViolations } from '../roles/role-violations.ts'

/** (semantics §3.4) */
export const externalGroupRoleMappingMessage: Message = {
  name: 'chainguard.platform.iam.v2.ExternalGroupRoleMapping',
  fields: {
    uid: outputText,
    identityProviderUid: outputText,
    externalGroupId: text({ required: true }),
    roleUid: text({ required: true }),
    scope: text({ required: true }),
    createTime: outputTime,
  },
}

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
export const externalGroupRoleMappings: Resource<ExternalGroupRoleMapping> = {
  type: 'iam.ExternalGroupRoleMapping',
  message: externalGroupRoleMappingMessage,
  path: '/iam/v2/externalGroupRoleMappings',
  plural: 'externalGroupRoleMappings',
  table: (store) => store.externalGroupRoleMappings,
  capabilities: {
    list: 'identity_providers.list',
    create: ['identity_providers.create', 'role_bindings.create'],
    delete: 'identity_providers.delete',
  },
  parent: { type: 'iam.IdentityProvider', table: (store) => store.identityProviders },
  filters: (query) => equals(query, 'identity_provider_uid', ({ identityProviderUid }) => identityProviderUid),
  checkCreate,
  prepare: (row, { parent }) => ({ ...row, identityProviderUid: parent }),
}

const batchMessage: Message = {
  name: 'chainguard.platform.iam.v2.BatchDeleteExternalGroupRoleMappingsRequest',
  fields: { parent: text(), names: listOf(text()) },
}

const readBatch = (body: unknown): { readonly parent: string; readonly names: readonly string[] } => {
  const { parent, names } = fill(batchMessage, decode(batchMessage, body)) as { readonly parent: string; readonly names: readonly string[] }
  if (!validUid(parent)) invalidField('parent', `${JSON.stringify(parent)} is not a valid uid`)
  if (names.length === 0) invalidField('names', 'is required')
  const strangers = names.flatMap((name, index) =>
    parentOf(name) === parent ? [] : [{ field: `names[${index}]`, description: 'is not a mapping of the parent' }],
  )
  if (strangers.length > 0) invalidArgument(strangers)
  return { parent, names }
}

/** `POST …:batchDelete`: skips missing mappings and answers with the removed ones. */
const batchDeleteRoute: Route = {
  method: 'POST',
  template: '/iam/v2/externalGroupRoleMappings:batchDelete',
  auth: 'required',
  handle: (ask, world) => {
    const { parent, names } = readBatch(ask.body)
    requireCapability(world, actOf(ask, world).caller, 'identity_providers.delete', parent)
    const table = world.store.externalGroupRoleMappings
    const removed = [...new Set(names)].flatMap((name) => table.get(name) ?? [])
    for (const { uid } of removed) table.delete(uid)
    return ok({ parent, externalGroupRoleMappings: removed.map((row) => present(externalGroupRoleMappings, world, row, 'get')) })
  },
}

export const externalGroupRoleMappingRoutes: readonly Route[] = [
  listRoute(externalGroupRoleMappings),
  getRoute(externalGroupRoleMappings),
  createRoute(externalGroupRoleMappings),
  deleteRoute(externalGroupRoleMappings),
  batchDeleteRoute,
]
