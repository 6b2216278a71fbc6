import type { SchemaShape } from '../contract/schema-shape.ts'
import type { EnumMap, FieldType } from '../tables/fields.ts'
import type { ContractPlace, PointSeen } from './point.ts'

/** Yields what a row does with each value of an enum of a contract. */
export function* againstValues(shape: SchemaShape, type: FieldType, place: ContractPlace, row: string): Generator<PointSeen> {
  const inner = shape.kind === 'list' ? shape.of : shape
  const single = type.kind === 'list' ? type.of : type
  if (inner.kind !== 'choice') return
  for (const value of inner.values) {
    const spot = { ...place, at: `${place.at}=${value}` }
    if (single.kind === 'choice') yield { ...spot, ...stateOf(value, single.of, place.side) }
    else yield { ...spot, state: 'covered', why: '', carriedBy: row }
  }
}

function stateOf(value: string, { rows, v1Only }: EnumMap, side: ContractPlace['side']): Pick<PointSeen, 'state' | 'why'> {
  const nth = side === 'v1' ? 0 : 1
  if (rows.some((row) => row[nth] === value)) return { state: 'covered', why: '' }
  return v1Only.some(([one]) => one === value)
    ? { state: 'lacking', why: 'its enum has it for v1 alone' }
    : { state: 'lacking', why: 'its enum lacks it; add it' }
}

/** A row of texts changes no value: where both contracts list values, each must have those of the other. */
export function withoutStrayValues(seen: readonly PointSeen[]): readonly PointSeen[] {
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

const NESTED: ReadonlySet<string> = new Set(['object', 'list', 'map'])

/** True if one is a list, a map or an object and the other is not. */
export function isOtherKind(shape: SchemaShape, type: FieldType): boolean {
  if (shape.kind === 'unknown') return false
  return (NESTED.has(shape.kind) || NESTED.has(type.kind)) && shape.kind !== type.kind
}
