import { choice, int64, list, map, message, object, readOnly, text } from '../message.ts'
import { prefixed } from '../vocabulary.ts'

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
