import type { Parameter } from './operations/parameters.ts'
import { type JsonSchema, refTo } from './schemas/json-schema.ts'

/** An operation object with its parameters written out. */
export interface WithParameters extends JsonSchema {
  readonly parameters?: readonly Parameter[]
}

/**
 * Moves parameters that several operations have to `components`, each under its name. Of several variants of one name, the first that
 * occurs twice has it; the others stay where they are.
 */
export function shareParameters<Key>(operations: ReadonlyMap<Key, WithParameters>): {
  readonly operations: ReadonlyMap<Key, JsonSchema>
  readonly parameters: Readonly<Record<string, Parameter>>
} {
  const times = new Map<string, number>()
  const all = [...operations.values()].flatMap(({ parameters = [] }) => parameters)
  for (const parameter of all) times.set(textOf(parameter), (times.get(textOf(parameter)) ?? 0) + 1)
  const shared = new Map<string, Parameter>()
  for (const parameter of all)
    if ((times.get(textOf(parameter)) ?? 0) > 1 && !shared.has(keyOf(parameter))) shared.set(keyOf(parameter), parameter)
  const place = (parameter: Parameter) => {
    const known = shared.get(keyOf(parameter))
    return known && textOf(known) === textOf(parameter) ? refTo('parameters', keyOf(parameter)) : parameter
  }
  const placed = [...operations].map(
    ([key, object]) => [key, object.parameters ? { ...object, parameters: object.parameters.map(place) } : object] as const,
  )
  const sorted = [...shared].sort(([a], [b]) => (a < b ? -1 : 1))
  return { operations: new Map(placed), parameters: Object.fromEntries(sorted) }
}

const textOf = (parameter: Parameter) => JSON.stringify(parameter)

/** A path and a query may use one name. */
const keyOf = ({ name, in: place }: Parameter) => `${place}.${name}`
