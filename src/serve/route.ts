import type { IncomingMessage } from 'node:http'
import { invalidArgument } from '../errors.ts'
import type { Operation } from '../tables/operation.ts'

/** What routing needs of an operation. */
type Routable = Pick<Operation, 'id' | 'method' | 'template'>

/** The result of routing: an operation with its variables, a known path with another method, or nothing. */
export type Match<O = Operation> = { readonly operation: O; readonly params: Readonly<Record<string, string>> } | 'other-method' | undefined

export interface Router<O = Operation> {
  /** `path` is decoded: `%2F` and `/` mean the same (facts §12.2). */
  match(method: string, path: string): Match<O>
}

type Segment = { readonly literal: string } | { readonly variable: string; readonly many: boolean }

interface Route<O> {
  readonly operation: O
  readonly segments: readonly Segment[]
  readonly verb: string | undefined
  readonly literals: number
}

/** The router indexes routes by the literal segments with which all of them begin, at most three: `iam/v1/groups`. */
const MOST_INDEXED = 3

/**
 * Routes `{id=**}` templates. `**` spans slashes and may match nothing. A `:verb` ends the last segment.
 * The most literal route wins (facts §12.2–12.4). A duplicate or hidden route stops the process with a sentence.
 */
export function createRouter<O extends Routable>(operations: readonly O[]): Router<O> {
  const match = compileRoutes(operations)
  for (const problem of hiddenIn(operations, match)) throw new Error(problem)
  return { match }
}

/** Yields a sentence for each operation that no request can reach. */
export function routeProblems(operations: readonly Routable[]): Iterable<string> {
  return hiddenIn(operations, compileRoutes(operations))
}

function compileRoutes<O extends Routable>(operations: readonly O[]): Router<O>['match'] {
  const index = new Map<string, Route<O>[]>()
  const verbs = new Set<string>()
  const all = operations.map(parseTemplate)
  const indexed = Math.min(MOST_INDEXED, ...all.map(({ segments }) => leadingLiterals(segments)))
  const indexKey = (segments: readonly string[]) => segments.slice(0, indexed).join('/')
  for (const route of all) {
    if (route.verb) verbs.add(route.verb)
    const key = indexKey(route.segments.map((segment) => ('literal' in segment ? segment.literal : '')))
    index.set(key, [...(index.get(key) ?? []), route])
  }
  for (const routes of index.values()) routes.sort((a, b) => b.literals - a.literals || manyOf(a) - manyOf(b))

  const plain = plainRoutes(operations)
  const match = (method: string, path: string): Match<O> => {
    const found = plain.get(path)
    if (found && found.operation.method === method) return found
    const verb = verbOf(path, verbs)
    const withVerb = verb === undefined ? undefined : find(method, path.slice(0, -verb.length - 1), verb)
    if (typeof withVerb === 'object') return withVerb
    // If no route has this verb, the text belongs to a variable.
    return find(method, path, undefined) ?? withVerb
  }
  const find = (method: string, path: string, verb: string | undefined): Match<O> => {
    const segments = segmentsOf(path)
    let known = false
    for (const route of index.get(indexKey(segments)) ?? []) {
      if (route.verb !== verb) continue
      const params = matchSegments(route.segments, segments)
      if (!params) continue
      if (route.operation.method === method) return { operation: route.operation, params }
      known = true
    }
    return known ? 'other-method' : undefined
  }
  return match
}

/** The reads whose paths have no variables and no verbs. No other route can precede them, and most requests use one. */
function plainRoutes<O extends Routable>(operations: readonly O[]) {
  const plain = operations.filter(({ template, method }) => method === 'GET' && !/[{:]/.test(template))
  return new Map(plain.toReversed().map((operation) => [operation.template, { operation, params: {} }]))
}

function parseTemplate<O extends Routable>(operation: O): Route<O> {
  const verbAt = /:[A-Za-z]+$/.exec(operation.template)
  const path = verbAt ? operation.template.slice(0, verbAt.index) : operation.template
  const segments = path
    .slice(1)
    .split('/')
    .map((segment): Segment => {
      const variable = /^\{([^=}]+)(=\*\*)?\}$/.exec(segment)
      return variable ? { variable: variable[1] ?? '', many: variable[2] !== undefined } : { literal: segment }
    })
  const literals = segments.filter((segment) => 'literal' in segment).length
  return { operation, segments, verb: verbAt?.[0].slice(1), literals }
}

function manyOf(route: Route<unknown>): number {
  return route.segments.some((segment) => 'variable' in segment && segment.many) ? 1 : 0
}

function leadingLiterals(segments: readonly Segment[]): number {
  const variable = segments.findIndex((segment) => 'variable' in segment)
  return variable < 0 ? segments.length : variable
}

/** Returns the text after the last colon of a path if it is a known verb. */
function verbOf(path: string, verbs: ReadonlySet<string>): string | undefined {
  const colon = path.lastIndexOf(':')
  const tail = colon > path.lastIndexOf('/') ? path.slice(colon + 1) : ''
  return verbs.has(tail) ? tail : undefined
}

/** Splits a path into segments; one trailing slash is ignored. */
function segmentsOf(path: string): readonly string[] {
  const segments = path.slice(1).split('/')
  return segments.at(-1) === '' ? segments.slice(0, -1) : segments
}

function matchSegments(template: readonly Segment[], path: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  let at = 0
  for (const [index, segment] of template.entries()) {
    if ('literal' in segment) {
      if (path[at++] !== segment.literal) return undefined
    } else if (segment.many) {
      const end = path.length - (template.length - index - 1)
      if (end < at) return undefined
      params[segment.variable] = path.slice(at, end).join('/')
      at = end
    } else {
      const value = path[at++]
      if (!value) return undefined
      params[segment.variable] = value
    }
  }
  return at === path.length ? params : undefined
}

function* hiddenIn<O extends Routable>(operations: readonly O[], match: Router<O>['match']): Generator<string> {
  for (const operation of operations) {
    const { id, method, template } = operation
    const found = match(method, template.replace(/\{[^{}]+\}/g, 'x'))
    if (typeof found === 'object' && found.operation === operation) continue
    const other = typeof found === 'object' ? `${found.operation.id} answers it` : 'nothing answers it'
    yield `operation ${id} can never be reached: ${method} ${template} — ${other}; change one of the templates`
  }
}

/** The route of a v1 request. `form`: its body is a form with more query parameters. */
export interface Routed {
  readonly match: Match
  readonly form: boolean
}

/** The route of a request that leads to an operation. */
export interface Found extends Routed {
  readonly match: Exclude<Match, string | undefined>
}

export function isFound(routed: Routed): routed is Found {
  return typeof routed.match === 'object'
}

/** The media type of a form, as v1's gateway compares it. */
export const FORM = 'application/x-www-form-urlencoded'

/**
 * Routes a request as v1's gateway did; v1 scripts rely on it (semantics §4.3). A POST with a form becomes a GET in two cases: its
 * override header says so, or its path has no POST. The gateway heeds the header only beside the bare media type of a form. If another
 * POST became a read, v1 could be asked twice and would write twice. Overrides to other methods are refused.
 */
export function routeRequest(router: Router, { method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>, path: string): Routed {
  const match = router.match(method, path)
  if (method !== 'POST') return { match, form: false }
  const { 'content-type': type = '', 'x-http-method-override': override } = headers
  const isOverridden = type === FORM && override !== undefined && override !== ''
  if (isOverridden && String(override).toUpperCase() !== 'GET') {
    throw invalidArgument({ field: 'x-http-method-override', description: 'can only be GET' })
  }
  const form = type.split(';')[0]?.trim().toLowerCase() === FORM
  if (!isOverridden && (!form || typeof match === 'object')) return { match, form: false }
  const get = router.match('GET', path)
  return isOverridden || typeof get === 'object' ? { match: get, form: true } : { match, form: false }
}
