import { extra } from '../../contract/target.ts'
import { items, type Transcript, transcript } from '../transcript.ts'

const v2Viewer = { uid: 'viewer', name: 'viewer', capabilities: ['CAP_IAM_GROUPS_LIST', 'CAP_FROM_THE_FUTURE', 'CAP_IAM_SCIM_MANAGE'] }
const viewer = extra(
  { id: 'viewer', name: 'viewer', description: '', capabilities: ['groups.list', 'identity_providers.scim.manage'] },
  { created_at: null, updated_at: null },
)

const v2Pusher = {
  uid: 'org/pusher',
  name: 'pusher',
  description: 'pushes',
  capabilities: ['CAP_REPO_UPDATE'],
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
}
const pusher = extra(
  { id: 'org/pusher', name: 'pusher', description: 'pushes', capabilities: ['repo.update'] },
  { created_at: v2Pusher.createTime, updated_at: v2Pusher.updateTime, group_id: 'org' },
)

export const roles: readonly Transcript[] = [
  transcript('iam.roles.list', 'parent=/ means built-in roles; a capability from the future is left out')
    .sent('GET /iam/v1/roles?parent=/')
    .asks('GET /iam/v2/roles?uidp.in_root=true&page_size=200', { roles: [v2Viewer] })
    .answers(items(viewer)),
  transcript('iam.roles.list', 'any other parent means its children')
    .sent('GET /iam/v1/roles?parent=org&name=pusher')
    .asks('GET /iam/v2/roles?name=pusher&uidp.children_of=org&page_size=200', { roles: [v2Pusher] })
    .answers(items(pusher)),
  transcript('iam.roles.list', 'two different parents have no common child')
    .sent('GET /iam/v1/roles?parent=org&uidp.children_of=other')
    .answers(items()),
  transcript('iam.roles.list', 'an id beside a parent is checked here')
    .sent('GET /iam/v1/roles?id=viewer&parent=/')
    .asks('GET /iam/v2/roles/viewer', v2Viewer)
    .answers(items(viewer)),
  transcript('iam.roles.create', 'capabilities go by table')
    .sent('POST /iam/v1/roles/org', { name: 'pusher', capabilities: ['repo.update', 'gulfstream'] })
    .writes('POST /iam/v2/roles/org', { name: 'pusher', capabilities: ['CAP_REPO_UPDATE', 'CAP_GULFSTREAM'] }, v2Pusher)
    .answers(pusher),
  transcript('iam.roles.create', 'an unknown capability is refused before v2 is asked')
    .sent('POST /iam/v1/roles/org', { name: 'pusher', capabilities: ['repo.update', 'repo.paint'] })
    .finds(['capabilities[1]', 'must be a capability']),
  transcript('iam.roles.update', 'so is a number: v1 carries capabilities as text')
    .sent('PUT /iam/v1/roles/org/pusher', { capabilities: ['repo.update', 1] })
    .finds(['capabilities[1]', 'must be a capability']),
  transcript('iam.roles.update', 'everything is replaced')
    .sent('PUT /iam/v1/roles/org/pusher', { name: 'pusher', capabilities: ['repo.update'] })
    .writes('PATCH /iam/v2/roles/org/pusher?updateMask=*', { name: 'pusher', capabilities: ['CAP_REPO_UPDATE'] }, v2Pusher)
    .answers(pusher),
  transcript('iam.roles.delete', 'gone').sent('DELETE /iam/v1/roles/org/pusher').asks('DELETE /iam/v2/roles/org/pusher', {}).answers({}),
  transcript('iam.roles.delete', 'still bound')
    .sent('DELETE /iam/v1/roles/org/pusher')
    .asks('DELETE /iam/v2/roles/org/pusher', 'FAILED_PRECONDITION')
    .refuses('FAILED_PRECONDITION'),
]
