import { ApiError } from '../../../src/errors.ts'
import { extra, map } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const times = { createTime: '2025-01-02T03:04:05.678Z', updateTime: '2025-02-03T04:05:06Z' }
const v2Org = { uid: 'org', name: 'example.com', verified: true, kind: 'ORG_KIND_CUSTOMER', status: 'ORG_STATUS_READY', ...times }
const customer = {
  id: 'org',
  name: 'example.com',
  description: '',
  resource_limits: {},
  verified: true,
  kind: 'ORG_KIND_CUSTOMER',
  status: 'ORG_STATUS_READY',
}
const org = extra(customer, { created_at: times.createTime, updated_at: times.updateTime })

const v2Folder = { uid: 'org/eng', name: 'eng', description: 'Ingenieure ✓', resourceLimits: { repos_per_day: 5, camelKey: 0 } }
const folder = extra(
  {
    id: 'org/eng',
    name: 'eng',
    description: 'Ingenieure ✓',
    resource_limits: map({ repos_per_day: 5, camelKey: 0 }),
    verified: false,
    kind: 'ORG_KIND_UNSPECIFIED',
    status: 'ORG_STATUS_UNSPECIFIED',
  },
  { created_at: null, updated_at: null, group_id: 'org' },
)

export const groups: readonly Transcript[] = [
  transcript('iam.groups.list', 'every page, in order; limits keep their keys, a folder names its parent')
    .sent('GET /iam/v1/groups?uidp.descendants_of=org&uidp.inRoot=f&colour=red')
    .asks('GET /iam/v2/groups?uidp.descendants_of=org&uidp.in_root=false&page_size=200', {
      groups: [v2Org],
      nextPageToken: 'more',
      totalCount: '2',
      skipped: 0,
    })
    .asks('GET /iam/v2/groups?uidp.descendants_of=org&uidp.in_root=false&page_size=200&page_token=more', {
      groups: [v2Folder],
      nextPageToken: '',
      totalCount: '2',
      skipped: 0,
    })
    .answers(items(org, folder)),
  transcript('iam.groups.list', 'a window in another order')
    .sent('GET /iam/v1/groups?page=3&pageSize=1&orderBy=created_at DESC')
    .asks('GET /iam/v2/groups?order_by=created_at desc&page_size=1&skip=2', { groups: [v2Org], nextPageToken: 'more', skipped: 2 })
    .answers(items(org)),
  transcript('iam.groups.list', 'an id is a Get; the name beside it is checked here')
    .sent('GET /iam/v1/groups?id=org&name=example.org')
    .asks('GET /iam/v2/groups/org', v2Org)
    .answers(items()),
  transcript('iam.groups.list', 'an id that is not there, not visible or not a uid is nothing found')
    .sent('GET /iam/v1/groups?id=org/gone')
    .asks('GET /iam/v2/groups/org/gone', 'PERMISSION_DENIED')
    .answers(items()),
  transcript('iam.groups.list', 'no call at all for an id that could leave the path')
    .sent('GET /iam/v1/groups?id=../roles')
    .answers(items()),
  transcript('iam.groups.list', 'a list that started over is an error, never a doubled list')
    .sent('GET /iam/v1/groups')
    .asks('GET /iam/v2/groups?page_size=200', { groups: [v2Org], nextPageToken: 'more' })
    .asks('GET /iam/v2/groups?page_size=200&page_token=more', { groups: [v2Org], nextPageToken: 'more2' })
    .refuses('ABORTED', 'the list started over while it was read; ask again'),
  transcript('iam.groups.create', 'below a parent; what v2 does not let a client write is dropped, null is unset')
    .sent('POST /iam/v1/groups/org', {
      id: 'x',
      name: 'eng',
      description: null,
      resourceLimits: { a: 1 },
      status: 'ORG_STATUS_READY',
      colour: 'red',
    })
    .writes('POST /iam/v2/groups/org', { name: 'eng' }, v2Folder)
    .answers(folder),
  transcript('iam.groups.create', 'a root group has no parent, and its kind may be a number')
    .sent('POST /iam/v1/groups/', { name: 'example.com', verified: true, kind: 2 })
    .writes('POST /iam/v2/groups', { name: 'example.com', verified: true, kind: 'ORG_KIND_CUSTOMER' }, v2Org)
    .answers(org),
  transcript('iam.groups.create', 'every member of a wrong type is named, and v2 is not asked')
    .sent('POST /iam/v1/groups/org', { name: 7, verified: 'yes' })
    .finds(['name', 'must be a string'], ['verified', 'must be true or false']),
  transcript('iam.groups.update', 'kind and status stay out of the mask: * would be refused')
    .sent('PUT /iam/v1/groups/org/eng', { id: 'other', name: 'eng', kind: 'ORG_KIND_UNSPECIFIED', status: 'ORG_STATUS_READY' })
    .writes('PATCH /iam/v2/groups/org/eng?updateMask=name,description,verified', { name: 'eng', kind: 'ORG_KIND_UNSPECIFIED' }, v2Folder)
    .answers(folder),
  transcript('iam.groups.update', 'a kind that is given is written')
    .sent('PUT /iam/v1/groups/org', { name: 'example.com', kind: 'ORG_KIND_CUSTOMER' })
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description,verified,kind', { name: 'example.com', kind: 'ORG_KIND_CUSTOMER' }, v2Org)
    .answers(org),
  transcript('iam.groups.update', 'a verified group: v2 keeps verified to staff, and a PUT that left it out did not mean it')
    .sent('PUT /iam/v1/groups/org', { name: 'example.com' })
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description,verified', { name: 'example.com' }, 'PERMISSION_DENIED')
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description', { name: 'example.com' }, v2Org)
    .answers(org),
  transcript('iam.groups.update', 'a caller who may not write the group at all is refused twice, and told once')
    .sent('PUT /iam/v1/groups/org', { name: 'example.com', verified: false })
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description,verified', { name: 'example.com', verified: false }, 'PERMISSION_DENIED')
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description', { name: 'example.com' }, 'PERMISSION_DENIED')
    .refuses('PERMISSION_DENIED'),
  transcript('iam.groups.update', 'verified: true is meant, and refused for good')
    .sent('PUT /iam/v1/groups/org', { name: 'example.com', verified: true })
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description,verified', { name: 'example.com', verified: true }, 'PERMISSION_DENIED')
    .refuses('PERMISSION_DENIED'),
  transcript('iam.groups.update', 'a missing group is an error on PUT')
    .sent('PUT /iam/v1/groups/gone', { name: 'x' })
    .writes('PATCH /iam/v2/groups/gone?updateMask=name,description,verified', { name: 'x' }, 'NOT_FOUND')
    .refuses('NOT_FOUND'),
  transcript('iam.groups.update', 'verified, which only staff changes, is left alone when v2 refuses it')
    .sent('PUT /iam/v1/groups/org', { name: 'example.com', verified: false })
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description,verified', { name: 'example.com', verified: false }, 'PERMISSION_DENIED')
    .writes('PATCH /iam/v2/groups/org?updateMask=name,description', { name: 'example.com' }, v2Org)
    .answers(org),
  transcript('iam.groups.delete', 'gone').sent('DELETE /iam/v1/groups/org/eng').asks('DELETE /iam/v2/groups/org/eng', {}).answers({}),
  transcript('iam.groups.delete', 'gone before')
    .sent('DELETE /iam/v1/groups/org/eng')
    .asks('DELETE /iam/v2/groups/org/eng', 'NOT_FOUND')
    .answers({}),
  transcript('iam.groups.delete', 'a blocked delete keeps code, message and details')
    .sent('DELETE /iam/v1/groups/org')
    .asks(
      'DELETE /iam/v2/groups/org',
      new ApiError('FAILED_PRECONDITION', 'Precondition failed: cannot delete group with child repos', {
        details: [{ '@type': 'type.googleapis.com/google.rpc.PreconditionFailure', violations: [{ type: 'RESOURCE_NOT_EMPTY' }] }],
      }),
    )
    .refuses('FAILED_PRECONDITION', 'Precondition failed: cannot delete group with child repos', [
      { '@type': 'type.googleapis.com/google.rpc.PreconditionFailure', violations: [{ type: 'RESOURCE_NOT_EMPTY' }] },
    ]),
  transcript('iam.groups.delete', 'no id is a mistake, not a success').sent('DELETE /iam/v1/groups').finds(['id', '"" is not a valid uid']),
  transcript('iam.groups.lookup', 'the group of the caller’s domain')
    .sent('GET /iam/v1/groups:lookupGroup')
    .asks('GET /iam/v2/groups:lookupGroup', { group: v2Org })
    .answers({ group: customer }),
  transcript('iam.groups.lookup', 'no such group is an answer of its own')
    .sent('GET /iam/v1/groups:lookupGroup')
    .asks('GET /iam/v2/groups:lookupGroup', 'NOT_FOUND')
    .refuses('NOT_FOUND'),
  transcript('iam.groups.list', 'a row without uid is none')
    .sent('GET /iam/v1/groups?limit=1')
    .asks('GET /iam/v2/groups?page_size=1', { groups: [{ name: 'no uid' }] })
    .refuses('INTERNAL', 'the v2 service sent an answer without what it must hold'),
  transcript('iam.groups.check_eligibility', 'not eligible')
    .sent('GET /iam/v1/groups:checkEligibility')
    .asks('GET /iam/v2/groups:checkEligibility', { eligible: false })
    .answers({ eligible: false }),
  transcript('iam.groups.request_access', 'asked for access')
    .sent('POST /iam/v1/groups/org/eng:requestGroupAccess')
    .writes('POST /iam/v2/groups/org/eng:requestGroupAccess', {}, {})
    .answers({}),
  transcript('iam.groups.request_access', 'asked again too soon')
    .sent('POST /iam/v1/groups/org:requestGroupAccess', {})
    .writes('POST /iam/v2/groups/org:requestGroupAccess', {}, 'RESOURCE_EXHAUSTED')
    .refuses('RESOURCE_EXHAUSTED'),
]
