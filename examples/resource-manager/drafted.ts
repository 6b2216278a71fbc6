// A first table, drafted by crosswalk draft. Left to decide: 43. Each reason that begins with TO DECIDE waits for a person:
// - GET /v1/projects: GET /v3/projects has its path, but needs parent
// - Project.projectNumber: no member of v2 beside it has its name
// - Project.name: v2's name may mean something else: only v2 says that it is read-only
// - Project.parent: v2's parent is of the kind text, and v1's of the kind object
// - Operation.metadata: v2's metadata cannot be compared: v1's may hold anything
// - Operation.error.details: v2's details cannot be compared: v1's may hold anything
// - Operation.response: v2's response cannot be compared: v1's may hold anything
// - POST /v1/projects: how its effect is read
// - PUT /v1/projects/{projectId}: v2 updates by PATCH /v3/projects/{projectsId}: say which members it replaces, as replace() or an operation with a plan
// - DELETE /v1/projects/{projectId}: DELETE /v3/projects/{projectsId} has its path, but not the answer: v2's is Operation, and v1's is Empty
// - POST /v1/projects/{projectId}:undelete: POST /v3/projects/{projectsId}:undelete has its path, but not the answer: v2's is Operation, and v1's is Empty
// - POST /v1/projects/{projectId}:getAncestry: no operation of v2 has its path
// - POST /v1/projects/{projectId}:getOrgPolicy: no operation of v2 has its path
// - Organization.owner: no member of v2 beside it has its name
// - POST /v1/organizations:search: v2 has GET /v3/organizations:search there, and no POST
// - POST /v1/liens: how its effect is read
// - DELETE /v1/liens/{liensId}: how its effect is read
// - v1 errors: v1 describes Failure, and clients get a google.rpc.Status; give the tables errors
// - v1 Project.lifecycleState=DELETE_IN_PROGRESS: its enum has it for v1 alone
// - v2 GET /v3/projects: no operation of the tables calls it
// - v2 errors: v2 describes Failure, and calls expect a google.rpc.Status; give the tables errors
// - v2 Project.parent in requests: no row writes it
// - v2 Project.displayName in requests: no row writes it
// - v2 Operation.metadata: no row shows it
// - v2 Status.details: no row shows it
// - v2 Operation.response: no row shows it
// - v2 GET /v3/projects:search: no operation of the tables calls it
// - v2 Project.name: no row shows it
// - v2 Project.parent in answers: no row shows it
// - v2 Project.displayName in answers: no row shows it
// - v2 Project.updateTime: no row shows it
// - v2 Project.deleteTime: no row shows it
// - v2 Project.etag: no row shows it
// - v2 PATCH /v3/projects/{projectsId}: no operation of the tables calls it
// - v2 DELETE /v3/projects/{projectsId}: no operation of the tables calls it
// - v2 POST /v3/projects/{projectsId}:undelete: no operation of the tables calls it
// - v2 POST /v3/projects/{projectsId}:move: no operation of the tables calls it
// - v2 GET /v3/folders/{foldersId}: no operation of the tables calls it
// - v2 Organization.directoryCustomerId: no row shows it
// - v2 Organization.updateTime: no row shows it
// - v2 Organization.deleteTime: no row shows it
// - v2 Organization.etag: no row shows it
// - v2 GET /v3/organizations:search: no operation of the tables calls it
import { action, choice, enumMap, flag, gone, int, intParam, long, mayBeEmpty, message, nothing, object, objects, optional, readOnly, rows, text, textMap, texts, time, type Acknowledged, type Mapping, type Tables, v1Only } from 'crosswalk/tables'

interface V1Project {
  readonly projectNumber?: string
  readonly projectId?: string
  readonly lifecycleState?: string
  readonly name?: string
  readonly createTime?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly parent?: V1ResourceId
}

interface V1ResourceId {
  readonly type?: string
  readonly id?: string
}

interface V2Project {
  readonly name?: string
  readonly parent?: string
  readonly projectId?: string
  readonly state?: string
  readonly displayName?: string
  readonly createTime?: string
  readonly updateTime?: string
  readonly deleteTime?: string
  readonly etag?: string
  readonly labels?: Readonly<Record<string, string>>
}

interface V1Operation {
  readonly name?: string
  readonly metadata?: unknown
  readonly done?: boolean
  readonly error?: V1Status
  readonly response?: unknown
}

interface V1Status {
  readonly code?: number
  readonly message?: string
  readonly details?: readonly unknown[]
}

interface V2Operation {
  readonly name?: string
  readonly metadata?: unknown
  readonly done?: boolean
  readonly error?: V2Status
  readonly response?: unknown
}

interface V2Status {
  readonly code?: number
  readonly message?: string
  readonly details?: readonly unknown[]
}

interface V1Organization {
  readonly name?: string
  readonly displayName?: string
  readonly lifecycleState?: string
  readonly creationTime?: string
  readonly owner?: V1OrganizationOwner
}

interface V1OrganizationOwner {
  readonly directoryCustomerId?: string
}

interface V2Organization {
  readonly name?: string
  readonly displayName?: string
  readonly directoryCustomerId?: string
  readonly state?: string
  readonly createTime?: string
  readonly updateTime?: string
  readonly deleteTime?: string
  readonly etag?: string
}

interface V1ListLiensResponse {
  readonly liens?: readonly V1Lien[]
  readonly nextPageToken?: string
}

interface V1Lien {
  readonly name?: string
  readonly parent?: string
  readonly restrictions?: readonly string[]
  readonly reason?: string
  readonly origin?: string
  readonly createTime?: string
}

interface V2ListLiensResponse {
  readonly liens?: readonly V2Lien[]
  readonly nextPageToken?: string
}

interface V2Lien {
  readonly name?: string
  readonly parent?: string
  readonly restrictions?: readonly string[]
  readonly reason?: string
  readonly origin?: string
  readonly createTime?: string
}

const lifecycleStateValues = enumMap('lifecycleStateValues', [["LIFECYCLE_STATE_UNSPECIFIED","STATE_UNSPECIFIED"],["ACTIVE","ACTIVE"],["DELETE_REQUESTED","DELETE_REQUESTED"]], [["DELETE_IN_PROGRESS",3]])

const lifecycleStateValues2 = enumMap('lifecycleStateValues2', [["LIFECYCLE_STATE_UNSPECIFIED","STATE_UNSPECIFIED"],["ACTIVE","ACTIVE"],["DELETE_REQUESTED","DELETE_REQUESTED"]])

const project = mayBeEmpty(message('Project', rows<V1Project, V2Project>()({
  projectNumber: optional(gone(long, 'TO DECIDE: no member of v2 beside it has its name')),
  // the same name and type
  projectId: optional(text('projectId')),
  // the only enum with a name like it
  lifecycleState: optional(readOnly(choice('state', lifecycleStateValues))),
  name: optional(gone(text, 'TO DECIDE: v2\'s name may mean something else: only v2 says that it is read-only')),
  // the same name and type
  createTime: optional(readOnly(time('createTime'))),
  // the same name and type
  labels: optional(textMap('labels')),
  parent: optional(gone(text, 'TO DECIDE: v2\'s parent is of the kind text, and v1\'s of the kind object')),
})))

const operation = mayBeEmpty(message('Operation', rows<V1Operation, V2Operation>()({
  // the same name and type
  name: optional(text('name')),
  metadata: optional(gone(text, 'TO DECIDE: v2\'s metadata cannot be compared: v1\'s may hold anything')),
  // the same name and type
  done: optional(flag('done')),
  // the same name and type
  error: optional(object('error', {
    // the same name and type
    code: optional(int('code')),
    // the same name and type
    message: optional(text('message')),
    details: optional(gone(texts, 'TO DECIDE: v2\'s details cannot be compared: v1\'s may hold anything')),
  })),
  response: optional(gone(text, 'TO DECIDE: v2\'s response cannot be compared: v1\'s may hold anything')),
})))

const organization = mayBeEmpty(message('Organization', rows<V1Organization, V2Organization>()({
  // the same name and type
  name: optional(readOnly(text('name'))),
  // the same name and type
  displayName: optional(readOnly(text('displayName'))),
  // the only enum with a name like it
  lifecycleState: optional(readOnly(choice('state', lifecycleStateValues2))),
  // the only time with a name like it
  creationTime: optional(readOnly(time('createTime'))),
  owner: optional(gone(text, 'TO DECIDE: no member of v2 beside it has its name')),
})))

const listLiensResponse = mayBeEmpty(message('ListLiensResponse', rows<V1ListLiensResponse, V2ListLiensResponse>()({
  // the same name and type
  liens: optional(objects('liens', {
    // the same name and type
    name: optional(text('name')),
    // the same name and type
    parent: optional(text('parent')),
    // the same name and type
    restrictions: optional(texts('restrictions')),
    // the same name and type
    reason: optional(text('reason')),
    // the same name and type
    origin: optional(text('origin')),
    // the same name and type
    createTime: optional(readOnly(time('createTime'))),
  })),
  // the same name and type
  nextPageToken: optional(text('nextPageToken')),
})))

const lien = mayBeEmpty(message('Lien', rows<V1Lien, V2Lien>()({
  // the same name and type
  name: optional(text('name')),
  // the same name and type
  parent: optional(text('parent')),
  // the same name and type
  restrictions: optional(texts('restrictions')),
  // the same name and type
  reason: optional(text('reason')),
  // the same name and type
  origin: optional(text('origin')),
  // the same name and type
  createTime: optional(readOnly(time('createTime'))),
})))

const resourcemanager: Mapping = {
  domain: 'resourcemanager',
  prefix: 'v1',
  operations: [
    v1Only('resourcemanager.projects.list', 'GET /v1/projects', 'TO DECIDE: GET /v3/projects has its path, but needs parent'),
    // the same method and path
    action('resourcemanager.projects.create', 'POST /v1/projects', {
      v2: 'POST /v3/projects',
      request: project,
      answer: operation,
      readBack: { unverifiable: 'TO DECIDE: how its effect is read' },
    }),
    // the same method and path
    action('resourcemanager.projects.get', 'GET /v1/projects/{projectId}', {
      v2: 'GET /v3/projects/{projectId}',
      answer: project,
    }),
    v1Only('resourcemanager.projects.update', 'PUT /v1/projects/{projectId}', 'TO DECIDE: v2 updates by PATCH /v3/projects/{projectsId}: say which members it replaces, as replace() or an operation with a plan'),
    v1Only('resourcemanager.projects.delete', 'DELETE /v1/projects/{projectId}', 'TO DECIDE: DELETE /v3/projects/{projectsId} has its path, but not the answer: v2\'s is Operation, and v1\'s is Empty'),
    v1Only('resourcemanager.projects.undelete', 'POST /v1/projects/{projectId}:undelete', 'TO DECIDE: POST /v3/projects/{projectsId}:undelete has its path, but not the answer: v2\'s is Operation, and v1\'s is Empty'),
    v1Only('resourcemanager.projects.getAncestry', 'POST /v1/projects/{projectId}:getAncestry', 'TO DECIDE: no operation of v2 has its path'),
    v1Only('resourcemanager.projects.getOrgPolicy', 'POST /v1/projects/{projectId}:getOrgPolicy', 'TO DECIDE: no operation of v2 has its path'),
    // the same method and path
    action('resourcemanager.organizations.get', 'GET /v1/organizations/{organizationsId}', {
      v2: 'GET /v3/organizations/{organizationsId}',
      answer: organization,
    }),
    v1Only('resourcemanager.organizations.search', 'POST /v1/organizations:search', 'TO DECIDE: v2 has GET /v3/organizations:search there, and no POST'),
    // the same method and path
    action('resourcemanager.liens.list', 'GET /v1/liens', {
      v2: 'GET /v3/liens',
      params: { "parent": 'parent', "pageSize": intParam('pageSize'), "pageToken": 'pageToken' },
      paging: { parameter: 'pageToken', member: 'nextPageToken' },
      answer: listLiensResponse,
    }),
    // the same method and path
    action('resourcemanager.liens.create', 'POST /v1/liens', {
      v2: 'POST /v3/liens',
      request: lien,
      answer: lien,
      readBack: { unverifiable: 'TO DECIDE: how its effect is read' },
    }),
    // the same method and path
    action('resourcemanager.liens.get', 'GET /v1/liens/{liensId}', {
      v2: 'GET /v3/liens/{liensId}',
      answer: lien,
    }),
    // the same method and path
    action('resourcemanager.liens.delete', 'DELETE /v1/liens/{liensId}', {
      v2: 'DELETE /v3/liens/{liensId}',
      answer: nothing,
      readBack: { unverifiable: 'TO DECIDE: how its effect is read' },
    }),
    // the same method and path
    action('resourcemanager.operations.get', 'GET /v1/operations/{operationsId}', {
      v2: 'GET /v3/operations/{operationsId}',
      answer: operation,
    }),
  ],
}

const acknowledged: readonly Acknowledged[] = [
  { v1: 'errors', reason: 'TO DECIDE: v1 describes Failure, and clients get a google.rpc.Status; give the tables errors' },
  { v1: 'Project.lifecycleState=DELETE_IN_PROGRESS', reason: 'TO DECIDE: its enum has it for v1 alone' },
  { v2: 'GET /v3/projects', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'errors', reason: 'TO DECIDE: v2 describes Failure, and calls expect a google.rpc.Status; give the tables errors' },
  { v2: 'Project.parent', in: 'request', reason: 'TO DECIDE: no row writes it' },
  { v2: 'Project.displayName', in: 'request', reason: 'TO DECIDE: no row writes it' },
  { v2: 'Operation.metadata', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Status.details', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Operation.response', reason: 'TO DECIDE: no row shows it' },
  { v2: 'GET /v3/projects:search', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'Project.name', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Project.parent', in: 'answer', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Project.displayName', in: 'answer', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Project.updateTime', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Project.deleteTime', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Project.etag', reason: 'TO DECIDE: no row shows it' },
  { v2: 'PATCH /v3/projects/{projectsId}', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'DELETE /v3/projects/{projectsId}', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'POST /v3/projects/{projectsId}:undelete', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'POST /v3/projects/{projectsId}:move', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'GET /v3/folders/{foldersId}', reason: 'TO DECIDE: no operation of the tables calls it' },
  { v2: 'Organization.directoryCustomerId', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Organization.updateTime', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Organization.deleteTime', reason: 'TO DECIDE: no row shows it' },
  { v2: 'Organization.etag', reason: 'TO DECIDE: no row shows it' },
  { v2: 'GET /v3/organizations:search', reason: 'TO DECIDE: no operation of the tables calls it' },
]

export const tables: Tables = { name: 'resourcemanager', mappings: [resourcemanager], differences: [], shapes: {}, acknowledged }
