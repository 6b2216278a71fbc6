import {
  choices,
  create,
  list,
  type Operation,
  readOnly,
  remove,
  replace,
  resource,
  scope,
  single,
  text,
  type V1Request,
} from '../../src/tables/language.ts'
import { capabilities } from '../capabilities.ts'

/** A named set of capabilities: built-in (at the root) or an organization's own (facts §3.4). */
export const role = resource('role', {
  v2: '/iam/v2/roles',
  plural: 'roles',
  stamps: ['created_at', 'updated_at', 'group_id'],
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    description: text('description'),
    capabilities: choices('capabilities', capabilities),
  },
})

/** v1's value for "built-in roles only" (facts §10.5). */
const ROOT = '/'

/** v1's `parent` is one of the uidp filters in v2. */
function parentFilter({ query }: V1Request): [string, string][] {
  const parent = single(query, 'parent')
  if (!parent) return []
  return parent === ROOT ? [['uidp.in_root', 'true']] : [['uidp.children_of', parent]]
}

export const roleOperations: readonly Operation[] = [
  list('iam.roles.list', 'GET /iam/v1/roles', role, {
    query: { ...scope, name: 'name' },
    more: { params: ['parent'], query: parentFilter },
    byId: 'id',
  }),
  create('iam.roles.create', 'POST /iam/v1/roles/{parent_id=**}', role),
  replace('iam.roles.update', 'PUT /iam/v1/roles/{id=**}', role),
  remove('iam.roles.delete', 'DELETE /iam/v1/roles/{id=**}', role),
]
