import { isSaid } from '../../src/errors.ts'
import {
  action,
  ask,
  choice,
  create,
  type Env,
  flag,
  intMap,
  list,
  message,
  nothing,
  type Operation,
  object,
  ok,
  operation,
  type Plan,
  patch,
  readOnly,
  remove,
  resource,
  scope,
  text,
  type V1Request,
} from '../../src/tables/language.ts'
import { orgKind, orgStatus } from '../enums.ts'

const unverified = {
  always: ['name', 'description'],
  whenSet: ['kind'],
  // facts §13.5
  because: 'v2 takes * as the wish to write kind and status too, and refuses the call',
}
const mask = { ...unverified, always: [...unverified.always, 'verified'] }

/** An organization (a root group) or a folder below one (facts §3.1). */
export const group = resource('group', {
  v2: '/iam/v2/groups',
  plural: 'groups',
  stamps: ['created_at', 'updated_at', 'group_id'],
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    description: text('description'),
    resource_limits: readOnly(intMap('resourceLimits')),
    verified: flag('verified'),
    kind: choice('kind', orgKind),
    status: readOnly(choice('status', orgStatus)),
  },
  mask,
})

const lookup = message('group lookup', { group: object('group', group.fields) })
const eligibility = message('eligibility', { eligible: flag('eligible') })

export const groupOperations: readonly Operation[] = [
  list('iam.groups.list', 'GET /iam/v1/groups', group, { query: { ...scope, name: 'name' }, byId: 'id' }),
  // Without a parent it creates an organization. The parent may also be given as a name (facts §3.1).
  create('iam.groups.create', 'POST /iam/v1/groups/{parent=**}', group, { root: true }),
  operation('iam.groups.update', 'PUT /iam/v1/groups/{id=**}', {
    calls: [`PATCH ${group.v2}/{id}`],
    request: group,
    answer: group,
    mask,
    readBack: { resource: group, named: { param: 'id' } },
    plan: update,
  }),
  remove('iam.groups.delete', 'DELETE /iam/v1/groups/{id=**}', group, 'below'),

  // These three depend on the caller's token. If no group is found, they answer with that error, not with an empty answer.
  action('iam.groups.lookup', 'GET /iam/v1/groups:lookupGroup', { v2: 'GET /iam/v2/groups:lookupGroup', answer: lookup }),
  action('iam.groups.check_eligibility', 'GET /iam/v1/groups:checkEligibility', {
    v2: 'GET /iam/v2/groups:checkEligibility',
    answer: eligibility,
  }),
  action('iam.groups.request_access', 'POST /iam/v1/groups/{group_id=**}:requestGroupAccess', {
    v2: 'POST /iam/v2/groups/{group_id}:requestGroupAccess',
    request: nothing,
    // semantics §3.1
    readBack: { unverifiable: 'no operation shows who has requested access' },
  }),
]

/**
 * Only staff changes `verified`. A v1 PUT without it does not ask to change it. v2 reads a mask with `verified` as a change on a verified
 * group and refuses the whole call. The same PATCH without it then shows whether the rest is allowed (facts §13.2, semantics §3.1).
 */
function* update({ params, body }: V1Request, env: Env): Plan {
  const uid = params.id ?? ''
  const fields = group.read(body)
  const show = group.show[env.dialect]
  try {
    return ok(show(yield* ask(patch(group, uid, 'id', fields, env), group)))
  } catch (error) {
    const mayBeVerified = isSaid(error, 'PERMISSION_DENIED') && fields.verified !== true
    if (!mayBeVerified) throw error
  }
  const { verified: _, ...others } = fields
  return ok(show(yield* ask(patch({ ...group, mask: unverified }, uid, 'id', others, env), group)))
}
