import type { Missing } from '../errors.ts'
import type { EnumMap } from './fields.ts'
import { type ReadBack, type Takes, type Unverifiable, v1Only } from './operations.ts'
import type { Window } from './pages.ts'
import { asParam, isTrue, isV1Only, type Param, type Params, type Query, spellings } from './query.ts'
import type { MaskRule, Message } from './resource.ts'
import type { Plan, Turn } from './turn.ts'
import type { Dialect } from './uid.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The relation of v2 to a v1 operation (facts §2). */
export type OperationKind = 'direct' | 'composed' | 'emulated' | 'v1-only'

/** The part of a v1 request that a plan sees: no headers, no credential. */
export interface V1Request {
  /** The decoded path variables of the operation's template. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** Parsed JSON; undefined if the body was empty. */
  readonly body: unknown
}

/** Settings that a plan may depend on. */
export interface Env {
  readonly dialect: Dialect
  /** The spelling of field mask paths in a query (facts §13.3). */
  readonly maskCase: 'snake' | 'camel'
  /** What a PUT replaces unless its rule says otherwise: all members that v2 knows, or those that v1 knows (facts §13.2). */
  readonly replaceMask: '*' | 'known'
  /** The answer for a missing resource: as in v1, or always an error. */
  readonly notFound: 'empty' | 'error'
  /** True if a list fetches the readme of every repo, as v1 showed it: one more v2 call for each row. */
  readonly readmes: boolean
}

/** Returns the first turn of a request. Throws the ApiError with which the tables refuse it. */
export type Begin = (request: V1Request, env: Env) => Turn

/** Returns the operation's plan for a request, as a generator. */
export type MakePlan = (request: V1Request, env: Env) => Plan

/** Table names, of which both spellings are read. */
export interface Paging<Parameter extends string = string> {
  readonly parameter: Parameter
  readonly member: string
}

/** One v1 endpoint. */
export interface Operation {
  /** The key in configuration, logs, metrics, reports, docs and tests: `registry.repos.list`. */
  readonly id: string
  readonly method: Method
  /** The path template with `{name}` and `{name=**}` variables and an optional `:verb`. */
  readonly template: string
  readonly kind: OperationKind
  /** The v2 calls that it can make, as `METHOD /path` with v1 or v2 variable names, for people to read. */
  readonly calls: readonly string[]
  readonly params: Params
  /** Further query parameters that its plan reads. */
  readonly ownParams: readonly string[]
  /** v1's enum of sort orders, where it has one. */
  readonly orders?: EnumMap
  readonly request?: Message
  /** The member of the request that is the whole body, where v1 takes a bare list (facts §3.5). */
  readonly bodyIs?: string
  /** Of a create: without a parent it creates a root resource (facts §12.4). */
  readonly root?: true
  /** One row of a list (`rows`), or the whole answer. */
  readonly answer?: Message
  readonly rows?: true
  /** The member of v2's answer with the rows. */
  readonly rowsIn?: string
  /** The query parameter or path variable with which a read selects one resource, or the rows of one. */
  readonly selects?: string
  /** The members that a list answers beside its rows, if any. */
  readonly envelope?: Message
  /** For a list that v1 paged by token: the rows that a query asks for. Throws the ApiError of a wrong window. */
  readonly windowOf?: (query: Query) => Window
  /** For a list that v1 pages by token: the parameter that continues it, and the member of its answer with the next token. */
  readonly paging?: Paging
  /** The field mask with which a PUT replaces (facts §13). */
  readonly mask?: MaskRule
  /** v1's status of a success, 200 unless it is given. An answer of 204 has no body. */
  readonly status?: 200 | 201 | 202 | 204 | undefined
  /** v1's media type of a success, `application/json` unless it is given. */
  readonly type?: string | undefined
  readonly missing: Missing
  /** The v1 answer if nothing was found. */
  readonly empty: (dialect: Dialect) => unknown
  /** v2 field path → v1 field name, for errors. */
  readonly fieldName: (v2Path: string) => string
  /** Why a v1-only operation has no v2 counterpart, or what an emulation cannot know. */
  readonly because?: string
  /** Of a v1-only operation: what comes closest in v2. */
  readonly instead?: string
  /** Of a write: how its effect is read, or why it cannot be. */
  readonly readBack?: ReadBack | Unverifiable
  /** Of a delete: what else goes with the resource. */
  readonly takes?: Takes
  /** Neither service asks for a token here: an answer says nothing about the caller. */
  readonly takesNoToken?: true
  /** Absent for v1-only operations. */
  readonly begin?: Begin
}

/** One domain's table. */
export interface Mapping {
  readonly domain: string
  /** How its v1 paths begin, without a slash before and after: `DOMAIN/v1` unless it is given. All such paths belong to v1. */
  readonly prefix?: string
  readonly operations: readonly Operation[]
}

/** Returns how the v1 paths of a mapping begin. */
export function prefixOf({ domain, prefix = `${domain}/v1` }: Mapping): string {
  return prefix
}

/** True if the pattern covers the operation. `iam.*` covers `iam.groups.list`, `*.delete` every delete, `*` everything. */
export function covers(pattern: string, operation: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === operation
  if (!operation.startsWith(first) || !operation.endsWith(last)) return false
  let at = first.length
  for (const part of others) {
    const found = operation.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= operation.length
}

/**
 * Returns the v1-only operation of a request with a parameter value that only v1 knows, although v2 serves its operation. It is counted by
 * its own name, `libraries.artifacts.list?ecosystems`. Undefined for every other request, and for a query that cannot be read.
 */
export type OnlyV1 = (operation: Operation, query: () => Query) => Operation | undefined

interface Row {
  readonly names: readonly string[]
  readonly asks: (value: string) => boolean
  readonly use: Operation
}

export function createOnlyV1(operations: readonly Operation[]): OnlyV1 {
  const table = new Map(operations.map((operation) => [operation, rowsOf(operation)] as const).filter(([, rows]) => rows.length > 0))
  return (operation, read) => {
    const rows = table.get(operation)
    const query = rows && readable(read)
    return query && rows.find(({ names, asks }) => names.some((name) => query.get(name)?.some(asks)))?.use
  }
}

/** Returns everything that is counted: the operations, followed by the v1-only values of their parameters. */
export function withV1Values(operations: readonly Operation[]): readonly Operation[] {
  return [...operations, ...operations.flatMap(rowsOf).map(({ use }) => use)]
}

function rowsOf(operation: Operation): readonly Row[] {
  const { id, method, template, params } = operation
  return Object.entries(params).flatMap(([name, row]) => {
    const param = asParam(row)
    const because = reasonOf(name, param)
    if (because === undefined) return []
    const asks = param.of ? (value: string) => isV1Only(param.of, value) : isTrue
    return [{ names: spellings(name), asks, use: v1Only(`${id}?${name}`, `${method} ${template}`, because, param.made) }]
  })
}

function reasonOf(name: string, { of, v1Only: because }: Param): string | undefined {
  if (because !== undefined) return because
  return of && of.v1Only.length > 0 ? `v2 has no ${of.v1Only.map(([value]) => value).join(', ')} among its ${name}` : undefined
}

function readable(read: () => Query): Query | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
