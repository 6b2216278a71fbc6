import { ApiError, invalidArgument } from '../errors.ts'
import { type EnumMap, isInt64, isTimestamp } from './fields.ts'
import type { Operation, V1Request } from './operation.ts'
import { camelCase, variablesOf } from './uid.ts'

/** One v1 query parameter and its v2 parameter. */
export interface Param<N extends string = string> {
  readonly v2: N
  readonly kind: 'text' | 'flag' | 'time' | 'int' | 'choice'
  /** True if the parameter may be repeated; a request may give any other parameter once. */
  readonly many?: boolean
  /** v2 inverted the meaning and the default: always send `not v1` (facts §4.2). */
  readonly negate?: boolean
  readonly of?: EnumMap
  /** The zero value filters nothing and is not sent. */
  readonly zeroIsNone?: true
  /**
   * Why v2 cannot honour a flag. Only v1 can serve a request with true; without a v1 service it is INVALID_ARGUMENT.
   * False is v2's only behaviour.
   */
  readonly v1Only?: string
  /** True for a repeated message, which no gateway reads from a query: v1 refuses the parameter, and so does v2 (facts §7). */
  readonly neverTaken?: true
  /** What comes closest in v2, where v2 lacks the parameter or some of its values. */
  readonly made?: string
}

export type Params = Readonly<Record<string, Param | string>>

/** A boolean parameter. A row of a query maps a v1 parameter to the v2 one: `{ deprecated: flagParam('deprecated') }`. */
export const flagParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'flag' })

/** A parameter that may be repeated: `{ names: textsParam('names') }`. */
export const textsParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'text', many: true })

/** An RFC 3339 time: `{ since: timeParam('since') }`. */
export const timeParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'time' })

/** A 32-bit integer: `{ epoch: intParam('epoch') }`. */
export const intParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'int' })

/** An enum value, by name or number: `{ kind: choiceParam('kind', orgKind) }`. */
export const choiceParam = <const N extends string>(v2: N, of: EnumMap): Param<N> => ({ v2, kind: 'choice', of })

/** Enum values: `{ ecosystems: choicesParam('ecosystems', ecosystem) }`. */
export const choicesParam = <const N extends string>(v2: N, of: EnumMap): Param<N> => ({ v2, kind: 'choice', of, many: true })

/** A flag that v2 cannot honour, the reason, and what comes closest: `{ include_upstream: v1OnlyFlag('v2 lists built artifacts alone') }`. */
export const v1OnlyFlag = (because: string, made?: string): Param<''> => ({
  v2: '',
  kind: 'flag',
  v1Only: because,
  ...(made !== undefined && { made }),
})

/** A flag whose meaning v2 inverted: `{ exclude_referrers: negated('include_referrers') }`. */
export const negated = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'flag', negate: true })

/** The five members of the uidp filter, identical in both versions (facts §10.4): `query: { ...scope, name: 'name' }`. */
export const scope: Params = {
  'uidp.ancestors_of': 'uidp.ancestors_of',
  'uidp.descendants_of': 'uidp.descendants_of',
  'uidp.children_of': 'uidp.children_of',
  'uidp.in_root': flagParam('uidp.in_root'),
  'uidp.ids': textsParam('uidp.ids'),
}

export function asParam(row: Param | string): Param {
  return typeof row === 'string' ? { v2: row, kind: 'text' } : row
}

/** Returns the v2 name of a v1 enum value, given by name or number. */
function readChoice(name: string, value: string, of: EnumMap | undefined): string {
  const v2 = of?.toV2.get(/^\d+$/.test(value) ? Number(value) : value)
  if (v2 === undefined)
    throw unparsable(name, `${JSON.stringify(value)} ${isV1Only(of, value) ? needsV1('v2 lacks it') : 'is not a valid value'}`)
  return v2
}

/** True if v1 has this value, given by name or number, and v2 does not. */
export function isV1Only(of: EnumMap | undefined, value: string): boolean {
  return of?.v1Only.some(([name, number]) => value === name || Number(value) === number) ?? false
}

/** Says what would let a v1 service answer. */
export function needsV1(because: string): string {
  return `needs a v1 service: ${because}; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on`
}

export const PARSERS: Readonly<Record<Param['kind'], (name: string, value: string, param: Param) => string>> = {
  text: (_, value) => value,
  flag: (name, value) => String(readFlag(name, value)),
  int: (name, value) => readWhole(name, value, 32),
  time: (name, value) => {
    if (!isTimestamp(value)) throw unparsable(name, `${JSON.stringify(value)} is not an RFC 3339 time`)
    return value
  },
  choice: (name, value, { of }) => readChoice(name, value, of),
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

export function isTrue(value: string): boolean {
  return TRUE.has(value)
}

function readFlag(name: string, value: string): boolean {
  if (TRUE.has(value)) return true
  if (FALSE.has(value)) return false
  throw unparsable(name, `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`)
}

export function readWhole(name: string, value: string, bits: 32 | 64): string {
  if (!/^[+-]?\d+$/.test(value)) throw unparsable(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  const number = Number(value)
  const isHeld = bits === 32 ? number === (number | 0) : isInt64(value.replace('+', ''))
  if (!isHeld) throw unparsable(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
  return String(number)
}

/** Returns the last part of a dotted name, by which the gateway names a field. */
export function leaf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function unparsable(name: string, reason: string): ApiError {
  return badParameter(`parsing field "${leaf(name)}": ${reason}`)
}

/** The gateway's own refusal of a query value: code 3 without details (semantics §4.1). */
export function badParameter(message: string): ApiError {
  return new ApiError('INVALID_ARGUMENT', message)
}

/** The decoded query parameters of a v1 request, with every occurrence. */
export type Query = ReadonlyMap<string, readonly string[]>

/** Returns the v2 query of a request: one pair for each value, in the order of the table. Bad values are INVALID_ARGUMENT. */
export function v2Query(params: Params, query: Query): readonly (readonly [string, string])[] {
  const { rows, names } = tableOf(params)
  const given = isAnyGiven(query, names)
  const pairs: [string, string][] = []
  for (const [name, param] of rows) {
    if (given || param.negate) for (const value of valuesOf(param, name, query)) pairs.push([param.v2, value])
  }
  return pairs
}

/** A parameter table, prepared for look-ups. */
interface Table {
  readonly rows: readonly (readonly [string, Param])[]
  /** Every spelling of every parameter. */
  readonly names: ReadonlySet<string>
}

/** Tables do not change, and every request uses one. */
const tables = new WeakMap<Params, Table>()

function tableOf(params: Params): Table {
  const known = tables.get(params)
  if (known) return known
  const rows = Object.entries(params).map(([name, row]) => [name, asParam(row)] as const)
  const table = { rows, names: new Set(rows.flatMap(([name]) => spellings(name))) }
  tables.set(params, table)
  return table
}

/** True if the query gives one of these names; most queries are short. */
export function isAnyGiven(query: Query, names: ReadonlySet<string>): boolean {
  for (const name of query.keys()) if (names.has(name)) return true
  return false
}

export function rowsOf(params: Params): readonly (readonly [string, Param])[] {
  return tableOf(params).rows
}

function valuesOf(param: Param, name: string, query: Query): readonly string[] {
  const parse = (value: string) => PARSERS[param.kind](name, value, param)
  if (param.many) {
    const given = occurrences(query, name).filter((value) => value !== '' || param.kind !== 'text')
    if (given.length === 0) return NONE
    return given.map(parse).filter((value) => !isNone(param, value))
  }
  const value = single(query, name)
  if (param.v1Only !== undefined) {
    if (value !== undefined && readFlag(name, value)) throw invalidArgument({ field: name, description: needsV1(param.v1Only) })
    return []
  }
  if (param.negate) return [String(!(value !== undefined && readFlag(name, value)))]
  if (value === undefined || (value === '' && param.kind === 'text')) return NONE
  const parsed = parse(value)
  return isNone(param, parsed) ? NONE : [parsed]
}

function isNone({ zeroIsNone, of }: Param, value: string): boolean {
  return zeroIsNone === true && value === of?.zero[1]
}

/** Returns the value of a singular parameter in either spelling. A repeated one is INVALID_ARGUMENT, as in the gateway (facts §12.6). */
export function single(query: Query, name: string): string | undefined {
  const values = occurrences(query, name)
  if (values.length > 1) throw badParameter(`too many values for field "${leaf(name)}": ${values.join(', ')}`)
  return values[0]
}

const NONE: readonly string[] = []

function occurrences(query: Query, name: string): readonly string[] {
  let found = NONE
  if (query.size === 0) return found
  for (const spelling of spellings(name)) {
    const values = query.get(spelling)
    if (values) found = found === NONE ? values : [...found, ...values]
  }
  return found
}

/** Reads a non-negative integer parameter of 32 or 64 bits. Absent and 0 both mean unset (proto3). A number beyond 2^53 is rounded. */
export function count(query: Query, name: string, bits: 32 | 64 = 32): number | undefined {
  const value = single(query, name)
  if (value === undefined) return undefined
  const number = Number(readWhole(name, value, bits))
  if (number < 0) throw invalidArgument({ field: name, description: 'must be non-negative' })
  return number === 0 ? undefined : number
}

/** Names come from the tables, so these are few. Every request looks up most of them. */
const known = new Map<string, readonly string[]>()

/** Returns every spelling of a parameter: as in the tables, and in lowerCamelCase. */
export function spellings(name: string): readonly string[] {
  let both = known.get(name)
  if (!both) {
    both = [...new Set([name, camelCase(name)])]
    known.set(name, both)
  }
  return both
}

export const ORDER_PARAMETER = 'order_by'

/** v1 names of a sort field → v2's. All are names of columns, and none is a JSON name (facts §21). */
const SORT_FIELDS: Readonly<Record<string, string>> = {
  id: 'uid',
  uid: 'uid',
  name: 'name',
  created_at: 'created_at',
  create_time: 'created_at',
  updated_at: 'updated_at',
  update_time: 'updated_at',
  last_updated: 'updated_at',
}

/** Returns the v2 `order_by` of a v1 query; undefined for the default order. `orders` is v1's enum of orders, if it has one. */
export function readOrder(query: Query, orders?: EnumMap): string | undefined {
  const value = single(query, ORDER_PARAMETER)
  if (value === undefined) return undefined
  if (orders) return readChoice(ORDER_PARAMETER, value, orders) || undefined
  if (value.trim() === '') return undefined
  const [name = '', direction = 'asc', ...rest] = value.trim().split(/\s+/)
  const field = Object.hasOwn(SORT_FIELDS, name) ? SORT_FIELDS[name] : undefined
  const way = direction.toLowerCase()
  if (field === undefined || rest.length > 0 || (way !== 'asc' && way !== 'desc')) {
    const description = `must be one of ${Object.keys(SORT_FIELDS).join(', ')}, optionally followed by asc or desc`
    throw invalidArgument({ field: ORDER_PARAMETER, description })
  }
  return way === 'desc' ? `${field} desc` : field
}

/**
 * What the request must be: every row must hold. A request that skips or takes a number of rows which is none:
 *
 *     when: [{ param: ['offset', 'limit'], isNot: 'count' }]
 */
export type Condition = readonly ParamCondition[]

/** What one parameter must be. It must be given; `is` and `isNot` say what its values are. */
export interface ParamCondition {
  /** Table names of query parameters or path variables, in either spelling. One of them is enough. */
  readonly param: string | readonly string[]
  /** One of its values is one of these texts, or the parameter has this form. */
  readonly is?: readonly string[] | ParamForm
  /** One of its values is none of these texts, or the parameter does not have this form. */
  readonly isNot?: readonly string[] | ParamForm
}

/** `count` is a whole number of 32 bits, 0 or more; `positive` is one above 0; `uid` is a uid (facts §17). */
export const PARAM_FORMS = ['count', 'positive', 'uid'] as const
export type ParamForm = (typeof PARAM_FORMS)[number]

/** A request and the operation that it was routed to. */
interface RoutedRequest {
  readonly operation: Operation
  readonly request: V1Request
}

/** Returns the names that a condition may use: those of the query parameters and path variables of an operation. */
export function paramsOf({ params, ownParams, template }: Operation): readonly string[] {
  return [...Object.keys(params), ...ownParams, ...variablesOf(template)]
}

/** Returns a test of requests. A parameter that the operation does not have is never given: both services ignore it. */
export function compileCondition(condition: Condition): (asking: RoutedRequest) => boolean {
  const tests = condition.map(compileRow)
  return (asking) => tests.every((test) => test(asking))
}

function compileRow({ param, is, isNot }: ParamCondition): (asking: RoutedRequest) => boolean {
  const names = [param].flat()
  const has = is === undefined ? undefined : matcher(is)
  const lacks = isNot === undefined ? undefined : mismatcher(isNot)
  return (asking) =>
    names.some((name) => {
      const values = conditionValues(asking, name)
      return values.length > 0 && has?.(asking, name, values) !== false && lacks?.(asking, name, values) !== false
    })
}

type Test = (asking: RoutedRequest, name: string, values: readonly string[]) => boolean

function matcher(wanted: readonly string[] | ParamForm): Test {
  return typeof wanted === 'string' ? FORMS[wanted] : (_, __, values) => values.some((value) => wanted.includes(value))
}

function mismatcher(unwanted: readonly string[] | ParamForm): Test {
  if (typeof unwanted !== 'string') return (_, __, values) => values.some((value) => !unwanted.includes(value))
  return (asking, name, values) => !FORMS[unwanted](asking, name, values)
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/

const FORMS: Readonly<Record<ParamForm, Test>> = {
  count: ({ request }, name) => reads(() => count(request.query, name)),
  positive: ({ request }, name) => reads(() => count(request.query, name) !== undefined),
  uid: (_, __, values) => values.every((value) => UID.test(value)),
}

/** False if it returns false, or throws because the tables refuse the value. */
function reads(read: () => unknown): boolean {
  try {
    return read() !== false
  } catch {
    return false
  }
}

function conditionValues({ operation, request: { params, query } }: RoutedRequest, name: string): readonly string[] {
  if (!paramsOf(operation).includes(name)) return []
  const variable = params[name]
  return variable === undefined ? spellings(name).flatMap((spelling) => query.get(spelling) ?? []) : [variable]
}
