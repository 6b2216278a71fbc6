import { SKIP_PARAMETER } from '../../tables/list.ts'
import type { Operation } from '../../tables/operation.ts'
import { WINDOW_PARAMETERS } from '../../tables/pages.ts'
import { asParam, count, isV1Only, ORDER_PARAMETER, PARSERS, readOrder } from '../../tables/query.ts'

/** Parameters that count rows. */
const COUNTS: ReadonlySet<string> = new Set([...WINDOW_PARAMETERS, SKIP_PARAMETER])

/**
 * True if the type of a parameter proves that this value is not secret: a count of rows, a flag, a number, an enum value or an order.
 * `name` is the name in the tables.
 */
export function isTyped({ params, orders }: Operation, name: string, value: string): boolean {
  const query = new Map([[name, [value]]])
  if (name === ORDER_PARAMETER && !(name in params)) return isReadable(() => readOrder(query, orders))
  const row = Object.hasOwn(params, name) ? params[name] : undefined
  if (row === undefined) return COUNTS.has(name) && isReadable(() => count(query, name))
  const param = asParam(row)
  return param.kind !== 'text' && (isV1Only(param.of, value) || isReadable(() => PARSERS[param.kind](name, value, param)))
}

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}
