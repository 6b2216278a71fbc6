import { extra, map } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const v2Org = {
  uid: 'org',
  name: 'clouds',
  amazon: { account: '123456789012' },
  azure: { tenantId: 't', clientIds: { camelKey: 'c', snake_key: 'd' } },
  github: { appInstallations: { '42': { installations: [{ installationId: '9007199254740993', name: 'gh' }] } } },
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
}
const org = extra(
  {
    group: 'org',
    amazon: { account: '123456789012' },
    google: null,
    chainguard: null,
    azure: { tenant_id: 't', client_ids: map({ camelKey: 'c', snake_key: 'd' }) },
    name: 'clouds',
    description: '',
    github: { app_installations: { '42': { installations: [{ installation_id: '9007199254740993', name: 'gh' }] } } },
  },
  { created_at: v2Org.createTime, updated_at: v2Org.updateTime },
)

export const accountAssociations: readonly Transcript[] = [
  transcript('iam.account_associations.list', 'all of them; v2 lists by group')
    .sent('GET /iam/v1/account_associations?name=clouds')
    .asks('GET /iam/v2/accountAssociations?name=clouds&page_size=200', { accountAssociations: [v2Org] })
    .answers(items(org)),
  transcript('iam.account_associations.list', 'the group is the uid')
    .sent('GET /iam/v1/account_associations?group=org&name=clouds')
    .asks('GET /iam/v2/accountAssociations/org', v2Org)
    .answers(items(org)),
  transcript('iam.account_associations.list', 'no association')
    .sent('GET /iam/v1/account_associations?group=org/eng')
    .asks('GET /iam/v2/accountAssociations/org/eng', 'NOT_FOUND')
    .answers(items()),
  transcript('iam.account_associations.create', 'the path names the group; 64-bit ids are text, numbers are understood, keys are data')
    .sent('POST /iam/v1/account_associations/org', {
      group: 'other',
      name: 'clouds',
      chainguard: { serviceBindings: { COSIGNED: 'org/robot' } },
      github: { app_installations: { '42': { installations: [{ installation_id: 7 }] } } },
    })
    .writes(
      'POST /iam/v2/accountAssociations/org',
      {
        name: 'clouds',
        chainguard: { serviceBindings: { COSIGNED: 'org/robot' } },
        github: { appInstallations: { '42': { installations: [{ installationId: '7' }] } } },
      },
      v2Org,
    )
    .answers(org),
  transcript('iam.account_associations.update', 'providers that are left out are cleared')
    .sent('PUT /iam/v1/account_associations/org', { name: 'clouds', google: { project_id: 'p', projectNumber: '1' } })
    .writes('PATCH /iam/v2/accountAssociations/org?updateMask=*', { name: 'clouds', google: { projectId: 'p', projectNumber: '1' } }, v2Org)
    .answers(org),
  transcript('iam.account_associations.delete', 'gone')
    .sent('DELETE /iam/v1/account_associations/org')
    .asks('DELETE /iam/v2/accountAssociations/org', {})
    .answers({}),
  transcript('iam.account_associations.check', 'v1’s mixed-case answer')
    .sent('POST /iam/v1/account_associations/org/eng:check', { accountType: 'AMAZON' })
    .writes(
      'POST /iam/v2/accountAssociations/org/eng:checkAccountAssociation',
      { providerType: 'ACCOUNT_PROVIDER_TYPE_AMAZON' },
      { status: 'CHECK_STATUS_NOT_READY', reason: 'not configured' },
    )
    .answers({ ready: 'NotReady', reason: 'not configured', message: '' }),
]
