import { requireCapability } from '../auth/rights/authorize.ts'
import { emptyAnswer, ok, type Route } from '../http/route.ts'
import { decode } from '../messages/decode.ts'
import { applyMask, maskOf, touches } from '../messages/field-mask.ts'
import { fill, withoutOutput } from '../messages/message.ts'
import { violations } from '../messages/validate.ts'
import { type FieldViolation, failedPrecondition, invalidArgument, notFound } from '../status.ts'
import { timestamp } from '../world/clock.ts'
import type { Row } from '../world/model.ts'
import { newUid } from '../world/uid.ts'
import { actOf, existing, present, uidParam } from './reads.ts'
import type { Act, CreateAct, Resource, UpdateAct } from './resource.ts'

const refuse = (found: readonly FieldViolation[]): void => {
  if (found.length > 0) invalidArgument(found)
}

/** Checks and stores a new row below `act.parent`. The caller checks the capability. */
export const create = <R extends Row>(resource: Resource<R>, act: CreateAct, body: unknown): R => {
  const { world, parent } = act
  const draft = fill(resource.message, withoutOutput(resource.message, decode(resource.message, body)))
  refuse(violations(resource.message, draft))
  const now = timestamp(world.clock)
  const dates = Object.fromEntries(
    ['createTime', 'updateTime'].filter((name) => name in resource.message.fields).map((name) => [name, now]),
  )
  const row = { ...draft, ...dates, uid: newUid(world.random, parent) } as unknown as R
  refuse(resource.checkCreate?.(row, act) ?? [])
  const stored = resource.prepare?.(row, act) ?? row
  resource.table(world.store).put(stored)
  resource.created?.(stored, act)
  return stored
}

/** `POST <path>/{parent}`: the path holds the parent, the body the resource's members (specification §4 rule 1). */
export const createRoute = <R extends Row>(resource: Resource<R>): Route => ({
  method: 'POST',
  template: `${resource.path}/{parent=**}`,
  auth: 'required',
  handle: (ask, world) => {
    const parent = uidParam(ask, 'parent')
    const act: CreateAct = { ...actOf(ask, world), parent }
    requireCapability(world, act.caller, resource.capabilities.create ?? [], parent)
    if (!resource.parent.table(world.store).get(parent)) notFound(resource.parent.type, parent)
    return ok(present(resource, world, create(resource, act, ask.body), 'create'))
  },
})

/** Applies a PATCH to the row of `uid`. An empty mask changes nothing, not even the update time. */
export const update = <R extends Row>(resource: Resource<R>, act: Act, uid: string, body: unknown): R => {
  const { world } = act
  const { message } = resource
  const mask = maskOf(message, act.query.text('update_mask'), body)
  const input = decode(message, body)
  const previous = existing(resource, world, uid)
  if (mask.length === 0) return previous
  const row = applyMask(message, previous, input, mask)
  const updating: UpdateAct<R> = { ...act, previous, touches: (path) => touches(mask, path) }
  // Members outside the mask are not checked, even if stored data breaks a rule (semantics §6).
  refuse(violations(message, row).filter(({ field }) => updating.touches(field)))
  refuse(resource.checkUpdate?.(row, updating) ?? [])
  const dated = 'updateTime' in message.fields ? { ...row, updateTime: timestamp(world.clock) } : row
  const stored = resource.revise?.(dated, updating) ?? dated
  resource.table(world.store).put(stored)
  return stored
}

/** `PATCH <path>/{uid}` with an optional `updateMask` (specification §4 rule 5). Answers the whole resource. */
export const updateRoute = <R extends Row>(resource: Resource<R>): Route => ({
  method: 'PATCH',
  template: `${resource.path}/{uid=**}`,
  auth: 'required',
  handle: (ask, world) => {
    const act = actOf(ask, world)
    const uid = uidParam(ask)
    requireCapability(world, act.caller, resource.capabilities.update ?? [], uid)
    return ok(present(resource, world, update(resource, act, uid, ask.body), 'update'))
  },
})

/** Deletes a row and its dependents. FAILED_PRECONDITION if something blocks the delete (specification §7 rule 2). */
export const remove = <R extends Row>(resource: Resource<R>, act: Act, uid: string): void => {
  const table = resource.table(act.world.store)
  const row = table.get(uid)
  if (!row) {
    if (!resource.deleteIsIdempotent) notFound(resource.type, uid)
    return
  }
  const blockers = resource.blockers?.(row, act.world) ?? []
  if (blockers.length > 0) failedPrecondition(blockers)
  resource.cascade?.(row, act.world)
  table.delete(uid)
}

/** `DELETE <path>/{uid}`: 200 with an empty body (specification §7 rule 4). */
export const deleteRoute = <R extends Row>(resource: Resource<R>): Route => ({
  method: 'DELETE',
  template: `${resource.path}/{uid=**}`,
  auth: 'required',
  handle: (ask, world) => {
    const act = actOf(ask, world)
    const uid = uidParam(ask)
    requireCapability(world, act.caller, resource.capabilities.delete ?? [], uid)
    remove(resource, act, uid)
    return emptyAnswer
  },
})
