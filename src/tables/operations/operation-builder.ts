import { v1FieldName } from '../compile/field-name.ts'
import { variablesOf } from '../language/path.ts'
import { message } from '../language/resource.ts'
import type { Reply } from '../plan/plan.ts'
import { turnOf } from '../plan/turn.ts'
import type { MakePlan, Method, Operation, OperationKind } from './operation.ts'

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

/** Returns HTTP 200 with a body: every v1 success, creates included (facts §12.5). */
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
