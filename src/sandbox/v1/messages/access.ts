import { capabilities } from '../../auth/rights/capabilities.ts'
import { choice, duration, flag, list, message, object, readOnly, text, time } from '../message.ts'
import { strings } from '../vocabulary.ts'
import { group } from './groups.ts'

const capability = strings(
  'capability',
  capabilities.map((row) => [row.v1, row.v2]),
)

/** Role (facts §3.4): capabilities are dotted strings in v1. */
export const role = message(
  'Role',
  [readOnly(text('id', { from: 'uid' })), text('name'), text('description'), list(choice(capability)('capabilities'))],
  ['created_at', 'updated_at', 'group_id'],
)

/** RoleBinding: the answer of create, update and batch (facts §3.5). The group is the parent part of the id. */
export const roleBinding = message(
  'RoleBinding',
  [
    readOnly(text('id', { from: 'uid' })),
    text('identity', { from: 'identityUid' }),
    readOnly(text('group')),
    text('role', { from: 'roleUid' }),
  ],
  ['created_at', 'group_id'],
)

/** RoleBindingList.Binding: the hydrated list row (facts §3.5). */
export const hydratedBinding = message(
  'RoleBindingList.Binding',
  [
    text('id', { from: 'uid' }),
    object(group)('group'),
    text('identity', { from: 'identityUid' }),
    object(role)('role'),
    text('email'),
    text('claim_match_issuer'),
    text('claim_match_subject'),
    time('created_at', { from: 'createTime' }),
    text('email_unverified'),
  ],
  ['group_id'],
)

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

/** ExternalGroupRoleMapping (facts §3.9): its parent is an identity provider. */
export const externalGroupRoleMapping = message('ExternalGroupRoleMapping', [
  readOnly(text('id', { from: 'uid' })),
  readOnly(text('identity_provider_uidp', { from: 'identityProviderUid' })),
  text('external_group_id'),
  text('role_uidp', { from: 'roleUid' }),
  text('scope'),
  readOnly(time('created_at', { from: 'createTime' })),
])

export const batchDeleteRequest = message('BatchDeleteExternalGroupRoleMappingsRequest', [
  text('parent_id', { from: 'parent' }),
  list(text('ids', { from: 'names' })),
])

export const batchDeleteAnswer = message('BatchDeleteExternalGroupRoleMappingsResponse', [
  text('parent_id', { from: 'parent' }),
  list(object(externalGroupRoleMapping)('items', { from: 'externalGroupRoleMappings' })),
])

/** TermsDocumentStatus (facts §3.10). */
export const termsStatus = message('TermsDocumentStatus', [
  text('doc_id'),
  text('accepted_by'),
  time('accepted_at', { from: 'createTime' }),
])

/** The request and the answer of accepting terms have the same members. */
export const acceptedTerms = message('AcceptTermsResponse', [readOnly(text('group')), list(text('document_ids'))])
