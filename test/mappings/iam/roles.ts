import { failure, items, type Transcript } from '../transcript.ts'

const v2Viewer = { uid: 'viewer', name: 'viewer', capabilities: ['CAP_IAM_GROUPS_LIST', 'CAP_FROM_THE_FUTURE', 'CAP_IAM_SCIM_MANAGE'] }
const viewer = { id: 'viewer', name: 'viewer', description: '', capabilities: ['groups.list', 'identity_providers.scim.manage'] }
const noTimes = { created_at: null, updated_at: null }

const v2Pusher = {
  uid: 'org/pusher',
  name: 'pusher',
  description: 'pushes',
  capabilities: ['CAP_REPO_UPDATE'],
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
}
const pusher = { id: 'org/pusher', name: 'pusher', description: 'pushes', capabilities: ['repo.update'] }
const pusherStamps = { created_at: v2Pusher.createTime, updated_at: v2Pusher.updateTime, group_id: 'org' }

const notACapability = { field: 'capabilities[1]', description: 'must be a capability' }
const refused = failure('INVALID_ARGUMENT', 'Invalid argument: capabilities[1]: must be a capability', [
  { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [notACapability] },
])

export const roles: readonly Transcript[] = [
  {
    title: 'parent=/ means built-in roles; a capability from the future is left out',
    operation: 'iam.roles.list',
    request: 'GET /iam/v1/roles?parent=/',
    calls: [{ call: 'GET /iam/v2/roles?uidp.in_root=true&page_size=200', answer: { roles: [v2Viewer] } }],
    reply: items({ ...viewer, ...noTimes }),
    published: items(viewer),
  },
  {
    title: 'any other parent means its children',
    operation: 'iam.roles.list',
    request: 'GET /iam/v1/roles?parent=org&name=pusher',
    calls: [{ call: 'GET /iam/v2/roles?name=pusher&uidp.children_of=org&page_size=200', answer: { roles: [v2Pusher] } }],
    reply: items({ ...pusher, ...pusherStamps }),
    published: items(pusher),
  },
  {
    title: 'two different parents have no common child',
    operation: 'iam.roles.list',
    request: 'GET /iam/v1/roles?parent=org&uidp.children_of=other',
    calls: [],
    reply: items(),
  },
  {
    title: 'an id beside a parent is checked here',
    operation: 'iam.roles.list',
    request: 'GET /iam/v1/roles?id=viewer&parent=/',
    calls: [{ call: 'GET /iam/v2/roles/viewer', answer: v2Viewer }],
    reply: items({ ...viewer, ...noTimes }),
    published: items(viewer),
  },
  {
    title: 'capabilities go by table',
    operation: 'iam.roles.create',
    request: 'POST /iam/v1/roles/org',
    body: { name: 'pusher', capabilities: ['repo.update', 'gulfstream'] },
    calls: [
      { call: 'POST /iam/v2/roles/org', body: { name: 'pusher', capabilities: ['CAP_REPO_UPDATE', 'CAP_GULFSTREAM'] }, answer: v2Pusher },
    ],
    reply: { ...pusher, ...pusherStamps },
    published: pusher,
  },
  {
    title: 'an unknown capability is refused before v2 is asked',
    operation: 'iam.roles.create',
    request: 'POST /iam/v1/roles/org',
    body: { name: 'pusher', capabilities: ['repo.update', 'repo.paint'] },
    calls: [],
    status: 400,
    reply: refused,
  },
  {
    title: 'so is a number: v1 carries capabilities as text',
    operation: 'iam.roles.update',
    request: 'PUT /iam/v1/roles/org/pusher',
    body: { capabilities: ['repo.update', 1] },
    calls: [],
    status: 400,
    reply: refused,
  },
  {
    title: 'everything is replaced',
    operation: 'iam.roles.update',
    request: 'PUT /iam/v1/roles/org/pusher',
    body: { name: 'pusher', capabilities: ['repo.update'] },
    calls: [
      {
        call: 'PATCH /iam/v2/roles/org/pusher?updateMask=*',
        body: { name: 'pusher', capabilities: ['CAP_REPO_UPDATE'] },
        answer: v2Pusher,
      },
    ],
    reply: { ...pusher, ...pusherStamps },
    published: pusher,
  },
  {
    title: 'gone',
    operation: 'iam.roles.delete',
    request: 'DELETE /iam/v1/roles/org/pusher',
    calls: [{ call: 'DELETE /iam/v2/roles/org/pusher', answer: {} }],
    reply: {},
  },
  {
    title: 'still bound',
    operation: 'iam.roles.delete',
    request: 'DELETE /iam/v1/roles/org/pusher',
    calls: [{ call: 'DELETE /iam/v2/roles/org/pusher', answer: 'FAILED_PRECONDITION' }],
    status: 400,
    reply: failure('FAILED_PRECONDITION'),
  },
]
