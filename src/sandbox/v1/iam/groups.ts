import type { Capability } from '../../auth/capabilities.ts'
import { isStaff, requireCapability, visible } from '../../auth/rights.ts'
import { type Ask, callerOf } from '../../http/route.ts'
import { equals } from '../../lists.ts'
import { invalidField, notFound } from '../../status.ts'
import {
  acceptancesFor,
  acceptTerms,
  accountAssociations,
  checkProvider,
  groupInvites,
  groupOfCaller,
  groups,
  isEligible,
  PROVIDERS,
  requestAccess,
} from '../../v2/iam/groups.ts'
import { type Act, actOf, BY_NAME, create, existing, uidParam } from '../../v2/resource.ts'
import type { AccountAssociation, Group, GroupInvite } from '../../world/model.ts'
import { parentOf, validUid, type World } from '../../world/store.ts'
import { choice, duration, flag, int64, list, map, message, object, prefixed, readOnly, text, time } from '../message.ts'
import { decode, encode, type Operation } from '../operation.ts'
import {
  answerOf,
  arrange,
  createOperation,
  deleteOperation,
  listOperation,
  type Replaced,
  readBody,
  relaxed,
  replaceOperation,
  type Written,
} from '../operations.ts'
import { group, role } from './access.ts'

const amazon = message('AccountAssociations.Amazon', [text('account')])
const google = message('AccountAssociations.Google', [text('project_id'), text('project_number')])
const chainguard = message('AccountAssociations.Chainguard', [map(text('service_bindings'))])
const azure = message('AccountAssociations.Azure', [text('tenant_id'), map(text('client_ids'))])
const installation = message('AccountAssociations.GitHubInstallation', [int64('installation_id'), text('name')])
const installations = message('AccountAssociations.GitHubAppInstallations', [list(object(installation)('installations'))])
const github = message('AccountAssociations.GitHub', [map(object(installations)('app_installations'))])

/** AccountAssociations (facts §3.7): one for each group. The stored uid is the group's. */
export const accountAssociation = message(
  'AccountAssociations',
  [
    readOnly(text('group', { from: 'uid' })),
    object(amazon)('amazon'),
    object(google)('google'),
    object(chainguard)('chainguard'),
    object(azure)('azure'),
    text('name'),
    text('description'),
    object(github)('github'),
  ],
  ['created_at', 'updated_at'],
)

const accountType = prefixed('AccountType', 'ACCOUNT_PROVIDER_TYPE_', 1, 'GOOGLE', 'AMAZON', 'AZURE')
const readiness = prefixed('State', 'CHECK_STATUS_', 1, 'Ready', 'NotReady')

export const checkRequest = message('AccountAssociationsCheckRequest', [choice(accountType)('account_type', { from: 'providerType' })])
export const checkAnswer = message('AccountAssociationsStatus', [
  choice(readiness)('ready', { from: 'status' }),
  text('reason'),
  text('message'),
])

const written: Written<AccountAssociation> = {
  resource: relaxed(accountAssociations, 'name'),
  path: '/iam/v1/account_associations',
  message: accountAssociation,
}

const REPLACED = ['name', 'description', 'amazon', 'google', 'github', 'chainguard', 'azure']

const check: Operation = {
  method: 'POST',
  template: `${written.path}/{group=**}:check`,
  message: accountAssociation,
  answer: (ask, world) => {
    const uid = uidParam(ask, 'group')
    requireCapability(world, callerOf(ask), 'account_associations.list', uid)
    const { providerType } = decode(ask.body, checkRequest)
    const provider = PROVIDERS[String(providerType)] ?? invalidField('account_type', 'is required')
    return encode(checkProvider(existing(accountAssociations, world, uid), provider), checkAnswer, world.options.v1Dialect)
  },
}

/** Account associations (facts §3.7): one for each group, whose id is the group's. */
export const associationOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'group', scoped: false, filters: BY_NAME.filters }),
  createOperation(written, 'group'),
  replaceOperation(written, () => REPLACED, 'group'),
  deleteOperation(written, 'group'),
  check,
]

export const eligibility = message('CheckEligibilityResponse', [flag('eligible')])

const writtenGroup: Written<Group> = { resource: groups, path: '/iam/v1/groups', message: group }

/** True if `text` is the whole of `uid` or the beginning of its last part. Otherwise an organization's uid would match all its folders. */
const begins = (uid: string, text: string): boolean => uid.startsWith(text) && !uid.slice(text.length).includes('/')

/**
 * Resolves a parent: a uid, the beginning of one, or a name, of a group that the caller can create below. Empty means root (facts §3.1).
 */
function parentNamed(text: string, { world, caller }: Act): string {
  if (text === '') return ''
  if (validUid(text)) requireCapability(world, caller, 'groups.create', text)
  const inReach = visible(world, caller, 'groups.create')
  const meant = world.store.groups.values().filter(({ uid, name }) => (begins(uid, text) || name === text) && inReach(uid))
  if (meant.length > 1) invalidField('parent', `${JSON.stringify(text)} names ${meant.length} groups; use a uid`)
  return meant[0]?.uid ?? notFound('iam.Group', text)
}

const createGroup: Operation = {
  method: 'POST',
  template: `${writtenGroup.path}/{parent=**}`,
  message: group,
  answer: (ask, world) => {
    const act = actOf(ask, world)
    const parent = parentNamed(ask.params['parent'] ?? '', act)
    const body = readBody(writtenGroup, ask)
    return answerOf(writtenGroup, create(groups, { ...act, parent }, body), body, world)
  },
}

/**
 * A PUT resets the description. It writes the kind only if the body names one. Only staff can write `verified`; others leave it unchanged
 * (facts §13).
 */
const replaced: Replaced = (body, ask, world) => [
  'name',
  'description',
  ...(body['verified'] === true || isStaff(world, callerOf(ask)) ? ['verified'] : []),
  ...(['ORG_KIND_UNSPECIFIED', undefined].includes(body['kind'] as string | undefined) ? [] : ['kind']),
]

/** Three operations that depend on the token alone (facts §3.1). */
const tokenDriven: readonly Operation[] = [
  {
    method: 'GET',
    template: `${writtenGroup.path}:lookupGroup`,
    answer: (ask, world) => {
      const found = groupOfCaller(world, callerOf(ask).identityUid) ?? notFound('iam.Group', '')
      return { group: encode(found, group, world.options.v1Dialect) }
    },
  },
  {
    method: 'GET',
    template: `${writtenGroup.path}:checkEligibility`,
    answer: (ask, world) => encode({ eligible: isEligible(world, callerOf(ask).identityUid) }, eligibility, world.options.v1Dialect),
  },
  {
    method: 'POST',
    template: `${writtenGroup.path}/{group_id=**}:requestGroupAccess`,
    answer: (ask, world) => {
      requestAccess(world, callerOf(ask).identityUid, uidParam(ask, 'group_id'))
      return {}
    },
  },
]

/** Groups (facts §3.1). */
export const groupOperations: readonly Operation[] = [
  listOperation({ ...writtenGroup, idParameter: 'id', scoped: true, filters: BY_NAME.filters }),
  createGroup,
  replaceOperation(writtenGroup, replaced),
  deleteOperation(writtenGroup),
  ...tokenDriven,
]

/** StoredGroupInvite: the list row (facts §3.8). */
export const storedInvite = message(
  'StoredGroupInvite',
  [
    text('id', { from: 'uid' }),
    time('expiration', { from: 'expirationTime' }),
    text('key_id'),
    object(role)('role'),
    text('email'),
    time('created_at', { from: 'createTime' }),
    flag('single_use'),
  ],
  ['group_id'],
)

/** GroupInvite: the answer of create, which alone shows the code. */
export const invite = message(
  'GroupInvite',
  [text('id', { from: 'uid' }), time('expiration', { from: 'expirationTime' }), text('key_id'), object(role)('role'), text('code')],
  ['created_at', 'group_id'],
)

export const inviteRequest = message('GroupInviteRequest', [
  duration('ttl'),
  text('role', { from: 'roleUid' }),
  text('email'),
  flag('single_use'),
])

/** The default lifetime of an invite. Unlike v2, v1 does not require one (facts §24.13). */
const DEFAULT_TTL = '604800s'

const writtenInvite: Written<GroupInvite> = {
  resource: groupInvites,
  path: '/iam/v1/group_invites',
  message: invite,
  request: inviteRequest,
  view: (row, { store }) => ({ ...row, role: store.roles.get(row.roleUid) }),
  accept: (body) => ({ ttl: DEFAULT_TTL, ...body }),
}

/** Group invites (facts §3.8): the list never shows the code. */
export const inviteOperations: readonly Operation[] = [
  listOperation({
    ...writtenInvite,
    message: storedInvite,
    idParameter: 'id',
    scoped: false,
    order: { name: 'created_at', descending: true },
    filters: (query) => [
      ...equals<GroupInvite>(query, 'group', ({ uid }) => parentOf(uid)),
      ...equals<GroupInvite>(query, 'key_id', ({ keyId }) => keyId),
    ],
  }),
  createOperation(writtenInvite, 'group'),
  deleteOperation(writtenInvite),
]

/** TermsDocumentStatus (facts §3.10). */
export const termsStatus = message('TermsDocumentStatus', [
  text('doc_id'),
  text('accepted_by'),
  time('accepted_at', { from: 'createTime' }),
])

/** The request and the answer of accepting terms have the same members. */
export const acceptedTerms = message('AcceptTermsResponse', [readOnly(text('group')), list(text('document_ids'))])

function groupOf(ask: Ask, world: World, needed: Capability): string {
  const group = uidParam(ask, 'group')
  requireCapability(world, callerOf(ask), needed, group)
  return group
}

/** Terms (facts §3.10). */
export const termsOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: '/iam/v1/terms/{group=**}',
    answer: (ask, world) => {
      const group = groupOf(ask, world, 'terms.list')
      const accepted = world.store.groups.get(group) ? acceptancesFor(world, group) : []
      const rows = arrange(accepted, ask.query)
      return { items: rows.map((row) => encode(row, termsStatus, world.options.v1Dialect)) }
    },
  },
  {
    method: 'POST',
    template: '/iam/v1/terms/{group=**}',
    message: acceptedTerms,
    answer: (ask, world) => {
      const group = groupOf(ask, world, 'terms.accept')
      const documentIds = (decode(ask.body, acceptedTerms)['documentIds'] ?? []) as readonly string[]
      existing(groups, world, group)
      acceptTerms(world, group, documentIds, callerOf(ask).identityUid)
      return encode({ group, documentIds }, acceptedTerms, world.options.v1Dialect)
    },
  },
]
