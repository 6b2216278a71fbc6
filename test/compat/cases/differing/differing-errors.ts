import type { Case } from '../../case.ts'
import { refused, same } from '../../expect.ts'
import * as make from '../../fixtures.ts'

const REPOS = '/registry/v1/repos'
const TAGS = '/registry/v1/tags'
const MISSING = '0'.repeat(16)

/** Errors that a genuine v1 and a proxied one show differently, each with its code (mappings/differences.ts). */
export const differingErrors: readonly Case[] = [
  {
    name: 'errors keep the details of v2',
    difference: 'error-details',
    operations: [
      'iam.groups.create',
      'iam.role_bindings.create',
      'registry.repos.create',
      'registry.repos.update',
      'iam.groups.delete',
      'registry.tags.list',
    ],
    roles: ['viewer', 'nobody'],
    run: async (api) => {
      const parent = (await make.folder(api)).id
      const types = (answer: { body: { details: { '@type': string }[] } }) =>
        answer.body.details.map((detail) => detail['@type'].replace('type.googleapis.com/google.rpc.', ''))
      const expected = (...details: string[]) => api.here({ genuine: [], proxied: details })
      const invalid = await api.post(`/iam/v1/rolebindings/${parent}`, {})
      same(types(invalid), expected('ErrorInfo', 'BadRequest'), 'invalid argument')
      const fields = invalid.body.details.flatMap((detail: { fieldViolations?: { field: string }[] }) => detail.fieldViolations ?? [])
      same(fields.map(({ field }: { field: string }) => field).sort(), expected('identity', 'role'), 'fields, by their v1 names')
      same(types(await api.put(`${REPOS}/${parent}/${MISSING}`, { name: 'a' })), expected('ErrorInfo', 'ResourceInfo'), 'not found')
      await make.repo(api, parent)
      same(
        types(await api.post(`${REPOS}/${parent}`, { name: 'repo' }, { prevent_existing: true })),
        expected('ErrorInfo', 'ResourceInfo'),
        'exists',
      )
      same(types(await api.delete(`/iam/v1/groups/${parent}`)), expected('ErrorInfo', 'PreconditionFailure'), 'blocked')
      same(types(await api.as('viewer').post(`/iam/v1/groups/${parent}`, { name: 'a' })), expected('ErrorInfo'), 'forbidden')
      same(types(await api.as('nobody').get(TAGS)), expected('ErrorInfo'), 'no token')
    },
  },
  {
    name: 'words of a refusal that the service never sees',
    difference: 'refusal-words',
    operations: ['iam.groups.create', 'iam.roles.create', 'iam.identities.create', 'iam.account_associations.check', 'iam.groups.delete'],
    run: async (api) => {
      const parent = (await make.folder(api)).id
      const post = (text: string) => api.send({ method: 'POST', path: `/iam/v1/groups/${parent}`, text })
      for (const text of ['{"name":', '[]', '{"name":7}', '{"name":"a","verified":"yes"}', '{"name":"a","kind":"BIG"}'])
        refused(await post(text), 3)
      refused(await api.post(`/iam/v1/roles/${parent}`, { name: 'reader', capabilities: ['groups.bake'] }), 3)
      const aws = { aws_account: '123456789012', arn: 'a', user_id: 'u' }
      refused(await api.post(`/iam/v1/identities/${parent}`, { name: 'robot', claim_match: make.claimMatch, aws_identity: aws }), 3)
      refused(await api.post(`/iam/v1/account_associations/${parent}:check`, { account_type: 'ORACLE' }), 3)
      refused(await api.delete('/iam/v1/groups'), 3, /^Invalid argument: id: /)
      refused(await api.get('/iam/v1/groups/%zz'), 3)
    },
  },
]
