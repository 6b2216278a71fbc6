import * as make from '../../expect.ts'
import { inFolder, items, refused, same, shows } from '../../expect.ts'
import type { Case, Query } from '../../target.ts'

const REPOS = '/registry/v1/repos'
const TAGS = '/registry/v1/tags'
const ADVISORIES = '/vulnerabilities/v1/advisories'
const MISSING = '0'.repeat(16)

/** Errors that a genuine v1 and a proxied one show differently, each with its code (mappings/differences.ts). */
export const differingErrors: readonly Case[] = [
  inFolder(
    'errors keep the details of v2',
    [
      'iam.groups.create',
      'iam.role_bindings.create',
      'registry.repos.create',
      'registry.repos.update',
      'iam.groups.delete',
      'registry.tags.list',
    ],
    { difference: 'error-details', roles: ['viewer', 'nobody'] },
    async (api, parent) => {
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
  ),
  shows(
    'a refusal of the proxy itself comes before the credential is known',
    [
      'iam.groups.list',
      'registry.repos.list',
      'advisory.resolved_vulns.list',
      'vulnerabilities.advisories.list',
      'libraries.artifacts.count',
      'iam.terms.list',
      'vulnerabilities.advisory_events.list',
      'registry.repos.delete',
    ],
    { difference: 'refused-first', roles: ['outsider', 'stranger', 'nobody'] },
    async (api) => {
      const terms = `/iam/v1/terms/${api.organization}`
      const [{ id: advisory }] = items(await api.unrecorded.get(ADVISORIES, { page_size: 1 }))
      const requests: [path: string, query: Query, ofOutsider: number][] = [
        ['/iam/v1/groups', { limit: 'abc' }, 3],
        [REPOS, { order_by: 'bogus' }, 3],
        ['/advisory/v1/images/resolved_vulns', { from: 'yesterday' }, 3],
        [ADVISORIES, { event_types: 'BOGUS' }, 3],
        ['/libraries/v1/artifacts/count', { ecosystems: 'COBOL' }, 3],
        [terms, { offset: -1 }, 7],
        [terms, { offset: 2147483648 }, 7],
        [`${ADVISORIES}/${advisory}/events`, { limit: 1, page: 1 }, 7],
      ]
      for (const [path, query, ofOutsider] of requests) {
        for (const role of ['stranger', 'nobody'] as const)
          refused(await api.as(role).get(path, query), api.here({ genuine: 16, proxied: 3 }))
        refused(await api.as('outsider').inAnyWords.get(path, query), api.here({ genuine: ofOutsider, proxied: 3 }))
      }
      refused(await api.as('stranger').delete(`${REPOS}/%00`), api.here({ genuine: 16, proxied: 3 }))
      refused(await api.as('stranger').get('/iam/v1/groups', { limit: 1 }), 16)
      refused(await api.as('outsider').get(terms), 7)
    },
  ),
  inFolder(
    'words of a refusal that the service never sees',
    ['iam.groups.create', 'iam.roles.create', 'iam.identities.create', 'iam.account_associations.check', 'iam.groups.delete'],
    { difference: 'refusal-words' },
    async (api, parent) => {
      const post = (text: string) => api.send({ method: 'POST', path: `/iam/v1/groups/${parent}`, text })
      for (const text of ['{"name":', '[]', '{"name":7}', '{"name":"a","verified":"yes"}', '{"name":"a","kind":"BIG"}'])
        refused(await post(text), 3)
      refused(await api.post(`/iam/v1/roles/${parent}`, { name: 'reader', capabilities: ['groups.bake'] }), 3)
      const aws = { aws_account: '123456789012', arn: 'a', user_id: 'u' }
      refused(await api.post(`/iam/v1/identities/${parent}`, { name: 'robot', claim_match: make.claimMatch, aws_identity: aws }), 3)
      refused(await api.post(`/iam/v1/account_associations/${parent}:check`, { account_type: 'ORACLE' }), 3)
      refused(await api.delete('/iam/v1/groups'), 3, /^Invalid argument: id: /)
      refused(await api.get('/iam/v1/groups/%zz'), 3)
      for (const query of ['name=%zz', 'name=%', 'name=%FF', 'name=%C3', '%FF=a'])
        for (const list of ['/iam/v1/groups', '/registry/v1/repos', '/vulnerabilities/v1/advisories'])
          refused(await api.get(`${list}?${query}`), 3)
    },
  ),
]
