import type { Missing } from '../errors.ts'
import { fieldMask } from './compile.ts'
import type { JsonObject } from './json.ts'
import { beginList, type ListOptions, NEXT_TOKEN, SKIP_PARAMETER, TOKEN_PARAMETER, takesOrder, tokenWindow } from './list.ts'
import type { Env, MakePlan, Method, Operation, OperationKind, Paging, V1Request } from './operation.ts'
import { WINDOW_PARAMETERS } from './pages.ts'
import { asParam, ORDER_PARAMETER, type Params, type Query, v2Query } from './query.ts'
import { type Message, message, type Resource } from './resource.ts'
import { asked, bodyOf, type Call, type Reply, ROWS, replied, type Turn, turnOf } from './turn.ts'
import { type Fillable, fillPath, onlyVariable, type VariableOf, variablesOf } from './uid.ts'

/** Where a write names what it wrote. */
export type Named<Variable extends string = string> =
  /** In this variable of its path. */
  | { readonly param: Variable }
  /** In this member of its answer. */
  | { readonly answer: string }
  /** In the id of each row in this list of its answer. */
  | { readonly rows: string }
  /** In this list of uids in its body, by v2's name. */
  | { readonly body: string }

/**
 * How the effect of a write is read afterwards. The operation that answers with `resource` and `selects` one of them makes the read.
 *
 *     readBack: { resource: binding, named: { answer: 'id' }, shownAs: { group: 'group.id', role: 'role.id' } }
 */
export interface ReadBack<Variable extends string = string> {
  readonly resource: Resource
  readonly named: Named<Variable>
  /** A delete: the resource must not be there. */
  readonly gone?: true
  /**
   * A member of the answer → the dotted path at which the resource shows the same value, or `null` if it does not. Members that are not
   * named here have the same name in both, or are not shown.
   */
  readonly shownAs?: Readonly<Record<string, string | null>>
  /** The member of the answer that names another resource. It is deleted together with that one (semantics §3.2). */
  readonly goesWith?: string
  readonly holds?: Holds
  /** For an answer with a list of texts: each of them must be this member of a row (terms by document, facts §3.10). */
  readonly listed?: { readonly answer: string; readonly row: string }
}

/**
 * What members of an answer must hold that no read shows: `some` is a text that is not empty, `time` any time. A name is that of a member of
 * the request, whose duration the answer repeats. `{ token: 'some', revoke_time: 'time', requested_overlap: { asked: 'overlap' } }`
 */
export type Holds = Readonly<Record<string, 'some' | 'time' | { readonly asked: string }>>

/** Why no read can show the effect of a write: a sentence that ends "cannot be verified: …". */
export interface Unverifiable {
  readonly unverifiable: string
}

/** What a delete takes away beside the resource: what lies below it (semantics §3). */
export type Takes = 'below'

/** True if a read can show the effect of the write. */
export function isReadBack(readBack: ReadBack | Unverifiable): readBack is ReadBack {
  return 'resource' in readBack
}

/**
 * Translates field names of v2 errors to v1's and keeps list indices.
 * It searches the path variables of the route, then the fields of the request, of the answer, and the filters.
 */
export function v1FieldName(
  params: Params,
  request: Message | undefined,
  answer: Message,
  variables: readonly string[] = [],
): (v2Path: string) => string {
  const inPath = new Map([...variables].reverse().flatMap((name) => [...SCOPES, name.replace(/_id$/, '_uid')].map((v2) => [v2, name])))
  const filters = new Map(Object.entries(params).map(([name, row]) => [asParam(row).v2, name]))
  const nameOf = (v2Path: string) => request?.v1Names.get(v2Path) ?? answer.v1Names.get(v2Path)
  return (v2Path) => {
    if (v2Path.length > LONGEST) return v2Path
    const variable = inPath.get(v2Path)
    if (variable !== undefined) return variable
    const name = nameOf(withoutIndices(v2Path))
    return name === undefined ? (filters.get(v2Path) ?? v2Path) : withIndices(name, v2Path, nameOf)
  }
}

/** The maximum length of a path that is looked up. A path may contain a key of a user's map, which may be as long as a body. */
const LONGEST = 1000

/** v2's names for the path variable of a resource and of a create, whatever v1 called it (facts §12.1). */
const SCOPES = ['uid', 'parent']

const INDEX = /\[[^\]]*(?:\]|$)/g

function withoutIndices(path: string): string {
  return path.replace(INDEX, '')
}

/**
 * Puts the indices of a v2 path behind the same members of the v1 name.
 * It goes from the last to the first, so that each prefix stays valid.
 */
function withIndices(v1Name: string, v2Path: string, nameOf: (v2Path: string) => string | undefined): string {
  return [...v2Path.matchAll(INDEX)].reverse().reduce((name, index) => {
    const before = nameOf(withoutIndices(v2Path.slice(0, index.index)))
    return before !== undefined && name.startsWith(before) ? before + index[0] + name.slice(before.length) : name
  }, v1Name)
}

/** The message without members. `request: nothing` sends `{}`; an action without an answer has this one. */
export const nothing = message('empty', {})

/** An operation without its id and route. It has a plan or a first turn; one of them is required. */
export interface OperationOptions extends Partial<Omit<Operation, 'id' | 'method' | 'template' | 'kind' | 'calls'>> {
  readonly kind?: OperationKind
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
 * The same operation without authentication: neither service asks for a token.
 *
 *     withoutToken(action('ping.ping.ping', 'GET /ping/v1/ping', { v2: 'GET /ping/v2/ping', answer: pong }))
 */
export function withoutToken(operation: Operation): Operation {
  return { ...operation, takesNoToken: true }
}

/**
 * An operation that only a v1 service can answer, and the reason. `instead` says what comes closest in v2.
 *
 *     v1Only('registry.charts.find', 'GET /registry/v1/charts:find', 'charts have no v2 endpoint')
 */
export function v1Only(id: string, route: string, because: string, instead?: string): Operation {
  const reason = { because, ...(instead !== undefined && { instead }) }
  const plan = { kind: 'v1-only' as const, calls: [], params: {}, ownParams: [], missing: 'error' as const, ...reason }
  return { id, ...parseRoute(route), ...plan, empty: () => ({}), fieldName: (name) => name }
}

/** Returns HTTP 200 with a body: every success of Chainguard's v1, creates included (facts §12.5). */
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
export function v1OnlyRows(because: string, routes: Readonly<Record<string, string>>, instead?: string): readonly Operation[] {
  return Object.entries(routes).map(([id, route]) => v1Only(id, route, because, instead))
}

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
  readonly status?: Operation['status']
  readonly type?: Operation['type']
  readonly missing?: Missing
  /** How the effect of a write is read, or why it cannot be. */
  readonly readBack?: ReadBack<Variable> | Unverifiable
  readonly takes?: Takes
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
  const { v2, params = {} as P, more, root, ...described } = options
  const { request, answer = nothing, status, type } = described
  const [method = '', template = ''] = v2.split(' ')
  return operation(id, route, {
    ...described,
    // `=**` only says that the variable may be empty, which people need not see.
    calls: [v2.replace('=**', '')],
    params,
    ...(root && { root }),
    begin(v1, env) {
      const query = [...v2Query(params, v1.query), ...(more?.(v1) ?? [])]
      const path = fillPath(template, v1.params, route)
      return answeredBy({ method: method as Call['method'], path, query, ...(request && { body: request.read(v1.body) }) }, answer, env, {
        status,
        type,
      })
    },
  })
}

/** Returns the turn of a call that is the whole operation: its answer becomes the reply. */
export function answeredBy(call: Call, answer: Message, env: Env, success: Pick<Operation, 'status' | 'type'> = {}): Turn {
  const { status = 200, type } = success
  const headers = type && { headers: { 'content-type': type } }
  return asked(call, ([outcome]) => replied({ status, ...headers, body: answer.show[env.dialect](bodyOf(outcome, answer)) }))
}

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
    begin: (request, env) => beginList(resource, options, request, env, route),
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

interface WriteOptions extends Messages, Pick<ReadBack, 'shownAs' | 'goesWith' | 'holds'> {}

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
  const { request = resource, answer = resource, root = false, named = { answer: 'id' }, shownAs, goesWith, holds } = options
  const goes = goesWith !== undefined && { goesWith }
  const readBack: ReadBack = { resource, named, ...(shownAs && { shownAs }), ...goes, ...(holds && { holds }) }
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
      return answeredBy(patch(table, params[variable] ?? '', variable, request.read(body), env, route), answer, env)
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
  route = '',
): Call {
  const query: Call['query'] = [['updateMask', fieldMask(mask, fields, body, env)]]
  return { method: 'PATCH', path: fillPath(`${v2}/{${field}}`, { [field]: uid }, route), query, body }
}

/**
 * `DELETE …/{id}`: a missing resource is a success (facts §14). `takes` says what else goes with it.
 *
 *     remove('iam.roles.delete', 'DELETE /iam/v1/roles/{id=**}', role)
 */
export function remove(id: string, route: string, resource: Resource, takes?: Takes): Operation {
  const variable = onlyVariable(route)
  const v2 = `DELETE ${resource.v2}/{${variable}}`
  const readBack: ReadBack = { resource, named: { param: variable }, gone: true }
  return action(id, route, { v2, missing: 'done', ...(takes && { takes }), readBack })
}
