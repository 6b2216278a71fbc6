import { createHash } from 'node:crypto'
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
  type Project,
  progress,
  projectOf,
  type Running,
  undelete,
  type World,
} from './world.ts'

const TYPES = 'type.googleapis.com/google.cloud.resourcemanager.v3.'

const etagOf = (row: object) => createHash('sha1').update(JSON.stringify(row)).digest('base64').slice(0, 12)

function shown(project: Project) {
  const { number, id, title, state, parent, labels, created } = project
  return {
    name: `projects/${number}`,
    ...(parent && { parent }),
    projectId: id,
    state,
    ...(title && { displayName: title }),
    createTime: created,
    updateTime: created,
    etag: etagOf(project),
    ...(Object.keys(labels).length > 0 && { labels }),
  }
}

const METADATA = { create: 'CreateProjectMetadata', update: 'UpdateProjectMetadata', delete: 'DeleteProjectMetadata' }

function operationOf(world: World, { name, kind, created, project, pending }: Running) {
  const done = pending === 0
  const status = kind === 'create' ? { createTime: created, gettable: true, ready: done } : {}
  const metadata = { '@type': `${TYPES}${METADATA[kind]}`, ...status }
  return { name, metadata, ...(done && { done, response: { '@type': `${TYPES}Project`, ...shown(projectOf(world, project)) } }) }
}

/** What a query may name, in v3's words. */
function queried({ id, title, state, parent, labels }: Project, name: string): string | undefined {
  if (name.startsWith('labels.')) return labels[name.slice('labels.'.length)] ?? ''
  return { projectId: id, id, displayName: title, name: title, state, parent: parent ?? '' }[name]
}

function organizationOf(world: World, id: string) {
  const found = world.organizations[id]
  if (!found) throw new Failure('PERMISSION_DENIED', 'The caller does not have permission')
  const { title, customer } = found
  const createTime = '2020-01-01T00:00:00Z'
  const row = { name: `organizations/${id}`, displayName: title, directoryCustomerId: customer, state: 'ACTIVE', createTime }
  return { ...row, updateTime: createTime, etag: etagOf(row) }
}

/** Applies the members that a mask names; without one, those that the body has. */
function patch(world: World, id: string, body: Readonly<Record<string, unknown>>, mask: string | null): Project {
  const paths = mask ? mask.split(',') : Object.keys(body)
  const changes = paths.map((path): Partial<Project> => {
    if (path === 'displayName' || path === 'display_name') {
      const title = String(body['displayName'] ?? '')
      checkTitle(title, 'display_name')
      return { title }
    }
    if (path === 'labels') return { labels: (body['labels'] ?? {}) as Project['labels'] }
    throw new Failure('INVALID_ARGUMENT', `${path} cannot be updated`, 'update_mask')
  })
  return change(world, id, Object.assign({}, ...changes))
}

/** The third version of the API, written from its contract. */
export function v3Routes(world: World): Routes {
  const began = (kind: Running['kind'], project: Project) => operationOf(world, begin(world, kind, project))
  const projects = (query: string) => [...world.projects.values()].filter(matcher(query, queried)).map(shown)
  return {
    ...lienRoutes(world, 'v3'),
    'GET /v3/projects': ({ query }) => {
      const rows = projects(`parent:${query.get('parent') ?? ''}`)
      return pageOf('v3', 'projects', rows, pageIn(query))
    },
    'GET /v3/projects:search': ({ query }) => pageOf('v3', 'projects', projects(query.get('query') ?? ''), pageIn(query)),
    'POST /v3/projects': ({ body }) => {
      const { projectId: id = '', displayName: title = '', labels = {}, parent } = body
      return began('create', add(world, { id, title, labels, parent }, 'display_name'))
    },
    'GET /v3/projects/{}': ({ id }) => shown(projectOf(world, id)),
    'PATCH /v3/projects/{}': ({ id, query, body }) => began('update', patch(world, id, body, query.get('updateMask'))),
    'DELETE /v3/projects/{}': ({ id }) => began('delete', markDeleted(world, id)),
    'POST /v3/projects/{}:undelete': ({ id }) => began('update', undelete(world, id)),
    'POST /v3/projects/{}:move': ({ id, body }) => began('update', change(world, id, { parent: body.destinationParent })),
    'GET /v3/folders/{}': ({ id }) => {
      const found = world.folders[id]
      if (!found) throw new Failure('PERMISSION_DENIED', 'The caller does not have permission')
      return { name: `folders/${id}`, parent: found.parent, displayName: found.title, state: 'ACTIVE', createTime: '2020-01-01T00:00:00Z' }
    },
    'GET /v3/organizations/{}': ({ id }) => organizationOf(world, id),
    'GET /v3/organizations:search': ({ query }) => {
      const texts = (row: ReturnType<typeof organizationOf>, name: string) => ({ directoryCustomerId: row.directoryCustomerId })[name]
      const rows = Object.keys(world.organizations).map((id) => organizationOf(world, id))
      return pageOf('v3', 'organizations', rows.filter(matcher(query.get('query') ?? '', texts)), pageIn(query))
    },
    'GET /v3/operations/{}': ({ id }) => operationOf(world, progress(world, `operations/${id}`)),
  }
}
