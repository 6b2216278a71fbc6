import { ApiError } from '../../../errors.ts'
import type { RestRequest } from '../../../rpc/messages/request-of.ts'
import type { Rpc, RpcMethod } from '../../../rpc/open-rpc.ts'
import { createClassify, pathOf } from '../../../serve/classify.ts'
import { createRouter } from '../../../serve/route.ts'

/** Refuses a REST request that leads to another method than its call: an empty name, one with `..` in it, or with the word of another method. */
export type RefuseMisplaced = (request: RestRequest, method: RpcMethod) => void

/** Compiles the routes of v2. Its methods and those of v2beta1 have the same. */
export function createRefuseMisplaced({ methods }: Rpc): RefuseMisplaced {
  const rules = methods.flatMap(({ version, rule }) => (version === 'v2' && rule ? [rule] : []))
  const { match } = createRouter(rules.map(routable))
  const classify = createClassify([], true)
  return ({ method, url }, { rule }) => {
    const target = classify(url)
    if (target.kind === 'refused') throw target.error
    const found = match(method, decodeURIComponent(pathOf(url)))
    const isOwn = rule && typeof found === 'object' && found.operation.id === routable(rule).id
    if (!isOwn) throw misplaced()
  }
}

/** The error for a message whose REST request leads to another route: with an empty name, or one with the word of another method in it. */
export function misplaced(): ApiError {
  return new ApiError('INVALID_ARGUMENT', 'the message does not name the resource that the method is about')
}

/** A variable of one segment is written `{name}`. */
function routable({ method, template }: NonNullable<RpcMethod['rule']>) {
  return { id: `${method} ${template}`, method, template: template.replaceAll('=*}', '}') }
}
