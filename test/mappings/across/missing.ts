import { failure, items, type Transcript } from '../transcript.ts'

/** A list by the id of a missing resource, where the operator wants errors (`errors.notFound`). */
const missing = (operation: string, request: string, call: string): Transcript => ({
  title: 'an id that names nothing is an error when the operator says so',
  operation,
  request,
  calls: [{ call, answer: 'NOT_FOUND' }],
  settings: { notFound: 'error' },
  status: 404,
  reply: failure('NOT_FOUND'),
})

export const missingById: readonly Transcript[] = [
  missing('iam.groups.list', 'GET /iam/v1/groups?id=org', 'GET /iam/v2/groups/org'),
  missing('iam.role_bindings.list', 'GET /iam/v1/rolebindings?id=org/b', 'GET /iam/v2/roleBindings/org/b'),
  missing('iam.account_associations.list', 'GET /iam/v1/account_associations?group=org', 'GET /iam/v2/accountAssociations/org'),
  missing('registry.repos.list', 'GET /registry/v1/repos?id=org/r', 'GET /registry/v2/repos/org/r'),
  missing('registry.tags.list', 'GET /registry/v1/tags?id=org/r/t&name=x', 'GET /registry/v2/tags/org/r/t'),
  missing('vulnerabilities.advisories.list', 'GET /vulnerabilities/v1/advisories?id=org/a', 'GET /vulnerabilities/v2/advisories/org/a'),
  {
    ...missing('registry.tags.list', 'GET /registry/v1/tags?id=org/r/t', 'GET /registry/v2/tags/org/r/t'),
    title: 'and so is one that v2 takes for no uid',
    calls: [{ call: 'GET /registry/v2/tags/org/r/t', answer: 'INVALID_ARGUMENT' }],
    reply: failure('NOT_FOUND', 'Not found: tag "org/r/t"'),
  },
  {
    ...missing('registry.tags.list', 'GET /registry/v1/tags?id=/', ''),
    title: 'or that none can be',
    calls: [],
    reply: failure('NOT_FOUND', 'Not found: tag "/"'),
  },
  {
    ...missing('registry.tags.list', 'GET /registry/v1/tags?id=org/r/t', 'GET /registry/v2/tags/org/r/t'),
    title: 'what the caller may not see is no more than not listed',
    calls: [{ call: 'GET /registry/v2/tags/org/r/t', answer: 'PERMISSION_DENIED' }],
    status: 200,
    reply: items(),
  },
]
