import { suggestion } from '../tables/check.ts'
import { type EnumMap, type Field, type Fields, type FieldType, objects } from '../tables/fields.ts'
import { covers, type Operation } from '../tables/operation.ts'
import { asParam } from '../tables/query.ts'
import type { Acknowledged, Tables } from '../tables/tables.ts'
import { camelCase } from '../tables/uid.ts'
import {
  type Contract,
  type ContractOperation,
  KINDS,
  type Members,
  otherKind,
  READ_KINDS,
  type SchemaShape,
  whyUnfinished,
} from './contract.ts'
import { innerOf, pathsOf } from './explore.ts'
import { NULL_WHEN_UNSET } from './openapi-schemas.ts'

/** What one operation of the tables does with one place of a contract. */
interface PointSeen {
  /** The version that has it. */
  readonly side: 'v1' | 'v2'
  /** What the contract says something about. */
  readonly part: 'operation' | 'parameter' | 'request' | 'answer'
  /** `GET /v3/liens`, `GET /v3/liens?parent`, `Lien.parent`, `Lien.state=ACTIVE`. */
  readonly at: string
  /** The operation of the contract. */
  readonly operation: string
  /** `unsure`: several calls make the answer, and nobody can tell which of them a row reads. */
  readonly state: 'covered' | 'acknowledged' | 'lacking' | 'unsure'
  /** The reason of an acknowledgement; otherwise what is wrong and what to change. */
  readonly why: string
  /** For a value that a row of texts carries as it is: the row. */
  readonly carriedBy?: string
}

/** One place of a contract, over all operations that have it. */
export interface Point extends Pick<PointSeen, 'side' | 'part' | 'at' | 'why'> {
  readonly operations: readonly string[]
  /** `undecided`: the reason of the acknowledgement is empty or waits for a person. */
  readonly state: 'covered' | 'acknowledged' | 'undecided' | 'lacking'
}

/** Where something is seen. */
type ContractPlace = Pick<PointSeen, 'side' | 'part' | 'at' | 'operation'>

/** Joins the seen of each place: one operation that lacks it is enough, and one that has it settles what is unsure. */
function pointsOf(seen: Iterable<PointSeen>): readonly Point[] {
  const groups = new Map<string, PointSeen[]>()
  for (const one of seen) {
    const key = `${one.side} ${one.part} ${one.at}`
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].flatMap((group) => {
    const state = (['lacking', 'acknowledged', 'covered', 'unsure'] as const).find((wanted) => group.some((one) => one.state === wanted))
    const deciding = group.filter((one) => one.state === state)
    const [first] = deciding
    if (!first || !state) return []
    const { side, part, at, why } = first
    const operations = [...new Set(deciding.map(({ operation }) => operation))]
    return [{ side, part, at, why, operations, state: state === 'unsure' ? ('lacking' as const) : state }]
  })
}

/** What `check` looks at of an operation. A draft has no more of it. */
export type ServedOperation = Pick<
  Operation,
  | 'id'
  | 'method'
  | 'template'
  | 'kind'
  | 'status'
  | 'type'
  | 'calls'
  | 'params'
  | 'ownParams'
  | 'because'
  | 'bodyIs'
  | 'mask'
  | 'rows'
  | 'rowsIn'
> & {
  readonly request?: ServedMessage | undefined
  readonly answer?: ServedMessage | undefined
  readonly envelope?: ServedMessage | undefined
}

/** The rows of a message, and its name in sentences. */
export interface ServedMessage {
  readonly name: string
  readonly fields: Fields
}

/** `GET /v1/projects/{projectId}` → `GET /v1/projects/{}`: the names of variables are each version's own. */
function plainRoute(route: string): string {
  return route.replace(/\{[^{}]*\}/g, '{}')
}

export function routeOf({ method, template }: Pick<ServedOperation, 'method' | 'template'>): string {
  return `${method} ${template}`
}

/** True if all rows are about one call, so that a path of a row begins at the top of its answer. */
function isOneCall({ kind, calls }: ServedOperation): boolean {
  return kind === 'direct' && calls.length === 1
}

/** Members that the reading of whole lists uses itself, and parameters with which it asks for them. */
const WALKED = {
  members: ['nextPageToken', 'totalCount', 'skipped'],
  parameters: ['pageSize', 'pageToken', 'skip', 'orderBy'],
} as const

/** The whole answer: of a list, the rows below `items` and the members beside them. */
function answerOf({ rows, rowsIn = '', answer, envelope }: ServedOperation): ServedMessage | undefined {
  if (!rows || !answer) return answer
  const items: Field = objects(rowsIn, answer.fields)
  return { name: `list of ${answer.name}`, fields: { items, ...envelope?.fields } }
}

/** A v2 member that a row reads or writes. */
interface RowSource {
  /** `parent.id`. */
  readonly path: string
  /** Undefined if the row carries the value whole, whatever is in it. */
  readonly type: FieldType | undefined
  /** The row: `projects.parent`. */
  readonly row: string
  /** The plan makes the value, so that v2 need not have the member. */
  readonly isMade: boolean
  readonly keepsNull: boolean
}

/** Returns the v2 members that rows read for an answer, or write for a request. */
function sourcesOf(fields: Fields, part: PointSeen['part'], above = '', row = ''): readonly RowSource[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const { type, convert, source, made, access } = field
    if (source === undefined || access === (part === 'request' ? 'readOnly' : 'writeOnly')) return []
    const inner = innerOf(type)
    return pathsOf(source).flatMap((own): readonly RowSource[] => {
      const path = [above, own].filter(Boolean).join('.')
      const below = inner.kind === 'object' && !convert ? sourcesOf(inner.fields, part, path, `${row}${name}.`) : []
      const isMade = made !== undefined || access === 'elsewhere'
      return source === ''
        ? below
        : [{ path, type: convert ? undefined : type, row: `${row}${name}`, isMade, keepsNull: keepsNull(field, part) }, ...below]
    })
  })
}

/** Rows that name what a contract does not have. A row that one operation knows is none: messages are shared. */
class UnknownRows {
  readonly #met = new Set<string>()
  readonly #unmet = new Map<string, string>()

  /** `known` are the names that the contract has where `row`, such as `project.parent.id`, has `name`. */
  add(row: string, name: string, known: Iterable<string>, problem: string): void {
    if (this.#unmet.has(row)) return
    const names = [...known]
    this.#unmet.set(row, `row ${row}: ${problem}; ${suggestion(name, names, `it has ${names.join(', ') || 'none'}.`)}`)
  }

  meet(row: string): void {
    this.#met.add(row)
  }

  /** A sentence for each. */
  problems(): readonly string[] {
    return [...this.#unmet].flatMap(([row, problem]) => (this.#met.has(row) ? [] : [problem]))
  }
}

/** Yields what a row does with each value of an enum of a contract. */
function* againstValues(shape: SchemaShape, type: FieldType, place: ContractPlace, row: string): Generator<PointSeen> {
  const inner = shape.kind === 'list' ? shape.of : shape
  const single = type.kind === 'list' ? type.of : type
  if (inner.kind !== 'choice') return
  for (const value of inner.values) {
    const spot = { ...place, at: `${place.at}=${value}` }
    if (single.kind === 'choice') yield { ...spot, ...stateOf(value, single.of, place.side) }
    else yield { ...spot, ...COVERED, carriedBy: row }
  }
}

type State = Pick<PointSeen, 'state' | 'why'>

const COVERED: State = { state: 'covered', why: '' }

function stateOf(value: string, { rows, v1Only }: EnumMap, side: ContractPlace['side']): State {
  const nth = side === 'v1' ? 0 : 1
  if (rows.some((row) => row[nth] === value)) return COVERED
  return { state: 'lacking', why: v1Only.some(([one]) => one === value) ? 'its enum has it for v1 alone' : 'its enum lacks it; add it' }
}

/** A row of texts changes no value: where both contracts list values, each must have those of the other. */
function withoutStrayValues(seen: readonly PointSeen[]): readonly PointSeen[] {
  const carried = new Map<string, Set<string>>()
  for (const { carriedBy, side, at } of seen) {
    if (carriedBy === undefined) continue
    const key = `${side} ${carriedBy}`
    carried.set(key, (carried.get(key) ?? new Set()).add(valueIn(at)))
  }
  return seen.map((one) => {
    const other = one.side === 'v1' ? 'v2' : 'v1'
    const others = one.carriedBy === undefined ? undefined : carried.get(`${other} ${one.carriedBy}`)
    if (!others || others.has(valueIn(one.at))) return one
    return { ...one, state: 'lacking', why: `${other} has no such value, and the row ${one.carriedBy} is a text; make it a choice` }
  })
}

function valueIn(at: string): string {
  return at.slice(at.lastIndexOf('=') + 1)
}

/** True if null stays null. What shows an unset value as null shows null so too. */
function keepsNull({ isNullable, presence, type }: Field, part: PointSeen['part']): boolean {
  return isNullable === true || (part === 'answer' && presence === 'implicit' && NULL_WHEN_UNSET.has(type.kind))
}

const LOSES_NULL: State = { state: 'lacking', why: 'its row takes null for unset; make it nullable, or acknowledge it' }

const NO_ROW = 'no row has it; add one, or gone(…) with the reason'

/** True if null among the items of a list or a map, where the contract has it, stays there. */
function keepsNullInside(shape: SchemaShape, type: FieldType): boolean | undefined {
  if (!('holdsNull' in shape && shape.holdsNull)) return undefined
  return 'holdsNull' in type && type.holdsNull === true
}

const REFUSES_NULL: State = { state: 'lacking', why: 'its row takes no null inside; say listOf(nullable(…)), or acknowledge it' }

/** Yields what the tables do with each operation, parameter, member and value of v1. */
function* seenInV1(contract: Contract, operations: readonly ServedOperation[], unknownRows: UnknownRows): Generator<PointSeen> {
  const served = new Map(operations.map((operation) => [plainRoute(routeOf(operation)), operation]))
  for (const one of contract.operations) {
    const at = `${one.method} ${one.path}`
    const operation = served.get(plainRoute(at))
    const place: ContractPlace = { side: 'v1', part: 'operation', at, operation: at }
    if (!operation) yield { ...place, state: 'lacking', why: 'no operation of the tables has this method and path; add one, or v1Only(…)' }
    else if (operation.kind === 'v1-only') yield { ...place, state: 'acknowledged', why: operation.because ?? '' }
    else {
      yield { ...place, state: 'covered', why: operation.id }
      yield* statusIn(one, operation, place)
      yield* typeIn(one, operation, place)
      yield* errorsIn(one, place, 'clients get')
      yield* parametersOf(one, operation, place)
      yield* bodyOf(one.request, operation.request, { ...place, part: 'request' }, unknownRows, operation.bodyIs)
      yield* bodyOf(one.answer, answerOf(operation), { ...place, part: 'answer' }, unknownRows)
    }
  }
}

function* typeIn({ types }: ContractOperation, { type = 'application/json' }: ServedOperation, place: ContractPlace): Generator<PointSeen> {
  if (types.length === 0 || types.includes(type)) return
  const why = `v1 answers ${types.join(' or ')}, and the operation ${type}; give it the type`
  yield { ...place, part: 'answer', at: `${place.at} type`, state: 'lacking', why }
}

function* statusIn({ statuses }: ContractOperation, { status = 200 }: ServedOperation, place: ContractPlace): Generator<PointSeen> {
  if (statuses.length === 0 || statuses.includes(status)) return
  const why = `v1 answers ${statuses.join(' or ')}, and the operation ${status}; give it the status`
  yield { ...place, part: 'answer', at: `${place.at} status`, state: 'lacking', why }
}

/** The place of all errors of a version. */
const ERRORS = 'errors'

/** A 404 of v2 that is not read counts as an outage, and a 422 as a fault of v2. */
function* errorsIn({ ownErrors }: ContractOperation, place: ContractPlace, who: string): Generator<PointSeen> {
  const why = `${place.side} describes ${ownErrors}, and ${who} a google.rpc.Status; give the tables errors`
  if (ownErrors !== undefined) yield { ...place, part: 'answer', at: ERRORS, state: 'lacking', why }
}

function* parametersOf(one: ContractOperation, { id, params, ownParams }: ServedOperation, place: ContractPlace): Generator<PointSeen> {
  const rows = new Map(Object.entries(params).flatMap(([name, row]) => [name, camelCase(name)].map((spelling) => [spelling, row] as const)))
  const own = new Set(ownParams.flatMap((name) => [name, camelCase(name)]))
  for (const [name, { shape }] of Object.entries(one.query)) {
    const spot: ContractPlace = { ...place, part: 'parameter', at: `${place.at}?${name}` }
    const row = rows.get(name)
    if (row === undefined && !own.has(name)) yield { ...spot, state: 'lacking', why: 'no row of params has it; add one' }
    else {
      const { v1Only, of } = asParam(row ?? '')
      yield { ...spot, ...(v1Only === undefined ? COVERED : { state: 'acknowledged', why: v1Only }) }
      yield* againstValues(shape, of ? { kind: 'choice', of } : { kind: 'text' }, spot, `${id}?${name}`)
    }
  }
  for (const name of one.headers) {
    yield { ...place, part: 'parameter', at: `${place.at} header ${name}`, state: 'lacking', why: 'tables read no header' }
  }
}

function* bodyOf(
  shape: SchemaShape | undefined,
  message: ServedMessage | undefined,
  place: ContractPlace,
  unknownRows: UnknownRows,
  bodyIs?: string,
): Generator<PointSeen> {
  if (!shape) return
  const whole: SchemaShape =
    bodyIs === undefined ? shape : { kind: 'object', name: undefined, members: { [bodyIs]: { shape, isReadOnly: false } } }
  const at = `${place.at} ${place.part}`
  if (whole.kind === 'object') {
    const walk = { message: message?.name ?? '', unknownRows }
    yield* membersOf(whole, message?.fields ?? {}, { ...place, at }, walk, '')
  } else if (message && whole.kind === 'unknown') yield { ...place, at, ...COVERED }
  else
    yield {
      ...place,
      at,
      state: 'lacking',
      why: `it ${whole.kind === 'unknown' ? whole.because : `is of the kind ${whole.kind}`}, and no message has it`,
    }
}

interface Walk {
  readonly message: string
  readonly unknownRows: UnknownRows
}

function* membersOf(
  { name, members }: { readonly name: string | undefined; readonly members: Members },
  fields: Readonly<Record<string, Field>>,
  place: ContractPlace,
  walk: Walk,
  path: string,
): Generator<PointSeen> {
  const label = name ?? place.at
  const rows = new Map(
    Object.entries(fields).flatMap(([row, field]) => [row, field.json ?? camelCase(row)].map((one) => [one, [row, field]] as const)),
  )
  const met = new Set<string>()
  for (const [member, { shape, isReadOnly, isWriteOnly, isNullable }] of Object.entries(members)) {
    const [row, field] = rows.get(member) ?? ['', undefined]
    met.add(row)
    if (place.part === 'request' ? isReadOnly : isWriteOnly) continue
    const spot = { ...place, at: `${label}.${member}` }
    const state = stateInV1(field, shape, place.part)
    yield { ...spot, ...state }
    if (isNullable && field && state.state === 'covered')
      yield { ...spot, at: `${spot.at}=null`, ...(keepsNull(field, place.part) ? COVERED : LOSES_NULL) }
    const keeps = field?.source !== undefined && state.state === 'covered' ? keepsNullInside(shape, field.type) : undefined
    if (keeps !== undefined) yield { ...spot, at: `${spot.at}[]=null`, ...(keeps ? COVERED : REFUSES_NULL) }
    if (field?.source !== undefined) yield* below(shape, field.type, spot, walk, `${path}${row}.`)
  }
  for (const [row, { access }] of Object.entries(fields)) {
    const whole = `${walk.message}.${path}${row}`
    if (met.has(row)) walk.unknownRows.meet(whole)
    else if (access !== (place.part === 'request' ? 'readOnly' : 'writeOnly'))
      walk.unknownRows.add(whole, row, Object.keys(members), `v1's ${label} has no such member`)
  }
}

function stateInV1(field: Field | undefined, shape: SchemaShape, part: ContractPlace['part']): State {
  if (!field) return { state: 'lacking', why: NO_ROW }
  if (field.source === undefined) return { state: 'acknowledged', why: field.lossy ?? '' }
  if (part === 'request' && field.access === 'readOnly')
    return { state: 'lacking', why: 'clients may send it, and its row is readOnly; make it writable, or acknowledge that it is dropped' }
  if (part === 'answer' && field.access === 'writeOnly')
    return { state: 'lacking', why: 'v1 shows it, and its row is writeOnly; remove writeOnly' }
  const other = otherKind(shape, field.type)
  if (other !== undefined) return { state: 'lacking', why: other }
  return field.lossy === undefined ? COVERED : { state: 'acknowledged', why: field.lossy }
}

function* below(shape: SchemaShape, type: FieldType, place: ContractPlace, walk: Walk, path: string): Generator<PointSeen> {
  if (shape.kind === 'object' && type.kind === 'object') yield* membersOf(shape, type.fields, place, walk, path)
  else if ((shape.kind === 'list' && type.kind === 'list') || (shape.kind === 'map' && type.kind === 'map'))
    yield* below(shape.of, type.of, place, walk, path)
  else yield* againstValues(shape, type, place, `${walk.message}.${path.slice(0, -1)}`)
}

/** Yields what the tables do with each operation, parameter, member and value of v2. */
function* seenInV2(contract: Contract, operations: readonly ServedOperation[], unknownRows: UnknownRows): Generator<PointSeen> {
  const callersOf = new Map<string, ServedOperation[]>()
  for (const operation of operations) {
    for (const route of new Set(operation.calls.map(plainRoute))) callersOf.set(route, [...(callersOf.get(route) ?? []), operation])
  }
  for (const one of contract.operations) {
    const at = `${one.method} ${one.path}`
    const callers = callersOf.get(plainRoute(at)) ?? []
    const place: ContractPlace = { side: 'v2', part: 'operation', at, operation: at }
    if (callers.length === 0) yield { ...place, state: 'lacking', why: 'no operation of the tables calls it' }
    const unfinished = whyUnfinished(one)
    for (const caller of callers) {
      yield { ...place, ...(unfinished === undefined ? { state: 'covered', why: caller.id } : { state: stateIn(caller), why: unfinished }) }
      yield* errorsIn(one, place, 'calls expect')
      yield* v2Parameters(one, caller, place)
      yield* v2Body(one.request, caller.request, caller, { ...place, part: 'request' }, unknownRows)
      yield* v2Body(one.answer, answerOf(caller), caller, { ...place, part: 'answer' }, unknownRows)
    }
  }
}

/** A read without a body may send what v1 gave in one. A PUT names in a mask what its PATCH replaces. */
function* v2Parameters(one: ContractOperation, caller: ServedOperation, place: ContractPlace): Generator<PointSeen> {
  const { params, request, mask, rows } = caller
  const given = new Map(Object.entries(params).map(([name, row]) => [asParam(row).v2, [name, asParam(row)] as const]))
  const inBody = one.request ? [] : sourcesOf(request?.fields ?? {}, 'request').map(({ path }) => path)
  const others = new Set([...inBody, ...(mask ? ['updateMask'] : []), ...(rows ? WALKED.parameters : [])])
  for (const [name, { shape }] of Object.entries(one.query)) {
    const spot: ContractPlace = { ...place, part: 'parameter', at: `${place.at}?${name}` }
    const [v1, param] = given.get(name) ?? []
    const why = one.needs.includes(name) ? 'v2 requires it, and no row sends it' : 'no row sends it'
    if (!param && !others.has(name) && !others.has(camelCase(name))) yield { ...spot, state: stateIn(caller), why }
    else {
      yield { ...spot, ...COVERED }
      if (param) yield* againstValues(shape, param.of ? { kind: 'choice', of: param.of } : { kind: 'text' }, spot, `${caller.id}?${v1}`)
    }
  }
  for (const name of one.headers)
    yield { ...place, part: 'parameter', at: `${place.at} header ${name}`, state: 'lacking', why: 'tables send no header' }
}

/** What a row does not name may still be read by a plan with calls of its own. */
function stateIn(caller: ServedOperation): 'lacking' | 'unsure' {
  return isOneCall(caller) ? 'lacking' : 'unsure'
}

function* v2Body(
  shape: SchemaShape | undefined,
  message: ServedMessage | undefined,
  caller: ServedOperation,
  place: ContractPlace,
  unknownRows: UnknownRows,
): Generator<PointSeen> {
  if (shape?.kind !== 'object') return
  const sources = sourcesOf(message?.fields ?? {}, place.part)
  const extra = caller.rows && place.part === 'answer' ? WALKED.members : []
  const walk: V2Walk = { caller, message: message?.name ?? '', sources, extra, met: new Set() }
  yield* v2Members(shape, { ...place, at: `${place.at} ${place.part}` }, walk, '')
  for (const { path, row, isMade } of isOneCall(caller) ? sources : []) {
    const whole = `${walk.message}.${row}`
    if (walk.met.has(path)) unknownRows.meet(whole)
    else if (!isMade) unknownRows.add(whole, path, walk.met, `v2 has no ${path} in the ${place.part} of ${place.operation}`)
  }
}

interface V2Walk {
  readonly caller: ServedOperation
  readonly message: string
  readonly sources: readonly RowSource[]
  readonly extra: readonly string[]
  /** The paths that v2 has. */
  readonly met: Set<string>
}

function* v2Members(
  { name, members }: { readonly name: string | undefined; readonly members: Members },
  place: ContractPlace,
  walk: V2Walk,
  above: string,
): Generator<PointSeen> {
  const label = name ?? place.at
  for (const [member, { shape, isReadOnly, isWriteOnly, isNullable, isRequired }] of Object.entries(members)) {
    const path = above + member
    walk.met.add(path)
    if (place.part === 'request' ? isReadOnly : isWriteOnly) continue
    const spot = { ...place, at: `${label}.${member}` }
    const own = walk.sources.filter((source) => source.path === path)
    const isReached = own.length > 0 || walk.sources.some((source) => source.path.startsWith(`${path}.`)) || walk.extra.includes(path)
    if (!isReached) {
      const why = place.part === 'answer' ? 'no row shows it' : isRequired ? 'v2 requires it, and no row writes it' : 'no row writes it'
      yield { ...spot, state: stateIn(walk.caller), why }
    } else {
      const kinds = place.part === 'answer' ? READ_KINDS : KINDS
      const [other] = own.flatMap(({ type, isMade }) => (type && !isMade && otherKind(shape, type, kinds)) || [])
      yield { ...spot, ...(other === undefined ? COVERED : { state: stateIn(walk.caller), why: other }) }
      // A null that no client of v1 sends is missed by nobody.
      if (isNullable && place.part === 'answer' && own.length > 0)
        yield {
          ...spot,
          at: `${spot.at}=null`,
          ...(own.some((one) => one.keepsNull) ? COVERED : { ...LOSES_NULL, state: stateIn(walk.caller) }),
        }
      const kept = place.part === 'answer' ? own.map(({ type }) => type && keepsNullInside(shape, type)) : []
      if (kept.some((keeps) => keeps !== undefined))
        yield { ...spot, at: `${spot.at}[]=null`, ...(kept.includes(true) ? COVERED : { ...REFUSES_NULL, state: stateIn(walk.caller) }) }
      if (own.some(({ type }) => type === undefined)) markBelow(shape, path, walk)
      else yield* belowInV2(shape, spot, walk, path, own)
    }
  }
}

function* belowInV2(shape: SchemaShape, place: ContractPlace, walk: V2Walk, path: string, own: readonly RowSource[]): Generator<PointSeen> {
  if (shape.kind === 'object') yield* v2Members(shape, place, walk, `${path}.`)
  else if (shape.kind === 'unknown') markBelow(shape, path, walk)
  else if ((shape.kind === 'list' || shape.kind === 'map') && shape.of.kind !== 'choice') yield* belowInV2(shape.of, place, walk, path, own)
  else for (const { type, row } of own) if (type) yield* againstValues(shape, type, place, `${walk.message}.${row}`)
}

/** What a row carries whole, or v2 does not describe, may hold whatever rows name there. */
function markBelow(shape: SchemaShape, path: string, { sources, met }: V2Walk): void {
  if (shape.kind !== 'unknown') return
  for (const source of sources) if (source.path.startsWith(`${path}.`)) met.add(source.path)
}

/** Returns the points with what the tables acknowledge, and a sentence for each acknowledgement that no longer applies. */
function acknowledge(
  points: readonly Point[],
  rows: readonly Acknowledged[],
): { readonly points: readonly Point[]; readonly problems: readonly string[] } {
  const pairs = rows.flatMap((row) => placesIn(row).map((place) => ({ row, place, fitting: [] as Point[] })))
  const [patterns, plain] = [pairs.filter(({ place }) => place.includes('*')), pairs.filter(({ place }) => !place.includes('*'))]
  const byPlace = new Map(plain.map(({ place }): [string, typeof pairs] => [place, []]))
  for (const pair of plain) byPlace.get(pair.place)?.push(pair)
  const after = points.map((point): Point => {
    const found = [...(byPlace.get(point.at) ?? []), ...patterns].filter(({ row, place }) => fits(row, place, point))
    for (const { fitting } of found) fitting.push(point)
    const [first] = found
    return first && point.state === 'lacking' ? { ...point, state: 'acknowledged', why: first.row.reason } : point
  })
  return { points: after, problems: pairs.flatMap(({ row, place, fitting }) => whyStale(row, place, fitting, points)) }
}

/** `v2 Project.etag`, `v1 Lien.name in requests`: what a row acknowledges, for people. */
export function nameOf(row: Acknowledged): string {
  return `${sideOf(row)} ${placesIn(row).join(', ')}${row.in === undefined ? '' : ` in ${row.in}s`}`
}

/** The version that has what a row acknowledges. */
function sideOf(row: Acknowledged): 'v1' | 'v2' {
  return row.v1 === undefined ? 'v2' : 'v1'
}

function placesIn({ v1, v2 }: Acknowledged): readonly string[] {
  return [v1 ?? v2 ?? []].flat()
}

function fits(row: Acknowledged, place: string, { side, part, at }: Point): boolean {
  return side === sideOf(row) && (row.in === undefined || row.in === part) && covers(place, at)
}

function whyStale(row: Acknowledged, place: string, fitting: readonly Point[], points: readonly Point[]): readonly string[] {
  if (fitting.some(({ state }) => state === 'lacking')) return []
  const side = sideOf(row)
  const what = `acknowledged ${side} ${place}${row.in === undefined ? '' : ` in ${row.in}s`}`
  if (fitting.length > 0) return [`${what} no longer applies: the tables cover it; remove the row`]
  const known = points.flatMap((point) => (point.side === side ? point.at : []))
  return [`${what} no longer applies: ${side} has no such place; ${suggestion(place, known, 'remove the row')}`]
}

/** The documents of both versions. */
export interface Contracts {
  readonly v1: Contract
  readonly v2: Contract
}

/**
 * Compares tables with both contracts. A loss is acknowledged by its row, or in `acknowledged`. Returns every operation, parameter, member
 * and value of both contracts, and problems: rows, calls and acknowledgements that name what no contract has.
 */
export function coverageOf(
  operations: readonly ServedOperation[],
  { v1, v2 }: Contracts,
  { acknowledged = [], errors }: Pick<Tables, 'acknowledged' | 'errors'> = {},
) {
  const [unknownToV1, unknownToV2] = [new UnknownRows(), new UnknownRows()]
  const sight = [...seenInV1(v1, operations, unknownToV1), ...seenInV2(v2, operations, unknownToV2)]
  const seen = withoutStrayValues(errors ? sight.filter(({ at }) => at !== ERRORS) : sight)
  const { points, problems } = acknowledge(pointsOf(seen), acknowledged)
  const routes = operations.map((one) => [one.id, 'serves', routeOf(one)] as const)
  const calls = operations.flatMap(({ id, calls }) => calls.map((call) => [id, 'calls', call] as const))
  const unknown = [
    ...unknownRoutes('v1', v1, routes, 'change its path, or remove it.'),
    ...unknownRoutes('v2', v2, calls, 'change its path.'),
  ]
  return { points, problems: [...unknown, ...unknownToV1.problems(), ...unknownToV2.problems(), ...problems] }
}

function unknownRoutes(
  side: PointSeen['side'],
  contract: Contract,
  used: readonly (readonly [id: string, verb: string, route: string])[],
  otherwise: string,
): readonly string[] {
  const routes = contract.operations.map(({ method, path }) => `${method} ${path}`)
  const known = new Set(routes.map(plainRoute))
  return used.flatMap(([id, verb, route]) => {
    if (known.has(plainRoute(route))) return []
    return `operation ${id} ${verb} ${route}, which ${side} does not have; ${suggestion(route, routes, otherwise)}`
  })
}
