import {
  action,
  create,
  get,
  list,
  message,
  type Operation,
  objects,
  readOnly,
  remove,
  resource,
  scope,
  text,
  texts,
  time,
} from '../../src/tables/language.ts'

/** The role of a group in an identity provider's directory. Its parent is the provider; it never changes (facts §3.9). */
const mapping = resource('external group role mapping', {
  v2: '/iam/v2/externalGroupRoleMappings',
  plural: 'externalGroupRoleMappings',
  fields: {
    id: readOnly('uid'),
    identity_provider_uidp: readOnly('identityProviderUid'),
    external_group_id: text('externalGroupId'),
    role_uidp: text('roleUid'),
    scope: text('scope'),
    created_at: readOnly(time('createTime')),
  },
})

const unwanted = message('batch delete request', { parent_id: text('parent'), ids: texts('names') })
const deleted = message('batch delete answer', { parent_id: text('parent'), items: objects('externalGroupRoleMappings', mapping.shown) })

export const externalGroupRoleMappingOperations: readonly Operation[] = [
  list('iam.external_group_role_mappings.list', 'GET /iam/v1/externalGroupRoleMappings', mapping, {
    query: { ...scope, identity_provider_uidp: 'identity_provider_uid' },
  }),
  // v1's only Get: a missing mapping is an error here (facts §11).
  get('iam.external_group_role_mappings.get', 'GET /iam/v1/externalGroupRoleMappings/{uid=**}', mapping, 'error'),
  create('iam.external_group_role_mappings.create', 'POST /iam/v1/externalGroupRoleMappings/{parent_id=**}', mapping),
  remove('iam.external_group_role_mappings.delete', 'DELETE /iam/v1/externalGroupRoleMappings/{id=**}', mapping),
  action('iam.external_group_role_mappings.batch_delete', 'POST /iam/v1/externalGroupRoleMappings:batchDelete', {
    v2: 'POST /iam/v2/externalGroupRoleMappings:batchDelete',
    request: unwanted,
    answer: deleted,
    readBack: { resource: mapping, named: { body: 'names' }, gone: true },
  }),
]
