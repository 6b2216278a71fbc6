import {
  action,
  ask,
  fillPath,
  get,
  intParam,
  mayBeEmpty,
  message,
  nothing,
  type Operation,
  object,
  objects,
  ok,
  operation,
  optional,
  type Plan,
  single,
  text,
  type V1Request,
  v1Only,
} from 'crosswalk/tables'
import { queryOf } from './filter.ts'
import { idOf, resourceId } from './names.ts'
import { project } from './project.ts'
import { done, running } from './running.ts'

const ID = 'GET /v1/projects/{projectId}'

const page = mayBeEmpty(
  message('projects page', { projects: optional(objects('projects', project.fields)), nextPageToken: optional(text('nextPageToken')) }),
)

const ancestry = message('ancestry', { ancestor: objects('ancestor', { resourceId: object('resourceId', resourceId) }) })

const pathOf = ({ params }: V1Request, verb = ''): string => fillPath('/v3/projects/{projectId}', params) + verb

/** v1 answers an update at once and moves a project by it; v3 has an operation for each. */
function* update(request: V1Request): Plan {
  const { parent, displayName, labels } = project.read(request.body)
  const path = pathOf(request)
  const query = [['updateMask', 'displayName,labels']] as const
  const patched = yield* done({ method: 'PATCH', path, query, body: { displayName, labels } })
  if (parent === undefined || parent === patched['parent']) return ok(project.show.published(patched))
  const body = { destinationParent: parent }
  return ok(project.show.published(yield* done({ method: 'POST', path: `${path}:move`, query: [], body })))
}

/** Follows the parents upwards, one call each. */
function* ancestorsOf(request: V1Request): Plan {
  let row = yield* ask({ method: 'GET', path: pathOf(request), query: [] }, project)
  const above = [{ type: 'project', id: row['projectId'] }]
  while (typeof row['parent'] === 'string') {
    const name: string = row['parent']
    above.push(idOf(name) as { type: string; id: string })
    if (!name.startsWith('folders/')) break
    row = yield* ask({ method: 'GET', path: `/v3/${name}`, query: [] }, project)
  }
  return ok(ancestry.show.published({ ancestor: above.map((id) => ({ resourceId: id })) }))
}

export const projectOperations: readonly Operation[] = [
  action('resourcemanager.projects.list', 'GET /v1/projects', {
    v2: 'GET /v3/projects:search',
    params: { pageSize: intParam('pageSize'), pageToken: 'pageToken' },
    ownParams: ['filter'],
    more: ({ query }) => (single(query, 'filter') ? [['query', queryOf(single(query, 'filter') ?? '')]] : []),
    paging: { parameter: 'pageToken', member: 'nextPageToken' },
    answer: page,
  }),
  action('resourcemanager.projects.create', 'POST /v1/projects', {
    v2: 'POST /v3/projects',
    request: project,
    answer: running,
    readBack: { unverifiable: 'the project is there when its operation is done' },
  }),
  get('resourcemanager.projects.get', ID, project, 'error'),
  operation('resourcemanager.projects.update', 'PUT /v1/projects/{projectId}', {
    calls: ['PATCH /v3/projects/{projectId}', 'POST /v3/projects/{projectId}:move', 'GET /v3/operations/{operation}'],
    request: project,
    answer: project,
    mask: project.mask,
    readBack: { resource: project, named: { param: 'projectId' } },
    plan: update,
  }),
  operation('resourcemanager.projects.delete', 'DELETE /v1/projects/{projectId}', {
    calls: ['DELETE /v3/projects/{projectId}', 'GET /v3/operations/{operation}'],
    answer: nothing,
    readBack: { unverifiable: 'the project stays readable for 30 days' },
    *plan(request) {
      yield* done({ method: 'DELETE', path: pathOf(request), query: [] })
      return ok({})
    },
  }),
  operation('resourcemanager.projects.undelete', 'POST /v1/projects/{projectId}:undelete', {
    calls: ['POST /v3/projects/{projectId}:undelete', 'GET /v3/operations/{operation}'],
    request: nothing,
    answer: nothing,
    readBack: { unverifiable: 'no read selects what an answer without members wrote' },
    *plan(request) {
      yield* done({ method: 'POST', path: pathOf(request, ':undelete'), query: [], body: {} })
      return ok({})
    },
  }),
  operation('resourcemanager.projects.getAncestry', 'POST /v1/projects/{projectId}:getAncestry', {
    kind: 'composed',
    calls: ['GET /v3/projects/{projectId}', 'GET /v3/folders/{folder}'],
    request: nothing,
    answer: ancestry,
    readBack: { unverifiable: 'it only reads' },
    plan: ancestorsOf,
  }),
  v1Only(
    'resourcemanager.projects.getOrgPolicy',
    'POST /v1/projects/{projectId}:getOrgPolicy',
    'policies of organizations moved to an API of their own',
    'orgpolicy.googleapis.com',
  ),
]
