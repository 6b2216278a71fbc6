import {
  ask,
  choice,
  get,
  int,
  mayBeEmpty,
  message,
  nested,
  type Operation,
  objects,
  ok,
  operation,
  optional,
  type Plan,
  readOnly,
  resource,
  text,
  time,
  type V1Request,
} from 'crosswalk/tables'
import { queryOf } from './filter.ts'
import { state } from './project.ts'

const organization = resource('organization', {
  v2: '/v3/organizations',
  plural: 'organizations',
  fields: {
    name: readOnly('name'),
    displayName: readOnly('displayName'),
    lifecycleState: readOnly(choice('state', state)),
    creationTime: readOnly(time('createTime')),
    owner: readOnly(nested({ directoryCustomerId: text('directoryCustomerId') })),
  },
})

const wanted = message('search', { filter: text('query'), pageSize: int('pageSize'), pageToken: text('pageToken') })

const page = mayBeEmpty(
  message('organizations page', {
    organizations: optional(objects('organizations', organization.fields)),
    nextPageToken: optional(text('nextPageToken')),
  }),
)

/** v1 searches with a body, v3 with a query. */
function* search({ body }: V1Request): Plan {
  const asked = Object.entries(wanted.read(body)).map(
    ([name, value]) => [name, name === 'query' ? queryOf(String(value)) : String(value)] as const,
  )
  return ok(page.show.published(yield* ask({ method: 'GET', path: '/v3/organizations:search', query: asked }, page)))
}

export const organizationOperations: readonly Operation[] = [
  get('resourcemanager.organizations.get', 'GET /v1/organizations/{organizationsId}', organization, 'error'),
  operation('resourcemanager.organizations.search', 'POST /v1/organizations:search', {
    calls: ['GET /v3/organizations:search'],
    request: wanted,
    answer: page,
    readBack: { unverifiable: 'it only reads' },
    plan: search,
  }),
]
