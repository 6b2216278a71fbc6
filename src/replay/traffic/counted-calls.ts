import { readFacts, routeOf, ruleOf } from '../../grpc/facts.ts'
import { pathOf } from '../../serve/classify.ts'
import type { Mapping } from '../../tables/operation.ts'
import type { Item } from './recorded-traffic.ts'

/**
 * Returns what turns a recorded call of a v1 gRPC method into a count of its operation. Every other item stays as it is.
 * A message is not text, so that logs and archives do not have it: such a call has no shape.
 */
export function createCountedCalls(mappings: readonly Mapping[]): (item: Item) => Item {
  const operations = operationsByMethod(mappings)
  return (item) => {
    const operation = 'operation' in item || item.method !== 'POST' ? undefined : operations.get(pathOf(item.url))
    if (operation === undefined) return item
    const { at, client } = item
    return { operation, times: 1, ...(at !== undefined && { at }), ...(client !== undefined && { client }) }
  }
}

function operationsByMethod(mappings: readonly Mapping[]): ReadonlyMap<string, string> {
  const byRoute = new Map(mappings.flatMap(({ operations }) => operations.map((operation) => [routeOf(operation), operation.id])))
  return new Map(
    Object.entries(readFacts().v1.services).flatMap(([service, methods]) =>
      Object.entries(methods).flatMap(([name, { http }]): [string, string][] => {
        const rule = ruleOf(http)
        const id = rule && byRoute.get(routeOf(rule))
        return id === undefined ? [] : [[`/${service}/${name}`, id]]
      }),
    ),
  )
}
