import { invalidArgument } from '../../errors/api-error.ts'
import { camelCase } from './names.ts'
import { asParam, type Param, type Params } from './param.ts'
import { badParameter, leaf, needsV1, PARSERS, readFlag, readWhole } from './query-value.ts'

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
