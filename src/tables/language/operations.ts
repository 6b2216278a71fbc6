import type { Missing } from '../../errors/to-v1.ts'
import { v1FieldName } from '../compile/field-name.ts'
import { fieldMask } from '../compile/mask.ts'
import type { JsonObject } from '../json.ts'
import { beginList } from '../plan/list.ts'
import { type ListOptions, TOKEN_PARAMETERS } from '../plan/list-query.ts'
import { bodyOf, type Call, type Reply, ROWS } from '../plan/plan.ts'
import { asked, replied, type Turn, turnOf } from '../plan/turn.ts'
import { WINDOW_PARAMETERS } from '../plan/window.ts'
import type { Env, Kind, MakePlan, Method, Operation, V1Request } from './operation.ts'
import { ORDER_PARAMETER } from './order.ts'
import { fillPath, onlyVariable, variablesOf } from './path.ts'
import { type Params, v2Query } from './query.ts'
import { type Message, message, type Resource } from './resource.ts'
import { uidInPath } from './uid.ts'

/** The message without members: `request: nothing` sends `{}`, and an action that names no answer has this one. */
export const nothing = message('empty', {})

/**
 * `GET …` list: the full set by default, a window on request, zero or one row by id (design §3).
 *
 *     list('iam.roles.list', 'GET /iam/v1/roles', role, { query: { ...scope, name: 'name' }, byId: 'id' })
 */
export function list(id: string, route: string, resource: Resource, options: ListOptions = {}): Operation {
  const { query = {}, byId, enrich, calls = [], v2 = resource.v2, envelope, emulated } = options
  const paging = envelope ? Object.values(TOKEN_PARAMETERS) : []
  return operation(id, route, {
    kind: emulated ? 'emulated' : enrich ? 'composed' : 'direct',
    ...(emulated !== undefined && { because: emulated }),
    calls: [`GET ${v2}`, ...(byId ? [`GET ${resource.v2}/{${byId}}`] : []), ...calls],
    params: query,
    ownParams: [...(byId ? [byId] : []), ...(options.more?.params ?? []), ORDER_PARAMETER, ...WINDOW_PARAMETERS, ...paging],
    answer: resource,
    rows: true,
    ...(envelope && { envelope }),
    ...(options.orders && { orders: options.orders }),
    missing: 'empty',
    empty: (dialect) => ({ [ROWS]: [], ...envelope?.show[dialect]({}) }),
    begin: (request, env) => beginList(resource, options, request, env),
  })
}

/**
 * `GET …/{id}`: one resource by its uid. `missing` says what a v1 client gets when there is none.
 *
 *     get('iam.external_group_role_mappings.get', 'GET /iam/v1/externalGroupRoleMappings/{uid=**}', mapping, 'error')
 */
export function get(id: string, route: string, resource: Resource, missing: Missing): Operation {
  const variable = onlyVariable(route)
  const v2 = `GET ${resource.v2}/{${variable}}`
  return action(id, route, { v2, answer: resource, missing })
}

interface Messages {
  readonly request?: Message
  readonly answer?: Message
}

interface CreateOptions extends Messages {
  /** Without a parent it creates a root resource (facts §12.4). */
  readonly root?: boolean
}

/**
 * `POST …/{parent}`: the parent stays in the path, the body carries the resource (specification §4 rule 1).
 *
 *     create('iam.roles.create', 'POST /iam/v1/roles/{parent_id=**}', role)
 */
export function create(id: string, route: string, resource: Resource, options: CreateOptions = {}): Operation {
  const { request = resource, answer = resource, root = false } = options
  const parent = `{${onlyVariable(route)}${root ? '=**' : ''}}`
  return action(id, route, { v2: `POST ${resource.v2}/${parent}`, request, answer })
}

/**
 * `PUT …/{id}`: full replacement, as a PATCH with the resource's field mask (facts §13).
 *
 *     replace('iam.roles.update', 'PUT /iam/v1/roles/{id=**}', role)
 */
export function replace(id: string, route: string, resource: Resource, options: Messages = {}): Operation {
  const { request = resource, answer = resource } = options
  const variable = onlyVariable(route)
  const v2 = `PATCH ${resource.v2}/{${variable}}`
  return operation(id, route, {
    calls: [v2],
    request,
    answer,
    mask: resource.mask,
    begin({ params, body }, env) {
      const table = { v2: resource.v2, mask: resource.mask, fields: request.fields }
      return answeredBy(patch(table, params[variable] ?? '', variable, request.read(body), env), answer, env)
    },
  })
}

/**
 * The PATCH that replaces a resource as a v1 PUT does; `fields` is the table of its body.
 *
 *     const updated = yield* ask(patch(group, params.id ?? '', 'id', group.read(body), env), group)
 */
export function patch(
  { v2, mask, fields }: Pick<Resource, 'v2' | 'mask' | 'fields'>,
  uid: string,
  field: string,
  body: JsonObject,
  env: Env,
): Call {
  const query: Call['query'] = [['updateMask', fieldMask(mask, fields, body, env)]]
  return { method: 'PATCH', path: `${v2}/${uidInPath(uid, field)}`, query, body }
}

/**
 * `DELETE …/{id}`: a missing resource is a success (facts §14).
 *
 *     remove('iam.roles.delete', 'DELETE /iam/v1/roles/{id=**}', role)
 */
export function remove(id: string, route: string, resource: Resource): Operation {
  const variable = onlyVariable(route)
  const v2 = `DELETE ${resource.v2}/{${variable}}`
  return action(id, route, { v2, missing: 'done' })
}

interface Action {
  /** `METHOD /path`; its variables are named as in the v1 route. */
  readonly v2: string
  readonly params?: Params
  /** Further v2 query, computed from the v1 request. */
  readonly more?: (request: V1Request) => Call['query']
  readonly request?: Message
  readonly answer?: Message
  readonly missing?: Missing
}

/**
 * One v1 call that is one v2 call, with its own request and answer messages.
 *
 *     action('iam.groups.check_eligibility', 'GET /iam/v1/groups:checkEligibility', {
 *       v2: 'GET /iam/v2/groups:checkEligibility',
 *       answer: message('eligibility', { eligible: flag('eligible') }),
 *     })
 */
export function action(id: string, route: string, options: Action): Operation {
  const { v2, params = {}, more, request, answer = nothing, missing = 'error' } = options
  const [method = '', template = ''] = v2.split(' ')
  return operation(id, route, {
    // `=**` says that the variable may be empty; for people it is a variable like any other.
    calls: [v2.replace('=**', '')],
    params,
    ...(request && { request }),
    answer,
    missing,
    begin(v1, env) {
      const query = [...v2Query(params, v1.query), ...(more?.(v1) ?? [])]
      const path = fillPath(template, v1.params)
      return answeredBy({ method: method as Call['method'], path, query, ...(request && { body: request.read(v1.body) }) }, answer, env)
    },
  })
}

/** A call that is the whole operation: its answer becomes the reply. */
function answeredBy(call: Call, answer: Message, env: Env): Turn {
  return asked(call, (outcome) => replied(ok(answer.show[env.dialect](bodyOf(outcome, answer)))))
}

/** What an operation says beside its id and route. It is written as a plan or as its first turn: one of the two must be there. */
export interface OperationOptions extends Partial<Omit<Operation, 'id' | 'method' | 'template' | 'kind' | 'calls'>> {
  readonly kind?: Kind
  readonly calls: readonly string[]
  readonly plan?: MakePlan
}

/**
 * Any operation, with a plan of its own; the other builders are short forms of this one. `calls` is for people to read.
 *
 *     operation('iam.groups.update', 'PUT /iam/v1/groups/{id=**}', {
 *       calls: ['PATCH /iam/v2/groups/{id}'],
 *       request: group,
 *       answer: group,
 *       *plan({ params, body }, env) {
 *         const updated = yield* ask(patch(group, params.id ?? '', 'id', group.read(body), env), group)
 *         return ok(group.show[env.dialect](updated))
 *       },
 *     })
 */
export function operation(id: string, route: string, { plan, ...options }: OperationOptions): Operation {
  const { kind = 'direct', params = {}, ownParams = [], answer = nothing, missing = 'error', request } = options
  return {
    ...parseRoute(route),
    ...(plan && { begin: (v1, env) => turnOf(plan(v1, env)) }),
    ...options,
    id,
    kind,
    params,
    ownParams,
    answer,
    missing,
    empty: options.empty ?? ((dialect) => answer.show[dialect]({})),
    fieldName: options.fieldName ?? v1FieldName(params, request, answer, variablesOf(route)),
  }
}

/**
 * The same operation, open to everybody: neither service asks for a token.
 *
 *     withoutToken(action('ping.ping.ping', 'GET /ping/v1/ping', { v2: 'GET /ping/v2/ping', answer: pong }))
 */
export function withoutToken(operation: Operation): Operation {
  return { ...operation, takesNoToken: true }
}

/**
 * An operation that only a v1 service can answer, and why.
 *
 *     v1Only('registry.charts.find', 'GET /registry/v1/charts:find', 'charts have no v2 endpoint')
 */
export function v1Only(id: string, route: string, because: string): Operation {
  const plan = { kind: 'v1-only' as const, calls: [], params: {}, ownParams: [], missing: 'error' as const, because }
  return { id, ...parseRoute(route), ...plan, empty: () => ({}), fieldName: (name) => name }
}

/** HTTP 200 with a body: every v1 success, creates included (facts §12.5). */
export function ok(body: unknown): Reply {
  return { status: 200, body }
}

function parseRoute(route: string): { method: Method; template: string } {
  const [method, template] = route.split(' ')
  if (!template) throw new Error(`route "${route}" must read "METHOD /path"`)
  return { method: method as Method, template }
}

/**
 * Several v1-only operations with one reason: operation id → route.
 *
 *     v1OnlyRows('charts have no v2 endpoint', { 'registry.charts.find': 'GET /registry/v1/charts:find' })
 */
export function v1OnlyRows(because: string, routes: Readonly<Record<string, string>>): readonly Operation[] {
  return Object.entries(routes).map(([id, route]) => v1Only(id, route, because))
}
