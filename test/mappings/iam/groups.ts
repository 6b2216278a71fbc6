import { ApiError } from '../../../src/errors.ts'
import { failure, items, type Transcript } from '../transcript.ts'

const times = { createTime: '2025-01-02T03:04:05.678Z', updateTime: '2025-02-03T04:05:06Z' }
const v2Org = { uid: 'org', name: 'example.com', verified: true, kind: 'ORG_KIND_CUSTOMER', status: 'ORG_STATUS_READY', ...times }
const org = {
  id: 'org',
  name: 'example.com',
  description: '',
  resource_limits: {},
  verified: true,
  kind: 'ORG_KIND_CUSTOMER',
  status: 'ORG_STATUS_READY',
}
const stamps = { created_at: times.createTime, updated_at: times.updateTime }

const v2Folder = { uid: 'org/eng', name: 'eng', description: 'Ingenieure ✓', resourceLimits: { repos_per_day: 5, camelKey: 0 } }
const folder = {
  id: 'org/eng',
  name: 'eng',
  description: 'Ingenieure ✓',
  resource_limits: { repos_per_day: 5, camelKey: 0 },
  verified: false,
  kind: 'ORG_KIND_UNSPECIFIED',
  status: 'ORG_STATUS_UNSPECIFIED',
}
const folderStamps = { created_at: null, updated_at: null, group_id: 'org' }
const { resource_limits: limits, ...folderRest } = folder
const publishedFolder = { ...folderRest, resourceLimits: limits }
const { resource_limits: _none, ...orgRest } = org
const publishedOrg = { ...orgRest, resourceLimits: {} }

export const groups: readonly Transcript[] = [
  {
    title: 'every page, in order; limits keep their keys, a folder names its parent',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups?uidp.descendants_of=org&uidp.inRoot=f&colour=red',
    calls: [
      {
        call: 'GET /iam/v2/groups?uidp.descendants_of=org&uidp.in_root=false&page_size=200',
        answer: { groups: [v2Org], nextPageToken: 'more', totalCount: '2', skipped: 0 },
      },
      {
        call: 'GET /iam/v2/groups?uidp.descendants_of=org&uidp.in_root=false&page_size=200&page_token=more',
        answer: { groups: [v2Folder], nextPageToken: '', totalCount: '2', skipped: 0 },
      },
    ],
    reply: items({ ...org, ...stamps }, { ...folder, ...folderStamps }),
    published: items(publishedOrg, publishedFolder),
  },
  {
    title: 'a window in another order',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups?page=3&pageSize=1&orderBy=created_at DESC',
    calls: [
      {
        call: 'GET /iam/v2/groups?order_by=created_at desc&page_size=1&skip=2',
        answer: { groups: [v2Org], nextPageToken: 'more', skipped: 2 },
      },
    ],
    reply: items({ ...org, ...stamps }),
    published: items(publishedOrg),
  },
  {
    title: 'an id is a Get; the name beside it is checked here',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups?id=org&name=example.org',
    calls: [{ call: 'GET /iam/v2/groups/org', answer: v2Org }],
    reply: items(),
  },
  {
    title: 'an id that is not there, not visible or not a uid is nothing found',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups?id=org/gone',
    calls: [{ call: 'GET /iam/v2/groups/org/gone', answer: 'PERMISSION_DENIED' }],
    reply: items(),
  },
  {
    title: 'no call at all for an id that could leave the path',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups?id=../roles',
    calls: [],
    reply: items(),
  },
  {
    title: 'a list that started over is an error, never a doubled list',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups',
    calls: [
      { call: 'GET /iam/v2/groups?page_size=200', answer: { groups: [v2Org], nextPageToken: 'more' } },
      { call: 'GET /iam/v2/groups?page_size=200&page_token=more', answer: { groups: [v2Org], nextPageToken: 'more2' } },
    ],
    status: 409,
    reply: failure('ABORTED', 'the list started over while it was read; ask again'),
  },
  {
    title: 'below a parent; what v2 does not let a client write is dropped, null is unset',
    operation: 'iam.groups.create',
    request: 'POST /iam/v1/groups/org',
    body: { id: 'x', name: 'eng', description: null, resourceLimits: { a: 1 }, status: 'ORG_STATUS_READY', colour: 'red' },
    calls: [{ call: 'POST /iam/v2/groups/org', body: { name: 'eng' }, answer: v2Folder }],
    reply: { ...folder, ...folderStamps },
    published: publishedFolder,
  },
  {
    title: 'a root group has no parent, and its kind may be a number',
    operation: 'iam.groups.create',
    request: 'POST /iam/v1/groups/',
    body: { name: 'example.com', verified: true, kind: 2 },
    calls: [{ call: 'POST /iam/v2/groups', body: { name: 'example.com', verified: true, kind: 'ORG_KIND_CUSTOMER' }, answer: v2Org }],
    reply: { ...org, ...stamps },
    published: publishedOrg,
  },
  {
    title: 'every member of a wrong type is named, and v2 is not asked',
    operation: 'iam.groups.create',
    request: 'POST /iam/v1/groups/org',
    body: { name: 7, verified: 'yes' },
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: name: must be a string; verified: must be true or false', [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [
          { field: 'name', description: 'must be a string' },
          { field: 'verified', description: 'must be true or false' },
        ],
      },
    ]),
  },
  {
    title: 'kind and status stay out of the mask: * would be refused',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/org/eng',
    body: { id: 'other', name: 'eng', kind: 'ORG_KIND_UNSPECIFIED', status: 'ORG_STATUS_READY' },
    calls: [
      {
        call: 'PATCH /iam/v2/groups/org/eng?updateMask=name,description,verified',
        body: { name: 'eng', kind: 'ORG_KIND_UNSPECIFIED' },
        answer: v2Folder,
      },
    ],
    reply: { ...folder, ...folderStamps },
    published: publishedFolder,
  },
  {
    title: 'a kind that is given is written',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/org',
    body: { name: 'example.com', kind: 'ORG_KIND_CUSTOMER' },
    calls: [
      {
        call: 'PATCH /iam/v2/groups/org?updateMask=name,description,verified,kind',
        body: { name: 'example.com', kind: 'ORG_KIND_CUSTOMER' },
        answer: v2Org,
      },
    ],
    reply: { ...org, ...stamps },
    published: publishedOrg,
  },
  {
    title: 'a verified group: v2 keeps verified to staff, and a PUT that left it out did not mean it',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/org',
    body: { name: 'example.com' },
    calls: [
      { call: 'PATCH /iam/v2/groups/org?updateMask=name,description,verified', body: { name: 'example.com' }, answer: 'PERMISSION_DENIED' },
      { call: 'PATCH /iam/v2/groups/org?updateMask=name,description', body: { name: 'example.com' }, answer: v2Org },
    ],
    reply: { ...org, ...stamps },
    published: publishedOrg,
  },
  {
    title: 'a caller who may not write the group at all is refused twice, and told once',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/org',
    body: { name: 'example.com', verified: false },
    calls: [
      {
        call: 'PATCH /iam/v2/groups/org?updateMask=name,description,verified',
        body: { name: 'example.com', verified: false },
        answer: 'PERMISSION_DENIED',
      },
      { call: 'PATCH /iam/v2/groups/org?updateMask=name,description', body: { name: 'example.com' }, answer: 'PERMISSION_DENIED' },
    ],
    status: 403,
    reply: failure('PERMISSION_DENIED'),
  },
  {
    title: 'verified: true is meant, and refused for good',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/org',
    body: { name: 'example.com', verified: true },
    calls: [
      {
        call: 'PATCH /iam/v2/groups/org?updateMask=name,description,verified',
        body: { name: 'example.com', verified: true },
        answer: 'PERMISSION_DENIED',
      },
    ],
    status: 403,
    reply: failure('PERMISSION_DENIED'),
  },
  {
    title: 'a missing group is an error on PUT',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/gone',
    body: { name: 'x' },
    calls: [{ call: 'PATCH /iam/v2/groups/gone?updateMask=name,description,verified', body: { name: 'x' }, answer: 'NOT_FOUND' }],
    status: 404,
    reply: failure('NOT_FOUND'),
  },
  {
    title: 'verified, which only staff changes, is left alone when v2 refuses it',
    operation: 'iam.groups.update',
    request: 'PUT /iam/v1/groups/org',
    body: { name: 'example.com', verified: false },
    calls: [
      {
        call: 'PATCH /iam/v2/groups/org?updateMask=name,description,verified',
        body: { name: 'example.com', verified: false },
        answer: 'PERMISSION_DENIED',
      },
      { call: 'PATCH /iam/v2/groups/org?updateMask=name,description', body: { name: 'example.com' }, answer: v2Org },
    ],
    reply: { ...org, ...stamps },
    published: publishedOrg,
  },
  {
    title: 'gone',
    operation: 'iam.groups.delete',
    request: 'DELETE /iam/v1/groups/org/eng',
    calls: [{ call: 'DELETE /iam/v2/groups/org/eng', answer: {} }],
    reply: {},
  },
  {
    title: 'gone before',
    operation: 'iam.groups.delete',
    request: 'DELETE /iam/v1/groups/org/eng',
    calls: [{ call: 'DELETE /iam/v2/groups/org/eng', answer: 'NOT_FOUND' }],
    reply: {},
  },
  {
    title: 'a blocked delete keeps code, message and details',
    operation: 'iam.groups.delete',
    request: 'DELETE /iam/v1/groups/org',
    calls: [
      {
        call: 'DELETE /iam/v2/groups/org',
        answer: new ApiError('FAILED_PRECONDITION', 'Precondition failed: cannot delete group with child repos', {
          details: [{ '@type': 'type.googleapis.com/google.rpc.PreconditionFailure', violations: [{ type: 'RESOURCE_NOT_EMPTY' }] }],
        }),
      },
    ],
    status: 400,
    reply: failure('FAILED_PRECONDITION', 'Precondition failed: cannot delete group with child repos', [
      { '@type': 'type.googleapis.com/google.rpc.PreconditionFailure', violations: [{ type: 'RESOURCE_NOT_EMPTY' }] },
    ]),
  },
  {
    title: 'no id is a mistake, not a success',
    operation: 'iam.groups.delete',
    request: 'DELETE /iam/v1/groups',
    calls: [],
    status: 400,
    reply: failure('INVALID_ARGUMENT', 'Invalid argument: id: "" is not a valid uid', [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'id', description: '"" is not a valid uid' }],
      },
    ]),
  },
  {
    title: 'the group of the caller’s domain',
    operation: 'iam.groups.lookup',
    request: 'GET /iam/v1/groups:lookupGroup',
    calls: [{ call: 'GET /iam/v2/groups:lookupGroup', answer: { group: v2Org } }],
    reply: { group: org },
    published: { group: publishedOrg },
  },
  {
    title: 'no such group is an answer of its own',
    operation: 'iam.groups.lookup',
    request: 'GET /iam/v1/groups:lookupGroup',
    calls: [{ call: 'GET /iam/v2/groups:lookupGroup', answer: 'NOT_FOUND' }],
    status: 404,
    reply: failure('NOT_FOUND'),
  },
  {
    title: 'a row without uid is none',
    operation: 'iam.groups.list',
    request: 'GET /iam/v1/groups?limit=1',
    calls: [{ call: 'GET /iam/v2/groups?page_size=1', answer: { groups: [{ name: 'no uid' }] } }],
    status: 500,
    reply: failure('INTERNAL', 'the v2 service sent an answer without what it must hold'),
  },
  {
    title: 'not eligible',
    operation: 'iam.groups.check_eligibility',
    request: 'GET /iam/v1/groups:checkEligibility',
    calls: [{ call: 'GET /iam/v2/groups:checkEligibility', answer: { eligible: false } }],
    reply: { eligible: false },
  },
  {
    title: 'asked for access',
    operation: 'iam.groups.request_access',
    request: 'POST /iam/v1/groups/org/eng:requestGroupAccess',
    calls: [{ call: 'POST /iam/v2/groups/org/eng:requestGroupAccess', body: {}, answer: {} }],
    reply: {},
  },
  {
    title: 'asked again too soon',
    operation: 'iam.groups.request_access',
    request: 'POST /iam/v1/groups/org:requestGroupAccess',
    body: {},
    calls: [{ call: 'POST /iam/v2/groups/org:requestGroupAccess', body: {}, answer: 'RESOURCE_EXHAUSTED' }],
    status: 429,
    reply: failure('RESOURCE_EXHAUSTED'),
  },
]
