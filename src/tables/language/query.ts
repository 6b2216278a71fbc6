import { ApiError, invalidArgument } from '../../errors/api-error.ts'
import { isTimestamp } from '../compile/read.ts'
import type { EnumMap } from './enums.ts'
import { camelCase } from './names.ts'

/** Decoded query parameters of a v1 request, every occurrence kept. */
export type Query = ReadonlyMap<string, readonly string[]>

/** One v1 query parameter and the v2 parameter that it becomes. */
export interface Param {
  readonly v2: string
  readonly kind: 'text' | 'flag' | 'time' | 'int' | 'choice'
  /** Every occurrence counts; the parameters of the other kind may be given once. */
  readonly many?: boolean
  /** v2 turned the meaning and the default round: send `not v1`, always (facts §4.2). */
  readonly negate?: boolean
  readonly of?: EnumMap
  /** The zero value asks for nothing: it is not sent. */
  readonly zeroIsNone?: true
  /** Why v2 cannot honour a flag: a request with true is v1's, and without a v1 service INVALID_ARGUMENT; false is what v2 does anyway. */
  readonly v1Only?: string
}

export type Params = Readonly<Record<string, Param | string>>

/** A boolean parameter; a row of a query is a v1 parameter and the v2 one: `{ deprecated: flagParam('deprecated') }`. */
export const flagParam = (v2: string): Param => ({ v2, kind: 'flag' })
/** A parameter that may be given many times: `{ names: textsParam('names') }`. */
export const textsParam = (v2: string): Param => ({ v2, kind: 'text', many: true })
/** An RFC 3339 time: `{ since: timeParam('since') }`. */
export const timeParam = (v2: string): Param => ({ v2, kind: 'time' })
/** A whole number of 32 bits: `{ epoch: intParam('epoch') }`. */
export const intParam = (v2: string): Param => ({ v2, kind: 'int' })
/** An enum value, by name or number: `{ kind: choiceParam('kind', orgKind) }`. */
export const choiceParam = (v2: string, of: EnumMap): Param => ({ v2, kind: 'choice', of })
/** Enum values: `{ ecosystems: choicesParam('ecosystems', ecosystem) }`. */
export const choicesParam = (v2: string, of: EnumMap): Param => ({ v2, kind: 'choice', of, many: true })
/** A flag that v2 cannot honour, and why: `{ include_upstream: v1OnlyFlag('v2 lists built artifacts alone') }`. */
export const v1OnlyFlag = (because: string): Param => ({ v2: '', kind: 'flag', v1Only: because })
/** A flag whose meaning v2 turned round: `{ exclude_referrers: negated('include_referrers') }`. */
export const negated = (v2: string): Param => ({ v2, kind: 'flag', negate: true })

/** The five members of the uidp filter, the same in both versions (facts §10.4): `query: { ...scope, name: 'name' }`. */
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

/** The v2 query of a request: one pair for each value, in the order of the table. Bad values are INVALID_ARGUMENT. */
export function v2Query(params: Params, query: Query): readonly (readonly [string, string])[] {
  const { rows, names } = tableOf(params)
  const given = isAnyGiven(query, names)
  const pairs: [string, string][] = []
  for (const [name, param] of rows) {
    if (given || param.negate) for (const value of valuesOf(param, name, query)) pairs.push([param.v2, value])
  }
  return pairs
}

/** A parameter table, made for looking things up. */
interface Table {
  readonly rows: readonly (readonly [string, Param])[]
  /** Every spelling of every parameter. */
  readonly names: ReadonlySet<string>
}

/** Tables do not change, and every request goes through one. */
const tables = new WeakMap<Params, Table>()

function tableOf(params: Params): Table {
  const known = tables.get(params)
  if (known) return known
  const rows = Object.entries(params).map(([name, row]) => [name, asParam(row)] as const)
  const table = { rows, names: new Set(rows.flatMap(([name]) => spellings(name))) }
  tables.set(params, table)
  return table
}

/** Whether the query gives one of these names; most queries are short. */
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

/** The one value of a singular parameter in either spelling; given twice it is INVALID_ARGUMENT, as the gateway has it (facts §12.6). */
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

/** A non-negative integer parameter of so many bits; absent and 0 both mean unset (proto3). What is beyond 2^53 is rounded. */
export function count(query: Query, name: string, bits: 32 | 64 = 32): number | undefined {
  const value = single(query, name)
  if (value === undefined) return undefined
  const number = Number(readWhole(name, value, bits))
  if (number < 0) throw invalidArgument({ field: name, description: 'must not be negative' })
  return number === 0 ? undefined : number
}

/** Names come from the tables, so these are few; every request asks for most of them. */
const known = new Map<string, readonly string[]>()

/** Every way a parameter may be written: as in the tables, or in lowerCamelCase. */
export function spellings(name: string): readonly string[] {
  let both = known.get(name)
  if (!both) {
    both = [...new Set([name, camelCase(name)])]
    known.set(name, both)
  }
  return both
}

/** The v2 name of a v1 enum value, given by name or number. */
export function readChoice(name: string, value: string, of: EnumMap | undefined): string {
  const v2 = of?.toV2.get(/^\d+$/.test(value) ? Number(value) : value)
  if (v2 === undefined)
    throw unparsable(name, `${JSON.stringify(value)} ${isV1Only(of, value) ? needsV1('v2 lacks it') : 'is not a valid value'}`)
  return v2
}

/** Whether v1 has this value, given by name or number, and v2 does not. */
export function isV1Only(of: EnumMap | undefined, value: string): boolean {
  return of?.v1Only.some(([name, number]) => value === name || Number(value) === number) ?? false
}

/** What would let a v1 service answer. */
export function needsV1(because: string): string {
  return `needs a v1 service: ${because}; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on`
}

const PARSERS: Readonly<Record<Param['kind'], (name: string, value: string, param: Param) => string>> = {
  text: (_, value) => value,
  flag: (name, value) => String(readFlag(name, value)),
  int: readInt,
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

function readInt(name: string, value: string): string {
  return readWhole(name, value, 32)
}

/** Whether 64 bits hold it; the longest that they do has a sign and 19 digits. */
function isInt64(digits: string): boolean {
  const number = digits.length > 20 ? undefined : BigInt(digits.replace('+', ''))
  return number !== undefined && BigInt.asIntN(64, number) === number
}

function readWhole(name: string, value: string, bits: 32 | 64): string {
  if (!/^[+-]?\d+$/.test(value)) throw unparsable(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  const number = Number(value)
  const isHeld = bits === 32 ? number === (number | 0) : isInt64(value)
  if (!isHeld) throw unparsable(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
  return String(number)
}

/** The gateway names a field by the last part of a dotted name. */
function leaf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function unparsable(name: string, reason: string): ApiError {
  return badParameter(`parsing field "${leaf(name)}": ${reason}`)
}

/** The gateway's own refusal of a query value: code 3 without details (semantics §4.1). */
function badParameter(message: string): ApiError {
  return new ApiError('INVALID_ARGUMENT', message)
}
