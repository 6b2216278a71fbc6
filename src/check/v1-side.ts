import type { Contract, ContractOperation } from '../contract/public-contract.ts'
import type { Members, SchemaShape } from '../contract/schema-shape.ts'
import type { Field, FieldType } from '../tables/fields.ts'
import { asParam } from '../tables/query.ts'
import { camelCase } from '../tables/uid.ts'
import { againstValues, isOtherKind } from './enum-values.ts'
import type { ContractPlace, PointSeen } from './point.ts'
import { answerOf, plainRoute, routeOf, type ServedMessage, type ServedOperation } from './served-operation.ts'
import type { Strangers } from './strangers.ts'

const NO_ROW = 'no row has it; add one, or gone(…) with the reason'

/** Yields what the tables do with each operation, parameter, member and value of v1. */
export function* sightV1(contract: Contract, operations: readonly ServedOperation[], strangers: Strangers): Generator<PointSeen> {
  const served = new Map(operations.map((operation) => [plainRoute(routeOf(operation)), operation]))
  for (const one of contract.operations) {
    const at = `${one.method} ${one.path}`
    const operation = served.get(plainRoute(at))
    const place: ContractPlace = { side: 'v1', part: 'operation', at, operation: at }
    if (!operation) yield { ...place, state: 'lacking', why: 'no operation of the tables has this method and path; add one, or v1Only(…)' }
    else if (operation.kind === 'v1-only') yield { ...place, state: 'acknowledged', why: operation.because ?? '' }
    else {
      yield { ...place, state: 'covered', why: operation.id }
      yield* parametersOf(one, operation, place)
      yield* bodyOf(one.request, operation.request, { ...place, part: 'request' }, strangers, operation.bodyIs)
      yield* bodyOf(one.answer, answerOf(operation), { ...place, part: 'answer' }, strangers)
    }
  }
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
      yield { ...spot, ...(v1Only === undefined ? { state: 'covered', why: '' } : { state: 'acknowledged', why: v1Only }) }
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
  strangers: Strangers,
  bodyIs?: string,
): Generator<PointSeen> {
  if (!shape) return
  const whole: SchemaShape =
    bodyIs === undefined ? shape : { kind: 'object', name: undefined, members: { [bodyIs]: { shape, isReadOnly: false } } }
  const at = `${place.at} ${place.part}`
  if (whole.kind === 'object') {
    const walk = { message: message?.name ?? '', strangers }
    yield* membersOf(whole, message?.fields ?? {}, { ...place, at }, walk, '')
  } else if (message && whole.kind === 'unknown') yield { ...place, at, state: 'covered', why: '' }
  else yield { ...place, at, state: 'lacking', why: `it is of the kind ${whole.kind}, and no message has it` }
}

interface Walk {
  readonly message: string
  readonly strangers: Strangers
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
  for (const [member, { shape, isReadOnly, isWriteOnly }] of Object.entries(members)) {
    const [row, field] = rows.get(member) ?? ['', undefined]
    met.add(row)
    if (place.part === 'request' ? isReadOnly : isWriteOnly) continue
    const spot = { ...place, at: `${label}.${member}` }
    yield { ...spot, ...stateOf(field, shape, place.part) }
    if (field?.source !== undefined) yield* below(shape, field.type, spot, walk, `${path}${row}.`)
  }
  for (const [row, { access }] of Object.entries(fields)) {
    const isUsed = place.part === 'request' ? access !== 'readOnly' : access !== 'writeOnly'
    const problem = `v1's ${label} has no such member`
    const known = Object.keys(members)
    walk.strangers.add({ row: `${walk.message}.${path}${row}`, name: row, isKnown: met.has(row), isUsed, problem, known })
  }
}

function stateOf(field: Field | undefined, shape: SchemaShape, part: ContractPlace['part']): Pick<PointSeen, 'state' | 'why'> {
  if (!field) return { state: 'lacking', why: NO_ROW }
  if (field.source === undefined) return { state: 'acknowledged', why: field.lossy ?? '' }
  if (part === 'request' && field.access === 'readOnly')
    return { state: 'lacking', why: 'clients may send it, and its row is readOnly; make it writable, or acknowledge that it is dropped' }
  if (part === 'answer' && field.access === 'writeOnly')
    return { state: 'lacking', why: 'v1 shows it, and its row is writeOnly; remove writeOnly' }
  if (isOtherKind(shape, field.type))
    return { state: 'lacking', why: `it is of the kind ${shape.kind}, and its row of the kind ${field.type.kind}` }
  return field.lossy === undefined ? { state: 'covered', why: '' } : { state: 'acknowledged', why: field.lossy }
}

function* below(shape: SchemaShape, type: FieldType, place: ContractPlace, walk: Walk, path: string): Generator<PointSeen> {
  if (shape.kind === 'object' && type.kind === 'object') yield* membersOf(shape, type.fields, place, walk, path)
  else if ((shape.kind === 'list' && type.kind === 'list') || (shape.kind === 'map' && type.kind === 'map'))
    yield* below(shape.of, type.of, place, walk, path)
  else yield* againstValues(shape, type, place, `${walk.message}.${path.slice(0, -1)}`)
}
