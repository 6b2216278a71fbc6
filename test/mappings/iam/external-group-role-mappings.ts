import { failure, items, type Transcript } from '../transcript.ts'

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
  {
    title: 'of one provider',
    operation: 'iam.external_group_role_mappings.list',
    request: 'GET /iam/v1/externalGroupRoleMappings?identityProviderUidp=org/okta&uidp.ids=a&uidp.ids=b',
    calls: [
      {
        call: 'GET /iam/v2/externalGroupRoleMappings?uidp.ids=a&uidp.ids=b&identity_provider_uid=org/okta&page_size=200',
        answer: { externalGroupRoleMappings: [v2Mapping] },
      },
    ],
    reply: items(mapping),
    published: items(published),
  },
  {
    title: 'v1’s one Get',
    operation: 'iam.external_group_role_mappings.get',
    request: 'GET /iam/v1/externalGroupRoleMappings/org/okta/m1',
    calls: [{ call: 'GET /iam/v2/externalGroupRoleMappings/org/okta/m1', answer: v2Mapping }],
    reply: mapping,
    published,
  },
  {
    title: 'which knows NOT_FOUND',
    operation: 'iam.external_group_role_mappings.get',
    request: 'GET /iam/v1/externalGroupRoleMappings/org/okta/gone',
    calls: [{ call: 'GET /iam/v2/externalGroupRoleMappings/org/okta/gone', answer: 'NOT_FOUND' }],
    status: 404,
    reply: failure('NOT_FOUND'),
  },
  {
    title: 'the parent is the provider; the body cannot say otherwise',
    operation: 'iam.external_group_role_mappings.create',
    request: 'POST /iam/v1/externalGroupRoleMappings/org/okta',
    body: { identity_provider_uidp: 'org/other', external_group_id: 'g-7', roleUidp: 'viewer', scope: 'org' },
    calls: [
      {
        call: 'POST /iam/v2/externalGroupRoleMappings/org/okta',
        body: { externalGroupId: 'g-7', roleUid: 'viewer', scope: 'org' },
        answer: v2Mapping,
      },
    ],
    reply: mapping,
    published,
  },
  {
    title: 'gone before',
    operation: 'iam.external_group_role_mappings.delete',
    request: 'DELETE /iam/v1/externalGroupRoleMappings/org/okta/m1',
    calls: [{ call: 'DELETE /iam/v2/externalGroupRoleMappings/org/okta/m1', answer: 'NOT_FOUND' }],
    reply: {},
  },
  {
    title: 'several at once',
    operation: 'iam.external_group_role_mappings.batch_delete',
    request: 'POST /iam/v1/externalGroupRoleMappings:batchDelete',
    body: { parentId: 'org/okta', ids: ['org/okta/m1', 'org/okta/gone'] },
    calls: [
      {
        call: 'POST /iam/v2/externalGroupRoleMappings:batchDelete',
        body: { parent: 'org/okta', names: ['org/okta/m1', 'org/okta/gone'] },
        answer: { parent: 'org/okta', externalGroupRoleMappings: [v2Mapping] },
      },
    ],
    reply: { parent_id: 'org/okta', items: [mapping] },
    published: { parentId: 'org/okta', items: [published] },
  },
]
