import type { Missing } from '../../errors/to-v1.ts'
import type { EnumMap } from '../language/enums.ts'
import type { Dialect } from '../language/names.ts'
import type { Params } from '../language/param.ts'
import type { Query } from '../language/query.ts'
import type { MaskRule, Message } from '../language/resource.ts'
import type { Plan } from '../plan/plan.ts'
import type { Turn } from '../plan/turn.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How v2 stands to a v1 operation (facts §2). */
export type OperationKind = 'direct' | 'composed' | 'emulated' | 'v1-only'

/** The part of a v1 request that a plan sees: no headers, no credential, no I/O. */
export interface V1Request {
  /** Path variables of the operation's template, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** Parsed JSON; undefined when the body was empty. */
  readonly body: unknown
}

/** Settings that a plan may depend on. */
export interface Env {
  readonly dialect: Dialect
  /** Spelling of field mask paths in a query (facts §13.3). */
  readonly maskCase: 'snake' | 'camel'
  /** What a PUT replaces where everything may be: all that v2 knows of the resource, or the members that v1 knows (facts §13.2). */
  readonly replaceMask: '*' | 'known'
  /** A missing resource: as v1 had it, or always an error. */
  readonly notFound: 'empty' | 'error'
  /** Fetch the readme of every listed repo, as v1 showed it: one more v2 call for each row. */
  readonly readmes: boolean
}

/** The first turn of a request. Throws the ApiError that the tables refuse the request with. */
export type Begin = (request: V1Request, env: Env) => Turn

/** The same as a generator. */
export type MakePlan = (request: V1Request, env: Env) => Plan

/** One v1 endpoint. */
export interface Operation {
  /** The key in config, logs, metrics, reports, docs and tests: `registry.repos.list`. */
  readonly id: string
  readonly method: Method
  /** Path template with `{name}` and `{name=**}` variables and an optional `:verb`. */
  readonly template: string
  readonly kind: OperationKind
  /** The v2 calls it can make, as `METHOD /path` with v1 or v2 variable names: for people to read. */
  readonly calls: readonly string[]
  readonly params: Params
  /** Further query parameters that its plan reads itself. */
  readonly ownParams: readonly string[]
  /** v1's enum of sort orders, where it has one. */
  readonly orders?: EnumMap
  readonly request?: Message
  /** One row of a list (`rows`), or the whole answer. */
  readonly answer?: Message
  readonly rows?: true
  /** What a list answers beside its rows, when that is anything. */
  readonly envelope?: Message
  /** The field mask with which a PUT replaces (facts §13). */
  readonly mask?: MaskRule
  readonly missing: Missing
  /** What a v1 client gets when nothing was found. */
  readonly empty: (dialect: Dialect) => unknown
  /** v2 field path → v1 field name, for errors. */
  readonly fieldName: (v2Path: string) => string
  /** Why a v1-only operation has no v2 counterpart, or what an emulation cannot know. */
  readonly because?: string
  /** Neither service asks for a token here: an answer says nothing about who asked. */
  readonly takesNoToken?: true
  /** Absent for v1-only operations. */
  readonly begin?: Begin
}

/** One domain's table. */
export interface Mapping {
  readonly domain: string
  readonly operations: readonly Operation[]
}
