import { requireCapability } from '../../../auth/rights/authorize.ts'
import { ok, type Route } from '../../../http/route.ts'
import { decode } from '../../../messages/decode.ts'
import { type Draft, fill, listOf, type Message, nested, text } from '../../../messages/message.ts'
import { type FieldViolation, invalidArgument, invalidField, notFound } from '../../../status.ts'
import type { RoleBinding } from '../../../world/iam-model.ts'
import { validUid } from '../../../world/uid.ts'
import { actOf, present } from '../../reads.ts'
import type { CreateAct } from '../../resource.ts'
import { create } from '../../writes.ts'
import { roleBindingMessage, roleBindings } from './role-bindings.ts'

/** The most bindings in one batch (semantics §3.6). */
const MAX_REQUESTS = 25

const createMessage: Message = {
  name: 'chainguard.platform.iam.v2.CreateRoleBindingRequest',
  fields: { parent: text(), roleBinding: nested(roleBindingMessage) },
}

const batchMessage: Message = {
  name: 'chainguard.platform.iam.v2.BatchCreateRoleBindingsRequest',
  fields: { parent: text(), requests: listOf(nested(createMessage)), roleUid: text() },
}

type Request = { readonly parent: string; readonly roleBinding?: RoleBinding }
type Batch = { readonly parent: string; readonly requests: readonly Request[]; readonly roleUid: string }

/** `parent` and `roleUid` of the batch apply to each request. A request with another value is a violation. */
const conflicts = ({ parent, roleUid, requests }: Batch): readonly FieldViolation[] =>
  requests.flatMap((request, index) => {
    const own = request.roleBinding?.roleUid ?? ''
    return [
      ...(request.parent !== '' && request.parent !== parent
        ? [{ field: `requests[${index}].parent`, description: 'differs from the parent of the batch' }]
        : []),
      ...(roleUid !== '' && own !== '' && own !== roleUid
        ? [{ field: `requests[${index}].role_binding.role_uid`, description: 'differs from the role of the batch' }]
        : []),
    ]
  })

const readBatch = (body: unknown): Batch => {
  const batch = fill(batchMessage, decode(batchMessage, body)) as Batch
  if (!validUid(batch.parent)) invalidField('parent', `${JSON.stringify(batch.parent)} is not a valid uid`)
  const count = batch.requests.length
  if (count === 0 || count > MAX_REQUESTS) invalidField('requests', `must hold 1 to ${MAX_REQUESTS} requests`)
  const found = conflicts(batch)
  if (found.length > 0) invalidArgument(found)
  return batch
}

const bodyOf = ({ roleBinding }: Request, roleUid: string): Draft => ({
  identityUid: roleBinding?.identityUid ?? '',
  roleUid: roleBinding?.roleUid || roleUid,
})

/** Creates a binding for each body, in order, all or none: a refusal removes those already stored (facts §3.5). */
export const createAll = (act: CreateAct, bodies: readonly Draft[]): readonly RoleBinding[] => {
  const made: RoleBinding[] = []
  try {
    for (const body of bodies) made.push(create(roleBindings, act, body))
  } catch (error) {
    for (const { uid } of made) act.world.store.roleBindings.delete(uid)
    throw error
  }
  return made
}

/** `POST /iam/v2/roleBindings:batchCreate` answers in the order of the requests. */
export const roleBindingBatchRoute: Route = {
  method: 'POST',
  template: '/iam/v2/roleBindings:batchCreate',
  auth: 'required',
  handle: (ask, world) => {
    const batch = readBatch(ask.body)
    const act: CreateAct = { ...actOf(ask, world), parent: batch.parent }
    requireCapability(world, act.caller, 'role_bindings.create', batch.parent)
    if (!world.store.groups.get(batch.parent)) notFound('iam.Group', batch.parent)
    const bodies = batch.requests.map((request) => bodyOf(request, batch.roleUid))
    return ok({ roleBindings: createAll(act, bodies).map((row) => present(roleBindings, world, row, 'create')) })
  },
}
