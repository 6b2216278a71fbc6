import { builtInRoleUid, isStaff, requireCapability, visible } from '../../auth/rights.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import { equals } from '../../lists.ts'
import { NAMED } from '../../messages/field-mask.ts'
import {
  type Check,
  choice,
  DATED,
  type Draft,
  decode,
  duration,
  fill,
  flag,
  formatTimestamp,
  int32,
  int64,
  LAST_TIME,
  listOf,
  mapOf,
  messageType,
  nested,
  outputText,
  outputTime,
  text,
  valuesOf,
} from '../../messages/message.ts'
import {
  alreadyExists,
  type FieldViolation,
  invalidArgument,
  invalidField,
  notFound,
  type PreconditionViolation,
  permissionDenied,
  resourceExhausted,
} from '../../status.ts'
import type { AccountAssociation, Group, GroupInvite, TermsAcceptance } from '../../world/model.ts'
import { inRoot, lineage, newUid, parentOf, rootOf, type Store, timestamp, validUid, type World } from '../../world/store.ts'
import {
  type Act,
  actOf,
  BY_NAME,
  type CreateAct,
  create,
  existing,
  pageAnswer,
  present,
  resourceOf,
  routesOf,
  type UpdateAct,
  uidParam,
  type View,
} from '../resource.ts'
import { awsAccountRule } from './identities.ts'
import { roleViolations } from './roles.ts'

const PACKAGE = 'chainguard.platform.iam.v2.AccountAssociation'

const amazonMessage = messageType(`${PACKAGE}.Amazon`, { account: text({ required: true, check: awsAccountRule }) })

const googleMessage = messageType(`${PACKAGE}.Google`, { projectId: text({ required: true }), projectNumber: text({ required: true }) })

const chainguardMessage = messageType(`${PACKAGE}.Chainguard`, { serviceBindings: mapOf(text(), { required: true }) })

const azureMessage = messageType(`${PACKAGE}.Azure`, { tenantId: text({ required: true }), clientIds: mapOf(text(), { required: true }) })

const installationMessage = messageType(`${PACKAGE}.GitHubInstallation`, { installationId: int64({ required: true }), name: text() })

const installationsMessage = messageType(`${PACKAGE}.GitHubAppInstallations`, { installations: listOf(nested(installationMessage)) })

const githubMessage = messageType(`${PACKAGE}.GitHub`, { appInstallations: mapOf(nested(installationsMessage)) })

/** (semantics §3.8) */
export const accountAssociationMessage = messageType(PACKAGE, {
  ...NAMED,
  amazon: nested(amazonMessage),
  google: nested(googleMessage),
  chainguard: nested(chainguardMessage),
  azure: nested(azureMessage),
  ...DATED,
  github: nested(githubMessage),
})

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

export const accountAssociations = resourceOf('iam.AccountAssociation', 'accountAssociations', {
  message: accountAssociationMessage,
  capabilities: {
    list: 'account_associations.list',
    create: 'account_associations.create',
    update: 'account_associations.update',
    delete: 'account_associations.delete',
  },
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
})

/** Value of `providerType` → the member that must be configured. */
export const PROVIDERS: Readonly<Record<string, 'google' | 'amazon' | 'azure' | undefined>> = {
  ACCOUNT_PROVIDER_TYPE_UNSPECIFIED: undefined,
  ACCOUNT_PROVIDER_TYPE_GOOGLE: 'google',
  ACCOUNT_PROVIDER_TYPE_AMAZON: 'amazon',
  ACCOUNT_PROVIDER_TYPE_AZURE: 'azure',
}

const checkMessage = messageType('chainguard.platform.iam.v2.CheckAccountAssociationRequest', {
  providerType: choice(Object.keys(PROVIDERS)),
})

/** True if a provider of an association is ready. The sandbox contacts no cloud: every configured provider is ready (ASSUMPTIONS.md). */
export const checkProvider = (row: AccountAssociation, provider: 'google' | 'amazon' | 'azure') =>
  row[provider] === undefined
    ? { status: 'CHECK_STATUS_NOT_READY', reason: 'not configured', message: `the association has no ${provider} account` }
    : { status: 'CHECK_STATUS_READY' }

/** `POST …/{uid}:checkAccountAssociation`. */
const checkRoute: Route = {
  method: 'POST',
  template: '/iam/v2/accountAssociations/{uid=**}:checkAccountAssociation',
  handle: (ask, world) => {
    const uid = uidParam(ask)
    requireCapability(world, actOf(ask, world).caller, 'account_associations.list', uid)
    const { providerType } = decode(checkMessage, ask.body)
    const provider = PROVIDERS[String(providerType)] ?? invalidField('provider_type', 'is required')
    return ok(checkProvider(existing(accountAssociations, world, uid), provider))
  },
}

export const accountAssociationRoutes: readonly Route[] = [...routesOf(accountAssociations), checkRoute]

/** The zero value comes first and means "none". */
export const ORG_KINDS = valuesOf('ORG_KIND', 'STARTER', 'CUSTOMER', 'DEV', 'INFRA', 'AWS_MARKETPLACE')

export const ORG_STATUSES = valuesOf('ORG_STATUS', 'INITIALIZING', 'READY', 'SUSPENDED')

/** (semantics §3.1) */
export const groupMessage = messageType('chainguard.platform.iam.v2.Group', {
  ...NAMED,
  resourceLimits: mapOf(int32(), { outputOnly: true }),
  verified: flag(),
  ...DATED,
  kind: choice(ORG_KINDS),
  status: choice(ORG_STATUSES, { outputOnly: true }),
})

const NO_KIND = 'ORG_KIND_UNSPECIFIED'
const NO_STATUS = 'ORG_STATUS_UNSPECIFIED'

const refuseVerifying = (before: boolean, after: boolean, { world, caller }: Act): void => {
  if (before !== after && !isStaff(world, caller)) permissionDenied('verified may only be changed by staff')
}

/** The name of a verified organization is its domain. No other organization may take it (semantics §3.1). */
const refuseTakenName = (row: Group, world: World): void => {
  const taken =
    row.verified && world.store.groups.values().some((other) => other.verified && other.name === row.name && other.uid !== row.uid)
  if (taken) alreadyExists('iam.Group', row.name)
}

const kindViolations = (row: Group, inherited: string): readonly FieldViolation[] => {
  if (!inRoot(row.uid)) return row.kind === inherited ? [] : [{ field: 'kind', description: 'cannot be set below an organization' }]
  return row.verified && row.kind === NO_KIND ? [{ field: 'kind', description: 'is required for a verified organization' }] : []
}

const checkNewGroup = (row: Group, act: CreateAct): readonly FieldViolation[] => {
  refuseVerifying(false, row.verified, act)
  const found = kindViolations(row, NO_KIND)
  if (found.length === 0) refuseTakenName(row, act.world)
  return found
}

/** `*` would write kind and status too. The service refuses it if these hold values (semantics §3.1). */
const wildcardViolations = (previous: Group, act: UpdateAct<Group>): readonly FieldViolation[] => {
  const settled = previous.kind !== NO_KIND || previous.status !== NO_STATUS
  const wildcard = act.query.text('update_mask').trim() === '*'
  return wildcard && settled ? [{ field: 'update_mask', description: '"*" cannot be used on a group with a kind and a status' }] : []
}

const checkChangedGroup = (row: Group, act: UpdateAct<Group>): readonly FieldViolation[] => {
  const wildcard = wildcardViolations(act.previous, act)
  if (wildcard.length > 0) return wildcard
  refuseVerifying(act.previous.verified, row.verified, act)
  const found = kindViolations(row, act.previous.kind)
  if (found.length === 0) refuseTakenName(row, act.world)
  return found
}

/** Folders take the kind and status of their organization. In the sandbox an organization with a kind is ready at once. */
const settleNewGroup = (row: Group, { world }: CreateAct): Group => {
  const organization = world.store.groups.get(rootOf(row.uid))
  if (organization) return { ...row, kind: organization.kind, status: organization.status }
  return { ...row, status: row.kind === NO_KIND ? NO_STATUS : 'ORG_STATUS_READY' }
}

/** A new kind of an organization applies to every folder below it. */
const settleChangedGroup = (row: Group, { world, previous }: UpdateAct<Group>): Group => {
  if (row.kind === previous.kind) return row
  const { groups } = world.store
  const settled = { ...row, status: row.status === NO_STATUS ? 'ORG_STATUS_READY' : row.status }
  for (const folder of groups.below(row.uid)) groups.put({ ...folder, kind: settled.kind, status: settled.status })
  return settled
}

/** The dependents that block the delete of a group, by their name in the message (specification §7 rule 2, semantics §3.1). */
const DEPENDENTS: Readonly<Record<string, (store: Store, uid: string) => boolean>> = {
  repos: (store, uid) => store.repos.children(uid).length > 0,
  groups: (store, uid) => store.groups.children(uid).length > 0,
  identities: (store, uid) => store.identities.children(uid).length > 0,
  roles: (store, uid) => store.roles.children(uid).length > 0,
  'identity providers': (store, uid) => store.identityProviders.children(uid).length > 0,
  subscriptions: (store, uid) => store.subscriptions.children(uid).length > 0,
  'account associations': (store, uid) => store.accountAssociations.get(uid) !== undefined,
}

const groupBlockers = ({ uid }: Group, { store }: World): readonly PreconditionViolation[] =>
  Object.entries(DEPENDENTS)
    .filter(([, found]) => found(store, uid))
    .map(([word]) => ({ type: 'RESOURCE_NOT_EMPTY', description: `cannot delete group with child ${word}` }))

/**
 * Deletes the rows that do not block a delete: bindings (every organization has its owner's), invites and terms concern the group itself,
 * and no caller can delete advisories.
 */
const removeWithGroup = ({ uid }: Group, { store }: World): void => {
  for (const table of [store.roleBindings, store.groupInvites, store.termsAcceptances, store.advisories]) {
    for (const row of table.children(uid)) table.delete(row.uid)
  }
}

/** The creator of an organization becomes its owner (semantics §2.1). */
const bindOwner = ({ uid, createTime }: Group, { world, caller, parent }: CreateAct): void => {
  if (parent !== '') return
  const binding = { uid: newUid(world.random, uid), createTime, identityUid: caller.identityUid, roleUid: builtInRoleUid('owner') }
  world.store.roleBindings.put(binding)
}

export const groups = resourceOf('iam.Group', 'groups', {
  message: groupMessage,
  capabilities: { list: 'groups.list', create: 'groups.create', update: 'groups.update', delete: 'groups.delete' },
  ...BY_NAME,
  checkCreate: checkNewGroup,
  checkUpdate: checkChangedGroup,
  prepare: settleNewGroup,
  revise: settleChangedGroup,
  created: bindOwner,
  blockers: groupBlockers,
  cascade: removeWithGroup,
})

/** Resolves a parent: a uid, the last part of one, or a name, of a group that the caller can create below (semantics §2.1). */
const resolveParent = (text: string, { world, caller }: Act): string => {
  if (text === '') return ''
  if (validUid(text)) {
    requireCapability(world, caller, 'groups.create', text)
    return world.store.groups.get(text)?.uid ?? notFound('iam.Group', text)
  }
  const inReach = visible(world, caller, 'groups.create')
  const meant = world.store.groups.values().filter(({ uid, name }) => (uid.endsWith(`/${text}`) || name === text) && inReach(uid))
  if (meant.length > 1) invalidField('parent', `${JSON.stringify(text)} names ${meant.length} groups; use a uid`)
  return meant[0]?.uid ?? notFound('iam.Group', text)
}

/** `POST /iam/v2/groups/{parent}`. With an empty parent any caller creates an organization (semantics §2.2). */
const createGroupRoute: Route = {
  method: 'POST',
  template: '/iam/v2/groups/{parent=**}',
  handle: (ask, world) => {
    const act = actOf(ask, world)
    const row = create(groups, { ...act, parent: resolveParent(ask.params.parent ?? '', act) }, ask.body)
    return ok(present(groups, world, row, 'create'))
  },
}

export const groupRoutes = routesOf(groups, createGroupRoute)

/** Milliseconds between two requests of one caller for access to the same group (ASSUMPTIONS.md, "Groups"). */
const REQUEST_INTERVAL_MS = 60 * 60 * 1000

/**
 * The time of each caller's last request for access to a group. The API shows these requests nowhere, so the store has no table for them.
 */
const requests = new WeakMap<Store, Map<string, number>>()

/** The domain of the caller's verified email address; undefined without one. */
const domainOf = (world: World, identityUid: string): string | undefined =>
  world.store.identities.get(identityUid)?.email.split('@')[1] || undefined

/** The verified organization whose name is the domain of the caller's verified email address (semantics §3.1). */
export const groupOfCaller = (world: World, identityUid: string): Group | undefined => {
  const domain = domainOf(world, identityUid)
  return domain === undefined ? undefined : world.store.groups.named('', domain).find(({ verified }) => verified)
}

/** True if a caller may ask for access: this takes a verified email address. */
export const isEligible = (world: World, identityUid: string): boolean => domainOf(world, identityUid) !== undefined

/**
 * Records a caller's request for access to an organization. NOT_FOUND for any other group, RESOURCE_EXHAUSTED after another request within
 * the last hour (semantics §3.1).
 */
export const requestAccess = (world: World, identityUid: string, groupUid: string): void => {
  const group = world.store.groups.get(groupUid)
  if (!group || !inRoot(groupUid)) notFound('iam.Group', groupUid)
  const asked = requests.get(world.store) ?? new Map<string, number>()
  const key = `${identityUid} ${groupUid}`
  const now = world.clock.now().getTime()
  if (now - (asked.get(key) ?? -Infinity) < REQUEST_INTERVAL_MS) resourceExhausted('access to this group was requested recently')
  requests.set(world.store, asked.set(key, now))
}

export const groupActionRoutes: readonly Route[] = [
  {
    method: 'GET',
    template: '/iam/v2/groups:lookupGroup',
    handle: (ask, world) => {
      const { identityUid } = callerOf(ask)
      // Every cause has the same answer: a difference would reveal which domains are customers.
      const group = groupOfCaller(world, identityUid) ?? notFound('iam.Group', '')
      return ok({ group: present(groups, world, group, 'get') })
    },
  },
  {
    method: 'GET',
    template: '/iam/v2/groups:checkEligibility',
    handle: (ask, world) => ok({ eligible: isEligible(world, callerOf(ask).identityUid) }),
  },
  {
    method: 'POST',
    template: '/iam/v2/groups/{group_uid=**}:requestGroupAccess',
    handle: (ask, world) => {
      if (ask.params.group_uid === '') invalidField('group_uid', 'is required')
      requestAccess(world, callerOf(ask).identityUid, uidParam(ask, 'group_uid'))
      return ok({})
    },
  },
]

/** `"604800s"` in milliseconds. */
export const durationMs = (text: string): number => Number(text.slice(0, -1)) * 1000

const positive: Check = (ttl: string) => (durationMs(ttl) > 0 ? undefined : 'must be a positive duration')

const inviteRoleMessage = messageType('chainguard.platform.iam.v2.GroupInviteRole', {
  uid: outputText,
  name: outputText,
  description: outputText,
  capabilities: listOf(outputText),
})

/** (semantics §3.7) */
export const groupInviteMessage = messageType('chainguard.platform.iam.v2.GroupInvite', {
  uid: outputText,
  roleUid: text({ required: true }),
  role: nested(inviteRoleMessage, { outputOnly: true }),
  email: text(),
  ttl: duration({ required: true, inputOnly: true, check: positive }),
  expirationTime: outputTime,
  singleUse: flag(),
  code: outputText,
  keyId: outputText,
  createTime: outputTime,
})

/** The code is a secret of the sandbox's own. Only its form, base64 text, is known (semantics §3.7). */
const prepare = (row: GroupInvite, { world }: CreateAct): GroupInvite => {
  const { ttl, role: _role, ...stored } = row as GroupInvite & { readonly ttl: string; readonly role?: unknown }
  const expires = world.clock.now().getTime() + durationMs(ttl)
  if (expires > LAST_TIME) invalidField('ttl', 'must end before the year 10000')
  return {
    ...stored,
    expirationTime: formatTimestamp(expires),
    code: Buffer.from(world.random.bytes(32)).toString('base64'),
    keyId: world.random.hex(20),
  }
}

const view = (row: GroupInvite, { store }: World, kind: View): Draft => ({
  ...row,
  role: store.roles.get(row.roleUid),
  code: kind === 'create' ? row.code : '',
})

export const groupInvites = resourceOf('iam.GroupInvite', 'groupInvites', {
  message: groupInviteMessage,
  // An invite promises a binding, so creating one also requires the right to bind (semantics §2.2).
  capabilities: { list: 'group_invites.list', create: ['group_invites.create', 'role_bindings.create'], delete: 'group_invites.delete' },
  sortable: { expiration_time: ({ expirationTime }) => expirationTime },
  order: { name: 'created_at', descending: true },
  filters: (query) => equals(query, 'key_id', ({ keyId }) => keyId),
  checkCreate: (row, { world }) => roleViolations(world, 'role_uid', row.roleUid, parentOf(row.uid)),
  prepare,
  view,
})

export const groupInviteRoutes = routesOf(groupInvites)

/** The documents that can be accepted (semantics §3.9). */
const DOCUMENTS: ReadonlySet<string> = new Set(['guardener-tos.v1', 'sfdpa.v1', 'skills-tos.v1'])

export const acceptanceMessage = messageType('chainguard.platform.iam.v2.TermsAcceptance', {
  docId: outputText,
  acceptedBy: outputText,
  orgUid: outputText,
  createTime: outputTime,
})

const acceptMessage = messageType('chainguard.platform.iam.v2.AcceptTermsRequest', { documentIds: listOf(text()) })

/** One acceptance for each document and group, so a second one keeps the first. */
const keyOf = (group: string, docId: string): string => `${group}/${docId}`

/** Records that `acceptedBy` accepts `documentIds` for `group`. INVALID_ARGUMENT for an empty list or an unknown id. */
export const acceptTerms = (world: World, group: string, documentIds: readonly string[], acceptedBy: string): void => {
  if (documentIds.length === 0) invalidField('document_ids', 'is required')
  const unknown = documentIds.flatMap((docId, index) =>
    DOCUMENTS.has(docId) ? [] : [{ field: `document_ids[${index}]`, description: `unknown document ${JSON.stringify(docId)}` }],
  )
  if (unknown.length > 0) invalidArgument(unknown)
  const table = world.store.termsAcceptances
  for (const docId of documentIds) {
    const uid = keyOf(group, docId)
    if (!table.get(uid)) table.put({ uid, docId, acceptedBy, orgUid: group, createTime: timestamp(world.clock) })
  }
}

/** The acceptances for a group and for the groups above it, which hold for the group too (semantics §3.9). */
export const acceptancesFor = (world: World, group: string): readonly TermsAcceptance[] =>
  world.store.termsAcceptances.values().filter(({ orgUid }) => lineage(group).includes(orgUid))

const scopeOf = (ask: Ask, world: World, needed: 'terms.accept' | 'terms.list'): string => {
  const group = uidParam(ask, 'group')
  requireCapability(world, callerOf(ask), needed, group)
  return world.store.groups.get(group)?.uid ?? notFound('iam.Group', group)
}

export const termsRoutes: readonly Route[] = [
  {
    method: 'POST',
    template: '/iam/v2/terms/{group=**}',
    handle: (ask, world) => {
      const group = scopeOf(ask, world, 'terms.accept')
      const { documentIds } = fill(acceptMessage, decode(acceptMessage, ask.body))
      acceptTerms(world, group, documentIds, callerOf(ask).identityUid)
      return ok({ group, documentIds })
    },
  },
  {
    method: 'GET',
    template: '/iam/v2/terms/{group=**}',
    handle: (ask, world) => {
      const group = scopeOf(ask, world, 'terms.list')
      const list = { rows: acceptancesFor(world, group), key: group, sortable: { doc_id: ({ docId }: TermsAcceptance) => docId } }
      return pageAnswer(ask, world, 'termsAcceptances', acceptanceMessage, list)
    },
  },
]
