import { type EnumMap, enumMap, type FieldType } from '../../src/tables/fields.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { asParam } from '../../src/tables/query.ts'
import { type Mutant, overwrite } from './mutant.ts'
import { rowsOf } from './rows.ts'

/** Each value of each enum exchanged with the next one. */
export function enumMutants(operations: readonly Operation[]): readonly Mutant[] {
  const users = new Map<EnumMap, string[]>()
  for (const operation of operations) {
    for (const map of new Set(enumsOf(operation))) users.set(map, [...(users.get(map) ?? []), operation.id])
  }
  return [...users].flatMap(([map, ids]) =>
    map.rows.slice(1).map(([v1], at) => ({
      name: `${map.name}: ${map.rows[at]?.[0]} and ${v1} exchanged`,
      operations: ids,
      apply: () => overwrite(map, exchanged(map, at)),
    })),
  )
}

function exchanged({ name, rows, v1Only }: EnumMap, at: number): EnumMap {
  const [here, next] = [rows[at], rows[at + 1]]
  if (!here || !next) throw new Error(`${name} has no pair ${at}`)
  return enumMap(name, rows.with(at, [here[0], next[1], here[2] as number]).with(at + 1, [next[0], here[1], next[2] as number]), v1Only)
}

function enumsOf({ request, answer, envelope, params, orders }: Operation): readonly EnumMap[] {
  const inFields = [request, answer, envelope].flatMap((table) => rowsOf(table?.shown ?? {}).flatMap(({ field }) => enumsIn(field.type)))
  const inQuery = Object.values(params).flatMap((row) => asParam(row).of ?? [])
  return [...inFields, ...inQuery, ...(orders ? [orders] : [])]
}

function enumsIn(type: FieldType): readonly EnumMap[] {
  if (type.kind === 'choice') return [type.of]
  return type.kind === 'list' || type.kind === 'map' ? enumsIn(type.of) : []
}
