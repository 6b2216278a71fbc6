import { asParam, type Param } from '../language/param.ts'
import { type Query, spellings } from '../language/query.ts'
import { isTrue, isV1Only } from '../language/query-value.ts'
import type { Operation } from './operation.ts'
import { v1Only } from './operation-builder.ts'

/**
 * Returns the v1-only operation of a request with a parameter value that only v1 knows, although v2 serves its operation. It is counted by
 * its own name, `libraries.artifacts.list?ecosystems`. Undefined for every other request, and for a query that cannot be read.
 */
export type OnlyV1 = (operation: Operation, query: () => Query) => Operation | undefined

interface Row {
  readonly names: readonly string[]
  readonly asks: (value: string) => boolean
  readonly use: Operation
}

export function createOnlyV1(operations: readonly Operation[]): OnlyV1 {
  const table = new Map(operations.map((operation) => [operation, rowsOf(operation)] as const).filter(([, rows]) => rows.length > 0))
  return (operation, read) => {
    const rows = table.get(operation)
    const query = rows && readable(read)
    return query && rows.find(({ names, asks }) => names.some((name) => query.get(name)?.some(asks)))?.use
  }
}

/** Returns everything that is counted: the operations, followed by the v1-only values of their parameters. */
export function withV1Values(operations: readonly Operation[]): readonly Operation[] {
  return [...operations, ...operations.flatMap(rowsOf).map(({ use }) => use)]
}

function rowsOf(operation: Operation): readonly Row[] {
  const { id, method, template, params } = operation
  return Object.entries(params).flatMap(([name, row]) => {
    const param = asParam(row)
    const because = reasonOf(name, param)
    if (because === undefined) return []
    const asks = param.of ? (value: string) => isV1Only(param.of, value) : isTrue
    return [{ names: spellings(name), asks, use: v1Only(`${id}?${name}`, `${method} ${template}`, because, param.made) }]
  })
}

function reasonOf(name: string, { of, v1Only: because }: Param): string | undefined {
  if (because !== undefined) return because
  return of && of.v1Only.length > 0 ? `v2 has no ${of.v1Only.map(([value]) => value).join(', ')} among its ${name}` : undefined
}

function readable(read: () => Query): Query | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
