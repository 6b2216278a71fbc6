import type { Contract, ContractOperation } from '../contract/public-contract.ts'
import type { Members, SchemaShape } from '../contract/schema-shape.ts'
import { suggestion } from '../tables/check.ts'
import { asParam } from '../tables/query.ts'
import { camelCase } from '../tables/uid.ts'
import { againstValues } from './enum-values.ts'
import type { ContractPlace, PointSeen } from './point.ts'
import { answerOf, isOneCall, plainRoute, type ServedMessage, type ServedOperation, WALKED } from './served-operation.ts'
import { type RowSource, sourcesOf } from './sources.ts'
import type { Strangers } from './strangers.ts'

/** Yields what the tables do with each operation, parameter, member and value of v2. */
export function* sightV2(contract: Contract, operations: readonly ServedOperation[], strangers: Strangers): Generator<PointSeen> {
  const callersOf = new Map<string, ServedOperation[]>()
  for (const operation of operations) {
    for (const route of new Set(operation.calls.map(plainRoute))) callersOf.set(route, [...(callersOf.get(route) ?? []), operation])
  }
  for (const one of contract.operations) {
    const at = `${one.method} ${one.path}`
    const callers = callersOf.get(plainRoute(at)) ?? []
    const place: ContractPlace = { side: 'v2', part: 'operation', at, operation: at }
    if (callers.length === 0) yield { ...place, state: 'lacking', why: 'no operation of the tables calls it' }
    for (const caller of callers) {
      yield { ...place, state: 'covered', why: caller.id }
      yield* parametersOf(one, caller, place)
      yield* bodyOf(one.request, caller.request, caller, { ...place, part: 'request' }, strangers)
      yield* bodyOf(one.answer, answerOf(caller), caller, { ...place, part: 'answer' }, strangers)
    }
  }
}

/** Returns a sentence for each call that v2 does not have. */
export function unknownCalls(contract: Contract, operations: readonly ServedOperation[]): readonly string[] {
  const routes = contract.operations.map(({ method, path }) => `${method} ${path}`)
  const known = new Set(routes.map(plainRoute))
  return operations.flatMap(({ id, calls }) =>
    calls
      .filter((call) => !known.has(plainRoute(call)))
      .map((call) => `operation ${id} calls ${call}, which v2 does not have; ${suggestion(call, routes, 'change its path.')}`),
  )
}

/** A read without a body may send what v1 gave in one. A PUT names in a mask what its PATCH replaces. */
function* parametersOf(one: ContractOperation, caller: ServedOperation, place: ContractPlace): Generator<PointSeen> {
  const { params, request, mask, rows } = caller
  const given = new Map(Object.entries(params).map(([name, row]) => [asParam(row).v2, [name, asParam(row)] as const]))
  const inBody = one.request ? [] : sourcesOf(request?.fields ?? {}, 'request').map(({ path }) => path)
  const others = new Set([...inBody, ...(mask ? ['updateMask'] : []), ...(rows ? WALKED.parameters : [])])
  for (const [name, { shape }] of Object.entries(one.query)) {
    const spot: ContractPlace = { ...place, part: 'parameter', at: `${place.at}?${name}` }
    const [v1, param] = given.get(name) ?? []
    const isNeeded = one.needs.includes(name)
    if (!param && !others.has(name) && !others.has(camelCase(name))) yield { ...spot, state: stateIn(caller), why: whyNotGiven(isNeeded) }
    else {
      yield { ...spot, state: 'covered', why: '' }
      if (param) yield* againstValues(shape, param.of ? { kind: 'choice', of: param.of } : { kind: 'text' }, spot, `${caller.id}?${v1}`)
    }
  }
  for (const name of one.headers)
    yield { ...place, part: 'parameter', at: `${place.at} header ${name}`, state: 'lacking', why: 'tables send no header' }
}

function whyNotGiven(isNeeded: boolean): string {
  return isNeeded ? 'v2 requires it, and no row sends it' : 'no row sends it'
}

/** What a row does not name may still be read by a plan with calls of its own. */
function stateIn(caller: ServedOperation): 'lacking' | 'unsure' {
  return isOneCall(caller) ? 'lacking' : 'unsure'
}

function* bodyOf(
  shape: SchemaShape | undefined,
  message: ServedMessage | undefined,
  caller: ServedOperation,
  place: ContractPlace,
  strangers: Strangers,
): Generator<PointSeen> {
  if (shape?.kind !== 'object') return
  const sources = sourcesOf(message?.fields ?? {}, place.part)
  const extra = caller.rows && place.part === 'answer' ? WALKED.members : []
  const walk: Walk = { caller, message: message?.name ?? '', sources, extra, met: new Set() }
  yield* membersOf(shape, { ...place, at: `${place.at} ${place.part}` }, walk, '')
  for (const { path, row, isMade } of isOneCall(caller) ? sources : []) {
    const problem = `v2 has no ${path} in the ${place.part} of ${place.operation}`
    strangers.add({ row: `${walk.message}.${row}`, name: path, isKnown: walk.met.has(path), isUsed: !isMade, problem, known: walk.met })
  }
}

interface Walk {
  readonly caller: ServedOperation
  readonly message: string
  readonly sources: readonly RowSource[]
  readonly extra: readonly string[]
  /** The paths that v2 has. */
  readonly met: Set<string>
}

function* membersOf(
  { name, members }: { readonly name: string | undefined; readonly members: Members },
  place: ContractPlace,
  walk: Walk,
  above: string,
): Generator<PointSeen> {
  const label = name ?? place.at
  for (const [member, { shape, isReadOnly, isWriteOnly, isRequired }] of Object.entries(members)) {
    const path = above + member
    walk.met.add(path)
    if (place.part === 'request' ? isReadOnly : isWriteOnly) continue
    const spot = { ...place, at: `${label}.${member}` }
    const own = walk.sources.filter((source) => source.path === path)
    const isReached = own.length > 0 || walk.sources.some((source) => source.path.startsWith(`${path}.`)) || walk.extra.includes(path)
    if (!isReached) yield { ...spot, state: stateIn(walk.caller), why: whyNotReached(place, isRequired === true) }
    else {
      yield { ...spot, state: 'covered', why: '' }
      if (own.some(({ type }) => type === undefined)) markBelow(shape, path, walk)
      else yield* below(shape, spot, walk, path, own)
    }
  }
}

function whyNotReached({ part }: ContractPlace, isRequired: boolean): string {
  if (part === 'answer') return 'no row shows it'
  return isRequired ? 'v2 requires it, and no row writes it' : 'no row writes it'
}

function* below(shape: SchemaShape, place: ContractPlace, walk: Walk, path: string, own: readonly RowSource[]): Generator<PointSeen> {
  if (shape.kind === 'object') yield* membersOf(shape, place, walk, `${path}.`)
  else if (shape.kind === 'unknown') markBelow(shape, path, walk)
  else if ((shape.kind === 'list' || shape.kind === 'map') && shape.of.kind !== 'choice') yield* below(shape.of, place, walk, path, own)
  else for (const { type, row } of own) if (type) yield* againstValues(shape, type, place, `${walk.message}.${row}`)
}

/** What a row carries whole, or v2 does not describe, may hold whatever rows name there. */
function markBelow(shape: SchemaShape, path: string, { sources, met }: Walk): void {
  if (shape.kind !== 'unknown') return
  for (const source of sources) if (source.path.startsWith(`${path}.`)) met.add(source.path)
}
