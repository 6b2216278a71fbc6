import { notAnswer } from '../../errors/from-v2.ts'
import { isObject, type JsonObject } from '../json.ts'
import { ORDER_PARAMETER, readOrder } from '../language/order.ts'
import type { Message } from '../language/resource.ts'
import type { Env, Operation, V1Request } from '../operations/operation.ts'
import { type OperationOptions, operation } from '../operations/operation-builder.ts'
import { emit, type Plan, ROWS } from './plan.ts'
import { items } from './send-rows.ts'
import { readWindow, WINDOW_PARAMETERS } from './window.ts'

/** Makes the calls of a list; returns the rows in v1's order. */
export type ReadWhole = (request: V1Request) => Plan<{ readonly rows: unknown; readonly envelope?: JsonObject }>

/** A v2 answer that holds every row of a v1 list. */
interface WholeList extends Pick<OperationOptions, 'kind' | 'because' | 'calls' | 'params' | 'rowsIn'> {
  /** One row. */
  readonly row: Message
  /** The members beside the rows. */
  readonly envelope?: Message
  /**
   * True if the rows come by id and a client may reverse them. All other orders have no effect, since the rows have no other sort field.
   */
  readonly byId?: true
  readonly read: ReadWhole
}

/**
 * A list that v2 answers at once, without pages. The proxy applies windows and order (specification §9.5).
 *
 *     wholeList('advisory.documents.list', 'GET /advisory/v1/documents', {
 *       calls: ['GET /advisory/v2/documents'],
 *       row: document,
 *       rowsIn: 'documents',
 *       *read() {
 *         const { documents } = yield* ask({ method: 'GET', path: '/advisory/v2/documents', query: [] }, answer)
 *         return { rows: documents }
 *       },
 *     })
 */
export function wholeList(id: string, route: string, { row, envelope, byId, read, ...rest }: WholeList): Operation {
  return operation(id, route, {
    ...rest,
    ownParams: [...(byId ? [ORDER_PARAMETER] : []), ...WINDOW_PARAMETERS],
    answer: row,
    rows: true,
    ...(envelope && { envelope }),
    missing: 'empty',
    empty: (dialect) => ({ [ROWS]: [], ...envelope?.show[dialect]({}) }),
    *plan(request: V1Request, { dialect }: Env) {
      const { skip, take } = readWindow(request.query)
      const turned = byId && readOrder(request.query) === 'uid desc'
      const found = yield* read(request)
      const rows = rowsIn(found)
      const ordered = turned ? rows.reverse() : rows
      yield* emit(ordered.slice(skip, take === undefined ? undefined : skip + take).map(row.show[dialect]))
      return items(envelope?.show[dialect](found.envelope ?? {}))
    },
  })
}

/** An empty list may be absent. Throws INTERNAL if the rows are no list of objects. */
function rowsIn({ rows }: { readonly rows: unknown }): JsonObject[] {
  if (rows === undefined || rows === null) return []
  if (!Array.isArray(rows) || !rows.every(isObject)) throw notAnswer({ rows })
  return [...rows]
}
