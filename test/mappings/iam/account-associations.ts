import { items, type Transcript } from '../transcript.ts'

const v2Org = {
  uid: 'org',
  name: 'clouds',
  amazon: { account: '123456789012' },
  azure: { tenantId: 't', clientIds: { camelKey: 'c', snake_key: 'd' } },
  github: { appInstallations: { '42': { installations: [{ installationId: '9007199254740993', name: 'gh' }] } } },
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
}
const org = {
  group: 'org',
  amazon: { account: '123456789012' },
  google: null,
  chainguard: null,
  azure: { tenant_id: 't', client_ids: { camelKey: 'c', snake_key: 'd' } },
  name: 'clouds',
  description: '',
  github: { app_installations: { '42': { installations: [{ installation_id: '9007199254740993', name: 'gh' }] } } },
}
const stamps = { created_at: v2Org.createTime, updated_at: v2Org.updateTime }
const publishedOrg = {
  ...org,
  azure: { tenantId: 't', clientIds: { camelKey: 'c', snake_key: 'd' } },
  github: { appInstallations: { '42': { installations: [{ installationId: '9007199254740993', name: 'gh' }] } } },
}

export const accountAssociations: readonly Transcript[] = [
  {
    title: 'all of them; v2 lists by group',
    operation: 'iam.account_associations.list',
    request: 'GET /iam/v1/account_associations?name=clouds',
    calls: [{ call: 'GET /iam/v2/accountAssociations?name=clouds&page_size=200', answer: { accountAssociations: [v2Org] } }],
    reply: items({ ...org, ...stamps }),
    published: items(publishedOrg),
  },
  {
    title: 'the group is the uid',
    operation: 'iam.account_associations.list',
    request: 'GET /iam/v1/account_associations?group=org&name=clouds',
    calls: [{ call: 'GET /iam/v2/accountAssociations/org', answer: v2Org }],
    reply: items({ ...org, ...stamps }),
    published: items(publishedOrg),
  },
  {
    title: 'no association',
    operation: 'iam.account_associations.list',
    request: 'GET /iam/v1/account_associations?group=org/eng',
    calls: [{ call: 'GET /iam/v2/accountAssociations/org/eng', answer: 'NOT_FOUND' }],
    reply: items(),
  },
  {
    title: 'the path names the group; 64-bit ids are text, numbers are understood, keys are data',
    operation: 'iam.account_associations.create',
    request: 'POST /iam/v1/account_associations/org',
    body: {
      group: 'other',
      name: 'clouds',
      chainguard: { serviceBindings: { COSIGNED: 'org/robot' } },
      github: { app_installations: { '42': { installations: [{ installation_id: 7 }] } } },
    },
    calls: [
      {
        call: 'POST /iam/v2/accountAssociations/org',
        body: {
          name: 'clouds',
          chainguard: { serviceBindings: { COSIGNED: 'org/robot' } },
          github: { appInstallations: { '42': { installations: [{ installationId: '7' }] } } },
        },
        answer: v2Org,
      },
    ],
    reply: { ...org, ...stamps },
    published: publishedOrg,
  },
  {
    title: 'providers that are left out are cleared',
    operation: 'iam.account_associations.update',
    request: 'PUT /iam/v1/account_associations/org',
    body: { name: 'clouds', google: { project_id: 'p', projectNumber: '1' } },
    calls: [
      {
        call: 'PATCH /iam/v2/accountAssociations/org?updateMask=*',
        body: { name: 'clouds', google: { projectId: 'p', projectNumber: '1' } },
        answer: v2Org,
      },
    ],
    reply: { ...org, ...stamps },
    published: publishedOrg,
  },
  {
    title: 'gone',
    operation: 'iam.account_associations.delete',
    request: 'DELETE /iam/v1/account_associations/org',
    calls: [{ call: 'DELETE /iam/v2/accountAssociations/org', answer: {} }],
    reply: {},
  },
  {
    title: 'v1’s mixed-case answer',
    operation: 'iam.account_associations.check',
    request: 'POST /iam/v1/account_associations/org/eng:check',
    body: { accountType: 'AMAZON' },
    calls: [
      {
        call: 'POST /iam/v2/accountAssociations/org/eng:checkAccountAssociation',
        body: { providerType: 'ACCOUNT_PROVIDER_TYPE_AMAZON' },
        answer: { status: 'CHECK_STATUS_NOT_READY', reason: 'not configured' },
      },
    ],
    reply: { ready: 'NotReady', reason: 'not configured', message: '' },
  },
]
