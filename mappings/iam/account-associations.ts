import {
  action,
  asText,
  choice,
  create,
  list,
  long,
  type Message,
  message,
  type Operation,
  object,
  objectMap,
  objects,
  readOnly,
  remove,
  replace,
  resource,
  text,
  textMap,
} from '../../src/tables/language.ts'
import { accountType, checkState } from '../enums.ts'

const installation = { installation_id: long('installationId'), name: text('name') }

/** The cloud accounts of a group. Each group has one association, whose v2 uid is the uid of the group (facts §3.7). */
const accountAssociation = resource('account association', {
  v2: '/iam/v2/accountAssociations',
  plural: 'accountAssociations',
  stamps: ['created_at', 'updated_at'],
  order: 'group',
  fields: {
    group: readOnly('uid'),
    amazon: object('amazon', { account: text('account') }),
    google: object('google', { project_id: text('projectId'), project_number: text('projectNumber') }),
    chainguard: object('chainguard', { service_bindings: textMap('serviceBindings') }),
    azure: object('azure', { tenant_id: text('tenantId'), client_ids: textMap('clientIds') }),
    name: text('name'),
    description: text('description'),
    github: object('github', {
      app_installations: objectMap('appInstallations', { installations: objects('installations', installation) }),
    }),
  },
})

const checkRequest = message('account association check', { account_type: choice('providerType', accountType) })
/** Other programs' errors have the same members; only v2 names its states so. A newer v2 may have more of them. */
const checkAnswer: Message = {
  ...message('account association status', { ready: choice('status', checkState), reason: text('reason'), message: text('message') }),
  isAnswer: ({ status, code, error }) =>
    checkState.toV1.has(status) || (code === undefined && error === undefined && /^[A-Z]+(_[A-Z0-9]+)+$/.test(asText(status))),
}

export const accountAssociationOperations: readonly Operation[] = [
  list('iam.account_associations.list', 'GET /iam/v1/account_associations', accountAssociation, {
    query: { name: 'name' },
    byId: 'group',
  }),
  create('iam.account_associations.create', 'POST /iam/v1/account_associations/{group=**}', accountAssociation, {
    named: { param: 'group' },
  }),
  replace('iam.account_associations.update', 'PUT /iam/v1/account_associations/{group=**}', accountAssociation),
  remove('iam.account_associations.delete', 'DELETE /iam/v1/account_associations/{group=**}', accountAssociation),
  action('iam.account_associations.check', 'POST /iam/v1/account_associations/{group=**}:check', {
    v2: 'POST /iam/v2/accountAssociations/{group}:checkAccountAssociation',
    request: checkRequest,
    answer: checkAnswer,
    readBack: { unverifiable: 'a check changes nothing that a read shows' },
  }),
]
