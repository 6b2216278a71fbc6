import type { Missing } from '../../errors/to-v1.ts'
import type { Params } from '../language/param.ts'
import { type Fillable, fillPath, type VariableOf } from '../language/path.ts'
import { v2Query } from '../language/query.ts'
import type { Message } from '../language/resource.ts'
import { bodyOf, type Call } from '../plan/plan.ts'
import { asked, replied, type Turn } from '../plan/turn.ts'
import type { Env, Operation, Paging, V1Request } from './operation.ts'
import { nothing, ok, operation } from './operation-builder.ts'
import type { ReadBack, Takes, Unverifiable } from './read-back.ts'

interface Action<V2 extends string, Variable extends string, P extends Params, Own extends string> {
  /** `METHOD /path`; its variables have the names of the v1 route. */
  readonly v2: V2
  readonly params?: P
  /** Further v2 query parameters, computed from the v1 request. */
  readonly more?: (request: V1Request) => Call['query']
  /** The parameters that `more` reads. */
  readonly ownParams?: readonly Own[]
  /** For a list that both versions page by token, each with its own. */
  readonly paging?: Paging<NoInfer<(keyof P & string) | Own>>
  readonly request?: Message
  readonly answer?: Message
  readonly missing?: Missing
  /** How the effect of a write is read, or why it cannot be. */
  readonly readBack?: ReadBack<Variable> | Unverifiable
  readonly takes?: Takes | undefined
  /** The parameter or variable with which a read selects one resource. */
  readonly selects?: NoInfer<Variable | (keyof P & string) | Own>
  readonly root?: boolean
}

/**
 * One v1 call that is one v2 call, with its own request and answer messages.
 *
 *     action('iam.groups.check_eligibility', 'GET /iam/v1/groups:checkEligibility', {
 *       v2: 'GET /iam/v2/groups:checkEligibility',
 *       answer: message('eligibility', { eligible: flag('eligible') }),
 *     })
 */
export function action<Route extends string, V2 extends string, P extends Params = Record<never, never>, Own extends string = never>(
  id: string,
  route: Route,
  options: Action<Fillable<V2, Route>, VariableOf<Route>, P, Own>,
): Operation {
  const {
    v2,
    params = {} as P,
    more,
    ownParams = [],
    paging,
    request,
    answer = nothing,
    missing = 'error',
    readBack,
    takes,
    selects,
    root,
  } = options
  const [method = '', template = ''] = v2.split(' ')
  return operation(id, route, {
    // `=**` only says that the variable may be empty, which people need not see.
    calls: [v2.replace('=**', '')],
    params,
    ownParams,
    ...(paging && { paging }),
    ...(request && { request }),
    ...(readBack && { readBack }),
    ...(takes && { takes }),
    ...(selects !== undefined && { selects }),
    ...(root && { root }),
    answer,
    missing,
    begin(v1, env) {
      const query = [...v2Query(params, v1.query), ...(more?.(v1) ?? [])]
      const path = fillPath(template, v1.params)
      return answeredBy({ method: method as Call['method'], path, query, ...(request && { body: request.read(v1.body) }) }, answer, env)
    },
  })
}

/** Returns the turn of a call that is the whole operation: its answer becomes the reply. */
export function answeredBy(call: Call, answer: Message, env: Env): Turn {
  return asked(call, (outcome) => replied(ok(answer.show[env.dialect](bodyOf(outcome, answer)))))
}
