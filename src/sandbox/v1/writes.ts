import { requireCapability } from '../auth/rights/authorize.ts'
import { readQuery } from '../http/query.ts'
import type { Ask } from '../http/route.ts'
import { notFound } from '../status.ts'
import { actOf, uidParam } from '../v2/reads.ts'
import type { CreateAct, Resource } from '../v2/resource.ts'
import { create, remove, update } from '../v2/writes.ts'
import type { Row } from '../world/model.ts'
import type { World } from '../world/world.ts'
import { type Decoded, decode } from './decode.ts'
import { encodeResource } from './encode.ts'
import type { ListView } from './list.ts'
import type { V1Message } from './message.ts'
import type { Operation } from './operation.ts'

/** One resource as v1 writes it. */
export type Written<R extends Row> = {
  readonly resource: Resource<R>
  /** The collection, e.g. `/iam/v1/roles`. */
  readonly path: string
  /** The answer of a write. */
  readonly message: V1Message
  /** The request of a write, if it is another message. */
  readonly request?: V1Message
  readonly view?: ListView<R>
  /** Checks or completes the body: refuses members that the stored row lacks, adds v1's own defaults. */
  readonly accept?: (body: Decoded) => Decoded
  /** Stores the members of the body that are not part of the row. */
  readonly beside?: (uid: string, body: Decoded, world: World) => void
}

const requestOf = <R extends Row>({ request, message }: Written<R>): V1Message => request ?? message

/** The body of a write in the names of the store. */
export function readBody<R extends Row>(written: Written<R>, ask: Ask): Decoded {
  const body = decode(ask.body, requestOf(written))
  return written.accept?.(body) ?? body
}

/** Ends a write: stores the members beside the row and answers with the whole resource (facts §13.9). */
export function answerOf<R extends Row>({ message, view, beside }: Written<R>, row: R, body: Decoded, world: World): unknown {
  beside?.(row.uid, body, world)
  return encodeResource(view?.(row, world) ?? row, message, world.options.v1Dialect)
}

/** Prepares a create below the path's parent: the caller must be allowed there, and the parent must exist. */
export function createAct<R extends Row>(
  ask: Ask,
  world: World,
  { capabilities, parent: above }: Resource<R>,
  variable: string,
): CreateAct {
  const parent = uidParam(ask, variable)
  const act = { ...actOf(ask, world), parent }
  requireCapability(world, act.caller, capabilities.create ?? [], parent)
  if (!above.table(world.store).get(parent)) notFound(above.type, parent)
  return act
}

/** `POST <path>/{parent}`. Ids in the body are ignored (facts §12.7). `variable` is the proto name of the path's parent. */
export const createOperation = <R extends Row>(written: Written<R>, variable: string): Operation => ({
  method: 'POST',
  template: `${written.path}/{${variable}=**}`,
  message: requestOf(written),
  answer: (ask, world) => {
    const act = createAct(ask, world, written.resource, variable)
    const body = readBody(written, ask)
    return answerOf(written, create(written.resource, act, body), body, world)
  },
})

/** The stored members that a PUT replaces, given its body. Members that the body lacks are reset (facts §13). */
export type Replaced = (body: Decoded, ask: Ask, world: World) => readonly string[]

/** Replaces `members` of the row of `uid` by the values in `body`. All others stay. */
export const replace = <R extends Row>(
  resource: Resource<R>,
  ask: Ask,
  world: World,
  uid: string,
  body: Decoded,
  members: readonly string[],
): R => update(resource, { ...actOf(ask, world), query: readQuery([['update_mask', members.join(',')]]) }, uid, body)

/** `PUT <path>/{id}`: the path wins over the body. A missing resource is code 5 with 404. */
export const replaceOperation = <R extends Row>(written: Written<R>, replaced: Replaced, variable = 'id'): Operation => ({
  method: 'PUT',
  template: `${written.path}/{${variable}=**}`,
  message: requestOf(written),
  answer: (ask, world) => {
    const { resource } = written
    const uid = uidParam(ask, variable)
    requireCapability(world, actOf(ask, world).caller, resource.capabilities.update ?? [], uid)
    const body = readBody(written, ask)
    return answerOf(written, replace(resource, ask, world, uid, body, replaced(body, ask, world)), body, world)
  },
})

/** `DELETE <path>/{id}`: answers `{}`, even if nothing was there (facts §14). */
export const deleteOperation = <R extends Row>({ resource, path }: Pick<Written<R>, 'resource' | 'path'>, variable = 'id'): Operation => ({
  method: 'DELETE',
  template: `${path}/{${variable}=**}`,
  answer: (ask, world) => {
    const uid = uidParam(ask, variable)
    const act = actOf(ask, world)
    requireCapability(world, act.caller, resource.capabilities.delete ?? [], uid)
    if (resource.table(world.store).get(uid)) remove(resource, act, uid)
    return {}
  },
})
