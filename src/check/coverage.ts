import type { Contract } from '../contract/public-contract.ts'
import { suggestion } from '../tables/check.ts'
import type { Acknowledged } from '../tables/tables.ts'
import { acknowledge } from './acknowledge.ts'
import { withoutStrayValues } from './enum-values.ts'
import { type Point, pointsOf } from './point.ts'
import { plainRoute, routeOf, type ServedOperation } from './served-operation.ts'
import { createStrangers } from './strangers.ts'
import { sightV1 } from './v1-side.ts'
import { sightV2, unknownCalls } from './v2-side.ts'

/** The documents of both versions. */
export interface Contracts {
  readonly v1: Contract
  readonly v2: Contract
}

export interface TableCoverage {
  /** Every operation, parameter, member and value of both contracts. */
  readonly points: readonly Point[]
  /** Rows, calls and acknowledgements that name what no contract has. */
  readonly problems: readonly string[]
}

/** Compares tables with both contracts. A loss is acknowledged by its row, or in `acknowledged`. */
export function coverageOf(
  operations: readonly ServedOperation[],
  { v1, v2 }: Contracts,
  acknowledged: readonly Acknowledged[] = [],
): TableCoverage {
  const [unknownToV1, unknownToV2] = [createStrangers(), createStrangers()]
  const seen = withoutStrayValues([...sightV1(v1, operations, unknownToV1), ...sightV2(v2, operations, unknownToV2)])
  const { points, problems } = acknowledge(pointsOf(seen), acknowledged)
  const unknown = [...unknownRoutes(v1, operations), ...unknownCalls(v2, operations), ...unknownToV1.problems(), ...unknownToV2.problems()]
  return { points, problems: [...unknown, ...problems] }
}

function unknownRoutes(contract: Contract, operations: readonly ServedOperation[]): readonly string[] {
  const routes = contract.operations.map(({ method, path }) => `${method} ${path}`)
  const known = new Set(routes.map(plainRoute))
  return operations
    .filter((operation) => !known.has(plainRoute(routeOf(operation))))
    .map((operation) => {
      const end = suggestion(routeOf(operation), routes, 'change its path, or remove it.')
      return `operation ${operation.id} serves ${routeOf(operation)}, which v1 does not have; ${end}`
    })
}
