import { requireCapability } from '../../../auth/rights/authorize.ts'
import { ok, type Route } from '../../../http/route.ts'
import { equals } from '../../../lists/filter.ts'
import { decode } from '../../../messages/decode.ts'
import { choice, type Message } from '../../../messages/message.ts'
import { alreadyExists, type FieldViolation, invalidField } from '../../../status.ts'
import type { AccountAssociation } from '../../../world/iam-model.ts'
import { parentOf } from '../../../world/uid.ts'
import { actOf, existing, getRoute, listRoute, uidParam } from '../../reads.ts'
import type { Act, Resource } from '../../resource.ts'
import { createRoute, deleteRoute, updateRoute } from '../../writes.ts'
import { accountAssociationMessage } from './account-association-message.ts'

const PREFIX = 'SERVICE_PRINCIPAL_'

/**
 * A binding of a service requires a service-principal identity directly below the group, of the service that the key names (semantics
 * §3.8).
 */
const bindingViolations = (row: AccountAssociation, group: string, { world }: Act): readonly FieldViolation[] =>
  Object.entries(row.chainguard?.serviceBindings ?? {})
    .filter(([service, uid]) => {
      const principal = world.store.identities.get(uid)?.servicePrincipal
      return parentOf(uid) !== group || principal !== PREFIX + service.replace(PREFIX, '')
    })
    .map(([service]) => ({
      field: `chainguard.service_bindings[${service}]`,
      description: 'must be a service principal identity of that service, directly below the group',
    }))

export const accountAssociations: Resource<AccountAssociation> = {
  type: 'iam.AccountAssociation',
  message: accountAssociationMessage,
  path: '/iam/v2/accountAssociations',
  plural: 'accountAssociations',
  table: (store) => store.accountAssociations,
  capabilities: {
    list: 'account_associations.list',
    create: 'account_associations.create',
    update: 'account_associations.update',
    delete: 'account_associations.delete',
  },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { name: ({ name }) => name, group: ({ uid }) => uid },
  order: { name: 'group', descending: false },
  filters: (query) => equals(query, 'name', ({ name }) => name),
  checkCreate: (row, act) => {
    if (act.world.store.accountAssociations.get(act.parent)) alreadyExists('iam.AccountAssociation', act.parent)
    return bindingViolations(row, act.parent, act)
  },
  checkUpdate: (row, act) => (act.touches('chainguard') ? bindingViolations(row, row.uid, act) : []),
  // One association for each group, under the group's own uid (semantics §1).
  prepare: (row, { parent }) => ({ ...row, uid: parent }),
  deleteIsIdempotent: true,
}

/** Value of `providerType` → the member that must be configured. */
const PROVIDERS: Readonly<Record<string, 'google' | 'amazon' | 'azure' | undefined>> = {
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED: undefined,
  ACCOUNT_PROVIDER_TYPE_GOOGLE: 'google',
  ACCOUNT_PROVIDER_TYPE_AMAZON: 'amazon',
  ACCOUNT_PROVIDER_TYPE_AZURE: 'azure',
}

const checkMessage: Message = {
  name: 'chainguard.platform.iam.v2.CheckAccountAssociationRequest',
  fields: { providerType: choice(Object.keys(PROVIDERS)) },
}

/** True if a provider of an association is ready. The sandbox contacts no cloud: every configured provider is ready (ASSUMPTIONS.md). */
export const checkProvider = (row: AccountAssociation, provider: 'google' | 'amazon' | 'azure') =>
  row[provider] === undefined
    ? { status: 'CHECK_STATUS_NOT_READY', reason: 'not configured', message: `the association has no ${provider} account` }
    : { status: 'CHECK_STATUS_READY' }

/** `POST …/{uid}:checkAccountAssociation`. */
const checkRoute: Route = {
  method: 'POST',
  template: '/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation',
  auth: 'required',
  handle: (ask, world) => {
    const uid = uidParam(ask)
    requireCapability(world, actOf(ask, world).caller, 'account_associations.list', uid)
    const { providerType } = decode(checkMessage, ask.body)
    const provider = PROVIDERS[String(providerType)] ?? invalidField('provider_type', 'is required')
    return ok(checkProvider(existing(accountAssociations, world, uid), provider))
  },
}

export const accountAssociationRoutes: readonly Route[] = [
  listRoute(accountAssociations),
  getRoute(accountAssociations),
  createRoute(accountAssociations),
  updateRoute(accountAssociations),
  deleteRoute(accountAssociations),
  checkRoute,
]
