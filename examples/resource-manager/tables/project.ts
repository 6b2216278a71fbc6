import { choice, converted, enumMap, long, optional, readOnly, resource, text, textMap, time } from 'crosswalk/tables'
import { lastPart, parent } from './names.ts'

/** The state of a project or an organization. */
export const state = enumMap(
  'LifecycleState',
  [
    ['LIFECYCLE_STATE_UNSPECIFIED', 'STATE_UNSPECIFIED', 0],
    ['ACTIVE', 'ACTIVE', 1],
    ['DELETE_REQUESTED', 'DELETE_REQUESTED', 2],
  ],
  [['DELETE_IN_PROGRESS', 3]],
)

/** A project. v1's `name` is v3's `displayName`, and v3's `name` is made from v1's `projectNumber`. */
export const project = resource('project', {
  v2: '/v3/projects',
  plural: 'projects',
  fields: {
    projectNumber: readOnly(converted(long('name'), { show: lastPart })),
    projectId: text('projectId'),
    lifecycleState: readOnly(choice('state', state)),
    name: optional(text('displayName')),
    createTime: readOnly(time('createTime')),
    labels: optional(textMap('labels')),
    parent: optional(parent),
  },
  mask: {
    always: ['displayName', 'labels'],
    because: 'v3 moves a project by a method of its own, and no update changes the other members',
  },
})
