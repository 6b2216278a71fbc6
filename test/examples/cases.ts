import { AssertionError } from 'node:assert'
import type { Api } from '../compat/api.ts'
import type { Case } from '../compat/case.ts'
import { same } from '../compat/expect.ts'
import { anything } from '../compat/match.ts'
import type { Answer } from '../compat/target.ts'

/** Returns the body of an answer with this status. */
function shown(answer: Answer, status = 200): Answer['body'] {
  if (answer.status !== status)
    throw new AssertionError({ message: `HTTP ${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}` })
  return answer.body
}

function refused(answer: Answer, code: number, status: string): Answer['body'] {
  const { error } = shown(answer, code)
  same({ code: error.code, status: error.status }, { code, status }, 'error')
  return error
}

const ids = (answer: Answer): string[] => (shown(answer).projects ?? []).map((row: { projectId: string }) => row.projectId)

async function made(api: Api, projectId: string, more: object = {}): Promise<Answer['body']> {
  return shown(await api.post('/v1/projects', { projectId, name: 'A name', ...more }))
}

const PROJECT = '/v1/projects/tokyo-rain-1'

export const exampleCases: readonly Case[] = [
  {
    name: 'a project has the names of v1',
    operations: ['resourcemanager.projects.get'],
    run: async (api) => {
      same(
        shown(await api.get(PROJECT)),
        {
          projectNumber: '415104041001',
          projectId: 'tokyo-rain-1',
          lifecycleState: 'ACTIVE',
          name: 'Tokyo rain',
          createTime: anything,
          labels: { color: 'red' },
          parent: { type: 'folder', id: '2' },
        },
        'project',
      )
      same(Object.keys(shown(await api.get('/v1/projects/lima-fog-1'))).includes('parent'), false, 'a project without a parent')
    },
  },
  {
    name: 'projects come in pages, each with a token of its own service',
    operations: ['resourcemanager.projects.list'],
    run: async (api) => {
      const first = await api.get('/v1/projects', { pageSize: 2 })
      same(ids(first), ['tokyo-rain-1', 'oslo-snow-1'], 'first page')
      const second = await api.get('/v1/projects', { pageSize: 2, pageToken: first.body.nextPageToken })
      same(ids(second), ['lima-fog-1'], 'second page')
      same(second.body.nextPageToken, undefined, 'token of the last page')
      refused(await api.get('/v1/projects', { pageToken: 'made-up' }), 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'projects are filtered in words of v1',
    operations: ['resourcemanager.projects.list'],
    run: async (api) => {
      const found = async (filter: string) => ids(await api.get('/v1/projects', { filter }))
      same(await found('lifecycleState:ACTIVE name:oslo*'), ['oslo-snow-1'], 'by state and name')
      same(await found('labels.color:red'), ['tokyo-rain-1'], 'by label')
      same(await found('parent.type:folder parent.id:2'), ['tokyo-rain-1'], 'by parent')
      same(shown(await api.get('/v1/projects', { filter: 'id:none-1' })), {}, 'none')
    },
  },
  {
    name: 'projects are filtered by the type of their parent alone',
    operations: ['resourcemanager.projects.list'],
    difference: 'parent-type-alone',
    run: async (api) => {
      const answer = await api.get('/v1/projects', { filter: 'parent.type:folder' })
      if (api.here({ genuine: true, proxied: false })) same(ids(answer), ['tokyo-rain-1'], 'rows')
      else refused(answer, 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'a project is made by an operation',
    operations: ['resourcemanager.projects.create', 'resourcemanager.operations.get'],
    run: async (api) => {
      const begun = await made(api, 'quito-sun-1', { parent: { type: 'organization', id: '1' }, labels: { color: 'blue' } })
      same([begun.metadata.gettable, begun.metadata.ready, begun.done], [true, false, undefined], 'begun')
      const done = shown(await api.get(`/v1/${begun.name}`))
      same([done.done, done.response['@type']], [true, 'type.googleapis.com/google.cloudresourcemanager.v1.Project'], 'done')
      same(done.response.parent, { type: 'organization', id: '1' }, 'parent')
      refused(await api.post('/v1/projects', { projectId: 'quito-sun-1', name: 'A name' }), 409, 'ALREADY_EXISTS')
    },
  },
  {
    name: 'a refusal names the member of v1',
    operations: ['resourcemanager.projects.create', 'resourcemanager.projects.update'],
    run: async (api) => {
      const error = refused(await api.post('/v1/projects', { projectId: 'quito-rain-1', name: 'x' }), 400, 'INVALID_ARGUMENT')
      same(error.details[0].fieldViolations[0].field, 'name', 'field')
      refused(await api.put(PROJECT, { name: '?' }), 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'a parent that holds no projects is refused in other words',
    operations: ['resourcemanager.projects.create'],
    difference: 'refusal-words',
    run: async (api) => {
      const answer = await api.post('/v1/projects', { projectId: 'quito-rain-2', name: 'A name', parent: { type: 'planet', id: '3' } })
      refused(answer, 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'an update replaces the name and the labels, and answers with the project',
    operations: ['resourcemanager.projects.update'],
    run: async (api) => {
      const updated = shown(await api.put('/v1/projects/lima-fog-1', { name: 'Lima mist' }))
      same([updated.name, updated.labels, updated.projectId], ['Lima mist', undefined, 'lima-fog-1'], 'updated')
      same(shown(await api.get('/v1/projects/lima-fog-1')), updated, 'read')
    },
  },
  {
    name: 'an update moves a project',
    operations: ['resourcemanager.projects.update'],
    run: async (api) => {
      const parent = { type: 'folder', id: '2' }
      same(shown(await api.put('/v1/projects/oslo-snow-1', { name: 'Oslo snow', parent })).parent, parent, 'moved')
      same(shown(await api.get('/v1/projects/oslo-snow-1')).parent, parent, 'read')
    },
  },
  {
    name: 'a project is deleted, and its deletion is taken back',
    operations: ['resourcemanager.projects.delete', 'resourcemanager.projects.undelete'],
    run: async (api) => {
      await made(api, 'lagos-heat-1')
      same(shown(await api.delete('/v1/projects/lagos-heat-1')), {}, 'deleted')
      same(shown(await api.get('/v1/projects/lagos-heat-1')).lifecycleState, 'DELETE_REQUESTED', 'state')
      refused(await api.delete('/v1/projects/lagos-heat-1'), 400, 'FAILED_PRECONDITION')
      same(shown(await api.post('/v1/projects/lagos-heat-1:undelete', {})), {}, 'taken back')
      same(shown(await api.get('/v1/projects/lagos-heat-1')).lifecycleState, 'ACTIVE', 'state')
    },
  },
  {
    name: 'a project has its ancestors',
    operations: ['resourcemanager.projects.getAncestry'],
    run: async (api) => {
      const { ancestor } = shown(await api.post(`${PROJECT}:getAncestry`, {}))
      const wanted = [
        ['project', 'tokyo-rain-1'],
        ['folder', '2'],
        ['organization', '1'],
      ].map(([type, id]) => ({ resourceId: { type, id } }))
      same(ancestor, wanted, 'ancestors')
    },
  },
  {
    name: 'nobody learns whether a project exists that they may not see',
    operations: ['resourcemanager.projects.get', 'resourcemanager.projects.delete'],
    run: async (api) => {
      refused(await api.get('/v1/projects/none-1'), 403, 'PERMISSION_DENIED')
      refused(await api.delete('/v1/projects/none-1'), 403, 'PERMISSION_DENIED')
      refused(await api.as('nobody').get(PROJECT), 401, 'UNAUTHENTICATED')
    },
  },
  {
    name: 'policies of organizations need v1',
    operations: ['resourcemanager.projects.getOrgPolicy'],
    difference: 'v1-only',
    run: async (api) => {
      const answer = await api.post(`${PROJECT}:getOrgPolicy`, { constraint: 'constraints/a' })
      shown(answer, api.here({ genuine: 200, proxied: 501 }))
    },
  },
  {
    name: 'organizations have their owner apart',
    operations: ['resourcemanager.organizations.get', 'resourcemanager.organizations.search'],
    run: async (api) => {
      const one = shown(await api.get('/v1/organizations/1'))
      same(
        [one.creationTime, one.owner, one.lifecycleState],
        ['2020-01-01T00:00:00Z', { directoryCustomerId: 'C01' }, 'ACTIVE'],
        'organization',
      )
      const found = async (filter: string) => shown(await api.post('/v1/organizations:search', { filter, pageSize: 5 }))
      same(await found('owner.directoryCustomerId:C01'), { organizations: [one] }, 'found')
      same(await found('owner.directoryCustomerId:C02'), {}, 'none')
    },
  },
  {
    name: 'a lien prevents the deletion of its project',
    operations: ['resourcemanager.liens.create', 'resourcemanager.liens.get', 'resourcemanager.liens.list', 'resourcemanager.liens.delete'],
    run: async (api) => {
      await made(api, 'cairo-dust-1')
      const lien = shown(
        await api.post('/v1/liens', { parent: 'projects/cairo-dust-1', restrictions: ['resourcemanager.projects.delete'], origin: 'case' }),
      )
      refused(await api.delete('/v1/projects/cairo-dust-1'), 400, 'FAILED_PRECONDITION')
      same(shown(await api.get('/v1/liens', { parent: lien.parent })), { liens: [lien] }, 'list')
      same(shown(await api.get(`/v1/${lien.name}`)), lien, 'lien')
      same(shown(await api.delete(`/v1/${lien.name}`)), {}, 'deleted')
      refused(await api.delete(`/v1/${lien.name}`), 404, 'NOT_FOUND')
      same(shown(await api.delete('/v1/projects/cairo-dust-1')), {}, 'deleted project')
    },
  },
]
