import { items, type Transcript, transcript } from '../transcript.ts'

const v2Mapping = {
  uid: 'org/okta/m1',
  identityProviderUid: 'org/okta',
  externalGroupId: 'g-7',
  roleUid: 'viewer',
  scope: 'org',
  createTime: '2025-01-02T03:04:05.678Z',
}
const mapping = {
  id: 'org/okta/m1',
  identity_provider_uidp: 'org/okta',
  external_group_id: 'g-7',
  role_uidp: 'viewer',
  scope: 'org',
  created_at: '2025-01-02T03:04:05.678Z',
}
const published = {
  id: 'org/okta/m1',
  identityProviderUidp: 'org/okta',
  externalGroupId: 'g-7',
  roleUidp: 'viewer',
  scope: 'org',
  createdAt: '2025-01-02T03:04:05.678Z',
}

export const externalGroupRoleMappings: readonly Transcript[] = [
  transcript('iam.external_group_role_mappings.list', 'of one provider')
    .sent('GET /iam/v1/externalGroupRoleMappings?identityProviderUidp=org/okta&uidp.ids=a&uidp.ids=b')
    .asks('GET /iam/v2/externalGroupRoleMappings?uidp.ids=a&uidp.ids=b&identity_provider_uid=org/okta&page_size=200', {
      externalGroupRoleMappings: [v2Mapping],
    })
    .answers(items(mapping), items(published)),
  transcript('iam.external_group_role_mappings.get', 'v1’s one Get')
    .sent('GET /iam/v1/externalGroupRoleMappings/org/okta/m1')
    .asks('GET /iam/v2/externalGroupRoleMappings/org/okta/m1', v2Mapping)
    .answers(mapping, published),
  transcript('iam.external_group_role_mappings.get', 'which knows NOT_FOUND')
    .sent('GET /iam/v1/externalGroupRoleMappings/org/okta/gone')
    .asks('GET /iam/v2/externalGroupRoleMappings/org/okta/gone', 'NOT_FOUND')
    .refuses('NOT_FOUND'),
  transcript('iam.external_group_role_mappings.create', 'the parent is the provider; the body cannot say otherwise')
    .sent('POST /iam/v1/externalGroupRoleMappings/org/okta', {
      identity_provider_uidp: 'org/other',
      external_group_id: 'g-7',
      roleUidp: 'viewer',
      scope: 'org',
    })
    .writes('POST /iam/v2/externalGroupRoleMappings/org/okta', { externalGroupId: 'g-7', roleUid: 'viewer', scope: 'org' }, v2Mapping)
    .answers(mapping, published),
  transcript('iam.external_group_role_mappings.delete', 'gone before')
    .sent('DELETE /iam/v1/externalGroupRoleMappings/org/okta/m1')
    .asks('DELETE /iam/v2/externalGroupRoleMappings/org/okta/m1', 'NOT_FOUND')
    .answers({}),
  transcript('iam.external_group_role_mappings.batch_delete', 'several at once')
    .sent('POST /iam/v1/externalGroupRoleMappings:batchDelete', { parentId: 'org/okta', ids: ['org/okta/m1', 'org/okta/gone'] })
    .writes(
      'POST /iam/v2/externalGroupRoleMappings:batchDelete',
      { parent: 'org/okta', names: ['org/okta/m1', 'org/okta/gone'] },
      { parent: 'org/okta', externalGroupRoleMappings: [v2Mapping] },
    )
    .answers({ parent_id: 'org/okta', items: [mapping] }, { parentId: 'org/okta', items: [published] }),
]
