import { action, type Mapping, type Tables } from 'crosswalk/tables'
import { acknowledged } from './tables/acknowledged.ts'
import { errors } from './tables/errors.ts'
import { lienOperations } from './tables/liens.ts'
import { organizationOperations } from './tables/organizations.ts'
import { projectOperations } from './tables/projects.ts'
import { running } from './tables/running.ts'

const resourceManager: Mapping = {
  domain: 'resourcemanager',
  prefix: 'v1',
  operations: [
    ...projectOperations,
    ...organizationOperations,
    ...lienOperations,
    action('resourcemanager.operations.get', 'GET /v1/operations/{operationsId}', {
      v2: 'GET /v3/operations/{operationsId}',
      answer: running,
    }),
  ],
}

/** Version 1 of the Cloud Resource Manager API, served from version 3. */
export const tables: Tables = {
  name: 'resource-manager',
  mappings: [resourceManager],
  shapes: {},
  errors,
  acknowledged,
  differences: [
    {
      code: 'v1-only',
      operations: ['resourcemanager.projects.getOrgPolicy'],
      seen: 'HTTP 501: the operation needs a v1 service.',
      because: 'v3 has no such operation.',
      test: 'policies of organizations need v1',
    },
    {
      code: 'refusal-words',
      operations: ['resourcemanager.projects.create'],
      seen: 'A parent of a wrong type is refused in other words.',
      because: 'Crosswalk refuses what it cannot write for v3.',
      test: 'a parent that holds no projects is refused in other words',
    },
    {
      code: 'parent-type-alone',
      operations: ['resourcemanager.projects.list'],
      seen: 'A filter with parent.type and without parent.id is HTTP 400.',
      because: 'A query of v3 names a parent as a whole.',
      met: { given: ['filter'] },
      test: 'projects are filtered by the type of their parent alone',
      signs: [{ at: [''], kinds: ['status'], v1: 200, v2: 400, when: [{ param: 'filter' }] }],
    },
  ],
}
