import type { Mapping, Operation } from '../../src/tables/operation.ts'
import { asParam } from '../../src/tables/query.ts'
import { camelCase } from '../../src/tables/uid.ts'
import { type Findings, noFindings } from './findings.ts'

/** The parts of an OpenAPI document that the check reads. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

interface OpenApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>>
}

/** What the loop over a v2 list adds to the filters. */
const PAGING = ['page_size', 'page_token', 'skip', 'order_by']

/** A repeated message: no gateway can read it from a query, so that the contract leaves it out (facts §7). */
const NO_QUERY_CAN_HOLD = new Set(['image_refs'])

/** Routes of a document by `METHOD /shape`, every path variable written `{}`. */
export function routesOf({ paths }: OpenApi): ReadonlyMap<string, OpenApiOperation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [shape(`${method.toUpperCase()} ${path}`), operation] as const),
    ),
  )
}

export function shape(route: string): string {
  return route.replace(/\{[^}]*\}/g, '{}')
}

/** Every operation of the published v1 contract in the mapped domains has a row, with its query parameters, and no row is made up. */
export function compareWithV1(contract: OpenApi, mappings: readonly Mapping[]): Findings {
  const findings = noFindings()
  const operations = new Map(
    mappings.flatMap((mapping) => mapping.operations).map((one) => [shape(`${one.method} ${one.template}`), one] as const),
  )
  const published = routesOf(contract)
  const mapped = [...published].filter(([route]) => mappings.some(({ domain }) => route.split('/')[1] === domain))
  for (const [route, { parameters = [] }] of mapped) {
    const operation = operations.get(route)
    if (!operation) findings.missing.push(`operation ${route} of the v1 contract`)
    else if (operation.kind !== 'v1-only') {
      const known = new Set([...Object.keys(operation.params), ...operation.ownParams].map(camelCase))
      for (const { name, in: where } of parameters)
        if (where === 'query' && !known.has(name)) findings.missing.push(`${operation.id}: query parameter ${name} of the v1 contract`)
    }
  }
  return findings
}

/** Every v2 call that the tables name is in the v2 contract, and takes the query that it is sent. */
export function compareWithV2(contract: OpenApi, mappings: readonly Mapping[]): Findings {
  const findings = noFindings()
  const published = routesOf(contract)
  for (const operation of mappings.flatMap((mapping) => mapping.operations)) {
    const unknown = operation.calls.filter((call) => !published.has(shape(call)))
    for (const call of unknown) findings.extra.push(`${operation.id}: call ${call}, which the v2 contract does not have`)
    const taken = new Set(operation.calls.flatMap((call) => published.get(shape(call))?.parameters ?? []).map(({ name }) => name))
    const ignored = sentBy(operation).filter((name) => !NO_QUERY_CAN_HOLD.has(name) && !taken.has(camelCase(name)))
    for (const name of ignored) findings.extra.push(`${operation.id}: query parameter ${name}, which v2 does not take`)
  }
  return findings
}

/** v2 query parameters that an operation sends; `updateMask` belongs to the gateway and stands in no contract. */
function sentBy({ params, rows, answer }: Operation): readonly string[] {
  const filters = Object.values(params).map((row) => asParam(row).v2)
  // The rows of a list that v2 pages are a resource; a message is a row of what v2 answers at once.
  const listed = rows && answer !== undefined && 'plural' in answer
  return [...filters.filter((name) => name !== ''), ...(listed ? PAGING : [])]
}
