import { Failure } from './failure.ts'
import { lienRoutes } from './liens.ts'
import type { Routes } from './listen.ts'
import { matcher, pageIn, pageOf } from './pages.ts'
import {
  add,
  begin,
  change,
  checkTitle,
  markDeleted,
  type Parent,
  type Project,
  progress,
  projectOf,
  type Running,
  undelete,
  type World,
} from './world.ts'

const TYPES = 'type.googleapis.com/google.cloudresourcemanager.v1.'

interface ResourceId {
  readonly type: string
  readonly id: string
}

const idOf = (name: string): ResourceId => ({ type: name.slice(0, name.indexOf('s/')), id: name.slice(name.indexOf('/') + 1) })

function nameOf(id: ResourceId | undefined): Parent | undefined {
  if (id === undefined) return undefined
  if (id.type !== 'organization' && id.type !== 'folder')
    throw new Failure('INVALID_ARGUMENT', 'must be organization or folder', 'parent.type')
  return `${id.type}s/${id.id}`
}

function shown({ number, id, title, state, parent, labels, created }: Project) {
  return {
    projectNumber: number,
    projectId: id,
    lifecycleState: state,
    ...(title && { name: title }),
    createTime: created,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(parent && { parent: idOf(parent) }),
  }
}

function operationOf(world: World, { name, created, project, pending }: Running) {
  const done = pending === 0
  const metadata = { '@type': `${TYPES}ProjectCreationStatus`, createTime: created, gettable: true, ready: done }
  return { name, metadata, ...(done && { done, response: { '@type': `${TYPES}Project`, ...shown(projectOf(world, project)) } }) }
}

/** What a filter may name, in v1's words. */
function filtered({ id, title, state, parent, labels }: Project, name: string): string | undefined {
  if (name.startsWith('labels.')) return labels[name.slice('labels.'.length)] ?? ''
  const { type = '', id: parentId = '' } = parent ? idOf(parent) : {}
  return { id, name: title, lifecycleState: state, 'parent.type': type, 'parent.id': parentId }[name]
}

function organizationOf(world: World, id: string) {
  const found = world.organizations[id]
  if (!found) throw new Failure('PERMISSION_DENIED', 'The caller does not have permission')
  return {
    name: `organizations/${id}`,
    displayName: found.title,
    lifecycleState: 'ACTIVE',
    creationTime: '2020-01-01T00:00:00Z',
    owner: { directoryCustomerId: found.customer },
  }
}

function ancestry(world: World, id: string) {
  const above = (name: string | undefined): string[] => {
    if (name === undefined) return []
    return [name, ...(name.startsWith('folders/') ? above(world.folders[name.slice('folders/'.length)]?.parent) : [])]
  }
  const { id: projectId, parent } = projectOf(world, id)
  return [{ type: 'project', id: projectId }, ...above(parent).map(idOf)].map((resourceId) => ({ resourceId }))
}

/** The first version of the API, written from its contract. */
export function v1Routes(world: World): Routes {
  return {
    ...lienRoutes(world, 'v1'),
    'GET /v1/projects': ({ query }) => {
      const rows = [...world.projects.values()].filter(matcher(query.get('filter') ?? '', filtered)).map(shown)
      return pageOf('v1', 'projects', rows, pageIn(query))
    },
    'POST /v1/projects': ({ body }) => {
      const { projectId: id = '', name: title = '', labels = {}, parent } = body
      return operationOf(world, begin(world, 'create', add(world, { id, title, labels, parent: nameOf(parent) }, 'name')))
    },
    'GET /v1/projects/{}': ({ id }) => shown(projectOf(world, id)),
    'PUT /v1/projects/{}': ({ id, body: { name: title = '', labels = {}, parent } }) => {
      checkTitle(title, 'name')
      return shown(change(world, id, { title, labels, ...(parent && { parent: nameOf(parent) }) }))
    },
    'DELETE /v1/projects/{}': ({ id }) => markDeleted(world, id) && {},
    'POST /v1/projects/{}:undelete': ({ id }) => undelete(world, id) && {},
    'POST /v1/projects/{}:getAncestry': ({ id }) => ({ ancestor: ancestry(world, id) }),
    'POST /v1/projects/{}:getOrgPolicy': ({ id, body: { constraint } }) => projectOf(world, id) && { constraint, booleanPolicy: {} },
    'GET /v1/organizations/{}': ({ id }) => organizationOf(world, id),
    'POST /v1/organizations:search': ({ body: { filter = '', pageSize = 0, pageToken = '' } }) => {
      const texts = (row: ReturnType<typeof organizationOf>, name: string) =>
        ({ 'owner.directoryCustomerId': row.owner.directoryCustomerId })[name]
      const rows = Object.keys(world.organizations).map((id) => organizationOf(world, id))
      return pageOf('v1', 'organizations', rows.filter(matcher(filter, texts)), { pageSize, pageToken })
    },
    'GET /v1/operations/{}': ({ id }) => operationOf(world, progress(world, `operations/${id}`)),
  }
}
