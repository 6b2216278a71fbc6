import type { Missing } from '../../errors/to-v1.ts'
import { fieldMask } from '../compile/mask.ts'
import type { JsonObject } from '../json.ts'
import { ORDER_PARAMETER } from '../language/order.ts'
import { type Fillable, onlyVariable, variablesOf } from '../language/path.ts'
import type { Query } from '../language/query.ts'
import type { Message, Resource } from '../language/resource.ts'
import { uidInPath } from '../language/uid.ts'
import { beginList } from '../plan/list.ts'
import { type ListOptions, NEXT_TOKEN, SKIP_PARAMETER, TOKEN_PARAMETER, takesOrder, tokenWindow } from '../plan/list-query.ts'
import { type Call, ROWS } from '../plan/plan.ts'
import { WINDOW_PARAMETERS } from '../plan/window.ts'
import { action, answeredBy } from './action.ts'
import type { Env, Operation } from './operation.ts'
import { operation } from './operation-builder.ts'
import type { ReadBack, Takes } from './read-back.ts'

/**
 * `GET …` list: the full set by default, a window on request, zero or one row by id (design §3).
 *
 *     list('iam.roles.list', 'GET /iam/v1/roles', role, { query: { ...scope, name: 'name' }, byId: 'id' })
 */
export function list<Route extends string, V2 extends string>(
  id: string,
  route: Route,
  resource: Resource,
  options: ListOptions<Fillable<V2, Route>> = {},
): Operation {
  const { query = {}, byId, enrich, calls = [], v2 = resource.v2, envelope, emulated } = options
  const order = takesOrder(options) ? [ORDER_PARAMETER] : []
  const paging = [...(envelope ? [TOKEN_PARAMETER] : []), ...(options.skips ? [SKIP_PARAMETER] : [])]
  const selects = byId ?? variablesOf(route)[0]
  return operation(id, route, {
    kind: emulated ? 'emulated' : enrich ? 'composed' : 'direct',
    ...(emulated !== undefined && { because: emulated }),
    calls: [`GET ${v2}`, ...(byId ? [`GET ${resource.v2}/{${byId}}`] : []), ...calls],
    params: query,
    ownParams: [...(byId ? [byId] : []), ...(options.more?.params ?? []), ...order, ...WINDOW_PARAMETERS, ...paging],
    answer: resource,
    rows: true,
    rowsIn: resource.plural,
    ...(selects !== undefined && { selects }),
    ...(envelope && { paging: { parameter: TOKEN_PARAMETER, member: NEXT_TOKEN } }),
    ...(envelope && { envelope, windowOf: (query: Query) => tokenWindow(query, options) }),
    ...(options.orders && { orders: options.orders }),
    missing: 'empty',
    empty: (dialect) => ({ [ROWS]: [], ...envelope?.show[dialect]({}) }),
    begin: (request, env) => beginList(resource, options, request, env),
  })
}

/**
 * `GET …/{id}`: one resource by its uid. `missing` selects v1's answer for a missing resource.
 *
 *     get('iam.external_group_role_mappings.get', 'GET /iam/v1/externalGroupRoleMappings/{uid=**}', mapping, 'error')
 */
export function get(id: string, route: string, resource: Resource, missing: Missing): Operation {
  const variable = onlyVariable(route)
  const v2 = `GET ${resource.v2}/{${variable}}`
  return action(id, route, { v2, answer: resource, missing, selects: variable })
}

interface Messages {
  readonly request?: Message
  readonly answer?: Message
}

interface WriteOptions extends Messages, Pick<ReadBack, 'shownAs' | 'goesWith'> {}

interface CreateOptions extends WriteOptions {
  /** Without a parent it creates a root resource (facts §12.4). */
  readonly root?: boolean
  /** Where the write names the resource: in the id of its answer, unless it is said here. */
  readonly named?: ReadBack['named']
}

/**
 * `POST …/{parent}`: the parent stays in the path, and the body holds the resource (specification §4 rule 1).
 *
 *     create('iam.roles.create', 'POST /iam/v1/roles/{parent_id=**}', role)
 */
export function create(id: string, route: string, resource: Resource, options: CreateOptions = {}): Operation {
  const { request = resource, answer = resource, root = false, named = { answer: 'id' }, shownAs, goesWith } = options
  const readBack: ReadBack = { resource, named, ...(shownAs && { shownAs }), ...(goesWith !== undefined && { goesWith }) }
  const parent = `{${onlyVariable(route)}${root ? '=**' : ''}}`
  return action(id, route, { v2: `POST ${resource.v2}/${parent}`, request, answer, readBack, root })
}

/**
 * `PUT …/{id}`: full replacement, as a PATCH with the resource's field mask (facts §13).
 *
 *     replace('iam.roles.update', 'PUT /iam/v1/roles/{id=**}', role)
 */
export function replace(id: string, route: string, resource: Resource, options: WriteOptions = {}): Operation {
  const { request = resource, answer = resource, shownAs, goesWith } = options
  const variable = onlyVariable(route)
  const v2 = `PATCH ${resource.v2}/{${variable}}`
  return operation(id, route, {
    calls: [v2],
    request,
    answer,
    mask: resource.mask,
    readBack: { resource, named: { param: variable }, ...(shownAs && { shownAs }), ...(goesWith !== undefined && { goesWith }) },
    begin({ params, body }, env) {
      const table = { v2: resource.v2, mask: resource.mask, fields: request.fields }
      return answeredBy(patch(table, params[variable] ?? '', variable, request.read(body), env), answer, env)
    },
  })
}

/**
 * The PATCH for a v1 PUT that replaces a resource; `fields` is the table of its body.
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
 * `DELETE …/{id}`: a missing resource is a success (facts §14). `takes` says what else goes with it.
 *
 *     remove('iam.roles.delete', 'DELETE /iam/v1/roles/{id=**}', role)
 */
export function remove(id: string, route: string, resource: Resource, takes?: Takes): Operation {
  const variable = onlyVariable(route)
  const v2 = `DELETE ${resource.v2}/{${variable}}`
  return action(id, route, { v2, missing: 'done', takes, readBack: { resource, named: { param: variable }, gone: true } })
}
